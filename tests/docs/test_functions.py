"""csrc/functions.csv: a row for every function, in words that the documentation knows; what functions call agrees with it.

Threads, initialisation and memory are tried by tests/c/functions_*.c.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from html import escape
from importlib import import_module
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_DT_FLAGS_1

from conftest import ROOT, once, run
from header_names import HeaderNames
from native import CC, attempt, build, public_symbols
from pypfm.config import LIBRARIES
from tools import needs, tool

sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from function_facts import TABLE, Facts, facts, grouped, statements
from library_headers import headers_of

NAMES = [name for name, library in LIBRARIES.items() if not library.form_of]
every_library = pytest.mark.parametrize("name", NAMES)
ROWS = [row for name in NAMES for row in facts(name).values()]

WORDS = {"threads": {"any", "reading", "alone", "locked"}, "needs_init": {"yes", "no"}, "environment": {"yes", "no"},
         "signals": {"yes", "no", "waits", "running"}, "lasts": {"", "unloading", "exit"},
         "export": {"3.10", "4.13.0", "NetBSD", "IRIX", "text", "own", "inline"}}


# ---- the table ----------------------------------------------------------------------

def differences(rows: Iterable[str], exported_names: Iterable[str], inline: Iterable[str]) -> set[str]:
    """Functions without a row, and rows without a function."""
    return set(rows) ^ (set(exported_names) | set(inline))


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_row_for_every_function(name: str) -> None:
    """Of the shared library, as nm -D shows it, and of its headers; both ways."""
    library = LIBRARIES[name]
    inline = HeaderNames(library, {}, []).inline_functions
    assert differences(facts(library.form_of or name), public_symbols(library), inline) == set()


def test_control_a_row_too_few_and_one_too_many() -> None:
    assert differences(["a", "b"], ["a"], ["c"]) == {"b", "c"}


def test_no_row_twice() -> None:
    lines = TABLE.read_text(encoding="ascii").splitlines()
    assert len(lines) - 1 == len(ROWS) == len({(row.library, row.function) for row in ROWS})


def test_words() -> None:
    """Only those that the documentation has a phrase for; what needs another column has it."""
    for row in ROWS:
        for column, words in WORDS.items():
            assert getattr(row, column) in words, (row.function, column)
        assert bool(row.stays) == bool(row.lasts), row.function
        assert row.needs_init == "no" or row.threads == "reading", row.function
        assert row.evidence, row.function
        assert re.fullmatch(r"not known|never|NetBSD \d\.\d", row.since), row.function
        assert not re.search(r"``|\n", row.evidence), row.function


# They say that a call is too early in another way than by a code of their own; or refer to another function.
OTHERWISE = {"pfm_get_event_next", "pfm_pmu_validate", "pfm_get_event_encoding", "pfm_get_perf_event_encoding"}


@pytest.mark.parametrize("name", ["pfm3", "pfm4"])
def test_comments_of_the_headers_agree(name: str) -> None:
    """What fails before initialisation has the code for that; what is to be freed is said to be."""
    comments = {symbol.name: symbol.text for header in headers_of(name) for symbol in header.all() if symbol.role == "func"}
    for row in facts(name).values():
        text = comments[row.function]
        assert ("_ERR_NOINIT" in text) == (row.needs_init == "yes") or row.function in OTHERWISE, row.function
        assert not re.search(r"[Nn]eeds\s+no\s+initialisation", text) or row.needs_init == "no", row.function
        if row.function != "pfm_get_os_event_encoding":  # the members of its structures say so
            assert bool(row.frees) == bool(re.search(r"frees? with free|to\s+free", text)), row.function


@every_library
def test_memory_is_received_in_a_parameter(name: str) -> None:
    """A parameter of the prototype, of which a member may be named."""
    header = HeaderNames(LIBRARIES[name], {}, []).preprocessed
    for row in facts(name).values():
        match = re.search(rf"\b{row.function}\s*\(([^;{{]*)\)", header)
        assert match, row.function
        parameters = set(re.findall(r"(\w+)\s*(?:,|$)", match[1]))
        for place in [*row.frees.split(), *row.stays.split()]:
            assert place.partition(".")[0].rstrip("?") in parameters | {"return"}, (row.function, place)


@every_library
def test_how_long_memory_of_a_library_lasts(name: str) -> None:
    """A library that is never unloaded says so to the loader."""
    with LIBRARIES[name].path.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        flags = [tag.entry.d_val for tag in section.iter_tags("DT_FLAGS_1")]
    stays = any(value & ENUM_DT_FLAGS_1["DF_1_NODELETE"] for value in flags)
    assert {row.lasts for row in facts(name).values()} <= {"", "exit" if stays else "unloading"}


def test_phrases() -> None:
    row = Facts("pfm4", "f", "reading", "yes", "yes", "no", "args.a b?", "out.x out.y out.z", "exit", "own", "never", "we say so")
    assert dict(statements(row)) == {
        "Threads": "any, once the library is initialised; no thread may change the environment meanwhile",
        "Signal handlers": "not allowed",
        "Memory": "the caller frees what it receives in ``args->a``, and in ``b`` if that was NULL, with free(); "
                  "``out->x``, ``out->y`` and ``out->z`` are the library's, until the process ends",
        "Since": "in no version of the original (we say so)"}
    assert dict(statements(facts("pfm3")["pfm_get_event_code"]))["Memory"] == "nothing to free"


def test_lists_of_functions() -> None:
    """Prefixes stand for many functions only if all of them are meant."""
    named = grouped("pfm3", "threads", "any")
    assert {"pfm_ita_*", "pfm_ita2_*", "pfm_mont_*", "pfm_get_version"} <= set(named)
    assert not {"pfm_get_*", "pfm_find_*"} & set(named)
    meant = {name for name in facts("pfm3") if any(
        re.fullmatch(pattern.replace("*", ".*"), name) for pattern in named)}
    assert meant == {name for name, row in facts("pfm3").items() if row.threads == "any"}


# ---- what functions call --------------------------------------------------------------

# POSIX.1-2017, 2.4.3, those of them that are used; errno is a thread's own.
SAFE = {"memchr", "memcmp", "memcpy", "memmove", "memset", "strchr", "strcmp", "strcpy", "strcspn", "strlen", "strnlen",
        "strpbrk", "strspn", "strstr", "__errno_location"}
ALLOCATING = {"malloc", "calloc", "realloc", "strdup"}
PARTS = {"pfm3": ["pfm3", "perfmon2", "base", "counting"], "pfm4": ["pfm4", "base"], "pmc": ["pmc", "base", "counting"],
         "perfex": ["perfex", "pfm4/CMakeFiles/pfm4_core.dir", "base", "counting"]}


class Graph:
    """What gcc says that each function calls; calls through pointers are to ``__indirect_call``."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.calls: dict[str, set[str]] = {}
        self.defined: set[str] = set()
        for file in files:
            text = file.read_text(encoding="utf-8")
            self.defined |= set(re.findall(r'^node: \{ title: "([^"]+)" label: "[^"]*" \}', text, re.MULTILINE))
            for caller, called in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
                self.calls.setdefault(caller, set()).add(called)

    def outside(self, function: str) -> set[str]:
        """Functions of other libraries that one comes to; a function that is not there is one of them."""
        seen: set[str] = set()
        rest = {function}
        while rest:
            seen |= rest
            rest = set().union(*(self.calls.get(name, set()) for name in rest)) - seen
        return seen - self.defined


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The libraries, compiled without optimisation: every call is one."""
    needs("gcc", "cmake", "ninja")

    def fill(directory: Path) -> None:
        cmake = tool("cmake")
        options = ["-DCMAKE_C_COMPILER=gcc", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-fcallgraph-info",
                   "-DPYPFM_EXTENSIONS=OFF", "-DPYPFM_TESTS=OFF", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"]
        for command in ([cmake, "-S", ROOT, "-B", directory, "-G", "Ninja", *options],
                        [cmake, "--build", directory, "-j", "2"]):
            done = run(*command, timeout=600)
            assert done.returncode == 0, done.stdout + done.stderr

    return once(tmp_path_factory, "callgraph", fill)


def contradictions(row: Facts, outside: set[str]) -> Iterator[str]:
    """What a function calls, and its row says otherwise."""
    if (row.signals == "yes") != (outside <= SAFE and row.threads != "alone"):
        yield "signals"
    if row.signals in ("waits", "running") and "pthread_sigmask" not in outside:
        yield "signals wait"
    if row.signals == "waits" and ALLOCATING & outside:
        yield "signals and memory"
    if (row.threads == "locked") != ("pthread_mutex_lock" in outside):
        yield "threads"
    if (row.environment == "yes") != bool({"secure_getenv", "getenv"} & outside):
        yield "environment"
    if row.frees and not ALLOCATING & outside:
        yield "frees"


@pytest.mark.long
@every_library
def test_what_functions_call(built: Path, name: str) -> None:
    graph = Graph(file for part in PARTS[name] for file in (built / "csrc" / part).rglob("*.ci"))
    rows = [row for row in facts(name).values() if row.function in public_symbols(LIBRARIES[name])]
    assert {row.function for row in rows} <= graph.defined
    assert [(row.function, what) for row in rows for what in contradictions(row, graph.outside(row.function))] == []


@every_library
def test_what_inline_functions_call(name: str, tmp_path: Path) -> None:
    needs("gcc")
    library = LIBRARIES[name]
    api = HeaderNames(library, {}, [])
    if not api.inline_functions:
        assert not set(facts(name)) - set(public_symbols(library))
        return
    source = "".join(f"#include <{header}>\n" for header in api.headers)
    source += "".join(f"void *address_of_{f}(void) {{ return (void *){f}; }}\n" for f in api.inline_functions)
    build("gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O0", "-fcallgraph-info", *library.cflags, "-x", "c", "-c", "-",
          "-o", tmp_path / "inline.o", source=source)
    graph = Graph(tmp_path.glob("*.ci"))
    titles = {title.rpartition(":")[2]: title for title in graph.defined}
    # pfm_start and pfm_stop, which some call, are the library's.
    own = {function for function in public_symbols(library) if facts(name)[function].signals == "yes"}
    waiting = {function for function in public_symbols(library) if facts(name)[function].signals == "waits"}
    for function in api.inline_functions:
        outside = graph.outside(titles[function]) - own
        outside |= {"pthread_sigmask"} if outside & waiting else set()
        assert list(contradictions(facts(name)[function], outside)) == [], function


def test_control_a_call_that_contradicts(tmp_path: Path) -> None:
    """Of a file's own functions, and by way of them."""
    needs("gcc")
    source = """\
#include <stdlib.h>
#include <string.h>
static char *copy(const char *text) { return strdup(text); }
char *duplicate(void) { return copy(getenv("X")); }
size_t length(const char *text) { return strlen(text); }
int ask(int (*question)(void)) { return question(); }
"""
    build("gcc", "-O0", "-fno-builtin", "-fcallgraph-info", "-x", "c", "-c", "-", "-o", tmp_path / "x.o", source=source)
    graph = Graph(tmp_path.glob("*.ci"))
    row = Facts("pfm3", "f", "any", "no", "no", "yes", "", "", "", "3.10", "not known", "x")
    assert graph.outside("duplicate") == {"getenv", "strdup"}
    assert list(contradictions(row, graph.outside("duplicate"))) == ["signals", "environment"]
    assert list(contradictions(row, graph.outside("length"))) == []
    assert list(contradictions(row, graph.outside("ask"))) == ["signals"]
    assert list(contradictions(row, graph.outside("no_such_function"))) == ["signals"]
    waits = Facts("pfm3", "f", "any", "no", "yes", "waits", "", "", "", "3.10", "not known", "x")
    assert list(contradictions(waits, graph.outside("duplicate"))) == ["signals wait", "signals and memory"]
    assert list(contradictions(waits, {"pthread_sigmask", "getenv"})) == []


# ---- tests/c/functions_*.c ----------------------------------------------------------------

WRONG = {
    "pfm3": [
        ("pfm_get_pmu_type,reading,yes", "pfm_get_pmu_type,any,no", "pfm_get_pmu_type: needs initialisation or not"),
        ("pfm_get_event_name,reading,yes,no,yes,", "pfm_get_event_name,reading,yes,no,yes,name",
         "pfm_get_event_name: 0 to free and 0 that stay; the table has 1 and 0")],
    "pfm4": [
        ("no,fstr,,", "no,,fstr,unloading", "pfm_get_perf_event_encoding: 1 to free and 0 that stay"),
        ("pfm4,pfm_get_version", "pfm4,pfm_get_versions", "pfm_get_versions: in the table, and not tried here"),
        ("pfm4,pfm_get_version", "pfm5,pfm_get_version", "functions.count is 13 (0xd), not 14")],
}


@pytest.mark.parametrize("name", WRONG)
def test_control_a_wrong_table_is_noticed(tmp_path: Path, name: str) -> None:
    library = LIBRARIES[name]
    program = tmp_path / "functions"
    build(CC, "-std=gnu11", "-D_GNU_SOURCE", "-pthread", *library.cflags, ROOT / "tests" / "c" / f"functions_{name}.c",
          "-o", program, *library.libs, "-ldl")
    right = TABLE.read_text(encoding="ascii")
    assert attempt(program, TABLE, "all").returncode == 0
    for old, new, said in WRONG[name]:
        assert old in right
        (tmp_path / "wrong.csv").write_text(right.replace(old, new), encoding="ascii")
        done = attempt(program, tmp_path / "wrong.csv", "all")
        assert done.returncode == 1
        assert said in done.stdout


# ---- where the facts are shown ---------------------------------------------------------------

@pytest.mark.slow
@every_library
def test_the_reference_has_them(site: Path, name: str) -> None:
    """Under each function, in its own description."""
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted((site / "c" / name).glob("*.html")))
    for function, row in facts(name).items():
        _, found, rest = pages.partition(f'id="c.{name}.{function}"')
        assert found, function
        shown = " ".join(re.sub(r"<[^>]+>", "", rest.partition('<dl class="c ')[0]).split())
        for heading, phrase in statements(row):
            assert f"{heading}: {escape(phrase.replace('``', ''), quote=False)}" in shown, (function, heading)


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_pages_of_mirrors_link_them(site: Path, name: str) -> None:
    library = LIBRARIES[name]
    page = (site / "python" / "mirrors" / f"{library.module}.html").read_text(encoding="utf-8")
    mirror = import_module(f"pypfm.{library.module}")
    functions = [f for f in facts(library.form_of or name) if f in mirror.__all__]
    assert len(functions) > 5
    for function in functions:
        described = page.partition(f'id="pypfm.{library.module}.{function}"')[2].partition('<dl class="py ')[0]
        assert f'#c.{library.form_of or name}.{function}"' in described, function


@pytest.mark.slow
def test_the_guarantees_name_functions_of_the_table(site: Path) -> None:
    page = re.sub(r"<[^>]+>", "", (site / "guarantees.html").read_text(encoding="utf-8"))
    for name, column, value in (("pfm3", "threads", "alone"), ("pfm4", "threads", "reading"), ("pfm4", "signals", "yes"),
                                ("pfm3", "frees", "*"), ("pmc", "stays", "*")):
        names = [f if f.endswith("*") else f"{f}()" for f in grouped(name, column, value)]
        assert ", ".join(names) in page, (name, column)


def test_every_manual_page_about_functions_has_them() -> None:
    pages = [path for path in (ROOT / "docs" / "manual").glob("*.rst") if "man-synopsis" in path.read_text(encoding="utf-8")]
    assert len(pages) > 20
    assert [path.name for path in pages if ".. man-facts::" not in path.read_text(encoding="utf-8")] == []
