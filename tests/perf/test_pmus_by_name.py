"""perf.Pmu by its name: the same as the classes, and what is not an index, an interface, or one's own counter."""

from __future__ import annotations

import errno
import mmap
import os
import pickle
from contextlib import suppress
from typing import Any

import pytest

from pypfm import CountingError, Goldmont, InvalidArgumentError, InvalidValueError, Perf, perf
from pypfm.perf.tables import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_indices(name: str) -> None:
    """C reads a table at the index that it is given."""
    pmu = perf.Pmu(name)
    assert pmu.at(0).index == 0
    assert pmu.at(len(pmu) - 1)
    for wrong in (-1, len(pmu), 2**31, 2**40, 2**70):
        with pytest.raises(InvalidValueError, match="index of an event"):
            pmu.at(wrong)
    wrong_types: list[Any] = ["0", None, 1.5]
    for given in wrong_types:
        with pytest.raises(InvalidArgumentError):
            pmu.at(given)


@pytest.mark.parametrize(("cls", "name", "text"), [(Goldmont, "glm", "ICACHE:HIT"), (Perf, "perf", "task-clock")])
def test_the_same_as_the_class(cls: Any, name: str, text: str) -> None:
    assert perf.Pmu(name) == cls()
    assert hash(perf.Pmu(name)) == hash(cls())
    assert perf.Pmu(name).encode(text) == cls().encode(text)
    assert perf.Pmu(name).default_os == cls().default_os
    assert pickle.loads(pickle.dumps(perf.Pmu(name))) == cls()
    assert perf.Pmu(name) != perf.Pmu("mont")
    assert Goldmont() != Goldmont(corrected=True)


@pytest.mark.parametrize(("name", "text", "spelled"), [
    ("mont", "CPU_OP_CYCLES_ALL:u=0:k=0", "cpu/event=0x12,umask=0x0/h"), ("perf", "page-faults:u=0:k=0", "page-faults:h"),
    ("glm", "ICACHE:HIT:u=0:k=0", "cpu/event=0x80,umask=0x1/h"),
])
def test_what_counts_in_no_mode_is_not_what_counts_in_all(name: str, text: str, spelled: str) -> None:
    """perf counts an event without a mode in user and kernel mode."""
    for os_ in perf.Pmu(name).default_os, "perf_event":
        made = perf.Pmu(name).encode(text, os=os_)  # type: ignore[arg-type] # a name
        assert made.attr is not None
        assert made.attr["exclude_user"] == made.attr["exclude_kernel"] == 1
        assert made.perf == spelled


@pytest.mark.parametrize(("name", "text", "spelled"), [
    ("glm", "ICACHE:HIT:pinned", "cpu/event=0x80,umask=0x1/uD"), ("glm", "ICACHE:HIT:excl:k:u", "cpu/event=0x80,umask=0x1/uke"),
    ("perf", "cycles:precise=2:pinned:excl", "cycles:uppDe"), ("mont", "CPU_OP_CYCLES_ALL:mg", "cpu/event=0x12,umask=0x0/uG"),
    ("mont", "CPU_OP_CYCLES_ALL:mh", "cpu/event=0x12,umask=0x0/u"),
])
def test_what_perf_has_a_letter_for(name: str, text: str, spelled: str) -> None:
    """What an event string asks for is not lost: the guest alone would be the host."""
    assert perf.Pmu(name).encode(text, os="perf_event_ext").perf == spelled


def test_what_is_no_interface_and_no_level() -> None:
    for os_ in (7, -1, 2**40):
        with pytest.raises(InvalidValueError):
            Goldmont().parse("ICACHE:HIT", os_)
        with pytest.raises(InvalidValueError):
            Goldmont()._made("ICACHE:HIT", os_, 0)
    for plm in (-1, 2**32, 2**70):
        with pytest.raises(InvalidValueError, match="privilege levels"):
            Goldmont()._tried("ICACHE:HIT", 0, plm)


def test_a_child_does_not_stop_its_parents_event() -> None:
    """It comes back from the function that is counted, as the parent does, with the parent's descriptor."""
    said, says = os.pipe()
    child = -1

    def work() -> None:
        nonlocal child
        child = os.fork()
        if child == 0:
            return
        os.waitpid(child, 0)
        with mmap.mmap(-1, 1000 * mmap.PAGESIZE) as data:
            for at in range(0, len(data), mmap.PAGESIZE):
                data[at] = 1

    try:
        count = Perf().count("page-faults", work)
    except CountingError as error:
        if child == 0:
            os.write(says, f"{error.errno} {error}".encode())
            os._exit(0)
        raise
    finally:
        if child == 0:
            with suppress(OSError):
                os.write(says, b"no error")
            os._exit(1)
    assert count >= 1000
    os.close(says)
    with open(said, encoding="utf-8") as answer:
        text = answer.read()
    assert text.startswith(f"{errno.ENXIO} perf::PERF_COUNT_SW_PAGE_FAULTS:")
    assert text.endswith(": the event is the parent process's")
