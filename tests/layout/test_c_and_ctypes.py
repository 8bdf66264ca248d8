"""pypfm layout --c and --ctypes: what they print compiles, runs, and notices a change."""

from __future__ import annotations

import ctypes
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI

from conftest import run
from native import CC, attempt, build
from pypfm import layout, pfm3
from pypfm.config import LIBRARIES
from pypfm.layout import ctypes_classes, mirrors
from terminal import pypfm
from tools import needs

every_library = pytest.mark.parametrize("library", [name for name in LIBRARIES if layout.types(name)])


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
    ("pfm3", "pfmlib_event_t", "pfmlib.h", "unsigned int num_masks;", "unsigned long num_masks;", "num_masks"),
    ("pfm3", "pfmlib_mont_etb_t", "pfmlib_montecito.h", "unsigned char etb_tm;", "signed char etb_tm;", "etb_tm"),
    ("pfm4", "pfm_pmu_info_t", "pfmlib.h", "const char *desc;", "char *desc;", "desc"),
    ("pfm4", "pfm_pmu_encode_arg_t", "pfmlib.h", "uint64_t *codes;", "int64_t *codes;", "codes"),
    ("pfm4", "struct perf_event_attr", "perf_event.h", "\tuint32_t bp_type;", "\tuint64_t bp_type;", "bp_type"),
], ids=["offset", "sign", "const", "pointer", "size"])
def test_c_does_not_compile_with_a_changed_header(
        library: str, name: str, header: str, old: str, new: str, broken: str, tmp_path: Path) -> None:
    include = changed_headers(library, tmp_path, header, old, new)
    command = [CC, "-std=c11", f"-I{include}", "-c", "-x", "c", "-", "-o", tmp_path / "layout.o"]
    done = attempt(*command, source=printed(name, "--library", library, "--c"))
    assert done.returncode != 0
    assert re.search(rf"static.assert(ion)? failed.*\b{broken}\b", done.stderr), done.stderr


def test_c_brings_the_headers_that_it_needs() -> None:
    own = "#define PFM_OWN_PERF_EVENT 1\n"
    assert own in layout.c_source([layout.describe("struct perf_event_attr")])
    assert own not in layout.c_source([layout.describe("pfmlib_event_t")])


def test_c_notices_a_moved_bit_field_when_it_runs(tmp_path: Path) -> None:
    header = (LIBRARIES["pfm4"].include_dir / "perfmon" / "perf_event.h").read_text()
    [pair] = re.findall(r"^\tuint64_t disabled +: 1;.*\n\tuint64_t inherit +: 1;.*\n", header, flags=re.M)
    include = changed_headers("pfm4", tmp_path, "perf_event.h", pair, "".join(reversed(pair.splitlines(keepends=True))))
    program = tmp_path / "layout"
    build(CC, "-std=c11", f"-I{include}", "-DPYPFM_LAYOUT_MAIN", "-x", "c", "-", "-o", program,
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

def members_of(cls: Any) -> dict[str, tuple[object, ...]]:
    """Place, size and bits of each member; those of a structure inside as its own."""
    found: dict[str, tuple[object, ...]] = {}
    for name, kind, *bits in cls._fields_:
        field = cls.__dict__[name]
        found[name] = (field.offset, field.size, tuple(bits))
        if "." in kind.__qualname__:
            found |= {f"{name}.{inner}": place for inner, place in members_of(kind).items()}
    return found


@every_library
def test_printed_classes_are_those_of_the_mirror(library: str) -> None:
    names: dict[str, Any] = {}
    exec(printed("--library", library, "--ctypes"), names)
    for name in layout.types(library):
        ours = mirrors.class_of(layout.describe(name, library))
        theirs = names[name.rpartition(" ")[2]]
        assert (ctypes.sizeof(theirs), ctypes.alignment(theirs)) == (ctypes.sizeof(ours), ctypes.alignment(ours))
        assert members_of(theirs) == members_of(ours), name


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
    names: dict[str, Any] = {}
    exec(layout.ctypes_source([layout.describe("pfmlib_event_t", "pfm3")]), names)
    event, count = names["pfmlib_event_t"](), ctypes.c_uint()
    assert lib.pfm_force_pmu(3) == 0
    assert lib.pfm_get_num_events(ctypes.byref(count)) == 0
    assert lib.pfm_find_full_event(b"CPU_CYCLES", ctypes.byref(event)) == 0
    assert 0 < event.event < count.value
    ours = pfm3.pfmlib_event_t()
    assert lib.pfm_find_full_event(b"CPU_CYCLES", ctypes.byref(ours)) == 0
    assert bytes(ours) == bytes(event)


def test_types_that_no_header_of_ours_has_yet() -> None:
    """Pointers, and numbers with a point: what a member of a later header may be."""
    ffi = FFI()
    ffi.cdef("struct s { int a; };")
    kinds = {"struct s": "struct", "void *": "pointer", "char": "char", "double": "float", "int": "signed",
             "unsigned char": "unsigned"}
    assert {name: mirrors.kind_of(ffi, ffi.typeof(name)) for name in kinds} == kinds
    expected = {"c_void_p": ctypes.c_void_p, "POINTER(ctypes.c_char_p)": ctypes.POINTER(ctypes.c_char_p),
                "POINTER(pfmlib_event_t)": ctypes.POINTER(pfm3.pfmlib_event_t), "c_int32": ctypes.c_int,
                "c_uint64": ctypes.c_ulong, "c_double": ctypes.c_double}
    assert {ctypes_classes.expression(kind) for kind in expected.values()} == {f"ctypes.{text}" for text in expected}
    assert ctypes_classes.expression(ctypes.c_int * 2 * 3) == "(ctypes.c_int32 * 2) * 3"
