"""pypfm layout --go and --rust: the declarations compile, their assertions hold, and their functions reach the right bits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import clean_env, run
from native import build
from pypfm import layout
from pypfm.config import LIBRARIES
from pypfm.layout import dwarf
from pypfm.layout.model import Member
from pypfm.layout.storage import Aggregate, aggregates
from terminal import pypfm
from tools import needs

LIBRARIES_WITH_TYPES = [name for name in LIBRARIES if layout.types(name)]
every_library = pytest.mark.parametrize("library", LIBRARIES_WITH_TYPES)
LANGUAGES = ["go", "rust"]


def printed(*args: object) -> str:
    done = pypfm("layout", *args)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def compiled(language: str, directory: Path, source: str, main: str = "") -> tuple[int, str]:
    """The exit status of a compiler, and what it says; with a main program, of that and what it prints."""
    if language == "rust":
        (directory / "types.rs").write_text(source)
        (directory / "main.rs").write_text(main or source)
        kind = [] if main else ["--crate-type", "lib", "--emit", "metadata"]
        command = [needs("rustc"), "--edition", "2021", "-D", "warnings", "--crate-name", "types", *kind, "-o", "program", "main.rs"]
        env = clean_env()
    else:
        (directory / "types.go").write_text(re.sub(r"^package \w+", "package main", source, flags=re.M) if main else source)
        files = ["types.go"]
        if main:
            (directory / "main.go").write_text(main)
            files.append("main.go")
        command = [needs("go"), "build", "-o", "program", *files]
        env = clean_env(GO111MODULE="off", GOFLAGS="", GOPROXY="off", GOTOOLCHAIN="local", GOCACHE=str(directory / "cache"),
                        CGO_ENABLED="0")
    done = run(*command, cwd=directory, env=env, timeout=600)
    if done.returncode or not main:
        return done.returncode, done.stderr
    done = run(directory / "program")
    return done.returncode, done.stdout + done.stderr


# ---- what is declared -----------------------------------------------------------------------------

@every_library
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_type_and_member_is_there(library: str, language: str) -> None:
    source = printed("--library", library, f"--{language}")
    for name in layout.types(library):
        found = layout.describe(name, library)
        tag = name.rpartition(" ")[2]
        assert (f"pub struct {tag} {{" if language == "rust" else f"is {tag}.\n") in source
        size = rf"size_of::<{tag}>\(\) == {found.size}\)" if language == "rust" else rf"Sizeof\(\w+\{{\}}\) - {found.size}\]"
        assert re.search(size, source)
        for path, member in found.flat():
            last = path.rpartition(".")[2]
            spelled = last if language == "rust" else "".join(p[:1].upper() + p[1:] for p in last.split("_"))
            assert re.search(rf"\b{re.escape(spelled)}\b", source), (name, path, member)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_type_comes_with_what_it_points_to(language: str) -> None:
    source = printed("pfm_perf_encode_arg_t", f"--{language}")
    names = re.findall(r"^(?:pub struct|type) (\w+)", source, flags=re.M)
    assert names[-1].lower().replace("_", "") == "pfmperfencodeargt"
    assert any(name in ("perf_event_attr", "PerfEventAttr") for name in names)
    assert ("*mut *mut core::ffi::c_char" if language == "rust" else "Fstr **byte") in source
    assert ("attr: *mut perf_event_attr" if language == "rust" else "Attr *PerfEventAttr") in source


def test_an_array_of_any_length_in_go() -> None:
    """As the last field it would make the structure longer in Go: a method has it."""
    source = printed("struct perf_branch_stack", "--go")
    assert "func (x *PerfBranchStack) Entries(n int) []PerfBranchEntry {" in source
    assert "[0]PerfBranchEntry" not in source


def test_comments_name_what_they_are_on() -> None:
    assert "\n/// perf_event_attr.sample_period_union\n" in printed("struct perf_event_attr", "--rust")
    go = printed("pfmlib_options_t", "--go")
    assert "// PfmDebug is pfm_debug, 1 bit.\n" in go
    assert re.search(r" is [a-z_]+, 30 bits\.\n", go)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_library_without_structures(language: str) -> None:
    done = pypfm("layout", "--library", "perfex", f"--{language}")
    assert (done.stdout, done.stderr) == ("", "pypfm layout: the headers of perfex declare no structure\n")
    assert done.returncode != 0


# ---- compiled ---------------------------------------------------------------------------------------

@pytest.mark.slow
@every_library
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_compiles_and_the_bits_are_where_c_has_them(library: str, language: str, tmp_path: Path) -> None:
    """A program sets each bit-field and asks where each member of a union is; bytes and places are the C compiler's."""
    found = [inner for name in layout.types(library) for inner in aggregates(layout.describe(name, library)).nested()]
    checks = [check for aggregate in found for check in checks_of(aggregate)]
    source = printed("--library", library, f"--{language}")
    assert compiled(language, tmp_path, source) == (0, "")
    if not checks:
        return
    main = (go_main if language == "go" else rust_main)(checks)
    status, output = compiled(language, tmp_path, source, main)
    assert status == 0, output
    assert output.splitlines() == [expected(check) for check in checks]


Check = tuple[Aggregate, Member]


def checks_of(aggregate: Aggregate) -> Iterator[Check]:
    """Its bit-fields, and its members if it is a union."""
    yield from ((aggregate, m) for slot in aggregate.slots if slot.is_integer for m in slot.bits)
    yield from ((aggregate, m) for m, _ in aggregate.members)


def expected(check: Check) -> str:
    """The bytes in hexadecimal with the bit-field set, and its value; of another member its place."""
    aggregate, member = check
    if member.bits is None:
        return f"{'_'.join(aggregate.path)} {member.name} {member.offset - aggregate.base}"
    ones = (1 << member.bits) - 1
    data = (ones << member.first_bit - 8 * aggregate.base).to_bytes(aggregate.size, "little")
    return f"{'_'.join(aggregate.path)} {member.name} {data.hex()} {-1 if member.kind == 'signed' else ones}"


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def go_main(checks: list[Check]) -> str:
    lines = []
    for aggregate, member in checks:
        ctype, label = "".join(map(camel, aggregate.path)), f'"{"_".join(aggregate.path)} {member.name}'
        if member.bits is None:
            lines.append(f"{{ var x {ctype}; fmt.Println({label}\", uintptr(unsafe.Pointer(x.{camel(member.name)}()))-"
                         "uintptr(unsafe.Pointer(&x))) }")
        else:
            ones = "-1" if member.kind == "signed" else f"{(1 << member.bits) - 1:#x}"
            lines.append(f"{{ var x {ctype}; x.Set{camel(member.name)}({ones}); fmt.Printf({label} %x %d\\n\", "
                         f"(*[{aggregate.size}]byte)(unsafe.Pointer(&x))[:], x.{camel(member.name)}()) }}")
    return 'package main\n\nimport (\n\t"fmt"\n\t"unsafe"\n)\n\nfunc main() {\n' + "\n".join(lines) + "\n}\n"


def rust_main(checks: list[Check]) -> str:
    lines = []
    for aggregate, member in checks:
        ctype, label = "_".join(aggregate.path), f'"{"_".join(aggregate.path)} {member.name}'
        name = f"r#{member.name}" if member.name in ("type", "priv", "match") else member.name
        if member.bits is None:
            lines.append(f"{{ let x: types::{ctype} = unsafe {{ core::mem::zeroed() }}; println!({label} {{}}\", "
                         f"x.{name}() as *const _ as usize - &x as *const _ as usize); }}")
        else:
            ones = "-1" if member.kind == "signed" else f"{(1 << member.bits) - 1:#x}"
            lines.append(f"{{ let mut x: types::{ctype} = unsafe {{ core::mem::zeroed() }}; x.set_{member.name}({ones}); "
                         f"println!({label} {{}} {{}}\", hex(&x), x.{name}()); }}")
    return ("mod types;\n\nfn hex<T>(x: &T) -> String {\n"
            "    let bytes = unsafe { std::slice::from_raw_parts((x as *const T).cast::<u8>(), std::mem::size_of::<T>()) };\n"
            '    bytes.iter().map(|b| format!("{b:02x}")).collect()\n}\n\nfn main() {\n' + "\n".join(lines) + "\n}\n")


ODD = """
struct odd {
    unsigned char first;
    unsigned int beside:8;   /* in the same four bytes: these three are in no integer of their own */
    int near:5;
    long wide:40;
    long negative:20;
    unsigned long rest:20;
    float numbers[2][3];
    double number;
    union { int i; struct { unsigned lo:4; int hi:12; } parts; signed char c[3]; } named;
    union { short match; char *type; };
    char last;
};
struct clash { unsigned s:3; unsigned set_s:3; unsigned S:3; };
"""


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_structure_with_all_that_ours_do_not_have(language: str, tmp_path: Path) -> None:
    """Signed bit-fields, some that share an integer with a member, floating point; names that would be used twice."""
    out = tmp_path / "odd.o"
    build(needs("gcc"), "-g", "-fno-eliminate-unused-debug-types", "-c", "-x", "c", "-", "-o", out, source=ODD)
    found = dwarf.layouts(out, ["struct odd", "struct clash"])
    odd, clash = (layout.TypeLayout(x.name, x.kind, x.size, alignment, x.members, "pfm4")
                  for x, alignment in zip(found.values(), (8, 4), strict=True))
    checks = [check for aggregate in aggregates(odd).nested() for check in checks_of(aggregate)]
    assert {m.name for _, m in checks} == {"negative", "rest", "i", "parts", "c", "lo", "hi", "match", "type"}
    write, main = (layout.go_source, go_main) if language == "go" else (layout.rust_source, rust_main)
    source = write([odd])
    assert re.search(r"\[(7\]byte|u8; 7\],) // beside: 8, near: 5, wide: 40\n", source)
    status, output = compiled(language, tmp_path, source, main(checks))
    assert status == 0, output
    assert output.splitlines() == [expected(check) for check in checks]
    assert compiled(language, tmp_path, write([clash])) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(("language", "old", "new"), [
    ("rust", "pub nevents: i32,", "pub nevents: i64,"), ("go", "Nevents int32", "Nevents int64"),
    ("rust", "    pub name: *const core::ffi::c_char,\n", ""), ("go", "\tName *byte\n", ""),
    ("rust", "    pub num_fixed_cntrs: i32,\n", ""), ("go", "Bits52 uint32", "Bits52 uint8"),
    ("rust", "pub pmu: u32,\n    pub r#type: u32", "pub r#type: u32,\n    pub pmu: u32"),
    ("go", "Pmu uint32\n\tType uint32", "Type uint32\n\tPmu uint32"),
], ids=lambda value: value if value in LANGUAGES else "")
def test_a_changed_declaration_does_not_compile(language: str, old: str, new: str, tmp_path: Path) -> None:
    source = printed("pfm_pmu_info_t", f"--{language}")
    assert source.count(old) == 1
    assert compiled(language, tmp_path, source)[0] == 0
    status, said = compiled(language, tmp_path, source.replace(old, new))
    assert status != 0
    assert re.search(r"assert|evaluation|overflows|array length|no field|undefined|type-checking", said), said


@pytest.mark.parametrize("option", ["--go", "--rust"])
def test_types_of_two_libraries(option: str) -> None:
    done = pypfm("layout", option, "pfmlib_event_t", "pfm_pmu_info_t")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "pypfm layout: types of pfm3 and pfm4: a file has those of one library\n"


def test_padding_between_members_is_a_slot() -> None:
    member = layout.Member("a", "char", "signed", 0, 1)
    other = layout.Member("b", "long", "signed", 8, 8)
    found = aggregates(layout.TypeLayout("holes", "struct", 16, 8, (member, other), "test"))
    assert [(slot.name, slot.offset, slot.size) for slot in found.slots] == [("a", 0, 1), ("", 1, 7), ("b", 8, 8)]


def test_elements_of_an_array_without_any() -> None:
    assert layout.Member("a", "long", "signed", 0, 0, dimensions=(0,)).element_size == 0
    assert layout.Member("a", "long", "signed", 0, 48, dimensions=(2, 3)).element_size == 8
