"""pypfm layout --c and --ctypes: what they print compiles, runs, and notices a change."""

from __future__ import annotations

import ctypes
import random
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI

from conftest import run
from native import attempt, build
from pypfm import layout
from pypfm.config import LIBRARIES
from pypfm.layout import ctypes_classes, mirrors
from pypfm.layout.mirrors import ffi_of
from terminal import pypfm
from tools import needs

TYPES = [(library, name) for library in LIBRARIES for name in layout.types(library)]
every_type = pytest.mark.parametrize(("library", "name"), TYPES, ids=[" ".join(row) for row in TYPES])
every_library = pytest.mark.parametrize("library", [name for name in LIBRARIES if layout.types(name)])
Ctypes = Any  # ctypes classes and instances


def printed(*args: object) -> str:
    done = pypfm("layout", *args)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# ---- C -----------------------------------------------------------------------------

@pytest.fixture(params=["gcc", "clang"])
def compiler(request: pytest.FixtureRequest) -> str:
    return needs(request.param)


def has_bit_fields(members: Iterable[layout.Member]) -> bool:
    return any(m.bits is not None or has_bit_fields(m.members) for m in members)


@pytest.mark.slow
@every_library
def test_c_compiles_and_finds_all_bit_fields(library: str, compiler: str, tmp_path: Path) -> None:
    program = tmp_path / "layout"
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{LIBRARIES[library].include_dir}"]
    source = printed("--library", library, "--c")
    members = sum(len(layout.describe(name, library).members) for name in layout.types(library))
    assert source.count("static_assert(") >= 2 * len(layout.types(library)) + members
    build(compiler, *flags, "-c", "-x", "c", "-", "-o", tmp_path / "layout.o", source=source)
    if any(has_bit_fields(layout.describe(name, library).members) for name in layout.types(library)):
        build(compiler, *flags, "-DPYPFM_LAYOUT_MAIN", "-x", "c", "-", "-o", program, source=source)
        assert run(program).returncode == 0
    else:
        assert "PYPFM_LAYOUT_MAIN" not in source


def changed_headers(library: str, directory: Path, header: str, old: str, new: str) -> Path:
    shutil.copytree(LIBRARIES[library].include_dir, directory / "include")
    path = directory / "include" / "perfmon" / header
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return directory / "include"


@pytest.mark.parametrize(("library", "name", "header", "old", "new", "broken"), [
    ("pfm3", "pfmlib_event_t", "pfmlib.h", "unsigned int\tnum_masks;", "unsigned long\tnum_masks;", "num_masks"),
    ("pfm3", "pfmlib_mont_etb_t", "pfmlib_montecito.h", "unsigned char\tetb_tm;", "signed char\tetb_tm;", "etb_tm"),
    ("pfm4", "pfm_pmu_info_t", "pfmlib.h", "const char\t*desc;", "char\t*desc;", "desc"),
    ("pfm4", "pfm_pmu_encode_arg_t", "pfmlib.h", "uint64_t\t*codes;", "int64_t\t*codes;", "codes"),
    ("pfm4", "struct perf_event_attr", "perf_event.h", "\tuint32_t\tbp_type;", "\tuint64_t\tbp_type;", "bp_type"),
], ids=["offset", "sign", "const", "pointer", "size"])
def test_c_does_not_compile_with_a_changed_header(
        library: str, name: str, header: str, old: str, new: str, broken: str, compiler: str, tmp_path: Path) -> None:
    include = changed_headers(library, tmp_path, header, old, new)
    command = [compiler, "-std=c11", f"-I{include}", "-c", "-x", "c", "-", "-o", tmp_path / "layout.o"]
    done = attempt(*command, source=printed(name, "--library", library, "--c"))
    assert done.returncode != 0
    assert re.search(rf"static.assert(ion)? failed.*\b{broken}\b", done.stderr), done.stderr


def test_c_notices_a_moved_bit_field_when_it_runs(compiler: str, tmp_path: Path) -> None:
    header = (LIBRARIES["pfm4"].include_dir / "perfmon" / "perf_event.h").read_text()
    [pair] = re.findall(r"^\tuint64_t\tdisabled:1;.*\n\tuint64_t\tinherit:1;.*\n", header, flags=re.M)
    include = changed_headers("pfm4", tmp_path, "perf_event.h", pair, "".join(reversed(pair.splitlines(keepends=True))))
    program = tmp_path / "layout"
    build(compiler, "-std=c11", f"-I{include}", "-DPYPFM_LAYOUT_MAIN", "-x", "c", "-", "-o", program,
          source=printed("struct perf_event_attr", "--c"))
    assert run(program).returncode == 1


def test_c_of_the_manual_form_is_not_that_of_the_header(tmp_path: Path) -> None:
    source = printed("pfmlib_mont_etb_t", "--as", "manual", "--c")
    include = f"-I{LIBRARIES['pfm3'].include_dir}"
    build("cc", "-std=c11", include, "-c", "-x", "c", "-", "-o", tmp_path / "a.o", source=source)
    without = source.replace("#define PFMLIB_MANUAL_LAYOUT 1\n", "")
    assert without != source
    assert attempt("cc", "-std=c11", include, "-c", "-x", "c", "-", "-o", tmp_path / "a.o", source=without).returncode != 0


# ---- ctypes ------------------------------------------------------------------------

def leaves(path: str, member: layout.Member) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The elements of a member that are neither structures nor arrays: first, last and one in the middle."""
    if member.members or member.kind in ("struct", "union"):
        return
    if len(member.dimensions) == 1:
        n = member.dimensions[0]
        for i in sorted({0, n // 2, n - 1}) if n else ():
            yield path, (i,)
    else:
        assert not member.dimensions
        yield path, ()


def ctypes_holder(obj: Ctypes, path: str) -> tuple[Ctypes, str]:
    *outer, name = path.split(".")
    for part in outer:
        obj = getattr(obj, part)
    return obj, name


def as_number(value: Ctypes) -> int:
    """The value of a ctypes field; of a pointer, its address."""
    if isinstance(value, ctypes._Pointer):
        return ctypes.cast(value, ctypes.c_void_p).value or 0
    return int(value or 0)


def read_ctypes(obj: Ctypes, path: str, index: tuple[int, ...]) -> int:
    holder, name = ctypes_holder(obj, path)
    if {f[0]: f[1] for f in all_fields(type(holder))}.get(name) is ctypes.c_char_p:
        return ctypes.c_void_p.from_buffer(holder, getattr(type(holder), name).offset).value or 0
    value = getattr(holder, name)
    return as_number(value[index[0]] if index else value)


def all_fields(cls: Ctypes) -> Iterator[tuple[Any, ...]]:
    for field in cls._fields_:
        yield field
        if field[0] in getattr(cls, "_anonymous_", ()):
            yield from all_fields(field[1])


def random_value(m: layout.Member, rng: random.Random) -> int:
    bits = 8 * m.element_size if m.bits is None else m.bits
    value = rng.getrandbits(bits) | 1
    return value - (1 << bits) if m.kind == "signed" and value >> (bits - 1) else value


def cffi_holder(obj: Ctypes, path: str) -> tuple[Ctypes, str]:
    return ctypes_holder(obj, path)


@every_type
def test_ctypes_size(library: str, name: str) -> None:
    cls = layout.ctypes_type(name, library)
    found = layout.describe(name, library)
    assert (ctypes.sizeof(cls), ctypes.alignment(cls)) == (found.size, found.alignment)
    assert cls.__name__ == name.rpartition(" ")[2]
    assert layout.ctypes_type(name, library) is cls


@every_type
def test_what_cffi_writes_ctypes_reads(library: str, name: str) -> None:
    ffi, rng = ffi_of(library), random.Random(name)
    for path, m in layout.describe(name, library).flat():
        for where, index in leaves(path, m):
            pointer = ffi.new(f"{name} *")
            same = layout.ctypes_type(name, library).from_buffer(ffi.buffer(pointer))
            value = random_value(m, rng)
            holder, field = cffi_holder(pointer, where)
            written: object = ffi.cast(m.type.replace("const ", ""), value) if m.kind == "pointer" else value
            if index:
                getattr(holder, field)[index[0]] = written
            else:
                setattr(holder, field, written)
            assert read_ctypes(same, where, index) == value, where


@every_type
def test_what_ctypes_writes_cffi_reads(library: str, name: str) -> None:
    ffi, rng = ffi_of(library), random.Random(name)
    for path, m in layout.describe(name, library).flat():
        for where, index in leaves(path, m):
            ours = layout.ctypes_type(name, library)()
            value = random_value(m, rng)
            holder, field = ctypes_holder(ours, where)
            if m.kind == "pointer":
                ctypes.c_void_p.from_buffer(holder, getattr(type(holder), field).offset).value = value
            elif index:
                getattr(holder, field)[index[0]] = value
            else:
                setattr(holder, field, value)
            pointer = ffi.cast(f"{name} *", ffi.from_buffer(ours))
            found = getattr(*cffi_holder(pointer, where))
            found = found[index[0]] if index else found
            assert int(ffi.cast("uintptr_t", found)) if m.kind == "pointer" else found == value, where


@every_library
def test_printed_source_needs_the_standard_library_only(library: str, tmp_path: Path) -> None:
    source = printed("--library", library, "--ctypes")
    script = tmp_path / "structures.py"
    script.write_text(source + "\n\nfor name, cls in list(vars().items()):\n"
                      "    if isinstance(cls, type):\n        print(name, ctypes.sizeof(cls))\n")
    done = run(sys.executable, "-I", "-S", script)
    assert done.stderr == ""
    sizes = dict(line.split() for line in done.stdout.splitlines())
    assert sizes == {name.rpartition(" ")[2]: str(layout.describe(name, library).size)
                     for name in layout.types(library)}


def test_the_structures_that_a_type_contains_come_with_it() -> None:
    names: dict[str, Any] = {}
    exec(printed("pfmlib_mont_output_param_t", "--library", "pfm3-manual", "--ctypes"), names)
    assert ctypes.sizeof(names["pfmlib_mont_output_param_t"]) == 656
    assert ctypes.sizeof(names["pfmlib_reg_t"]) == 32
    assert "pfmlib_event_t" not in names


def test_a_program_with_ctypes_can_call_the_library() -> None:
    """The use case: foreign structures are not needed, the classes are enough."""
    lib = ctypes.CDLL(str(LIBRARIES["pfm3"].path))
    event, count = layout.ctypes_type("pfmlib_event_t")(), ctypes.c_uint()
    assert lib.pfm_force_pmu(3) == 0
    assert lib.pfm_get_num_events(ctypes.byref(count)) == 0
    assert lib.pfm_find_full_event(b"CPU_CYCLES", ctypes.byref(event)) == 0
    assert 0 < event.event < count.value


def test_types_that_no_header_of_ours_has_yet() -> None:
    """Pointers, and numbers with a point: what a member of a later header may be."""
    ffi = FFI()
    ffi.cdef("struct s { int a; };")
    expected = {"void *": "ctypes.c_void_p", "int (*)(int)": "ctypes.c_void_p", "char *": "ctypes.c_char_p",
                "char **": "ctypes.POINTER(ctypes.c_char_p)", "struct s *": "ctypes.POINTER(s)",
                "int *": "ctypes.POINTER(ctypes.c_int32)", "unsigned long *": "ctypes.POINTER(ctypes.c_uint64)"}
    assert {name: ctypes_classes.pointer(ffi.typeof(name), ffi) for name in expected} == expected
    kinds = {"struct s": "struct", "void *": "pointer", "char": "char", "double": "float", "int": "signed",
             "unsigned char": "unsigned"}
    assert {name: mirrors.kind_of(ffi, ffi.typeof(name)) for name in kinds} == kinds
