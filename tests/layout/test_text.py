"""pypfm layout as text: real pahole prints the same for every type, byte for byte."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path

import pytest

from native import CC, build, headers
from pypfm import layout
from pypfm.config import LIBRARIES
from pypfm.layout import TypeLayout, dwarf, mirrors
from pypfm.layout.model import LayoutError
from terminal import pypfm
from tools import needs
from valid import validate

# gcc's names of types in its debug information, and the header's in the same number of columns.
GCC_S_NAMES = {"long long unsigned int": "unsigned long long    ", "long unsigned int": "unsigned long    ",
               "short unsigned int": "unsigned short    "}


def object_file(library: str, directory: Path) -> Path:
    """All headers, compiled by gcc with debug information; a union has its name as a tag: pahole prints
    nothing of unions that have only a typedef's."""
    lib = LIBRARIES[library]
    text = build(CC, "-E", "-P", "-DPFM_OWN_PERF_EVENT", *lib.cflags, "-x", "c", "-",
                 source="".join(f"#include <{h}>\n" for h in headers(lib)))
    text = re.sub(r"typedef union \{((?:[^{}]|\{[^}]*\})*)\} (pf\w+);", r"typedef union \2 {\1} \2;", text)
    out = directory / f"{library}.o"
    build("gcc", "-std=gnu11", "-g", "-fno-eliminate-unused-debug-types", "-w", "-c", "-x", "c", "-", "-o", out, source=text)
    return out


def pahole(file: Path, found: list[TypeLayout]) -> str:
    """What it prints of types, one after the other."""
    return build(needs("pahole"), "-C", ",".join(x.name.rpartition(" ")[2] for x in found), file)


def as_header(text: str) -> str:
    for gcc, header in GCC_S_NAMES.items():
        text = text.replace(gcc, header)
    return text


def tagged(found: TypeLayout) -> str:
    """The text of a type, a union with the tag that object_file() gave it."""
    text = layout.text(found)
    return text.replace("typedef union {", f"union {found.name} {{").replace(f"}} {found.name};", "};") if found.kind == "union" else text


@pytest.mark.needs("gcc")
@pytest.mark.parametrize("library", [name for name in LIBRARIES if layout.types(name)])
def test_pahole_prints_the_same(library: str, tmp_path: Path) -> None:
    found = [layout.describe(name, library) for name in layout.types(library)]
    assert "".join(map(tagged, found)) == as_header(pahole(object_file(library, tmp_path), found))


@pytest.mark.needs("clang")
def test_pahole_prints_the_same_from_clang(tmp_path: Path) -> None:
    """clang names the types as the header does; only types without nested ones, which pahole prints twice."""
    lib = LIBRARIES["pfm3"]
    out = tmp_path / "types.o"
    source = "".join(f"#include <{h}>\n" for h in headers(lib))
    build("clang", "-std=gnu11", "-g", "-fno-eliminate-unused-debug-types", "-w", *lib.cflags, "-c", "-x", "c", "-", "-o", out, source=source)
    flat = [layout.describe(name, "pfm3") for name in layout.types("pfm3")]
    flat = [x for x in flat if x.kind != "union" and not any(m.members for m in x.members)]
    assert len(flat) > 20
    assert "".join(map(layout.text, flat)) == pahole(out, flat)


STRUCTURE = """
struct inner { long a; char b; };
struct sample {
    char first;
    unsigned a:3;
    unsigned b:30;
    struct { char c; long d; } plain;
    union { int i; char text[7]; };
    struct inner whole;
    double x[2][3];
    char *const *names;
    short last;
};
struct sample object;
"""


def sample(directory: Path) -> TypeLayout:
    out = directory / "sample.o"
    build(CC, "-g", "-c", "-x", "c", "-", "-o", out, source=STRUCTURE)
    with dwarf.opened(out) as info:
        found = info.layout("sample")
    assert found is not None
    return found


def test_holes_of_a_structure_that_has_all_kinds(tmp_path: Path) -> None:
    """By hand: the layout that the System V ABI for x86-64 gives."""
    found = sample(tmp_path)
    assert found.name == "struct sample"
    assert [(h.after, h.offset, h.bits) for h in found.holes] == [("a", 1, 21), ("b", 7, 2)]
    assert (found.size, found.padding, found.cachelines) == (112, 6, 2)
    paths = {path: (m.first_bit, m.end_bit - m.first_bit) for path, m in found.flat()}
    assert paths["a"] == (8, 3)
    assert paths["b"] == (32, 30)
    assert paths["plain.d"] == (128, 64)
    assert paths["text"] == (192, 56)
    assert paths["x"] == (8 * 48, 8 * 48)
    assert found.at(0) == "first"
    assert found.at(24) == "i/text"
    assert found.at(17) == "plain.d"
    assert found.at(found.size - 1) == f"padding at {found.size - 1}"


@pytest.mark.needs("gcc")
def test_pahole_prints_the_same_of_holes_among_bit_fields(tmp_path: Path) -> None:
    out = tmp_path / "bits.o"
    source = "struct bits { int a; int b:3; int c:2; double d; int e:9; double f; char g:2; int h; } object;"
    build("gcc", "-g", "-c", "-x", "c", "-", "-o", out, source=source)
    with dwarf.opened(out) as info:
        found = info.layout("bits")
    assert found is not None
    assert layout.text(found) == as_header(pahole(out, [found]))


def test_the_example_of_the_module() -> None:
    assert doctest.testmod(layout) == (0, 1)


def test_all_types_are_printed_one_after_the_other() -> None:
    done = pypfm("layout", "--library", "pfm4")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "\n".join(layout.text(layout.describe(name, "pfm4")) for name in layout.types("pfm4"))
    assert len(re.findall(r"\} pf\w+;", pypfm("layout").stdout)) == len(layout.types("pfm3"))


def test_an_unknown_library() -> None:
    with pytest.raises(LayoutError, match=r"no library 'libfoo'; libraries are pfm3, "):
        layout.describe("pfmlib_event_t", "libfoo")


def test_no_type_is_void() -> None:
    assert dwarf.spelling(None) == "void"


# ---- enumerations and functions ----------------------------------------------------------

def test_an_enumeration_has_its_size_and_values() -> None:
    done = pypfm("layout", "pfm_os_t")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == """typedef enum {
\tPFM_OS_NONE = 0,
\tPFM_OS_PERF_EVENT = 1,
\tPFM_OS_PERF_EVENT_EXT = 2,
\tPFM_OS_MAX = 3,

\t/* size: 4, constants: 4 */
} pfm_os_t;
"""
    by_tag, with_enum = (pypfm("layout", *words).stdout for words in (["perf_type_id"], ["enum", "perf_type_id"]))
    assert by_tag == with_enum
    assert by_tag.startswith("enum perf_type_id {\n\tPERF_TYPE_HARDWARE = 0,\n")


def test_values_that_need_eight_bytes() -> None:
    found = layout.declaration("perf_callchain_context")
    assert isinstance(found, layout.Enumeration)
    assert (found.name, found.size, dict(found.values)["PERF_CONTEXT_USER"] % (1 << 64)) == ("enum perf_callchain_context", 8, -512 % (1 << 64))


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_function_has_its_signature(library: str) -> None:
    """As the header has it: the compiler takes it for the same function."""
    lib = LIBRARIES[library]
    found = [layout.declaration(name, library) for name in mirrors.api_of(library)._exported]
    assert all(isinstance(x, layout.Function) for x in found)
    source = "".join(f"#include <{h}>\n" for h in headers(lib)) + "".join(x.text for x in found if isinstance(x, layout.Function))
    build(CC, "-std=gnu11", "-Werror", "-fsyntax-only", *lib.cflags, "-x", "c", "-", source=source)


def test_the_signature_of_one_function() -> None:
    done = pypfm("layout", "pfm_get_event_info", "--library", "pfm4")
    assert done.stdout == "pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output);\n"
    assert pypfm("layout", "pfm_regmask_set").stdout.startswith("static inline int pfm_regmask_set(")


def test_names_of_each_kind_as_json() -> None:
    done = pypfm("layout", "--json", "pfm_os_t", "pfm_find_event", "pfm_pmu_info_t")
    data = json.loads(done.stdout)
    validate(data, "layout")
    assert [row["kind"] for row in data["types"]] == ["enum", "function", "struct"]


@pytest.mark.parametrize(("args", "said"), [
    (["pfm_find_evet"], "no library has a structure, union, enumeration or function 'pfm_find_evet'; the nearest are pfm_find_event, "),
    (["pfm_os_t", "--c"], "pfm_os_t is no structure or union: --c and --ctypes declare those"),
    (["pfm_find_event", "--ctypes"], "pfm_find_event is no structure or union: --c and --ctypes declare those"),
    (["struct"], "struct of which name? Write 'struct NAME'"),
    (["--diff", "pfm_os_t", "pfm4"], "pfm_os_t is no structure or union: only those are compared"),
    (["--diff", "pfm4:pfm_os_t", "pfm4:pfm_find_event"], "pfm_os_t is no structure or union: only those are compared"),
])
def test_what_there_is_not(args: list[str], said: str) -> None:
    done = pypfm("layout", *args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert said in done.stderr


def test_elements_of_an_array_without_any() -> None:
    assert layout.Member("a", "long", "signed", 0, 0, dimensions=(0,)).element_size == 0
    assert layout.Member("a", "long", "signed", 0, 48, dimensions=(2, 3)).element_size == 8
