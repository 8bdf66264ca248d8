"""perfex --list, and the names of events."""

from __future__ import annotations

import json
import mmap
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mips_programs import BIG, compiled
from perfex_runs import counted, environment, perfex, refused
from pypfm.errors import InvalidTypeError, UnknownKeyError
from pypfm.perfex import counting, events, listing
from pypfm.perfex.backends import perf
from pypfm.perfex.backends.qemu import program
from pypfm.perfex.backends.valgrind import installed
from pypfm.perfex.model import CPUS, Cpu, PerfexError, PerfexValueError
from tools import first
from valid import validate

cpus = st.sampled_from(CPUS)


def looked_up(cpu: Cpu, text: str) -> tuple[int | None, str]:
    """The event, or what is said of the text."""
    try:
        return events.find(cpu, text, "-e"), ""
    except PerfexValueError as error:
        return None, str(error)


# ---- names --------------------------------------------------------------------------------

@pytest.mark.parametrize("cpu", CPUS)
def test_short_names_are_unique_and_can_be_typed(cpu: Cpu) -> None:
    names = [re.sub("[-_ ]", "", e.short).lower() for e in events.table(cpu)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[A-Za-z0-9]+(-[A-Za-z0-9]+)*", e.short) and len(e.short) <= 24 for e in events.table(cpu))


@given(cpu=cpus, index=st.integers(0, 31), between=st.sampled_from(["-", "_", " ", "", " - "]), upper=st.booleans())
def test_an_event_is_found_by_its_short_name_however_it_is_written(cpu: Cpu, index: int, between: str, upper: bool) -> None:
    text = events.table(cpu)[index].short.replace("-", between)
    assert events.find(cpu, text.upper() if upper else text.lower(), "-e") == index


@given(cpu=cpus, index=st.integers(0, 31))
def test_an_event_is_found_by_its_name(cpu: Cpu, index: int) -> None:
    """Cycles and graduated instructions are on both counters: the name is the first one's."""
    known = events.table(cpu)
    first = next(e.index for e in known if e.name == known[index].name)
    assert events.find(cpu, known[index].name, "-e") == first


@given(cpu=cpus, index=st.integers(0, 31), size=st.integers(1, 30))
def test_a_beginning_is_the_event_or_the_error_lists_it(cpu: Cpu, index: int, size: int) -> None:
    event = events.table(cpu)[index]
    found, said = looked_up(cpu, event.short[:size])
    if found is None:
        assert f"{event.short} ({index})" in said
        assert said.startswith(f"-e: '{event.short[:size]}' may be any of ")
    elif found != index:
        assert events.table(cpu)[found].short == event.short[:size].rstrip("-")


@pytest.mark.parametrize(("cpu", "text", "index"), [
    ("r10000", "tlb", 23), ("r10000", "L1D-misses", 25), ("r10000", "TLB misses", 23), ("r10000", "l1d_MISSES", 25),
    ("r10000", "Primary (L1) data cache misses", 25), ("r12000", "Primary data cache misses", 25), ("r10000", "fp", 21),
    ("r10000", "decoded", 6), ("r10000-3", "resolved", 6), ("r12000", "mht", 4), ("r10000", "cycles", 0), ("r10000", "cycles-1", 16),
    ("r10000", "graduated instructions", 15), ("r12000", "prefetches", 16), ("r10000", "0000000031", -1), ("r10000", "031", 31),
])
def test_names(cpu: Cpu, text: str, index: int) -> None:
    if index < 0:
        with pytest.raises(PerfexValueError, match="is not an event"):
            events.find(cpu, text, "-e")
    else:
        assert events.find(cpu, text, "-e") == index


@pytest.mark.parametrize(("text", "message"), [
    ("cycl", "-e: 'cycl' may be any of cycles (0), cycles-1 (16)"),
    ("tlbs", "-e: 'tlbs' is not an event; near it: TLB-misses (23); perfex --list shows all"),
    ("misses TLB", "-e: 'misses TLB' is not an event; near it: TLB-misses (23); perfex --list shows all"),
    ("MHT", "-e: 'MHT' is not an event; perfex --list shows the events"),
    ("", "-e: '' is not an event; events are numbers from 0 to 31, or names (perfex --list)"),
    ("- _", "-e: '- _' is not an event; events are numbers from 0 to 31, or names (perfex --list)"),
    ("32", "-e: '32' is not an event; events are numbers from 0 to 31, or names (perfex --list)"),
    ("tlb\n", "-e: 'tlb\\n' is not an event; near it: TLB-misses (23); perfex --list shows all"),
])
def test_what_is_no_name(text: str, message: str) -> None:
    with pytest.raises(PerfexValueError) as caught:
        events.find("r10000", text, "-e")
    assert str(caught.value) == message


@given(cpu=cpus, text=st.text(max_size=12))
def test_any_text_is_an_event_or_one_line(cpu: Cpu, text: str) -> None:
    found, said = looked_up(cpu, text)
    assert "\n" not in said
    assert (found in range(32)) is not bool(said)


def test_names_on_the_command_line_and_in_the_environment(perf_table: Path) -> None:
    data = counted("--perf-table", perf_table, "-e", "l1d misses", "true")
    assert [e["event"] for e in data["events"]] == [25, 0]
    data = counted("--perf-table", perf_table, "true", env=environment(T5_EVENT0="L2I-misses", T5_EVENT1="tlb"))
    assert [e["event"] for e in data["events"]] == [10, 23]


def test_files_have_numbers(tmp_path: Path) -> None:
    """Cost files and tables of perf events hold for several processors, whose names differ."""
    file = tmp_path / "costs"
    file.write_text("cycles clks 1 1 1\n")
    assert "event: 'cycles' is not an event; events are numbers from 0 to 31\n" in refused("-t", "-y", "-c", file)
    file.write_text("cpu,event,perf,quality,note\n,cycles,task-clock,exact,\n")
    assert "event: 'cycles' is not an event; events are numbers from 0 to 31\n" in refused("--perf-table", file, "true")


def test_names_in_python(perf_table: Path) -> None:
    with counting("L2D misses", 10, perf_table=perf_table) as c:
        memory = mmap.mmap(-1, 1 << 22)  # not memory that was used before
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        memory.write(bytes(1 << 22))
    assert c["l2d-misses"] == c[26] >= (1 << 22) // mmap.PAGESIZE
    assert set(c) == {26, 10}
    with pytest.raises(UnknownKeyError, match="event 23 is not counted"):
        c["tlb"]
    with pytest.raises(UnknownKeyError, match="'nothing' is not an event"):
        c["nothing"]
    assert c.get("nothing") is None
    with pytest.raises(PerfexValueError, match="near it: TLB-misses"):
        counting("tlbs")
    with pytest.raises(InvalidTypeError):
        counting(b"tlb")  # type: ignore[arg-type] - the wrong type is the test


# ---- --list -------------------------------------------------------------------------------

@pytest.mark.parametrize("cpu", CPUS)
def test_list(cpu: Cpu) -> None:
    done = perfex("--list", "--cpu", cpu)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"perfex: {cpu} events, ")
    words = done.stdout.split()
    assert all(event.short in words for event in events.table(cpu))
    data = json.loads(perfex("--list", "--cpu", cpu, "--json").stdout)
    validate(data, "perfex_list")
    assert [(e["event"], e["short"], e["name"], e["counter"]) for e in data["events"]] == [
        (e.index, e.short, e.name, e.counter) for e in events.table(cpu)]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_list_fits_a_terminal(width: int) -> None:
    for cpu in CPUS:
        lines = listing.text(listing.listing(cpu), width).splitlines()
        assert max(map(len, lines)) <= width


def test_list_says_what_this_machine_can_count(perf_table: Path) -> None:
    made = json.loads(perfex("--list", "--json", "--perf-table", perf_table).stdout)
    perf_of = {e["event"]: e["backends"]["perf"]["quality"] for e in made["events"]}
    assert {event for event, quality in perf_of.items() if quality != "unavailable"} == {0, 10, 16, 25, 26}
    assert "perf" not in made["missing"]


def listed(cpu: Cpu, backend: str, *options: object) -> dict[int, tuple[str, str]]:
    """Quality and note of each event, as perfex --list --json has them."""
    data = json.loads(perfex("--list", "--json", "--cpu", cpu, *options).stdout)
    return {e["event"]: (e["backends"][backend]["quality"], e["backends"][backend]["note"]) for e in data["events"]}


def of_count(cpu: Cpu, *options: object, command: object = "true") -> dict[int, tuple[str, str]]:
    """The same, of a report."""
    data = counted("--cpu", cpu, *options, command)
    return {e["event"]: (e["quality"], e["note"]) for e in data["events"]}


@pytest.mark.needs("valgrind")
@pytest.mark.parametrize("cpu", CPUS)
def test_list_says_what_a_simulation_counts(cpu: Cpu) -> None:
    assert listed(cpu, "valgrind") == of_count(cpu, "-a", "--backend", "valgrind")


@pytest.mark.slow
@pytest.mark.needs("qemu-mips64", BIG)
@pytest.mark.parametrize("cpu", first(CPUS))
def test_list_says_what_is_counted_of_mips_programs(cpu: Cpu, tmp_path: Path) -> None:
    path = compiled(tmp_path, "int main(void) { return 0; }\n", "-static")
    assert listed(cpu, "qemu") == of_count(cpu, "-a", command=path)


@pytest.mark.long
@pytest.mark.needs("valgrind")
@pytest.mark.parametrize("cpu", CPUS)
def test_list_says_how_each_event_is_counted(cpu: Cpu) -> None:
    known = listed(cpu, "valgrind")
    for event in range(events.NUM_EVENTS):
        assert of_count(cpu, "-e", event, "--backend", "valgrind")[event] == known[event], event


@pytest.mark.parametrize("cpu", CPUS)
def test_list_says_what_perf_events_count(cpu: Cpu, perf_table: Path) -> None:
    table = ("--perf-table", perf_table)
    assert listed(cpu, "perf", *table) == of_count(cpu, "-a", *table)


def test_list_without_counters_and_without_valgrind(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_program: str = "valgrind") -> str:
        raise PerfexError("valgrind is not installed")

    def without(_name: str = "qemu-mips64") -> str:
        raise PerfexError("qemu-mips64 is not installed")

    monkeypatch.setattr(installed, "find", missing)
    monkeypatch.setattr(program, "installed", without)
    monkeypatch.setattr(perf, "offers_hardware", lambda: 2)
    made = listing.listing("r10000")
    assert set(made.missing) == {"perf", "valgrind", "qemu"}
    assert {how.quality for rows in made.backends.values() for how in rows} == {"unavailable"}
    assert "valgrind: valgrind is not installed" in listing.text(made, 80)
    assert "qemu: qemu-mips64 is not installed" in listing.text(made, 80)


@pytest.mark.parametrize("words", [["--list", "true"], ["--list", "--merge"], ["--list", "--csv"]])
def test_list_used_wrongly(words: list[str]) -> None:
    assert "--list goes without a command, --merge and --csv (see perfex --help)" in refused(*words)
