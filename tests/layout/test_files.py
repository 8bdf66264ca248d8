"""Layouts read from files with debug information, and pypfm layout --diff."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import run
from native import CC, PFM3, PFM4, build, build_library, debug_library
from pypfm import layout
from pypfm.config import LIBRARIES, Library
from pypfm.layout import LayoutError, TypeLayout, dwarf
from terminal import on_terminal, pypfm
from valid import validate

pytestmark = pytest.mark.slow

SMALL = """
struct point { char kind; unsigned flag:3; unsigned rest:29; union { long x; double y; }; short z[3]; };
typedef struct { struct point a; struct { int n; } b; enum { RED, GREEN } colour; const char *name; } shape_t;
typedef enum { MINUS = -1, PLUS } sign_t;
typedef struct { sign_t s; signed char c; char d; _Bool e; void (*f)(int); } mixed_t;
struct point p; shape_t s; mixed_t m;
"""


def compiled(directory: Path, *command: object, source: str = SMALL) -> Path:
    out = directory / "small.o"
    build(*command, "-c", "-x", "c", "-", "-o", out, source=source)
    return out


def linked(directory: Path, *command: object) -> Path:
    out = directory / "libsmall.so"
    build(*command, "-shared", "-fPIC", "-x", "c", "-", "-o", out, source=SMALL)
    return out


def read(path: Path, name: str) -> TypeLayout:
    with dwarf.opened(path) as info:
        found = info.layout(name)
    assert found is not None
    return found


def shape(found: TypeLayout) -> list[tuple[Any, ...]]:
    return [(path, m.first_bit, m.end_bit, m.kind, m.type) for path, m in found.flat()]


POINT = [("kind", 0, 8, "char", "char"), ("flag", 8, 11, "unsigned", "unsigned int"),
         ("rest", 32, 61, "unsigned", "unsigned int"), ("x", 64, 128, "signed", "long"),
         ("y", 64, 128, "float", "double"), ("z", 128, 176, "signed", "short")]
MIXED = [("s", 0, 32, "signed", "sign_t"), ("c", 32, 40, "signed", "signed char"), ("d", 40, 48, "char", "char"),
         ("e", 48, 56, "unsigned", "_Bool"), ("f", 64, 128, "pointer", "subroutine *")]
gcc, clang = pytest.mark.needs("gcc"), pytest.mark.needs("clang")


@pytest.mark.parametrize("flags", [
    *(pytest.param(["gcc", *f], marks=gcc) for f in (
        ["-gdwarf-2", "-gstrict-dwarf"], ["-gdwarf-3"], ["-gdwarf-4", "-gz=zlib"], ["-gdwarf-5"])),
    *(pytest.param(["clang", *f], marks=clang) for f in (["-gdwarf-4"], ["-gdwarf-5", "-gz=zlib"])),
], ids=" ".join)
def test_versions_of_dwarf(flags: list[str], tmp_path: Path) -> None:
    path = linked(tmp_path, *flags)
    assert shape(read(path, "struct point")) == POINT
    assert shape(read(path, "mixed_t")) == MIXED
    found = read(path, "shape_t")
    assert (found.name, found.size) == ("shape_t", 40)
    assert [(m.name, m.type, m.offset, m.size, m.is_enum) for m in found.members] == [
        ("a", "struct point", 0, 24, False), ("b", "struct", 24, 4, False), ("colour", "enum", 28, 4, True),
        ("name", "const char *", 32, 8, False)]
    assert [m["kind"] for m in found.to_json()["members"]] == ["struct", "struct", "enum", "pointer"]
    (colour,) = (m for m in found.members if m.is_enum)
    assert colour.kind == "unsigned"
    assert [path for path, _ in found.flat()] == ["a", "b", "b.n", "colour", "name"]


@clang
def test_a_bit_field_that_ends_in_the_next_unit(tmp_path: Path) -> None:
    """clang counts from the end of the first one, so that its DW_AT_bit_offset is below 0."""
    path = tmp_path / "packed.so"
    build("clang", "-g", "-fPIC", "-shared", "-xc", "-", "-o", path,
          source="struct __attribute__((packed)) s { char a; int b; long c:33; } x;\n")
    assert [bits for name, *bits, _, _ in shape(read(path, "struct s")) if name == "c"] == [[40, 73]]


@pytest.mark.needs("objcopy")
def test_sums_of_bit_fields(tmp_path: Path) -> None:
    source = "struct whole { unsigned char a:3, b:5; int x; }; struct part { unsigned char a:3; int x; }; struct whole w; struct part p;"
    path = compiled(tmp_path, CC, "-g", source=source)
    for name, said in (("whole", "sum bitfield members: 8 bits (1 bytes) */"), ("part", "sum bitfield members: 3 bits, bit holes: 1, ")):
        assert said in layout.text(read(path, name))


def test_separate_debug_file_by_its_name(tmp_path: Path) -> None:
    library = linked(tmp_path, "gcc", "-g")
    build("objcopy", "--only-keep-debug", library, tmp_path / "small.debug")
    build("objcopy", "--strip-debug", f"--add-gnu-debuglink={tmp_path / 'small.debug'}", library)
    assert shape(read(library, "point")) == POINT
    (tmp_path / ".debug").mkdir()
    (tmp_path / "small.debug").rename(tmp_path / ".debug" / "small.debug")
    assert shape(read(library, "point")) == POINT
    (tmp_path / ".debug" / "small.debug").write_bytes(compiled(tmp_path, "gcc", "-g").read_bytes())  # not its own
    with pytest.raises(LayoutError, match="no debug information"), dwarf.opened(library):
        pass


@pytest.mark.needs("dwz")
def test_common_parts_in_a_file_of_their_own(tmp_path: Path) -> None:
    """As Debian's debug packages have them."""
    libraries = [linked(tmp_path, "gcc", "-g").rename(tmp_path / f"lib{i}.so") for i in range(2)]
    build("dwz", "-m", tmp_path / "common.debug", "-M", "common.debug", *libraries)
    assert shape(read(libraries[0], "point")) == POINT
    (tmp_path / "common.debug").unlink()
    assert "No such file" in refused("--diff", "pfmlib_event_t", libraries[0])


def test_build_id(tmp_path: Path) -> None:
    library = linked(tmp_path, "gcc", "-Wl,--build-id=0x0123456789abcdef")
    with dwarf.open_elf(library) as elf:
        assert dwarf.build_id_of(elf) == "0123456789abcdef"


# ---- files that cannot be used -----------------------------------------------------

def refused(*args: object) -> str:
    done = pypfm("layout", *args)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("pypfm layout: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_files_that_say_nothing(tmp_path: Path) -> None:
    nothing, text = tmp_path / "nothing", tmp_path / "text"
    nothing.touch()
    text.write_text("a text\n")
    assert "is no ELF file" in refused("--diff", "pfmlib_event_t", nothing)
    assert "is no ELF file" in refused("--diff", "pfmlib_event_t", f"{text}:pfmlib_event_t")
    assert "No such file" in refused("--diff", "pfmlib_event_t", tmp_path / "missing")
    assert "Is a directory" in refused("--diff", "pfmlib_event_t", tmp_path)
    assert "/dev/null is no regular file" in refused("--diff", "pfmlib_event_t", "/dev/null")
    assert "no debug information" in refused("--diff", "pfmlib_event_t", PFM3.path)
    assert "has no structure pfmlib_event_t" in refused("--diff", "pfmlib_event_t", compiled(tmp_path, "gcc", "-g"))
    assert "of which type?" in refused("--diff", compiled(tmp_path, "gcc", "-g"), compiled(tmp_path, "gcc", "-g"))


def test_nothing_to_compare(tmp_path: Path) -> None:
    """Two sources without a type in common are not "the same"."""
    assert "have no type in common" in refused("--diff", "pfm4", compiled(tmp_path, "gcc", "-g1"))
    assert "have no type in common" in refused("--diff", compiled(tmp_path, "gcc", "-g"), "pfm3")


@clang
def test_another_machine_with_the_same_layout(tmp_path: Path) -> None:
    """64-bit and little-endian, as an Itanium under Linux is."""
    path = compiled(tmp_path, "clang", "--target=aarch64-linux-gnu", "-g")
    assert shape(read(path, "struct point"))[1:] == POINT[1:]  # char is unsigned there


@clang
@pytest.mark.parametrize(("target", "what"), [("i686-linux-gnu", "32-bit little-endian"),
                                              ("powerpc64-linux-gnu", "64-bit big-endian")])
def test_other_machines(target: str, what: str, tmp_path: Path) -> None:
    path = compiled(tmp_path, "clang", f"--target={target}", "-g")
    assert what in refused("--diff", "pfmlib_event_t", path)


def test_an_array_whose_elements_have_no_type(tmp_path: Path) -> None:
    """In the abbreviations DW_AT_type of arrays is overwritten with another attribute."""
    out = compiled(tmp_path, "gcc", "-gdwarf-4")
    data = out.read_bytes()
    assert data.count(b"\x01\x01\x49\x13") == 1
    out.write_bytes(data.replace(b"\x01\x01\x49\x13", b"\x01\x01\x64\x13"))
    assert ("z", 128, 128, "unsigned", "void") in shape(read(out, "point"))


def test_damaged_files_are_errors_of_ours(tmp_path: Path) -> None:
    """Bytes changed at random: an answer or a LayoutError, nothing else."""
    data = compiled(tmp_path, "gcc", "-g").read_bytes()
    rng, path, errors = random.Random(7), tmp_path / "damaged.o", 0
    for _ in range(300):
        broken = bytearray(data)
        for _ in range(rng.choice([1, 4, 40])):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        path.write_bytes(broken[:rng.choice([len(broken), rng.randrange(len(broken))])])
        try:
            with dwarf.opened(path) as info:
                info.layout("shape_t")
        except LayoutError:
            errors += 1
    assert errors > 50


# ---- --diff ------------------------------------------------------------------------

def differs(*args: object) -> str:
    done = pypfm("layout", "--diff", *args)
    assert (done.returncode, done.stderr) == (8, "")
    return done.stdout


def test_the_two_forms_side_by_side() -> None:
    lines = differs("pfm3:pfmlib_mont_etb_t", "pfm3-manual:pfmlib_mont_etb_t").splitlines()
    assert lines[0].split() == ["pfm3:", "pfmlib_mont_etb_t,", "12", "bytes", "pfm3-manual:", "pfmlib_mont_etb_t,", "16", "bytes"]
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "0 1 unsigned char etb_used 0 1 unsigned char etb_used",
        "4 4 unsigned int etb_plm 4 4 unsigned int etb_plm",
        "> 8 1 unsigned char etb_ds",
        "8 1 unsigned char etb_tm | 9 1 unsigned char etb_tm",
        "9 1 unsigned char etb_ptm | 10 1 unsigned char etb_ptm",
        "10 1 unsigned char etb_ppm | 11 1 unsigned char etb_ppm",
        "11 1 unsigned char etb_brt | 12 1 unsigned char etb_brt", ""]


def test_all_types_of_two_libraries() -> None:
    text = differs("pfm3", "pfm3-manual")
    assert {line.split(",")[0] for line in text.splitlines() if line.startswith("pfm3: ")} == {
        f"pfm3: {name}" for name in (
            "pfmlib_mont_etb_t", "pfmlib_mont_input_param_t", "pfmlib_mont_output_param_t",
            "pfmlib_ita2_input_param_t", "pfmlib_ita2_output_param_t")}
    assert "(no such type)" in differs("pfm3", "pfm4")


@pytest.mark.parametrize(("left", "right"), [
    ("pfmlib_event_t", "pfm3-manual"), ("pfm3", "pfm3:pfmlib_event_t"), ("pfm4:struct perf_event_attr", "perf_event_attr"),
    ("pfmlib_ita2_opcm_t", "pfmlib_ita2_opcm_t")])
def test_the_same(left: str, right: str) -> None:
    done = pypfm("layout", "--diff", left, right)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 type compared, no difference\n", "")


def test_against_a_library_file(tmp_path: Path) -> None:
    library = build_library(PFM4, tmp_path, "-g")
    done = pypfm("layout", "--diff", "pfm4", library)
    assert done.returncode == 0
    assert done.stdout.endswith("types compared, no difference\n")
    assert int(done.stdout.split()[0]) >= 6
    assert pypfm("layout", "--diff", "pfm_pmu_info_t", library).returncode == 0
    assert pypfm("layout", "--diff", f"{library}:perf_event_attr", "pfm4").returncode == 0
    assert "num_fixed_cntrs" in differs("pfm_event_info_t", f"{library}:pfm_pmu_info_t")


@pytest.mark.parametrize("library", [PFM3, PFM4], ids=lambda library: library.name)
def test_kinds_of_types_and_members_are_those_of_dwarf(library: Library, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Unions and enumerations are called so, whether a layout is from our headers or from a file."""
    with dwarf.opened(debug_library(library, tmp_path_factory)) as info:
        found = {name: info.layout(name.rpartition(" ")[2]) for name in layout.types(library.name)}
    kinds, enums = set(), 0
    for name, theirs in found.items():
        assert theirs is not None
        ours = layout.describe(name, library.name)
        assert (ours.kind, ours.size) == (theirs.kind, theirs.size)
        assert [(at, m.is_enum) for at, m in ours.flat()] == [(at, m.is_enum) for at, m in theirs.flat()]
        kinds.add(theirs.kind)
        enums += sum(m.is_enum for _, m in theirs.flat())
    assert kinds == {"struct", "union"}
    assert enums > 4


def test_json_and_terminal() -> None:
    done = pypfm("layout", "--diff", "pfm3", "pfm3-manual", "--json")
    data = json.loads(done.stdout)
    validate(data, "layout")
    assert done.returncode == 8
    assert [t["left"]["name"] for t in data["types"] if not t["same"]] == [
        d.left.name for d in layout.diff("pfm3", "pfm3-manual") if d.left and not d.same]
    row = next(r for t in data["types"] if not t["same"] for r in t["rows"] if r["path"] == "etb_ds")
    assert (row["left"], row["right"]["offset"], row["same"]) == (None, 8, False)
    shown = on_terminal(120, "layout", "--diff", "pfm3:pfmlib_event_t", "pfm3-manual")
    assert shown == "1 type compared, no difference\n"


def test_diff_on_a_terminal_is_a_table() -> None:
    lines = on_terminal(120, "layout", "--diff", "pfm3:pfmlib_mont_etb_t", "pfm3-manual", status=8).splitlines()
    assert any(set(line.strip()) == {"\u2500"} for line in lines)
    assert "> 8 1 unsigned char etb_ds" in [" ".join(line.split()) for line in lines]


# ---- the rest of the command line ---------------------------------------------------

@pytest.mark.parametrize("library", [name for name in LIBRARIES if layout.types(name)])
def test_json_follows_its_schema(library: str) -> None:
    data = json.loads(pypfm("layout", "--library", library, "--json").stdout)
    validate(data, "layout")
    assert [t["name"] for t in data["types"]] == layout.types(library)
    assert data == {"types": [layout.describe(name, library).to_json() for name in layout.types(library)]}
    broken = json.loads(json.dumps(data))
    del broken["types"][0]["members"][0]["offset"]
    with pytest.raises(jsonschema.ValidationError):
        validate(broken, "layout")


def test_a_library_without_structures() -> None:
    for form in ((), ("--c",), ("--ctypes",), ("--json",)):
        done = pypfm("layout", "--library", "perfex", *form)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", "pypfm layout: the headers of perfex declare no structure\n")


@pytest.mark.long
def test_a_file_whose_name_has_a_colon(tmp_path: Path) -> None:
    directory = tmp_path / "a:b"
    directory.mkdir()
    library = build_library(PFM3, directory, "-g")
    for side in (library, f"{library}:pfmlib_event_t"):
        done = pypfm("layout", "--diff", side, "pfm3")
        assert (done.returncode, done.stderr) == (0, "")
    assert pypfm("layout", "--diff", "", ":").stderr.startswith("pypfm layout: of which type? Give FILE:TYPE, or")


def test_unknown_types_and_forms() -> None:
    assert refused("pfmlib_event") == (
        "pypfm layout: no library has a structure, union, enumeration or function 'pfmlib_event'; the nearest are"
        " pfmlib_event_t, pfm_find_event, pfmlib_reg_t\n")
    assert "pfm4 has no structure" in refused("pfmlib_event_t", "--library", "pfm4")
    assert "pfm4 has one form only; pfm3 has" in refused("pfm_pmu_info_t", "--as", "manual")
    assert refused("x" * 5000).count("x") < 100


@pytest.mark.parametrize("args", [
    ("--json", "--c"), ("--library", "pfm5"), ("--diff", "pfm3"), ("--diff", "pfm3", "pfm4", "--c"),
    ("pfmlib_event_t", "--diff", "pfm3", "pfm4"), ("--as", "printed")])
def test_wrong_usage(args: tuple[str, ...]) -> None:
    done = pypfm("layout", *args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_struct_as_a_word_of_its_own() -> None:
    once = pypfm("layout", "perf_event_attr").stdout
    assert once.startswith("struct perf_event_attr {")
    for words in (("struct", "perf_event_attr"), ("struct perf_event_attr",), ("perf_event_attr_t",)):
        assert pypfm("layout", *words).stdout == once


def test_a_type_with_two_forms_says_so() -> None:
    done = pypfm("layout", "pfmlib_mont_etb_t")
    assert done.stderr == "pypfm layout: pfmlib_mont_etb_t is pfm3's; pfm3-manual has another layout (see --library)\n"
    manual = pypfm("layout", "pfmlib_mont_etb_t", "--as", "manual")
    assert manual.stderr == ""
    assert manual.stdout == pypfm("layout", "pfmlib_mont_etb_t", "--library", "pfm3-manual").stdout != done.stdout
    assert pypfm("layout", "pfmlib_mont_etb_t", "--as", "header", "--library", "pfm3-manual").stdout == done.stdout


def test_help_tells_the_exit_status() -> None:
    text = " ".join(run(*pypfm("layout", "--help").args).stdout.split())
    assert "0 if the layouts are the same and 8 if they differ" in text


@gcc
def test_a_file_has_its_own_form_of_a_type(tmp_path: Path) -> None:
    source = "typedef struct { unsigned short bits[3]; } pfmlib_regmask_t; pfmlib_regmask_t mask;"
    theirs = compiled(tmp_path, "gcc", "-g", source=source)
    (found,) = layout.diff(f"{theirs}:pfmlib_regmask_t", "pfm3")
    assert not found.same
    (same,) = layout.diff(f"{theirs}:pfmlib_regmask_t", f"{theirs}:pfmlib_regmask_t")
    assert same.same
