"""The Pythonic layer from many threads: every recorded answer, whichever thread asks.

PYPFM_THREAD_CALLS says how many calls are made; .ci/full makes a million.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from conftest import VECTORS
from pfm3_vectors import read
from pypfm import Goldmont, Itanium2, Montecito, Pfm3Error, Pfm4Error
from pypfm.common.counting import CountingError, PerfEvent, Ring
from pypfm.conform.report.why import keywords, pmu_for

THREADS = 16
CALLS = int(os.environ.get("PYPFM_THREAD_CALLS", "4000"))
STEP = 37  # recorded dispatch calls of which one is taken; the number of vectors has no such factor

Call = Callable[[], Any]


def dispatch(vector: dict[str, Any]) -> tuple[Call, Any]:
    """A recorded call of pfm_dispatch_events(): what makes it, and the answer."""
    arguments, pmu, expect = keywords(vector), pmu_for(vector), vector["expect"]

    def call() -> Any:
        try:
            made = pmu.encode(**arguments)
        except Pfm3Error as error:
            return error.code
        return [[r.num, r.addr, r.alt_addr, hex(r.value)] for r in made.pmcs], [[r.num, r.addr, r.alt_addr] for r in made.pmds]

    return call, expect["ret"] or (expect["pmcs"], expect["pmds"])


def encoding(pmu: Goldmont, vector: dict[str, Any]) -> tuple[Call, Any]:
    """A recorded encoding of libpfm 4."""
    expect = vector["expect"]

    def call() -> Any:
        try:
            made = pmu.encode(vector["event"], plm=vector["dfl_plm"], os="none", check="reference")
        except Pfm4Error as error:
            return error.code
        return [hex(code) for code in made.codes], made.string

    return call, expect["ret"] or (expect["codes"], expect["fstr"])


def recorded() -> Iterator[tuple[Call, Any]]:
    for vector in read(str(VECTORS / "pfm3_dispatch.jsonl.bz2"))[::STEP]:
        yield dispatch(vector)
    glm = Goldmont()
    for vector in read(str(VECTORS / "pfm4_encode.jsonl.bz2")):
        if vector["os"] == "none" and vector["env"] == {"LIBPFM_FORCE_PMU": "glm"} and not {"room", "size"} & vector.keys():
            yield encoding(glm, vector)


def lookups() -> Iterator[tuple[Call, Any]]:
    """Events by name, from objects that the threads share."""
    for pmu in (Itanium2(), Montecito()):
        for event in list(pmu.events)[::STEP]:
            yield (lambda pmu=pmu, name=event.name: pmu[name].index), event.index


def in_threads(work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("switching")
def test_recorded_answers_from_many_threads() -> None:
    cases = [*recorded(), *lookups()]
    made: Counter[int] = Counter()
    wrong: list[tuple[Any, Any]] = []
    together = threading.Barrier(THREADS)

    def work(number: int) -> None:
        together.wait()
        for i in range(CALLS // THREADS):
            call, want = cases[(number * 101 + i * (2 * number + 1)) % len(cases)]
            got = call()
            made[number] += 1
            if got != want:
                wrong.append((want, got))

    in_threads(work)
    print(f"{made.total()} calls in {THREADS} threads, {len(cases)} different ones")
    assert len(cases) > 300
    assert made == dict.fromkeys(range(THREADS), CALLS // THREADS)  # no thread ended early
    assert wrong[:3] == []


@contextmanager
def ring_of_threads(run: Callable[[], Any], **attr: int) -> Iterator[Ring]:
    """The records of an event of this thread and of 400 threads that it starts: more than one reading of the ring holds."""
    where = os.sched_getaffinity(0)
    try:
        event = PerfEvent({"type": 1, "inherit": 1, "exclude_kernel": 1, "exclude_hv": 1, **attr}, cpu=min(where))
    except CountingError as error:
        pytest.skip(f"no events of this machine: {error}")
    os.sched_setaffinity(0, {min(where)})
    try:
        with event:
            ring = event.ring(16)
            event.start()
            for _ in range(400):
                thread = threading.Thread(target=run)
                thread.start()
                thread.join()
            yield ring
            ring.close()
    finally:
        os.sched_setaffinity(0, where)


def test_ended_threads_in_a_ring() -> None:
    with ring_of_threads(lambda: bytearray(8192), config=2, inherit_stat=1, disabled=1) as ring:  # page faults
        ended, end = list(ring.take()), time.monotonic() + 20
        while len(ended) <= 256 and time.monotonic() < end:  # a thread that is joined may not have ended quite
            time.sleep(0.05)
            ended += ring.take()
    assert 256 < len({tid for _, tid, _ in ended}) == len(ended) <= 400
    assert {pid for pid, _, _ in ended} == {os.getpid()}


def test_threads_that_begin_in_a_ring() -> None:
    with ring_of_threads(int, config=9, task=1, comm=1, sample_id_all=1, sample_type=4) as ring:
        begun = {life.tid for life in ring.lives() if life.parent}
    assert 256 < len(begun) <= 400
