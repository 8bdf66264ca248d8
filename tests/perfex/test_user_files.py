"""Files of a user that are not what they should be: libperfex and the command say the same of them."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from pypfm._c.libperfex import ffi, lib

from cost_files import described
from pypfm import libperfex
from pypfm.perfex import costs, perf_table
from pypfm.perfex.c_call import read_limited
from pypfm.perfex.events import NUM_EVENTS, event_number
from pypfm.perfex.model import PerfexError

HEAD = "cpu,event,perf,quality,note\n"
MAP = HEAD + ",0,task-clock,exact,\n,26,page-faults,exact,faults\n"
COSTS = "26 nsec 9.5 8 10 # \u20ac\n"
MIB = 1 << 20
FACE = "\U0001f600"  # four bytes


def in_c(kind: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The errno that libperfex has for such a file; "": it is right."""
    if kind == "costs":  # load_costs(), but for what it keeps
        ret = lib.perfex_costs_read(os.fsencode(path), ffi.new("struct perfex_cost[]", NUM_EVENTS))
        return errno.errorcode[-ret] if ret else ""
    monkeypatch.setenv("PERFEX_PERF_TABLE", str(path))
    if not libperfex.print_counters(0, 1, 26, 2):
        return ""
    code = errno.errorcode[ffi.errno]
    if path.is_file():  # no pipe, which is read once
        assert (libperfex.start_counters(0, 26), errno.errorcode[ffi.errno]) == (-1, code)
    return code


def in_python(kind: str, path: Path) -> str:
    """The message of the command; "": the file is right."""
    try:
        if kind == "costs":
            costs.parse(read_limited(path), str(path))
        else:
            perf_table.load("r10000", path)
    except PerfexError as error:
        return str(error)
    return ""


# ---- what stands in the place of a file -----------------------------------------------------------

def missing(_: Path) -> None:
    pass


def directory(path: Path) -> None:
    path.mkdir()


def in_a_circle(path: Path) -> None:
    path.symlink_to(path)


def unreadable(path: Path) -> None:
    path.symlink_to("/proc/self/mem")  # which nobody can read at its beginning, root included


def long_line(path: Path) -> None:
    """100 MB without an end of a line, of which only what a file may have is read."""
    with path.open("wb") as stream:
        stream.truncate(100_000_000)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["costs", "map"])
@pytest.mark.parametrize(("make", "code"), [
    (missing, "ENOENT"), (directory, "EISDIR"), (in_a_circle, "ELOOP"), (unreadable, "EIO"), (long_line, "EFBIG"),
    (endless, "EFBIG")])
def test_what_is_no_file(make: Callable[[Path], None], code: str, kind: str, tmp_path: Path,
                         monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    make(path)
    why = f"larger than {MIB} bytes" if code == "EFBIG" else os.strerror(getattr(errno, code))
    assert in_c(kind, path, monkeypatch) == code
    assert in_python(kind, path) == f"{path}: {why}"


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_names_that_no_file_has(name: str) -> None:
    for kind in ("costs", "map"):
        assert in_python(kind, Path(name)).startswith(f"{name}: ")


@pytest.mark.parametrize(("kind", "content", "code"), [
    ("costs", COSTS.encode(), ""), ("map", MAP.encode(), ""), ("costs", b"#" * (2 * MIB), "EFBIG"),
    ("map", b"\xff", "EINVAL")])
def test_a_pipe_in_the_place_of_a_file(kind: str, content: bytes, code: str, tmp_path: Path,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """As a shell makes them of <(command)."""
    path = tmp_path / "fifo"
    os.mkfifo(path)

    def feed() -> None:
        try:
            with path.open("wb") as stream:
                stream.write(content)
        except BrokenPipeError:
            pass

    for read in (lambda: in_c(kind, path, monkeypatch), lambda: in_python(kind, path)):
        writer = threading.Thread(target=feed)
        writer.start()
        found = read()
        writer.join()
        assert bool(found) == bool(code), found


# ---- what stands in a file ------------------------------------------------------------------------

@pytest.mark.parametrize(("line", "said"), [
    (",26,page-faults,exact,two\u2028parts", ""), (",26,page-faults,exact,\x85\x0b\x0c\x1c", ""),
    (",26, page-faults\t+ minor-faults ,exact,", ""), (",000026,page-faults,exact,", ""),
    (',26,page-faults,exact,"a ""note"" of\ntwo lines"', ""), ('r10000,"26","page-faults","exact",""', ""),
    (",26,page-faults\u00a0,exact,", "line 2: perf has no event 'page-faults\\xa0'"),
    (",26,page-faults,exact\u00a0,", "line 2: 'exact\\xa0' is not a quality"),
    ("\ufeff,26,page-faults,exact,", "line 2: '\\ufeff' is not a cpu; r10000, r10000-3, r12000 are, or nothing for all"),
    (",26,page-faults,exact,\0", "line 2: byte 0x00 is not text"),
    ("r10000\0,26,page-faults,exact,", "line 2: byte 0x00 is not text"),
    (",26,page-faults:k,exact,", "line 2: 'page-faults:k': a perf event stands here without modifiers"),
    (",26,minor-faults+page-faults:period=5,exact,", "line 2: 'page-faults:period=5': a perf event stands here without"),
    (",26,page-faults:p,exact,", "line 2: PAGE-FAULTS: no unit mask or modifier 'p'"),
    (",26,task-clock,exact,\n,\u0662,page-faults,exact,", "line 3: event: '\u0662' is not an event; events are numbers from 0"),
    (",1e1,page-faults,exact,", "line 2: event: '1e1' is not an event"),
    (",+1,page-faults,exact,", "line 2: event: '+1' is not an event"),
    (f",{'9' * 400},page-faults,exact,", f"line 2: event: '{'9' * 60}...' is not an event"),
    (f",26,page-faults,{FACE * 400},", f"line 2: '{FACE * 60}...' is not a quality"),
    (f",26,{'x' * 5000},exact,", f"line 2: perf has no event '{'x' * 60}...'"),
    (',26,page-faults,exact,"open\nstill', "line 2: a quotation mark that no other one follows"),
    (',26,"page-faults"+,exact,', "line 2: '+' after a quotation mark, where a comma is expected"),
    (",26,page-faults,{},", "line 2: '{}' is not a quality"),
    (",26,page-faults,exact", "line 2: 5 values are expected"), (",26,page-faults,exact,a,b", "line 2: 5 values are expected"),
    (",32,page-faults,exact,", "line 2: event: '32' is not an event"), (",26,page-faults,good,",
     "line 2: 'good' is not a quality; exact, simulated, approximate, modelled, unavailable are"),
    (",26,,exact,", "line 2: a row without a perf event is unavailable, and no other"),
    (",26,page-faults,unavailable,", "line 2: a row without a perf event is unavailable, and no other"),
    (",26,page-faults+,exact,", "line 2: "), (",26,page-faults+0,exact,", "line 2: "), (",26,r,exact,", "line 2: "),
    (",26,r12345678901234567,exact,", "line 2: "), (",26,PERF_COUNT_HW_CACHE_L1D:SIDEWAYS,exact,", "line 2: "),
    ("r5000,26,page-faults,exact,", "line 2: 'r5000' is not a cpu"),
])
def test_lines_of_a_map(line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a newline at the end of the file."""
    path = tmp_path / "map"
    for newline, end in product(("\n", "\r\n", "\r"), ("", "\n")):
        path.write_text((HEAD + line + end).replace("\n", newline), encoding="utf-8", newline="")
        assert in_c("map", path, monkeypatch) == ("EINVAL" if said else "")
        found = in_python("map", path)
        assert found.startswith(f"{path}, {said}") if said else not found, found


def test_bytes_that_are_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "map"
    for content, said in ((b"\xff", "line 1: byte 0xff is not UTF-8 text"), (HEAD.encode() + b"x\xffc", "line 2: byte 0xff")):
        path.write_bytes(content)
        assert in_c("map", path, monkeypatch) == "EINVAL"
        assert in_python("map", path).startswith(f"{path}, {said}")


def test_the_rows_of_a_map(tmp_path: Path) -> None:
    path = tmp_path / "map"
    path.write_text("note,quality,perf,event,cpu\r\n\r\n\"a, \"\"b\"\"\u2028c\",exact, page-faults\t+r1F ,26,\r\n"
                    ",unavailable,\t,5,r12000\r\nlast,exact,0,14,r10000", newline="")
    rows = perf_table.load("r10000-3", path)
    assert rows[26] == [perf_table.Row("", 26, ("page-faults", "r1F"), "exact", 'a, "b"\u2028c')]
    assert rows[14] == [perf_table.Row("r10000", 14, ("0",), "exact", "last")]
    assert rows[14][0].is_zero
    assert rows[5] == []
    assert perf_table.load("r12000", path)[5] == [perf_table.Row("r12000", 5, (), "unavailable", "")]


@pytest.mark.parametrize("head", ["", "\n", "cpu;event;perf;quality;note\n", "cpu,event,perf,quality,note,\n",
                                  "cpu,event,perf,quality,cpu\n", "cpu,event,perf,quality\n", '"cpu,event,perf,quality,note\n',
                                  "\ufeff" + HEAD, HEAD.upper()])
def test_heads_of_a_map(head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "map"
    path.write_text(head + "".join(MAP.splitlines(keepends=True)[1:] if head.strip() else []))
    assert in_c("map", path, monkeypatch) == "EINVAL"
    line = 1 + (head == "\n")
    assert in_python("map", path) == (f"{path}, line {line}: the columns are {head.strip()!r},"
                                      f" not cpu,event,perf,quality,note")


def test_a_map_of_very_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "map"
    path.write_text(HEAD + ",26,0,exact,\n" * 70000)
    assert in_c("map", path, monkeypatch) == ""
    assert len(perf_table.load("r10000", path)[26]) == 70000


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "0x1p3", "1e5", "1,5", "-0", "+1", "", "1.", ".1", "1_0", "1" * 400,
                                    "0." + "1" * 400, "\u0661", "1\0", "1.2.3", "999999999999.999999999999", "0" * 12])
def test_numbers(number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "costs"
    for end in ("", "\n", "\r\n"):
        path.write_text(f"26 clks {number} 0 999999999999.999999999999{end}", newline="")
        wanted = described(path.read_bytes())
        assert in_c("costs", path, monkeypatch) == ("EINVAL" if wanted is None else "")
        found = in_python("costs", path)
        assert found.startswith(f"{path}, line 1: ") if wanted is None else not found


def test_the_line_of_a_fault_in_a_cost_file() -> None:
    for text, line in (("\n\n \t\njunk", 4), ("# \u20ac\r\njunk\n", 2), ("0 clks 1 1 1\n0 clks 1 1 1", 2)):
        with pytest.raises(PerfexError, match=f"^f, line {line}: "):
            costs.parse(text, "f")
    with pytest.raises(PerfexError, match=f"^f: larger than {MIB} bytes$"):
        costs.parse("#" * (MIB + 1), "f")
    with pytest.raises(PerfexError, match=r"^f, line 2: byte 0xed is not UTF-8 text$"):
        costs.parse("\n\ud800", "f")
    # Only a line feed ends a line; other blanks are between words, and are one in the message.
    with pytest.raises(PerfexError, match=r"^f, line 2: event 0 stands here a second time$"):
        costs.parse("0 clks 1 1 1 # a\r\r\n0\rclks\r1 1 1", "f")
    with pytest.raises(PerfexError, match=r"^f, line 1: '0 clks 1': a line is event"):
        costs.parse("0\t\tclks \u30001\r\n", "f")


@pytest.mark.parametrize("text", ["", "32", "-1", "1 ", " 1", "1\0", "\u0661", "1e0", "9" * 400, "0000000001", "\ud800"])
def test_what_is_no_event_number(text: str) -> None:
    with pytest.raises(PerfexError, match=r"^-e: .* is not an event; events are numbers from 0 to 31$"):
        event_number(text, "-e")
    assert [event_number(f"{n:09}", "-e") for n in range(32)] == list(range(32))


@pytest.mark.parametrize("term", ["", " ", "\0page-faults", "page-faults\0", "page-fault", "r", "r" + "f" * 17, "\ud800", "x" * 300,
                                  "page-faults,cycles", "glm::UNHALTED_CORE_CYCLES"])
def test_what_is_no_perf_event(term: str) -> None:
    with pytest.raises(PerfexError):
        perf_table.attributes(term)


def test_the_order_of_qualities_is_c_s() -> None:
    names = [lib.PERFEX_EXACT, lib.PERFEX_SIMULATED, lib.PERFEX_APPROXIMATE, lib.PERFEX_MODELLED, lib.PERFEX_UNAVAILABLE]
    assert names == list(range(len(perf_table.QUALITIES)))
