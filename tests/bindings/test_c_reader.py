"""The reader of C headers: what the bindings, the C reference and the manual pages are made of."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from conftest import ROOT
from native import CC, headers
from pypfm.config import LIBRARIES, Library

sys.path.insert(0, str(ROOT / "csrc/bindings"))

from c_reader import Header, Symbol, read

HEADER = """\
/* What it is about. */
#ifndef LIB_H
#define LIB_H
#include <stdint.h>
#include <other.h>
/* A group. */
#define LIB_TWO\t2\t/* twice one */
#define LIB_TWICE(x) \\
\t((x) * LIB_TWO)

/** Kinds. */
typedef enum { LIB_NONE, LIB_ONE = 1 << 3, LIB_LAST = LIB_ONE | LIB_TWO } lib_kind_t;

/** A thing. */
struct lib_thing {
\tuint32_t\tbits:3;\t/* three */
#ifdef LIB_MORE
\tint\t\tmore;
#endif
\tunion {
\t\tchar\tname[LIB_TWO * 4];
\t\tother_t\t*next;
\t};
};

/*
 * Make one.
 *
 * :param kind: which
 */
static inline int
lib_make(lib_kind_t kind,
\t const struct lib_thing *thing)
{
\t/* nothing to do */
\treturn kind == LIB_NONE && thing;
}
#endif
"""


def read_text(directory: Path, *define: str) -> tuple[Header, dict[str, Symbol]]:
    """The header and its symbols, with another directory for what it includes."""
    for name, text in {"own/lib.h": HEADER, "system/other.h": "typedef struct other other_t;\n#define OTHER 1\n"}.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text)
    unit = read(["lib.h"], [directory / "own"], define, [directory / "system"], CC)
    assert list(unit.headers) == ["lib.h"]
    assert {"other_t", "uint32_t"} <= set(unit.system)
    header = unit.headers["lib.h"]
    return header, {symbol.name: symbol for symbol in header.all()}


def test_all_that_is_declared(tmp_path: Path) -> None:
    header, symbols = read_text(tmp_path)
    assert header.introduction == "What it is about."
    assert [text for _, text in header.notes] == ["A group."]
    assert [(s.name, s.role) for s in header.symbols] == [
        ("LIB_TWO", "macro"), ("LIB_TWICE", "macro"), ("lib_kind_t", "enum"), ("lib_thing", "struct"), ("lib_make", "func")]
    assert (symbols["LIB_TWO"].value, symbols["LIB_TWO"].text, symbols["LIB_TWO"].above) == ("2", "twice one", "A group.")
    assert (symbols["LIB_TWICE"].parameters, symbols["LIB_TWICE"].text) == (("x",), "")
    assert [(e.name, e.value) for e in symbols["lib_kind_t"].members] == [("LIB_NONE", ""), ("LIB_ONE", "8"), ("LIB_LAST", "10")]
    assert symbols["lib_thing"].c_name == "struct lib_thing"
    assert [m.name for m in symbols["lib_thing"].members] == ["bits", ""]
    assert (symbols["bits"].declaration, symbols["bits"].width, symbols["bits"].text) == ("uint32_t bits", 3, "three")
    assert symbols["name"].declaration == "char name[LIB_TWO * 4]"
    assert symbols["lib_make"].declaration == "static inline int lib_make(lib_kind_t kind, const struct lib_thing *thing)"
    assert symbols["lib_make"].text == "Make one.\n\n:param kind: which"


def test_macros_that_are_defined_choose(tmp_path: Path) -> None:
    _, symbols = read_text(tmp_path, "LIB_MORE")
    assert [m.name for m in symbols["lib_thing"].members] == ["bits", "more", ""]


def test_a_header_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "lib.h").write_text("#include <no_such.h>\n")
    with pytest.raises(SystemExit, match=r"no_such\.h"):
        read(["lib.h"], [tmp_path], cc=CC)


# Headers that declare nothing when they are read alone here.
ELSEWHERE = {"perfmon/perfmon_v2.h": "stops a program that includes it first", "perfmon/pfmlib_os_ia64.h": "of an IA-64 host",
             "perfmon/pfmlib_comp_ia64.h": "includes another one"}


@pytest.mark.parametrize("name", [name for name, library in LIBRARIES.items() if not library.form_of])
def test_public_headers_are_plain(name: str) -> None:
    """No macro of ours says which program reads them, and each is read alone."""
    library = LIBRARIES[name]
    for path in library.include_dir.rglob("*.h"):
        assert not re.search(r"PYPFM_|CFFI|PYCPARSER", path.read_text(encoding="utf-8")), path
        included = path.relative_to(library.include_dir).as_posix()
        if included in ELSEWHERE:
            continue
        assert included in read([included], [library.include_dir], cc=CC).headers


RESERVED = re.compile(r"\w*(reserved|rsvd)\w*|res1|cap_____res")  # names that say it themselves


def without_description(symbols: Iterable[Symbol]) -> Iterator[str]:
    """Types, functions and members that have no comment; what is above an enumeration is its own."""
    for symbol in symbols:
        told = symbol.text or symbol.role in ("macro", "enumerator") or not symbol.name or RESERVED.fullmatch(symbol.name)
        if not told and not (symbol.role == "enum" and symbol.above):
            yield symbol.name
        yield from (f"{symbol.name}.{name}" for name in without_description(symbol.members))


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=list(LIBRARIES))
def test_all_that_is_public_is_described(library: Library) -> None:
    """In the headers, in each form; and so in the mirror, whose documentation is made of the same."""
    names = [name for name in headers(library) if name not in ELSEWHERE]
    unit = read(names, [library.include_dir], library.defines, cc=CC)
    assert [name for header in unit.headers.values() for name in without_description(header.symbols)] == []
    mirror = importlib.import_module(f"pypfm.{library.module}")
    for header in unit.headers.values():
        for symbol in header.symbols:
            if symbol.role in ("struct", "union", "type", "func") and symbol.name in mirror.__all__:
                described = inspect.getdoc(getattr(mirror, symbol.name)) or ""
                assert described, symbol.name
                told = [m.name for m in symbol.all() if m.role == "member" and m.name and not RESERVED.fullmatch(m.name)]
                assert [name for name in told if f":ivar {name}: " not in described] == [], symbol.name


def test_what_is_not_described_is_found(tmp_path: Path) -> None:
    (tmp_path / "lib.h").write_text("/** One. */\nstruct one {\n\tint told;\t/* yes */\n\tint untold;\n\tint reserved[2];\n};\n"
                                    "typedef int plain;\nint called(void);\n")
    unit = read(["lib.h"], [tmp_path], cc=CC)
    assert list(without_description(unit.headers["lib.h"].symbols)) == ["one.untold", "plain", "called"]
