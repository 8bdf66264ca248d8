"""Children that are forked while other threads compute for the first time: argument GENERATIONS.

A generation is a process in which nothing has been computed.  It has its doors: the first import of one does not belong
into a thread of a program that forks.  Its threads compute; meanwhile its first thread forks children, which compute the same.  A child that does not come to an end is killed by its alarm,
and is the last.
Prints how many children there were, and the work that some of them hung in.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pypfm

# The doors of the works below.
from pypfm import Context, Goldmont, Itanium2, Montecito, decode, pfm3, pfm4, pmc
from pypfm import layout as layouts
from pypfm.perfex import counting as region

SECONDS = 4
CHILDREN = 6
DELAYS = 1 / 300  # seconds between children: imports take some hundredths


def encode() -> None:
    pmu = Montecito()
    assert pmu.encode(["CPU_OP_CYCLES_ALL"]).pmcs
    assert pmu["CPU_OP_CYCLES_ALL"].code == 0x12


def decoding() -> None:
    decoded = decode("itanium2", {"PMC4": 0x1228})
    assert "CPU_CYCLES" in str(decoded)
    assert decoded.to_request().request.events
    assert Itanium2().encode(["CPU_CYCLES"]).decode()


def strings() -> None:
    assert Goldmont().encode("UNHALTED_CORE_CYCLES").decode().candidates
    assert Goldmont().events


def layout() -> None:
    assert layouts.find("pfmlib_input_param_t")


def mirrors() -> None:
    pmu = pfm3.c_uint()
    assert pfm3.pfm_get_num_pmds(pmu) != 0
    assert pfm4.pfm_strerror(0)
    assert pmc.pmc_get_num_counters is not None


def counting() -> None:
    Context(Itanium2(), ["CPU_CYCLES"]).close()
    with suppress(KeyError, OSError):  # this machine may count nothing
        region("cycles")


def mistakes() -> None:
    assert "CPU_CYCLES" in refusal(lambda: Itanium2().encode(["CPU_CYCLE"]))
    assert "NO_SUCH_EVENT" in refusal(lambda: Goldmont().encode("NO_SUCH_EVENT"))


def refusal(call: Callable[[], object]) -> str:
    try:
        return f"no error: {call()}"
    except pypfm.PfmError as error:
        return str(error)


WORKS: tuple[Callable[[], None], ...] = (encode, decoding, strings, layout, mirrors, counting, mistakes)


def child(work: Callable[[], None]) -> int:
    """Fork a child that does a work."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.alarm(SECONDS)
            work()
            status = 0
        finally:
            os._exit(status)
    return pid


def generation(seed: int) -> None:
    """Threads that compute, and children: prints the works of those that ended otherwise than they should."""
    failed: list[str] = []
    threading.excepthook = lambda what: failed.append(f"a-thread:{what.exc_type.__name__}")
    works = [WORKS[(seed + step) % len(WORKS)] for step in (0, 1, 4)]
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    children = {}
    for number in range(CHILDREN):
        work = works[number % len(works)]
        children[child(work)] = work.__name__
        time.sleep(DELAYS * (1 + seed % 7) / 2)
    for thread in threads:
        thread.join()
    bad = [name for pid, name in children.items() if os.waitpid(pid, 0)[1]]
    print(*bad, *failed, flush=True)


def main() -> None:
    hung: Counter[str] = Counter()
    forks, generations = 0, int(sys.argv[1])
    for seed in range(generations):
        back, forth = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(forth, 1)
            generation(seed)
            os._exit(0)
        os.close(forth)
        forks += CHILDREN
        with open(back, encoding="ascii") as lines:
            hung.update(lines.read().split())
        if os.waitpid(pid, 0)[1]:
            hung["a generation"] += 1
        if hung:
            break
    print(json.dumps({"forks": forks, "hung": hung}))


main()
