"""The shared library, the extension module and the mirror offer exactly what the headers declare."""

from __future__ import annotations

from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from header_names import (
    NOT_API,
    constants,
    enumerators,
    extern_functions,
    incomplete_types,
    inline_functions,
    macros,
    one_argument_macros,
    typedefs,
)
from native import CC, HEADERS, PFM3, build, tool
from pypfm import _pfm3, pfm3


def exported(path: Path) -> dict[str, str]:
    """Exported symbols and their kinds, as nm prints them."""
    nm = tool("nm")
    if nm is None:
        pytest.skip("no nm (binutils) on this machine")
    rows = [line.split() for line in build(nm, "-D", "--defined-only", path).splitlines()]
    return {row[-1]: row[-2] for row in rows}


def dynamic_entries(path: Path, tag: str) -> list[str]:
    with path.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        return [getattr(t, tag.removeprefix("DT_").lower()) for t in section.iter_tags(tag)]


def test_library_exports_the_declared_functions(libpfm3: Path) -> None:
    symbols = exported(libpfm3)
    assert set(symbols) == extern_functions()
    assert set(symbols.values()) == {"T"}


def test_soname(libpfm3: Path) -> None:
    assert libpfm3.name == "libpfm.so.3"
    assert dynamic_entries(libpfm3, "DT_SONAME") == ["libpfm.so.3"]


def test_library_needs_only_libc(libpfm3: Path) -> None:
    assert dynamic_entries(libpfm3, "DT_NEEDED") in ([], ["libc.so.6"])


def test_extension_exports_only_its_initialisation() -> None:
    path = Path(_pfm3.__file__)
    assert path.name == "_pfm3.abi3.so"
    assert exported(path) == {"PyInit__pfm3": "T"}


# ---- the mirror ---------------------------------------------------------------

def missing(names: list[str] | frozenset[str]) -> list[str]:
    return sorted(n for n in names if not hasattr(pfm3, n) or n not in pfm3.__all__)


def test_mirror_has_every_function() -> None:
    assert len(extern_functions()) > 60
    assert missing(extern_functions()) == []


def test_mirror_has_every_inline_function() -> None:
    assert {"pfmlib_popcnt", "pfm_regmask_isset", "pfm_self_start"} <= inline_functions()
    assert missing(inline_functions()) == []


def test_mirror_has_every_type() -> None:
    assert {"pfm_err_t", "pfmlib_ita2_ism_t", "pfmlib_options_t"} <= typedefs()
    assert missing(typedefs() - incomplete_types()) == []


def test_mirror_knows_incomplete_types_only_by_name() -> None:
    """A type without definition has no size: a program can hold pointers to it, not make one."""
    assert incomplete_types() == {"pfarg_start_t"}
    for name in incomplete_types():
        assert pfm3.ffi.typeof(f"{name} *").item.kind == "struct"
        with pytest.raises(pfm3.ffi.error, match="size"):  # not .fields: aborts in cffi 2.1.1
            pfm3.ffi.sizeof(name)


def test_mirror_has_every_enumerator() -> None:
    assert {"PFMLIB_ITA2_ISM_IA64", "PFMLIB_MONT_EAR_TLB_MODE"} <= enumerators()
    assert missing(enumerators()) == []


def test_mirror_has_every_macro() -> None:
    assert {"PFMLIB_REG_MAX", "PMU_MONT_NUM_ETB"} <= set(constants())
    assert missing(constants()) == []
    assert missing(one_argument_macros()) == []


def test_macros_without_place_in_the_mirror_are_listed() -> None:
    others = {n for n, p in macros().items() if p is not None and len(p) != 1}
    assert others <= set(NOT_API)
    assert set(NOT_API) <= set(macros())


def test_constants_have_the_values_of_c(tmp_path: Path) -> None:
    program = tmp_path / "constants"
    source = "".join(f"#include <{h}>\n" for h in HEADERS) + "int main(void) {\n" + "".join(
        f'printf("{n} %ld\\n", (long)({n}));\n' for n in constants()) + "return 0; }\n"
    build(CC, "-std=c11", *PFM3.cflags, "-x", "c", "-", "-o", program, source=source)
    answers = dict(line.split() for line in build(program).splitlines())
    assert {n: getattr(pfm3, n) for n in constants()} == {n: int(v) for n, v in answers.items()}


@pytest.mark.parametrize(("macro", "argument", "value"), [
    ("PFMLIB_MAJ_VERSION", 0x3000A, 3), ("PFMLIB_MIN_VERSION", 0x3000A, 10),
    ("PFMLIB_BVSIZE", 0, 0), ("PFMLIB_BVSIZE", 1, 1), ("PFMLIB_BVSIZE", 64, 1), ("PFMLIB_BVSIZE", 65, 2),
    ("PFMLIB_BVSIZE", 512, 8),
])
def test_one_argument_macro(macro: str, argument: int, value: int) -> None:
    assert macro in one_argument_macros()
    assert getattr(pfm3, macro)(argument) == value


def test_nothing_else_in_the_mirror() -> None:
    python = {"byref", "c_char_p", "c_int", "c_long", "c_size_t", "c_uint", "c_ulong", "create_string_buffer",
              "ffi", "lib"}
    declared = {*extern_functions(), *inline_functions(), *typedefs(), *constants(), *one_argument_macros()}
    assert set(pfm3.__all__) - python <= declared
