"""perfex --annotate: counts by function and line, as tables, JSON, a page and stacks, against programs whose counts are known."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from native import CC, build
from perfex_runs import PERFEX, compile_c, counted, environment, perfex, refused
from pypfm.perfex import annotate, annotate_html, annotate_text, events, flame
from pypfm.perfex.model import Measurement, Outcome, Request
from pypfm.perfex.profile import UNKNOWN, Function, Place, Profile
from pypfm.perfex.report import Report
from pypfm.perfex.sources import Source
from tools import needs

COUNTERS = tuple(re.findall(r"^\tX\((\w+), ", (ROOT / "csrc/perfex/tool/r10k.h").read_text(), re.MULTILINE))

# The numbers of lines are those of the tests below.
PROGRAM = """\
#include <stdio.h>
static int a[1000];
static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static void fill(int n)
{
	for (int i = 0; i < n; i++)
		a[i] = i;
}
static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static double b[64];
static void scale(void)
{
	for (int i = 0; i < 64; i++)
		b[i] = b[i] * 3 + 1;
}
int main(void)
{
	fill(1000);
	scale();
	printf("%d\\n", fib(15) + even(20));
	return 0;
}
"""


def compiled(directory: Path, *options: str, text: str = PROGRAM, name: str = "program.c", compiler: str = CC) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    source, out = directory / name, directory / "program"
    source.write_text(text, encoding="utf-8")
    build(compiler, "-O0", *options, source, "-o", out)
    return out


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("valgrind")
    return compiled(tmp_path_factory.mktemp("annotate"), "-g")


@pytest.fixture(scope="module")
def everything(program: Path) -> dict[str, Any]:
    return counted("-a", "-y", "--annotate", program)


@pytest.fixture(scope="module")
def stores(program: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """A report on event 19, and a file of its stacks."""
    path = tmp_path_factory.mktemp("stores") / "a.folded"
    return counted("-e", 19, "--annotate-to", path, program), path


def function(data: dict[str, Any], name: str) -> dict[str, Any]:
    found = [f for f in data["annotation"]["functions"] if f["name"] == name]
    assert len(found) == 1, found
    return found[0]


def line(data: dict[str, Any], number: int, name: str = "program.c") -> dict[str, Any]:
    found = [f for f in data["annotation"]["lines"] if f["line"] == number and Path(f["file"]).name == name]
    assert len(found) == 1, found
    return found[0]


def counts_of(data: dict[str, Any], place: dict[str, Any]) -> dict[int, int | None]:
    return dict(zip(data["annotation"]["events"], place["counts"], strict=True))


# ---- counts by function and line ----------------------------------------------------------

@pytest.mark.slow
def test_stores_of_a_loop_are_on_their_lines(everything: dict[str, Any]) -> None:
    """1000 stores into the array; one for the index at the beginning, and one for each step."""
    assert counts_of(everything, line(everything, 10)["self"])[19] == 1000
    assert counts_of(everything, line(everything, 9)["self"])[19] == 1 + 1000
    assert line(everything, 10)["function"] == "fill"


@pytest.mark.parametrize("rows", ["functions", "lines"])
def test_the_rows_add_up_to_the_report(everything: dict[str, Any], rows: str) -> None:
    made = everything["annotation"]
    places = [row["self"] for row in made[rows]] + [made["nowhere"]] * (rows == "lines")
    report = {e["event"]: e["count"] for e in everything["events"] if e["count"] is not None}
    in_rows = {event for place in places for event in counts_of(everything, place)}
    assert {0, 16, 15, 21, 25, 26, 24, 19} <= in_rows
    for event in in_rows:
        assert sum(counts_of(everything, place)[event] or 0 for place in places) == report[event], event
    assert sum(place["cycles"] for place in places) == report[0] == made["total"]["cycles"]
    assert sum(place["seconds"] for place in places) == pytest.approx(report[0] / everything["clock"]["MHz"] / 1e6)
    assert sum(place["share"] for place in places) == pytest.approx(1)


def test_what_has_a_count_in_the_report_has_one_in_each_row(everything: dict[str, Any]) -> None:
    report = {e["event"] for e in everything["events"] if e["count"] is not None}
    assert {event for event, count in counts_of(everything, everything["annotation"]["total"]).items() if count is not None} == report


def test_inclusive_counts_of_recursion(everything: dict[str, Any]) -> None:
    """fib(15) is 1973 calls, which call nothing else: what they count is what the function counts."""
    fib, main, fill = (function(everything, name) for name in ("fib", "main", "fill"))
    assert fib["calls"] == 2 * 987 - 1  # 987: fib(16)
    for event in (15, 19, 26):
        assert counts_of(everything, fib["inclusive"])[event] == counts_of(everything, fib["self"])[event]
    assert fib["inclusive"]["cycles"] - fib["self"]["cycles"] in (0, 1)  # shares are rounded
    assert (fill["calls"], main["calls"]) == (1, 1)
    below = sum(counts_of(everything, function(everything, f)["self"])[15] or 0 for f in ("main", "fib", "fill", "even", "odd"))
    assert below < (counts_of(everything, main["inclusive"])[15] or 0) <= (counts_of(everything, everything["annotation"]["total"])[15] or 0)


def test_functions_that_call_each_other_include_each_other_once(everything: dict[str, Any]) -> None:
    even, odd = (function(everything, name) for name in ("even", "odd"))
    both = sum(counts_of(everything, f["self"])[15] or 0 for f in (even, odd))
    assert counts_of(everything, even["inclusive"])[15] == both
    assert both - 20 < (counts_of(everything, odd["inclusive"])[15] or 0) < both
    assert [f["calls"] for f in (even, odd)] == [11, 10]


def test_no_function_includes_more_than_the_whole(everything: dict[str, Any]) -> None:
    whole = everything["annotation"]["total"]
    for f in everything["annotation"]["functions"]:
        assert f["self"]["cycles"] <= f["inclusive"]["cycles"] <= whole["cycles"]
        assert f["inclusive"]["share"] <= 1


@pytest.mark.slow
def test_sorted_by_cycles_or_by_the_first_event(everything: dict[str, Any], stores: tuple[dict[str, Any], Path]) -> None:
    by_event, _ = stores
    for rows in ("functions", "lines"):
        by_cycles = [row["self"]["cycles"] for row in everything["annotation"][rows]]
        assert by_cycles == sorted(by_cycles, reverse=True)
        by_stores = [counts_of(by_event, row["self"])[19] or 0 for row in by_event["annotation"][rows]]
        assert by_stores == sorted(by_stores, reverse=True)
        assert by_stores != by_cycles
    assert by_event["annotation"]["by"] == 19
    assert everything["annotation"]["by"] is None


def test_floating_point_instructions_are_on_their_line(everything: dict[str, Any]) -> None:
    number = 1 + PROGRAM.splitlines().index("\t\tb[i] = b[i] * 3 + 1;")
    assert counts_of(everything, line(everything, number)["self"])[21] == 128
    assert counts_of(everything, function(everything, "scale")["self"])[21] == 128
    assert counts_of(everything, function(everything, "scale")["inclusive"])[21] == 128


# ---- programs of all kinds ---------------------------------------------------------------------

@pytest.mark.slow
def test_without_debug_information_there_are_functions_only(tmp_path: Path) -> None:
    needs("valgrind")
    data = counted("--annotate", compiled(tmp_path, "-g0"))
    assert function(data, "fib")["file"] is None
    assert not [row for row in data["annotation"]["lines"] if "program" in row["file"]]
    assert data["annotation"]["nowhere"]["cycles"] > function(data, "fib")["self"]["cycles"]


@pytest.mark.slow
def test_the_report_says_where_the_missing_lines_are(tmp_path: Path) -> None:
    """Of a program of a package: the package that has them."""
    needs("valgrind")
    needs("dpkg-query")
    (tmp_path / "numbers").write_text("".join(f"{n * 7919 % 10007}\n" for n in range(2000)))
    said = " ".join(perfex("--backend", "valgrind", "--events", 18, "--annotate", "sort", "-o", "/dev/null", tmp_path / "numbers").stderr.split())
    assert "is of no known line, most of it in /usr/bin/sort: the package coreutils-dbgsym (of Debian's debug archive)" in said
    own = perfex("--backend", "valgrind", "--events", 18, "--annotate", compiled(tmp_path, "-g0")).stderr
    assert "code that was compiled without -g" in " ".join(own.split())


@pytest.mark.slow
def test_a_stripped_program_is_named(tmp_path: Path) -> None:
    needs("valgrind", "strip")
    path = compiled(tmp_path, "-g")
    subprocess.run(["strip", path], check=True)
    data = counted("--annotate", path)
    of_program = [f for f in data["annotation"]["functions"] if f["object"] == str(path)]
    assert of_program
    assert {f["name"] for f in of_program} == {"??? (program)"}


CXX = """\
#include <vector>
#include <map>
#include "inlined.h"
struct Value { int n; Value operator+(const Value &o) const { return {n + o.n}; } operator unsigned long() const { return n; } };
template <typename A, typename B> __attribute__((noinline)) A twice(A a, B b) { return a + a + A(b); }
int main()
{
	std::map<int, std::vector<unsigned long>> m;
	for (int i = 0; i < 10; i++) m[i].push_back(twice<unsigned long, unsigned char>(i, i) + from_header(i));
	return (unsigned long)(Value{1} + Value{2}) == 3 && m.size() == 10 ? 0 : 1;
}
"""


@pytest.mark.slow
def test_names_of_c_plus_plus(tmp_path: Path) -> None:
    needs("valgrind", "g++")
    header = "static inline __attribute__((always_inline)) int from_header(volatile int n)\n{\n\treturn n * 3;\n}\n"
    (tmp_path / "inlined.h").write_text(header, encoding="ascii")
    path = compiled(tmp_path, "-g", text=CXX, name="program.cc", compiler="g++")
    data = counted("--annotate", "--annotate-to", tmp_path / "a.folded", path)
    assert function(data, "unsigned long twice<unsigned long, unsigned char>(unsigned long, unsigned char)")["calls"] == 10
    assert function(data, "Value::operator unsigned long() const")["calls"] == 1
    inlined = line(data, 3, "inlined.h")  # of another file than its function's
    assert inlined["function"] == "main"
    for text in (tmp_path / "a.folded").read_text(encoding="utf-8").splitlines():
        stack, _, count = text.rpartition(" ")
        assert stack
        assert int(count) > 0
    assert sum_of(tmp_path / "a.folded") == data["annotation"]["total"]["cycles"]


def on_terminal(columns: int, path: Path) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    with os.fdopen(ours, encoding="utf-8") as terminal, subprocess.Popen(
            [PERFEX, "--backend", "valgrind", "-e", "19", "--annotate", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=theirs, env=environment()) as process:
        os.close(theirs)
        shown = []
        with suppress(OSError):  # EIO at its end
            shown.extend(terminal)
        assert process.wait() == 0
    return "".join(shown)


@pytest.mark.slow
def test_names_are_cut_where_the_terminal_ends(tmp_path: Path) -> None:
    """A terminal without a known size has 80 columns; what is no terminal has all."""
    needs("valgrind")
    name = "a_function_with_" + "long_" * 20 + "name"
    path = compiled(tmp_path, "-g", text=PROGRAM.replace("fib", name))
    for columns in (0, 200):
        width = columns or 80
        rows = [row.rstrip() for row in tables(on_terminal(columns, path)) if re.match(r" {4,}[0-9]+ +[0-9.]+%", row)]
        assert max(map(len, rows)) <= width
        (row,) = (row for row in rows if "  a_fu" in row)
        assert len(row) == width if width < 200 else row.endswith(f"  {name}")
    done = perfex("-e", 19, "--annotate", path)
    assert any(row.endswith(f"  {name}") for row in tables(done.stderr))


@pytest.mark.slow
def test_several_processes(tmp_path: Path) -> None:
    needs("valgrind")
    body = """
    __attribute__((noinline)) static void child(volatile int n) { while (n--) ; }
    int main(void) { for (int i = 0; i < 3; i++) { if (fork() == 0) { child(1000); _exit(0); } wait(NULL); } return 0; }"""
    data = counted("-e", 15, "--annotate", compile_c(tmp_path, "forks", body))
    assert function(data, "child")["calls"] == 3
    assert sum(counts_of(data, f["self"])[15] or 0 for f in data["annotation"]["functions"]) == data["events"][0]["count"]


# ---- the tables ----------------------------------------------------------------------------------

def tables(text: str) -> list[str]:
    return text[text.index("\nfunctions by "):].splitlines()


def test_the_tables(program: Path, tmp_path: Path) -> None:
    done = perfex("-e", 19, "-e", 2, "--annotate", "-o", tmp_path / "report", program)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "report").read_text(encoding="utf-8")
    data = counted("-e", 19, "-e", 2, "--annotate", program)
    lines = tables(text)
    assert lines[1].startswith("functions by event 19 (graduated-stores): ")
    rows = {row.split()[-1]: row.split() for row in lines if row.startswith("    ")}
    fib = function(data, "fib")
    share = f"{100 * fib['self']['share']:.1f}%"
    assert rows["fib"] == [*map(str, (fib["self"]["counts"][0], share, share, fib["self"]["counts"][1])), "fib"]
    assert "program.c:10  a[i] = i;" in text
    assert len([row for row in lines if re.match(r" {4,}[0-9]+ +[0-9.]+%", row)]) <= 2 * 20
    assert "seconds" not in "".join(lines)


def test_the_tables_have_80_columns(program: Path) -> None:
    done = perfex("-a", "-y", "--annotate", program)
    assert done.returncode == 0, done.stderr
    heads = [row for row in tables(done.stderr) if row.endswith(("  function", "  line"))]
    assert len(heads) == 2
    assert all(len(row) <= 68 for row in heads)  # which leaves room for a name
    assert "seconds" in "".join(tables(done.stderr))


def test_a_report_with_tables_can_be_compared(stores: tuple[dict[str, Any], Path], program: Path, tmp_path: Path) -> None:
    (tmp_path / "with").write_text(json.dumps(stores[0]))
    assert perfex("--backend", "valgrind", "--json", "-e", 19, "-o", tmp_path / "without", program).returncode == 0
    done = perfex("--compare", "with", "without", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "same" in done.stdout


# ---- the page ------------------------------------------------------------------------------------

def page(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def source_rows(soup: BeautifulSoup, path: Path) -> dict[int, list[str]]:
    """The cells of each line of a source: share, what rows are sorted by, number, text, and the other numbers."""
    head = next(h for h in soup.find_all("h2") if h.text == str(path))
    found = {}
    for row in head.find_next("table").find("tbody").find_all("tr"):
        cells = [cell.text for cell in row.find_all("td")]
        if not row.find("td").has_attr("colspan"):
            found[int(cells[2])] = cells
        elif cells[1] != "…":
            found[int(cells[1])] = ["", *cells]
    return found


def test_the_page_has_the_source_with_counts(program: Path, tmp_path: Path) -> None:
    """And each rank has a page of its own."""
    env = environment(OMPI_COMM_WORLD_RANK="3")
    assert perfex("-e", 19, "--annotate-to", tmp_path / "a.html", program, env=env).returncode == 0
    (path,) = tmp_path.iterdir()
    assert path.name == "a.3.html"
    soup = page(path)
    rows = source_rows(soup, program.with_name("program.c"))
    assert [*rows] == [*range(1, PROGRAM.count("\n") + 1)]  # each is near a hot one
    assert rows[10][1] == "1000"
    assert rows[10][3] == "                a[i] = i;"
    assert rows[2][0] == ""
    hot = soup.find("h2", id="lines").find_next("table").tbody("tr")
    shares = [float(row.td.text.rstrip("%")) for row in hot]
    assert shares == sorted(shares, reverse=True)
    assert len(hot) <= 20
    (line,) = (row for row in hot if row.a.text == "program.c:10")
    target = soup.find(id=line.a["href"].removeprefix("#"))
    assert "a[i] = i;" in target.text
    assert "hot" in target["class"]
    names = [row.find("td", class_="name").text for row in soup.find("h2", id="functions").find_next("table").tbody("tr")]
    assert "fib" in names
    linked = [a["href"] for a in soup.find_all("a")]
    assert linked
    assert all(soup.find(id=target.removeprefix("#")) for target in linked)


def page_of_lines(path: Path, lines: dict[int, int], program: Path, *command: str) -> BeautifulSoup:
    """The page of a program, compiled from one source, whose lines have graduated so many instructions."""
    function = Function(str(program), str(path), "main")
    profile = Profile(COUNTERS, {Place(function, str(path), 8 * number, number): counters(n) for number, n in lines.items()})
    made, outcome, request = annotated(profile, events=(15,)), Outcome("valgrind", "", 0, (), clock=100.0, profile=profile), Request(command)
    return BeautifulSoup(annotate_html.page(Report(request, outcome, annotation=made)), "html.parser")


HOSTILE = 'int main(void)\n{\n\tconst char *s = "<script>alert(1)</script>&amp;\x7f\xa0";\n\treturn s == 0;\n}\n'


def test_what_a_source_says_is_text(tmp_path: Path) -> None:
    (directory := tmp_path / "<b>&").mkdir()
    source = directory / "program.c"
    source.write_bytes(HOSTILE.encode().replace("\xa0".encode(), b"\xff\x1b[31m"))
    soup = page_of_lines(source, {3: 9}, directory / "program", "a.out", "<i>")
    assert "<i>" in soup.h1.text
    assert not soup.find_all(["script", "b", "i"])
    rows = source_rows(soup, source)
    assert rows[3][3] == '        const char *s = "<script>alert(1)</script>&amp;\\x7f\N{REPLACEMENT CHARACTER}\\x1b[31m";'
    assert "\x1b" not in str(soup)


def test_sources_that_are_not_those_of_the_program(tmp_path: Path) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    program.touch()

    def made() -> BeautifulSoup:
        return page_of_lines(source, {10: 5}, program, "program")

    def said() -> str:
        following = next(h for h in made().find_all("h2") if h.text == str(source)).find_next_sibling()
        return following.text if following.name == "p" else ""

    os.utime(source, (1, 1))
    assert said() == ""
    os.utime(source, (2**32, 2**32))
    assert said() == "The source is newer than the program: lines may have moved."
    source.write_bytes(b"")
    os.utime(source, (1, 1))
    assert said().startswith("The source ends before line ")
    assert source_rows(made(), source)[10][3] == ""
    source.unlink()
    assert said() == "The source is not there: counts without its text."
    os.mkfifo(source)
    assert said() == "The source is not a file: counts without its text."


def test_ten_lines_around_a_hot_one(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("\n" * 5000 + "int main(void) { volatile int n = 0; while (n < 9999) n++; return 0; }\n" + "\n" * 50)
    soup = page_of_lines(source, {5001: 9999}, tmp_path / "program", "program")
    assert [*source_rows(soup, source)] == [*range(4991, 5012)]
    assert "5001" in soup.find("tr", class_="hot").text


CPLUSPLUS = """
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>
struct Word { std::string text; int count; };
int main() {
    std::map<std::string, int> counts;
    for (int i = 0; i < 5000; i++)
        counts["word" + std::to_string(i * 7919 % 997)]++;
    std::vector<Word> sorted;
    for (const auto &[text, count] : counts)
        sorted.push_back({ text, count });
    std::sort(sorted.begin(), sorted.end(), [](const Word &a, const Word &b) { return a.text < b.text; });
    for (int i = 0; i < 5; i++)
        std::cout << sorted[i].text << '\\n';
}
"""


@pytest.mark.slow
def test_a_page_of_findings(tmp_path: Path) -> None:
    """Of a program of C++: what is its own comes before headers and libraries, the rest is folded, and the page is small."""
    needs("valgrind")
    source, program = tmp_path / "words.cpp", tmp_path / "words"
    source.write_text(CPLUSPLUS)
    subprocess.run([needs("g++"), "-g", "-O1", "-std=c++17", source, "-o", program], check=True)
    assert perfex("-a", "-y", "--annotate-to", tmp_path / "a.html", program).returncode == 0
    assert (tmp_path / "a.html").stat().st_size < 300_000
    soup = page(tmp_path / "a.html")
    assert not soup.find_all(["script", "link", "img", "iframe"])  # it needs nothing else
    assert "url(" not in soup.style.text
    assert "prefers-color-scheme: dark" in soup.style.text
    files = [h.text for h in soup.find_all("h2", id=re.compile("^file"))]
    assert files[0] == str(source)
    assert any(path.startswith("/usr/include/c++") for path in files[1:])
    assert not any(line for line in source_rows(soup, source) if line > CPLUSPLUS.count("\n"))
    folded = [d.summary.text for d in soup.find_all("details")]
    assert [re.match("Further functions: 60; [0-9]+ more|Further lines: 60; [0-9]+ more|Notes", text) is not None for text in folded] == [True] * 3
    links = [a["href"] for a in soup.find_all("a")]
    assert len(links) > 20
    assert all(soup.find(id=target.removeprefix("#")) for target in links)


def test_lines_of_a_source(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_bytes(b"a\tb\r\n\xff\n\nlast")
    read = Source.read(str(path), str(path))
    assert read == Source(("a       b", "\N{REPLACEMENT CHARACTER}", "", "last"))
    assert [read.line(n) for n in (0, 1, 4, 5)] == ["", "a       b", "last", ""]
    assert Source.read("a\0b", "").missing.startswith("cannot be read")
    assert Source.read("not-here.c", "").missing == "is not in this directory"
    assert Source.read(str(tmp_path), "").missing


# ---- stacks ---------------------------------------------------------------------------------------

def sum_of(path: Path) -> int:
    return sum(int(text.rpartition(" ")[2]) for text in path.read_text(encoding="utf-8").splitlines())


def test_stacks_of_a_program(stores: tuple[dict[str, Any], Path]) -> None:
    data, path = stores
    lines = dict(text.rsplit(" ", 1) for text in path.read_text(encoding="utf-8").splitlines())
    assert sum_of(path) == data["annotation"]["total"]["counts"][0]
    stack = next(text for text in lines if text.endswith(";main;fill"))
    assert int(lines[stack]) == counts_of(data, function(data, "fill")["self"])[19]
    assert [text for text in lines if text.endswith(";main;fib")]
    assert not [text for text in lines if "fib;fib" in text]


A, B, C, D = (Function("o", "f", name) for name in "abcd")


def test_a_callee_counts_for_its_callers_by_their_calls() -> None:
    found = flame.stacks({A: 1, B: 2, C: 40, D: 8}, {(A, C): 36, (B, C): 12, (C, D): 8})
    assert found == {(A,): 1, (B,): 2, (A, C): 30, (B, C): 10, (A, C, D): 6, (B, C, D): 2}


def test_a_circle_is_left_where_it_would_close() -> None:
    found = flame.stacks({A: 1, B: 10, C: 20, D: 5}, {(A, B): 35, (B, C): 30, (C, B): 12, (C, D): 5})
    assert found == {(A,): 1, (A, B): 10, (A, B, C): 20, (A, B, C, D): 5}


def test_a_program_of_very_many_stacks() -> None:
    """60 levels of two functions, each of which calls both of the next one: 2**60 stacks."""
    levels = [[Function("o", "f", f"{level}{side}") for side in "lr"] for level in range(60)]
    own = {f: 10**6 for level in levels for f in level}
    calls = {(caller, callee): 10**6 * (59 - n) for n, level in enumerate(levels[:-1]) for caller in level
             for callee in levels[n + 1]}
    found = flame.stacks(own, calls)
    assert sum(found.values()) == sum(own.values())
    assert len(found) < 2_000_000


def test_a_program_of_very_deep_stacks() -> None:
    chain = [Function("o", "f", f"{n:05}") for n in range(5000)]
    calls = {(a, b): 5000 - n for n, (a, b) in enumerate(pairwise(chain))}
    found = flame.stacks(dict.fromkeys(chain, 1), calls)
    assert sum(found.values()) == 5000
    assert max(map(len, found)) == 400


FUNCTIONS = [Function("o", "f", str(n)) for n in range(7)]


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**12), min_size=7, max_size=7),
       st.dictionaries(st.tuples(st.sampled_from(FUNCTIONS), st.sampled_from(FUNCTIONS)), st.integers(0, 10**12)))
def test_stacks_add_up(own: list[int], calls: dict[tuple[Function, Function], int]) -> None:
    counts = dict(zip(FUNCTIONS, own, strict=True))
    found = flame.stacks(counts, {pair: n for pair, n in calls.items() if pair[0] != pair[1]})
    assert sum(found.values()) == sum(own)
    assert min(found.values(), default=0) >= 0
    assert all(len({*stack}) == len(stack) for stack in found)


@given(st.lists(st.integers(0, 10**15)), st.integers(0, 10**15))
def test_shares_add_up(weights: list[int], total: int) -> None:
    parts = annotate.apportion(weights, total)
    whole = sum(weights)
    assert sum(parts) == (total if whole else 0)
    assert all(abs(part * whole - weight * total) < whole for part, weight in zip(parts, weights, strict=True) if whole)


# ---- profiles that are made up --------------------------------------------------------------------

def annotated(profile: Profile, **options: Any) -> annotate.Annotation:
    request = Request(("x",), annotate=True, **options)
    table = events.table(request.cpu)
    measured = tuple(Measurement(table[i], None, "unavailable") for i in request.events)
    return annotate.annotation(request, Outcome("valgrind", "", 0, measured, clock=100.0, profile=profile))


def counters(ir: int) -> list[int]:
    return [ir] + [0] * (len(COUNTERS) - 1)


def test_nothing_was_counted() -> None:
    made = annotated(Profile(), events=(26, 0))
    assert annotate_text.text(made, estimates=True, everything=False) == "\nfunctions and lines: not available\n"
    assert flame.folded(made) == ""


def test_what_has_no_line() -> None:
    profile = Profile(COUNTERS, {Place(A, UNKNOWN, 4, 0): counters(3), Place(A, "f", 8, 0): counters(4),
                                 Place(A, UNKNOWN, 12, 7): counters(1), Place(A, "f", 8, 3): counters(2)})
    made = annotated(profile, events=(15,))
    assert made.nowhere.events == (8,)
    assert [(row.file, row.line) for row in made.lines] == [("f", 3)]


def test_names_with_control_characters() -> None:
    odd = Function("o", "f", "a;b\x1b[31m\nc\udcff")
    made = annotated(Profile(COUNTERS, {Place(odd, "f\x1b", 0, 1): counters(9)}), events=(15,))
    assert flame.folded(made) == "a,b\\x1b[31m\\nc\\udcff 9\n"
    text = annotate_text.text(made, estimates=False, everything=False)
    assert "a;b\\x1b[31m\\nc\\udcff" in text
    assert "f\\x1b:1" in text


def test_long_names_are_cut_in_the_middle() -> None:
    assert annotate_text.cut("abcdefghij", 10) == "abcdefghij"
    assert annotate_text.cut("abcdefghijk", 10) == "abcd..hijk"
    assert len(annotate_text.cut("x" * 99, 11)) == 11


# ---- KCachegrind ---------------------------------------------------------------------------------------

@pytest.mark.slow
def test_callgrind_annotate_reads_the_file(program: Path, tmp_path: Path) -> None:
    needs("callgrind_annotate")
    data = counted("-e", 15, "--annotate", "--annotate-to", tmp_path / "a.callgrind", program)
    done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", tmp_path / "a.callgrind"],
                          capture_output=True, text=True, check=True, env=environment())
    assert done.stderr == ""
    total = re.search(r"^ *([\d,]+) .*PROGRAM TOTALS", done.stdout, re.MULTILINE)
    assert total
    assert int(total[1].replace(",", "")) == data["events"][0]["count"]
    for name in ("fib", "fill", "main"):
        rows = re.findall(rf"^ *([\d,]+) .*program\.c:{name} \[", done.stdout, re.MULTILINE)
        assert sum(int(row.replace(",", "")) for row in rows) == counts_of(data, function(data, name)["self"])[15]


# ---- ranks, and wrong uses -----------------------------------------------------------------------------

@pytest.mark.parametrize(("options", "words"), [
    ("--annotate --backend perf", "--backend valgrind simulates"),
    ("--annotate --perf-table t", "excludes --perf-table"),
    ("--annotate --repeat 3", "without --repeat"),
    ("--annotate -mp", "leave -mp out"),
    ("--annotate --csv", "--json has the functions"),
    ("--annotate-to a.txt", "has to end in .html or .folded or .callgrind"),
    ("--annotate-to a", "has to end in .html or .folded or .callgrind"),
])
def test_wrong_uses(options: str, words: str, tmp_path: Path) -> None:
    needs("valgrind")
    message = refused(*options.split(), "true", cwd=tmp_path)
    assert words in message
    assert "(see perfex --help)" in message
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("mode", ["--merge", "--compare", "--list"])
@pytest.mark.parametrize("option", [["--annotate"], ["--annotate-to", "a.html"]])
def test_needs_a_command(mode: str, option: list[str], tmp_path: Path) -> None:
    files = [] if mode == "--list" else ["a", "b"]
    assert "goes with a command" in refused(mode, *option, *files, cwd=tmp_path)


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    """The command is not started."""
    needs("valgrind")
    path = tmp_path / "no" / "a.html"
    assert f"perfex: {path}" in refused("--annotate-to", path, "touch", tmp_path / "x")
    assert not (tmp_path / "x").exists()
