"""Children that are forked while other threads compute for the first time: argument GENERATIONS.

A generation is a process in which nothing has been computed, nor loaded.  Its threads compute; meanwhile its first
thread forks children, which compute the same.  A child that does not come to an end is killed by its alarm,
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

import pypfm

SECONDS = 4
CHILDREN = 6
DELAYS = 1 / 300  # seconds between children: imports take some hundredths


def encode() -> None:
    pmu = pypfm.Montecito()
    assert pmu.encode(["CPU_OP_CYCLES_ALL"]).pmcs
    assert pmu["CPU_OP_CYCLES_ALL"].code == 0x12


def decode() -> None:
    decoded = pypfm.decode("itanium2", {"PMC4": 0x1228})
    assert "CPU_CYCLES" in str(decoded)
    assert pypfm.Itanium2().encode(["CPU_CYCLES"]).registers


def strings() -> None:
    assert pypfm.Goldmont().encode("UNHALTED_CORE_CYCLES").codes
    assert pypfm.Goldmont().events


def layout() -> None:
    assert pypfm.layout.find("pfmlib_input_param_t")


def conform() -> None:
    from pypfm.conform import vectors  # as users write it
    assert pypfm.conform.conform
    assert vectors


def mirrors() -> None:
    assert pypfm.pfm3.pfm_get_num_pmds is not None
    assert pypfm.pfm4.pfm_strerror(0)
    assert pypfm.pmc.pmc_get_num_counters


def counting() -> None:
    assert pypfm.Context
    assert pypfm.perfex.counting
    assert pypfm.ia64.Sample


def mistakes() -> None:
    assert "CPU_CYCLES" in refusal(lambda: pypfm.Itanium2().encode(["CPU_CYCLE"]))
    assert "NO_SUCH_EVENT" in refusal(lambda: pypfm.Goldmont().encode("NO_SUCH_EVENT"))


def refusal(call: Callable[[], object]) -> str:
    try:
        return f"no error: {call()}"
    except pypfm.PfmError as error:
        return str(error)


def showing() -> None:
    made = pypfm.Itanium2().encode(["CPU_CYCLES"])
    assert made._repr_html_()
    assert repr(made)


WORKS: tuple[Callable[[], None], ...] = (encode, decode, strings, layout, conform, mirrors, counting, mistakes, showing)


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
