"""r10ksim on traces made by hand: every count follows from the geometry."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from c_programs import SANITIZE
from conftest import ROOT
from native import build
from pypfm.perfex.backends.valgrind.lackey import SIMULATOR
from tools import needs_flags

Simulate = Callable[..., dict[str, int]]

SOURCES = sorted((ROOT / "csrc" / "r10ksim").glob("*.c"))
STRICT = ("-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
SANITIZERS = ("-g", "-O1", *SANITIZE)
D_LINE, D_WAY = 32, 16 << 10
L2_LINE = 128
PAGE = 16 << 10


@pytest.fixture(scope="module", params=["installed", "gcc", "clang"])
def simulator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed program, and builds with AddressSanitizer and UndefinedBehaviorSanitizer."""
    if request.param == "installed":
        return SIMULATOR
    needs_flags(request.param, *SANITIZERS)
    out = tmp_path_factory.mktemp("r10ksim") / "r10ksim"
    build(request.param, *STRICT, *SANITIZERS, *SOURCES, "-o", out)
    return out


@pytest.fixture
def simulate(simulator: Path) -> Simulate:
    def run(trace: str | bytes | Iterable[str], *options: str) -> dict[str, int]:
        if not isinstance(trace, str | bytes):
            trace = "".join(f"{line}\n" for line in trace)
        data = trace.encode() if isinstance(trace, str) else trace
        done = subprocess.run([simulator, *options], input=data, capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, b"")
        counts: dict[str, int] = json.loads(done.stdout)
        return counts
    return run


def only(counts: dict[str, int]) -> dict[str, int]:
    """What is not zero; no trace here has valgrind's last word."""
    return {name: n for name, n in counts.items() if n and name not in ("cut", "cut_pipe")}


def loads(*addresses: int, size: int = 8) -> list[str]:
    return [f" L {a:08x},{size}" for a in addresses]


def stores(*addresses: int, size: int = 8) -> list[str]:
    return [f" S {a:08x},{size}" for a in addresses]


def test_nothing(simulate: Simulate) -> None:
    assert only(simulate("")) == {"processes": 1}


@pytest.mark.parametrize(("end", "cut"), [([], 1), (["==17== "], 0), (["==17== ", *["I  00400000,3"] * 2], 1)])
def test_valgrind_has_the_last_word(simulate: Simulate, end: list[str], cut: int) -> None:
    """Not of a process that was killed, or executed a program that valgrind could not start."""
    assert simulate(["==17== Lackey, an example Valgrind tool", *loads(0x10000), *end])["cut"] == cut


def test_a_line_misses_once(simulate: Simulate) -> None:
    counts = simulate(loads(0x10000, 0x10008, 0x1001F - 7, 0x10020))
    assert only(counts) == {"processes": 1, "lines": 4, "Dr": 4, "D1mr": 2, "DLmr": 1, "TLBm": 1}


def test_instructions(simulate: Simulate) -> None:
    """Lines of 64 bytes; one fetch may need two."""
    counts = simulate(["I  00400000,4", "I  0040003e,4", "I  00400042,4"])
    assert only(counts) == {"processes": 1, "lines": 3, "Ir": 3, "I1mr": 2, "ILmr": 1, "TLBm": 1}


def test_two_ways_and_lru(simulate: Simulate) -> None:
    """Three lines of one set: the least recently used one goes."""
    a, b, c = 0x100000, 0x100000 + D_WAY, 0x100000 + 2 * D_WAY
    assert simulate(loads(a, b, a, b))["D1mr"] == 2
    assert simulate(loads(a, b, a, c, a))["D1mr"] == 3  # c takes b's place
    assert simulate(loads(a, b, a, c, b))["D1mr"] == 4
    assert simulate(loads(a, b, c, a, b, c))["D1mr"] == 6
    other = a + D_LINE  # the next set
    assert simulate(loads(a, other, a, other))["D1mr"] == 2


def test_write_backs(simulate: Simulate) -> None:
    """Dirty lines are written back when they leave, clean ones are not."""
    a, b, c = 0x100000, 0x100000 + D_WAY, 0x100000 + 2 * D_WAY
    assert simulate(stores(a, b))["D1wb"] == 0
    counts = simulate(stores(a, b, c))
    assert (counts["Dw"], counts["D1mw"], counts["DLmw"], counts["D1wb"]) == (3, 3, 3, 1)
    assert simulate([*stores(a), *loads(b, c)])["D1wb"] == 1
    assert simulate([*loads(a), *stores(b), *loads(c)])["D1wb"] == 0
    assert simulate([*stores(a), *loads(b, c, a, b)])["D1wb"] == 1  # clean when it comes back


def test_modify_is_a_load_and_a_store(simulate: Simulate) -> None:
    a, b, c = 0x100000, 0x100000 + D_WAY, 0x100000 + 2 * D_WAY
    counts = simulate([f" M {a:x},4", *loads(b, c)])
    assert (counts["Dr"], counts["Dw"], counts["D1mr"], counts["D1mw"], counts["D1wb"]) == (3, 1, 3, 0, 1)


def test_crossing_a_line(simulate: Simulate) -> None:
    counts = simulate(loads(0x1001C))
    assert (counts["Dr"], counts["D1mr"], counts["DLmr"]) == (1, 2, 1)
    counts = simulate(loads(0x1007C))
    assert (counts["Dr"], counts["D1mr"], counts["DLmr"]) == (1, 2, 2)
    counts = simulate(stores(0x100000, size=512))
    assert (counts["Dw"], counts["D1mw"], counts["DLmw"]) == (1, 16, 4)


@pytest.mark.parametrize("l2", [1 << 20, 2 << 20, 4 << 20, 8 << 20])
def test_secondary_cache(simulate: Simulate, l2: int) -> None:
    """Two ways: three lines that are half its size apart do not fit."""
    way = l2 // 2
    a, b, c = 0x10000000, 0x10000000 + way, 0x10000000 + 2 * way
    assert simulate(loads(a, b, c, a, b, c), f"--l2={l2}")["DLmr"] == 6
    assert simulate(loads(a, b, c, a, b, c), f"--l2={2 * l2}")["DLmr"] == 3
    counts = simulate(stores(a, b, c), f"--l2={l2}")
    assert (counts["DLmw"], counts["DLdmw"], counts["D1wb"]) == (3, 1, 1)
    counts = simulate([*stores(a, b), *loads(c)], f"--l2={l2}")
    assert (counts["DLmr"], counts["DLdmr"], counts["DLdmw"]) == (1, 1, 0)
    counts = simulate([*stores(a, b), f"I  {c:x},4"], f"--l2={l2}")
    assert (counts["ILmr"], counts["ILdmr"]) == (1, 1)


def test_inclusion(simulate: Simulate) -> None:
    """What leaves the secondary cache leaves the primary caches, dirty lines with a write-back."""
    way = 512 << 10
    a = 0x10000000
    fill = loads(a + way, a + 2 * way)  # the same set of both caches; the data cache would have lost a, too
    counts = simulate([*stores(a, a + 32), *loads(a + way + 64, a + 2 * way + 64), *loads(a)], "--l2=1m")
    assert (counts["D1wb"], counts["DLdmr"], counts["DLmr"], counts["D1mr"]) == (2, 1, 3, 3)
    counts = simulate([f"I  {a:x},4", *fill, f"I  {a:x},4"], "--l2=1m")
    assert (counts["I1mr"], counts["ILmr"]) == (2, 2)


def test_clean_lines_made_dirty(simulate: Simulate) -> None:
    a = 0x100000
    assert simulate([*loads(a), *stores(a, a, a + 32)])["DLclean"] == 1
    assert simulate(stores(a, a + 32))["DLclean"] == 0  # fetched to be written


def test_way_prediction(simulate: Simulate) -> None:
    """A line of the secondary cache that is not in the way used last."""
    a, b = 0x10000000, 0x10000000 + (2 << 20)
    push = loads(a + D_WAY * 2 + (1 << 20), b + D_WAY * 2 + (1 << 20), a + D_WAY * 4 + (1 << 20))
    counts = simulate([*loads(a, b), *push, *loads(a)], "--l2=4m")
    assert (counts["DLmr"], counts["DLway"]) == (5, 1)
    counts = simulate([*loads(a, b), *push, *loads(b)], "--l2=4m")
    assert (counts["DLmr"], counts["DLway"]) == (5, 0)


@pytest.mark.parametrize(("option", "page"), [("4k", 4 << 10), ("8k", 8 << 10), ("16k", 16 << 10)])
def test_tlb_entries_map_two_pages(simulate: Simulate, option: str, page: int) -> None:
    base = 0x40000000
    pages = range(base, base + 256 * page, page)
    assert simulate(loads(*pages), f"--page={option}")["TLBm"] == 128
    assert simulate(loads(base + page, base + 2 * page), f"--page={option}")["TLBm"] == 2  # pairs are aligned
    reach = range(base, base + 128 * page, page)
    assert simulate(loads(*reach, *reach, *reach), f"--page={option}")["TLBm"] == 64
    more = range(base, base + 130 * page, page)  # one pair too many: LRU misses always
    assert simulate(loads(*more, *more), f"--page={option}")["TLBm"] == 2 * 65


def test_tlb_lru_order(simulate: Simulate) -> None:
    pair, base = 2 * PAGE, 0x40000000
    full = [base + i * pair for i in range(64)]
    again = loads(*full, full[0], base + 64 * pair)  # entry 1 is now the oldest and has gone
    assert simulate([*again, *loads(full[0])])["TLBm"] == 65
    assert simulate([*again, *loads(full[1])])["TLBm"] == 66


def test_tlb_random(simulate: Simulate) -> None:
    """The same seed gives the same numbers; a loop that is a bit too large is not lost as with LRU."""
    pages = [0x40000000 + i * 2 * PAGE for i in range(72)] * 50
    by_seed = {seed: simulate(loads(*pages), "--tlb=random", f"--seed={seed}")["TLBm"] for seed in (0, 1, 2, 3)}
    assert all(simulate(loads(*pages), "--tlb=random", f"--seed={s}")["TLBm"] == n for s, n in by_seed.items())
    assert len(set(by_seed.values())) > 1
    assert simulate(loads(*pages), "--tlb=lru")["TLBm"] == len(pages)
    assert all(72 < n < len(pages) * 0.6 for n in by_seed.values())


def test_tlb_crossing_a_page(simulate: Simulate) -> None:
    counts = simulate(loads(0x40000000 + 2 * PAGE - 4))
    assert (counts["Dr"], counts["TLBm"], counts["D1mr"]) == (1, 2, 2)
    assert simulate(loads(0x40000000 + PAGE - 4))["TLBm"] == 1


def test_sweep(simulate: Simulate) -> None:
    """A write sweep over 2 MiB, twice, with a secondary cache of 1 MiB: all lines go and come."""
    size = 2 << 20
    sweep = stores(*range(0x10000000, 0x10000000 + size, 8))
    counts = simulate([*sweep, *sweep], "--l2=1m")
    assert counts["D1mw"] == 2 * size // D_LINE
    assert counts["D1wb"] == (2 * size - (32 << 10)) // D_LINE
    assert counts["DLmw"] == 2 * size // L2_LINE
    assert counts["DLdmw"] == (2 * size - (1 << 20)) // L2_LINE
    assert counts["TLBm"] == 2 * 64 - 64  # 64 pairs of 32 KiB: all of them fit


@pytest.mark.parametrize("line", [
    "X  1,1", " L 1", " L ,8", " L 1,", " L 1,0", " L 1,16385", " L 1,99999999999999999999", " L 12345678901234567,8", " L 1,8x",
    "L  1,8", " L  1,8", "I 1,8", "\0", "I  ", " L zz,1", " M -1,4", "\xff\xfe", " L 1,8 ", "=", "=-=",
])
def test_malformed_lines_are_counted(simulate: Simulate, line: str) -> None:
    counts = simulate([line, " L 0001,8"])
    assert only(counts) == {"processes": 1, "lines": 1, "malformed": 1, "Dr": 1, "D1mr": 1, "DLmr": 1, "TLBm": 1}


def test_messages_are_not_malformed(simulate: Simulate) -> None:
    counts = simulate(["==7== Lackey, an example Valgrind tool", "==7== Command: " + "x" * 100000, "--7-- warning", "**7** text",
                       "", "==7== "])
    assert only(counts) == {"processes": 1}


def test_another_program_starts_with_empty_caches(simulate: Simulate) -> None:
    counts = simulate([*loads(0x1000, 0x1000), "==7== Lackey, an example Valgrind tool", *loads(0x1000)])
    assert (counts["Dr"], counts["D1mr"], counts["TLBm"]) == (3, 2, 2)


def test_garbage(simulate: Simulate) -> None:
    """Random bytes, the end in the middle of a line, a line without end."""
    assert simulate(bytes(range(256)) * 4000)["lines"] == 0
    assert only(simulate(" L 1000,8\n L 2000,8")) == {"processes": 1, "lines": 1, "Dr": 1, "D1mr": 1, "DLmr": 1, "TLBm": 1}
    assert only(simulate("x" * 5000000 + "\n")) == {"processes": 1, "malformed": 1}
    assert simulate("x" * 5000000 + "\n L 1000,8\n")["lines"] == 1


def test_huge_addresses(simulate: Simulate) -> None:
    counts = simulate(["I  fffffffffffffffe,8", " L ffffffffffffffff,16384", " S ffffffffffffc000,16384", " M 0,1"])
    assert (counts["Ir"], counts["Dr"], counts["Dw"], counts["malformed"]) == (1, 2, 2, 0)


@pytest.mark.parametrize(("options", "message"), [
    (["--l2=3m"], "power of two"), (["--l2=256k"], "512k to 16m"), (["--l2=32m"], "512k to 16m"), (["--l2=x"], "not a number"),
    (["--l2=99999999999999999999999"], "not a number"), (["--l2=18446744073709551615m"], "not a number"), (["--l2=-1"], "not a number"),
    (["--page=32k"], "4k, 8k or 16k"), (["--tlb=fifo"], "lru or random"), (["--until=3"], "one without the other"),
    (["file"], "standard input"), (["--nope"], "usage"), (["--directory=/nope", "--until=0"], "No such file"),
])
def test_wrong_options(simulator: Path, options: list[str], message: str) -> None:
    done = subprocess.run([simulator, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert done.stdout == ""


class Live:
    """r10ksim with a directory, as perfex runs it; `with` ends it."""

    def __init__(self, simulator: Path, directory: Path, *options: str) -> None:
        self.directory = directory
        ended, self._end = os.pipe()
        pipe, self.pipe = os.pipe()
        self.process = subprocess.Popen([simulator, f"--directory={directory}", f"--until={ended}", *options], stdin=pipe,
                                        stdout=subprocess.PIPE, pass_fds=[ended], text=True)
        os.close(ended)
        os.close(pipe)
        assert self.process.stdout
        assert only(json.loads(self.process.stdout.readline())) == {"processes": 1}  # it is ready

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def now(self) -> dict[str, int]:
        self.process.send_signal(signal.SIGALRM)
        assert self.process.stdout
        counts: dict[str, int] = json.loads(self.process.stdout.readline())
        return counts

    def until(self, name: str, number: int) -> None:
        """Wait for a count."""
        limit = time.monotonic() + 60
        while self.now()[name] != number:
            assert time.monotonic() < limit, self.now()
            time.sleep(0.01)

    def finish(self) -> dict[str, int]:
        os.close(self.pipe)
        os.close(self._end)
        out = self.process.communicate(timeout=60)[0]
        assert self.process.returncode == 0
        counts: dict[str, int] = json.loads(out.splitlines()[-1])
        return counts


def text(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_files_of_processes(simulator: Path, tmp_path: Path) -> None:
    """Each process has caches of its own; read while the file grows, which then takes no space."""
    with Live(simulator, tmp_path) as live:
        os.write(live.pipe, text(*loads(0x1000)))
        live.until("Dr", 1)
        mine = tmp_path / f"trace.{os.getpid()}"
        block = text(*loads(0x1000)) * 10000
        with mine.open("wb") as out:
            out.write(block[:70000 * 2])
            out.flush()
            live.until("processes", 2)
            limit = time.monotonic() + 60
            while mine.stat().st_blocks * 512 > 70000 and time.monotonic() < limit:
                time.sleep(0.01)
            if mine.stat().st_blocks * 512 > 70000:
                pytest.skip("this file system cannot take back a part of a file")
            out.write(block[70000 * 2:])
        counts = live.finish()
        assert (counts["processes"], counts["Dr"], counts["D1mr"], counts["malformed"]) == (2, 10001, 2, 0)
        assert not mine.exists()


@pytest.mark.parametrize("before", [100, 30000])
@pytest.mark.parametrize("after", [1, 100, 60000])
def test_execve_in_a_child(simulator: Path, tmp_path: Path, before: int, after: int) -> None:
    """valgrind truncates the file: what was before counts never, whether it has been read or not."""
    with Live(simulator, tmp_path) as live:
        mine = tmp_path / f"trace.{os.getpid()}"
        line = text(*stores(0x1000))
        mine.write_bytes(line * before)
        live.until("processes", 2)
        if before * len(line) >= 1 << 16:
            while live.now()["Dw"] < (before * len(line) >> 16 << 16) // len(line) - 1:
                time.sleep(0.01)
        mine.write_bytes(text(*loads(0x1000)) * after)
        counts = live.finish()
        assert (counts["Dw"], counts["Dr"], counts["malformed"]) == (0, after, 0)


def test_ended_processes(simulator: Path, tmp_path: Path) -> None:
    """A process that is no more has its file read to the end and removed."""
    child = subprocess.Popen(["true"])
    child.wait()
    with Live(simulator, tmp_path) as live:
        gone = tmp_path / f"trace.{child.pid}"
        whole = tmp_path / "whole"
        whole.write_bytes(text(*loads(0x1000)))
        whole.rename(gone)  # nobody writes to a file of a process that is gone: it is read once
        live.until("Dr", 1)
        assert not gone.exists()
        (tmp_path / "trace.x").write_bytes(text(*loads(0x1000)))
        (tmp_path / "trace.1.core").write_bytes(text(*loads(0x1000)))
        (tmp_path / "trace.2").mkdir()
        assert live.finish()["Dr"] == 1


def test_counting_on_and_off(simulator: Path, tmp_path: Path) -> None:
    with Live(simulator, tmp_path, "--off") as live:
        os.write(live.pipe, text(*loads(0x1000)))
        live.until("lines", 1)
        live.process.send_signal(signal.SIGUSR1)
        live.now()
        os.write(live.pipe, text(*loads(0x1000, 0x1000)))
        live.until("Dr", 2)
        live.process.send_signal(signal.SIGUSR2)
        live.now()
        os.write(live.pipe, text(*loads(0x1000)))
        live.until("lines", 4)
        assert live.finish()["Dr"] == 2
