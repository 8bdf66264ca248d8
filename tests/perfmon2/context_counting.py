"""Cases for test_perfmon2_context.py, each run in a process of its own: counting, sets, what is refused."""

from __future__ import annotations

import copy
import errno
import json
import os
import pickle
import signal
import threading

import pytest

from perfmon2_cases import case
from pypfm import (
    ContextError,
    CountingError,
    EventRequest,
    GenericIA64,
    InvalidArgumentError,
    InvalidTypeError,
    InvalidValueError,
    Itanium,
    Itanium2,
    Montecito,
    OpcodeMatch,
    Pfm3Error,
    Pfm3EventNotFoundError,
    Plm,
    PromiseError,
    Ranges,
    Request,
    UnknownKeyError,
    pfm3,
)
from pypfm.ia64 import Context, Count

PAIR = ["CPU_CYCLES", "IA64_INST_RETIRED"]


def refused(kind: type[Exception], *words: str, name: str | None = None):
    """A context manager: an exception whose message has these words, and of a code the name."""
    return pytest.raises(kind, match="(?s)" + "".join(f"(?=.*{word})" for word in words),
                         check=lambda error: name in (None, getattr(error, "name", None)))


# ---- counting -----------------------------------------------------------------------------

@case
def counts_by_name() -> None:
    with Context(Itanium2(), PAIR) as c:
        c.model.advance("CPU_CYCLES", 1000)
        c.model.advance("IA64_INST_RETIRED", 7)
        assert (c["CPU_CYCLES"], c["cpu_cycles"]) == (1000, 1000)
        assert c.counts() == {"CPU_CYCLES": 1000, "IA64_INST_RETIRED": 7}
        assert c["CPU_CYCLES"].exact
        assert "running" in repr(c)
    c_after = c.counts()
    assert c_after == {"CPU_CYCLES": 1000, "IA64_INST_RETIRED": 7}
    assert (list(c), len(c), dict(c), [*c.values()]) == (PAIR, 2, {**c_after}, [1000, 7])
    assert "CPU_CYCLES" in c
    assert "NOPS_RETIRED" not in c
    assert 4 not in c
    assert c.get("NOPS_RETIRED") is None
    assert "closed" in repr(c)


@case
def events_at_other_levels_do_not_count() -> None:
    with Context(Itanium2(), ["CPU_CYCLES", EventRequest("IA64_INST_RETIRED", plm="kernel")], plm="user") as c:
        for plm in ("user", Plm.PLM0, "1,2"):
            c.model.advance("CPU_CYCLES", 10, plm=plm)
            c.model.advance("IA64_INST_RETIRED", 100, plm=plm)
    assert c.counts() == {"CPU_CYCLES": 10, "IA64_INST_RETIRED": 100}
    assert (c[Itanium2()["CPU_CYCLES"]], c[EventRequest("ia64_inst_retired")]) == (10, 100)  # type: ignore[index]


@case
def stop_and_start_go_on() -> None:
    c = Context(Itanium2(), PAIR)
    assert repr(c["CPU_CYCLES"]) == "0 (not started)"
    assert not c["CPU_CYCLES"].exact
    c.model.advance("CPU_CYCLES", 1)
    c.start()
    c.model.advance("CPU_CYCLES", 20)
    c.stop()
    c.model.advance("CPU_CYCLES", 300)
    assert "stopped" in repr(c)
    c.start()
    c.start()
    c.model.advance("CPU_CYCLES", 4000)
    c.stop()
    c.stop()
    assert c["CPU_CYCLES"] == 4020
    assert c.registers() == {"PMD4": 4020, "PMD5": 0}
    c.close()
    c.close()
    assert c["CPU_CYCLES"] == 4020


@case
def every_pmu_and_none_is_selected() -> None:
    """The registers are those of the PMU that is given, whatever libpfm's own state says; and that stays as it is."""
    for pmu in (Itanium2(), Montecito(), Itanium(), GenericIA64()):
        name = next(iter(pmu))
        with Context(pmu, [name]) as c:
            c.model.advance(name, 11)
        assert c[name] == 11
    assert pfm3.pfm_get_pmu_type(pfm3.c_int()) == pfm3.PFMLIB_ERR_NOINIT
    assert pfm3.pfm_create(0, None) == -1
    assert pfm3.ffi.errno == errno.ENOSYS
    assert pfm3.pfm_force_pmu(pfm3.PFMLIB_MONTECITO_PMU) == 0
    with Context(Itanium(), ["CPU_CYCLES"]) as c:
        c.model.advance("CPU_CYCLES", 5)
    assert c["CPU_CYCLES"] == 5
    kind = pfm3.c_int()
    assert pfm3.pfm_get_pmu_type(kind) == 0
    assert kind.value == pfm3.PFMLIB_MONTECITO_PMU


@case
def as_many_events_as_counters_with_masks_and_ranges() -> None:
    pmu = Montecito()
    events = ["CPU_OP_CYCLES_ALL", PAIR[1], "L3_INSERTS:I", EventRequest("L3_INSERTS", unit_masks=["M", 2])]
    with Context(pmu, [*events, *[name for name in pmu if name.startswith("NOPS")]]) as c:
        c.model.advance("L3_INSERTS:I", 3)  # the model does not look at the states of a line
        c.model.advance("CPU_OP_CYCLES_ALL", 5)
    assert {name: count for name, count in c.items() if count} == {
        "CPU_OP_CYCLES_ALL": 5, "L3_INSERTS:I": 3, "L3_INSERTS:M:E": 3}


@case
def registers_of_each_pmu_s_ranges_and_matchers() -> None:
    ranges, tagged = Ranges(limits=[(0x1000, 0x1040)]), "IA64_TAGGED_INST_RETIRED_"
    for pmu, matched in ((Itanium2(), tagged + "IBRP0_PMC8"), (Montecito(), tagged + "IBRP0_PMC32_33"), (Itanium(), tagged + "PMC8")):
        for event, asked in (("IA64_INST_RETIRED", {"code": ranges}), ("LOADS_RETIRED", {"data": ranges}),
                             (matched, {"opcode_match": (OpcodeMatch(match=0x1234), None)})):
            with Context(pmu, Request(plm=Plm.PLM3, events=(event,), **asked)) as c:
                c.model.advance(event, 3)
            assert c[event] == 3


@case
def the_same_event_twice() -> None:
    with refused(InvalidValueError, "CPU_CYCLES", "twice", "plm"):
        Context(Itanium2(), ["CPU_CYCLES", "cpu_cycles"])
    with Context(Itanium2(), ["NOPS_RETIRED", "CPU_CYCLES", EventRequest("CPU_CYCLES", plm="kernel")]) as c:
        c.model.advance("CPU_CYCLES", 10)
        c.model.advance("CPU_CYCLES", 1, plm="kernel")
    assert c.counts() == {"CPU_CYCLES:u": 10, "CPU_CYCLES:k": 1, "NOPS_RETIRED": 0}
    with refused(UnknownKeyError, "CPU_CYCLES is counted several times: as CPU_CYCLES:u, CPU_CYCLES:k"):
        c["CPU_CYCLES"]


@case
def a_count_is_a_number() -> None:
    count = Count(5, "for a part of the time", 0.5, 10.0)
    assert (count, count + 1, f"{count:,}", str(count), repr(count)) == (5, 6, "5", "5", "5 (for a part of the time)")
    again = pickle.loads(pickle.dumps(count))
    assert (again, again.note, again.seconds, again.estimate) == (5, count.note, 0.5, 10.0)
    assert json.dumps({"n": copy.copy(count)}) == '{"n": 5}'
    assert Count(7).exact
    with Context(Itanium2(), PAIR) as c:
        counts = c.counts()
    assert pickle.loads(pickle.dumps(counts)) == counts == {"CPU_CYCLES": 0, "IA64_INST_RETIRED": 0}
    with refused(UnknownKeyError, "CPU_CYCLES"):
        counts["NOPS_RETIRED"]


# ---- sets ---------------------------------------------------------------------------------

@case
def sets_by_time() -> None:
    sets = [["CPU_CYCLES", "NOPS_RETIRED"], ["CPU_CYCLES", "IA64_INST_RETIRED"], ["ALAT_CAPACITY_MISS_ALL"]]
    with Context(Itanium2(), sets, timeout=[0.001, 0.003, 1]) as c:
        for _ in range(8):  # 0 1 1 1 0? no: 0, then 1 for 3 ms, then 2
            c.model.advance("CPU_CYCLES", 100)
            c.model.advance("NOPS_RETIRED", 10)
            c.model.advance("IA64_INST_RETIRED", 1)
            c.model.pass_time(0.001)
    assert c.counts(0) == {"CPU_CYCLES": 100, "NOPS_RETIRED": 10}
    assert c.counts(1) == {"CPU_CYCLES": 300, "IA64_INST_RETIRED": 3}
    found = c.counts()
    assert found == {"CPU_CYCLES": 400, "NOPS_RETIRED": 10, "IA64_INST_RETIRED": 3, "ALAT_CAPACITY_MISS_ALL": 0}
    assert {name: count.seconds for name, count in found.items()} == {
        "CPU_CYCLES": 0.004, "NOPS_RETIRED": 0.001, "IA64_INST_RETIRED": 0.003, "ALAT_CAPACITY_MISS_ALL": 0.004}
    assert (found["CPU_CYCLES"].estimate, found["NOPS_RETIRED"].estimate) == (800.0, 80.0)
    assert not any(count.exact for count in found.values())
    assert c.counts(1)["IA64_INST_RETIRED"].exact
    with refused(UnknownKeyError, "no set 3"):
        c.counts(3)
    with refused(UnknownKeyError, "no set -1"):
        c.registers(-1)


@case
def a_set_that_never_ran_says_so() -> None:
    with Context(Itanium2(), [PAIR, ["NOPS_RETIRED"]], timeout=10) as c:
        c.model.advance("CPU_CYCLES", 3)
        assert c["NOPS_RETIRED"].note == "its set has not run"
    assert repr(c["NOPS_RETIRED"]) == "0 (its set has not run)"
    assert "part of the time" in c["CPU_CYCLES"].note


@case
def sets_by_overflows() -> None:
    sets = [["CPU_CYCLES"], ["IA64_INST_RETIRED", "CPU_CYCLES"]]
    with Context(Itanium2(), sets, period={"CPU_CYCLES": 100}, overflows=1, buffer_size=0) as c:
        c.model.advance("CPU_CYCLES", 250)  # 100 in set 0, 100 in set 1, 50 in set 0
        assert c.counts(0) == {"CPU_CYCLES": 150}
        assert c.counts(1) == {"CPU_CYCLES": 100, "IA64_INST_RETIRED": 0}
        c.model.advance("CPU_CYCLES", 50)
        c.model.advance("IA64_INST_RETIRED", 6)
    assert c.counts() == {"CPU_CYCLES": 300, "IA64_INST_RETIRED": 6}
    assert c["CPU_CYCLES"].exact


@case
def sets_by_overflows_that_are_sampled() -> None:
    with Context(Itanium2(), [PAIR, ["NOPS_RETIRED"]], period=10, overflows=[2, 1]) as c:
        c.model.advance("CPU_CYCLES", 25)  # two samples, then set 1
        c.model.advance("NOPS_RETIRED", 10)  # back to set 0
        c.model.advance("CPU_CYCLES", 13)
        assert c.counts() == {"CPU_CYCLES": 33, "IA64_INST_RETIRED": 0, "NOPS_RETIRED": 10}
        assert [(s.set, s.event, s.period) for s in c.samples] == [
            (0, "CPU_CYCLES", 10), (0, "CPU_CYCLES", 10), (1, "NOPS_RETIRED", 10), (0, "CPU_CYCLES", 10)]
    assert c.counts() == {"CPU_CYCLES": 33, "IA64_INST_RETIRED": 0, "NOPS_RETIRED": 10}


@case
def many_sets() -> None:
    """More than one call of C takes."""
    names = [e.name for e in Itanium2().values() if 4 in e.counters][:120]
    with Context(Itanium2(), [[name] for name in names], timeout=0.001) as c:
        for name in names:
            c.model.advance(name, 2)
            c.model.pass_time(0.001)
    assert set(c.counts().values()) == {2}
    assert len(c) == 120
    with refused(ContextError, "pfm_create_evtsets", "ENOMEM"):
        Context(Itanium2(), [["CPU_CYCLES"]] * 1025, timeout=1)


# ---- what is refused ----------------------------------------------------------------------------

@case
def wrong_arguments() -> None:
    pmu = Itanium2()
    signal.signal(signal.SIGIO, print)
    with refused(Pfm3Error, "timeout", name="PFMLIB_ERR_NOASSIGN"):
        Context(pmu, ["CPU_CYCLES", "NOPS_RETIRED", "BACK_END_BUBBLE_ALL", *PAIR[1:], "L2_MISSES"])
    wrong: list[tuple[type[Exception], str, tuple, dict]] = [
        (Pfm3EventNotFoundError, "CPU_CYCLES", (pmu, ["CPU_CYCLE"]), {}),
        (InvalidTypeError, "pmu", ("itanium2", PAIR), {}),
        (InvalidTypeError, "events", (pmu, "CPU_CYCLES"), {}),
        (InvalidTypeError, "events", (pmu, None), {}),
        (InvalidTypeError, "EventRequest", (pmu, [4]), {}),
        (InvalidTypeError, "in no list", (pmu, [PAIR, "CPU_CYCLES"]), {"timeout": 1}),
        (InvalidValueError, "there are none", (pmu, []), {}),
        (InvalidValueError, "a set has none", (pmu, [PAIR, []]), {"timeout": 1}),
        (InvalidValueError, "nothing switches", (pmu, [PAIR, PAIR]), {}),
        (InvalidValueError, "one of them", (pmu, [PAIR, PAIR]), {"timeout": 1, "overflows": 1, "period": 1}),
        (InvalidValueError, "3 values for 2 sets", (pmu, [PAIR, PAIR]), {"timeout": [1, 2, 3]}),
        (InvalidValueError, "give it a period", (pmu, [PAIR, PAIR]), {"overflows": 1}),
        (InvalidValueError, "buffer_size", (pmu, PAIR), {"period": 1, "buffer_size": 100}),
        (InvalidValueError, "buffer_size", (pmu, PAIR), {"period": 1, "buffer_size": 1 << 48}),
        (InvalidValueError, "buffer_size", (pmu, [PAIR, PAIR]), {"overflows": 2, "period": 1, "buffer_size": 0}),
        (InvalidValueError, "notify and overflows", (pmu, [PAIR, PAIR]), {"overflows": 1, "period": 1, "notify": True}),
        (InvalidValueError, "notify: no event has a period", (pmu, PAIR), {"notify": True}),
        (InvalidValueError, "signal: no event has a period", (pmu, PAIR), {"signal": signal.SIGIO}),
        (UnknownKeyError, "not counted", (pmu, PAIR), {"period": {"NOPS_RETIRED": 5}}),
        (InvalidValueError, "no event has one", (pmu, PAIR), {"period": {}}),
        (InvalidValueError, "one thread, or one CPU", (pmu, PAIR), {"tid": 1, "cpu": 0}),
        (InvalidTypeError, "notify", (pmu, PAIR), {"period": 1, "notify": "yes"}),
    ]
    wrong += [(InvalidValueError, "period", (pmu, PAIR), {"period": value}) for value in (0, -1, 1 << 63, 1 << 200)]
    wrong += [(InvalidTypeError, "period", (pmu, PAIR), {"period": value}) for value in (1.5, "1", [1])]
    wrong += [(InvalidValueError, "timeout", (pmu, [PAIR, PAIR]), {"timeout": value})
              for value in (0, -1, 1e-10, float("nan"), float("inf"), (1 << 33) + 1, 1 << 40)]
    wrong += [(InvalidTypeError, "timeout", (pmu, [PAIR, PAIR]), {"timeout": value}) for value in ("1", [None, None], {})]
    wrong += [(InvalidValueError, "overflows", (pmu, [PAIR, PAIR]), {"overflows": value, "period": 1}) for value in (0, -1)]
    wrong += [(InvalidValueError, "random_mask", (pmu, PAIR), {"period": 1, "random_mask": value}) for value in (-1, 1 << 64)]
    wrong += [(InvalidValueError, "tid", (pmu, PAIR), {"tid": value}) for value in (0, -1, 1 << 31)]
    wrong += [(InvalidValueError, "cpu", (pmu, PAIR), {"cpu": value}) for value in (-1, 1 << 31)]
    wrong += [(InvalidTypeError, "tid", (pmu, PAIR), {"tid": "1"}), (InvalidArgumentError, "level", (pmu, PAIR), {"plm": "x"}),
              (PromiseError, "level", (pmu, PAIR), {"plm": 16})]
    before = os.listdir("/proc/self/fd")
    for kind, word, args, named in wrong:
        with refused(Exception, word) as caught:
            Context(*args, **named)
        assert caught.type is kind or issubclass(caught.type, kind), (caught.value, args, named)
    assert os.listdir("/proc/self/fd") == before


@case
def wrong_arguments_of_methods() -> None:
    with Context(Itanium2(), ["DATA_EAR_CACHE_LAT4"]) as c:
        for kind, call in (
            (Pfm3EventNotFoundError, lambda: c.model.advance("X")), (InvalidValueError, lambda: c.model.advance("CPU_CYCLES", -1)),
            (InvalidValueError, lambda: c.model.advance("CPU_CYCLES", 1 << 64)), (InvalidTypeError, lambda: c.model.advance("CPU_CYCLES", 1.5)),
            (InvalidValueError, lambda: c.model.advance("CPU_CYCLES", plm=0)), (InvalidValueError, lambda: c.model.advance("CPU_CYCLES", plm=16)),
            (InvalidValueError, lambda: c.model.record(PMD4=1)), (InvalidValueError, lambda: c.model.record(PMC4=1)),
            (InvalidValueError, lambda: c.model.record(x=1)), (InvalidValueError, lambda: c.model.record(PMD2=-1)),
            (InvalidValueError, lambda: c.model.pass_time(-1)), (InvalidValueError, lambda: c.model.pass_time(float("nan"))),
            (InvalidTypeError, lambda: c.model.pass_time("1")), (InvalidValueError, lambda: c.model.interrupt_at(-1)),
            (InvalidTypeError, lambda: c.wait("1")), (UnknownKeyError, lambda: c[4]), (UnknownKeyError, lambda: c["DATA_EAR_CACHE_LAT8"]),
            (InvalidTypeError, lambda: c.counts("0")), (InvalidValueError, lambda: c.samples),
        ):
            with pytest.raises(kind):
                call()
        with refused(UnknownKeyError, "nearest", "DATA_EAR_CACHE_LAT4"):
            c["DATA_EAR_CACHE_LAT8"]
        c.model.record(pmd2=5, PMD3=6)
        assert c.registers() == {"PMD4": 0, "PMD2": 5, "PMD3": 6, "PMD17": 0}


@case
def wrong_moments() -> None:
    c = Context(Itanium2(), PAIR)
    with refused(ContextError, "pfm_create|not started"):
        c.stop()
    with refused(ContextError, "pfm_restart", "EBUSY", "no overflow"):
        c.restart()
    with c:
        with refused(ContextError, "runs already"):
            c.__enter__()
        with refused(ContextError, r"itanium2 \(CPU_CYCLES, IA64_INST_RETIRED\)", "pfm_load_context", "EEXIST", "close that one") as caught:
            Context(Itanium2(), PAIR).start()
        assert (caught.value.errno, caught.value.name, caught.value.call) == (errno.EEXIST, "EEXIST", "pfm_load_context")
        assert isinstance(caught.value, (CountingError, OSError))
        again = pickle.loads(pickle.dumps(caught.value))
        assert (str(again), again.call, again.name) == (str(caught.value), "pfm_load_context", "EEXIST")
    for call in (c.start, c.stop, c.restart, c.fileno, c.wait, c.__enter__):
        with refused(ContextError, "closed", name="EBADF"):
            call()
    with pytest.raises(InvalidTypeError, match="pickle"):
        pickle.dumps(c)
    with pytest.raises(InvalidTypeError, match="pickle"):
        copy.copy(c)
    assert {c: 1}[c] == 1
    assert c == c  # noqa: PLR0124 - two of the same counts are two
    assert c != Context(Itanium2(), PAIR)


@case(LIBPFM_PERFMON="off")
def switched_off() -> None:
    with refused(ContextError, "pfm_create_context", "ENOSYS", "LIBPFM_PERFMON") as caught:
        Context(Itanium2(), PAIR)
    assert caught.value.errno == errno.ENOSYS


@case(LIBPFM_PERFMON="modell")
def not_readable() -> None:
    with refused(ContextError, "pfm_create_context", "EINVAL", "LIBPFM_PERFMON"):
        Context(Itanium2(), PAIR)


@case
def no_memory_and_no_descriptor() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 16, 1 << 16))
    with Context(Itanium2(), PAIR, period=10), refused(ContextError, "ENOMEM", "buffer_size", "ulimit -l"):
        Context(Itanium2(), PAIR, period=10)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    with refused(ContextError, "pfm_create_context", "EMFILE", "ulimit -n"):
        Context(Itanium2(), PAIR)


@case
def a_cpu() -> None:
    before = os.sched_getaffinity(0)
    cpu = max(before)
    with Context(Itanium2(), PAIR, cpu=cpu) as c:
        c.model.advance("CPU_CYCLES", 12)
        with refused(ContextError, "EBUSY", "system-wide"):
            Context(Itanium2(), PAIR).start()
        assert c["CPU_CYCLES"] == 12
        found = []
        thread = threading.Thread(target=lambda: found.append(c["CPU_CYCLES"]))
        thread.start()
        thread.join()
        assert found == [12]
    assert c["CPU_CYCLES"] == 12
    assert os.sched_getaffinity(0) == before
    with refused(ContextError, "sched_setaffinity", "CPU 4000"), Context(Itanium2(), PAIR, cpu=4000):
        pass
    with Context(Itanium2(), PAIR) as c:  # the session of the CPU is over
        pass
