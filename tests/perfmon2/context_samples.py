"""Cases for test_perfmon2_context.py, each run in a process of its own: samples, messages, notifications."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import pickle
import select
import signal
import threading
import time
from pathlib import Path

import pytest

from perfmon2_cases import case
from pypfm import ContextError, DecodeError, EventRequest, Itanium, Itanium2, Montecito, UnknownKeyError
from pypfm.errors import InvalidTypeError
from pypfm.ia64 import Context, Message, Sample

PAIR = ["CPU_CYCLES", "IA64_INST_RETIRED"]
EAR = ["DATA_EAR_CACHE_LAT4", "CPU_CYCLES"]
SMALL = 512  # bytes: header, and two samples of three values or less


@case
def samples_have_decoded_ears() -> None:
    c = Context(Itanium2(), EAR, period=10)
    with c:
        for n in range(3):
            c.model.interrupt_at(0x4000 + 16 * n)
            c.model.record(PMD2=0x2000000000001000 + n, PMD3=20 + n, PMD17=0x4000000000002002 | 1 << 3)
            c.model.advance("CPU_CYCLES", 7)
            c.model.pass_time(0.001)
            c.model.advance("DATA_EAR_CACHE_LAT4", 10)
    found = list(c.samples)
    assert [s.ip for s in found] == [0x4000, 0x4010, 0x4020]
    assert [s.time for s in found] == [1000000, 2000000, 3000000]
    first = found[0]
    assert (first.event, first.set, first.period, first.pid, first.tid) == (
        "DATA_EAR_CACHE_LAT4", 0, 10, os.getpid(), threading.get_native_id())
    assert first.counts == {"CPU_CYCLES": 7}
    assert first.registers == {"PMD2": 0x2000000000001000, "PMD3": 20, "PMD17": 0x400000000000200A}
    (ear,) = found[2].ears
    assert (ear.what, ear.address, ear.latency) == ("data", 0x2000000000001002, 22)
    assert first.branches == ()
    assert first.decoded["PMD3"]["latency"] == 20
    assert pickle.loads(pickle.dumps(first)) == first
    assert first.to_json()["registers"]["PMD3"] == "0x14"
    assert "DATA_EAR" in repr(first)
    assert list(c.samples) == []
    assert c.counts() == {"DATA_EAR_CACHE_LAT4": 30, "CPU_CYCLES": 21}


@case
def samples_have_the_branches() -> None:
    with Context(Itanium2(), ["BRANCH_EVENT"], period=2) as c:
        source, target = 0x4000000000001000, 0x4000000000002000
        c.model.record(PMD8=source | 1 | 2 << 2, PMD9=target | 2, PMD16=2)
        c.model.advance("BRANCH_EVENT", 2)
        assert c.registers()["PMD16"] == 0  # the buffer begins anew after each sample
        c.model.record(PMD16=1)
        c.model.advance("BRANCH_EVENT", 2)
    one, two = c.samples
    assert [(b.entry, b.address) for b in one.branches] == [("source", source), ("target", target)]
    assert [(b.entry, b.slot) for b in two.branches] == [("source", 2)]
    assert len(one.registers) == 9
    assert one.counts == {}
    with Context(Montecito(), ["ETB_EVENT", "CPU_OP_CYCLES_ALL"], period=1) as c:
        c.model.record(PMD48=source | 1, PMD38=1)
        c.model.advance("ETB_EVENT")
        (sample,) = c.samples
        assert [b.address for b in sample.branches] == [source]
        assert sample.counts == {"CPU_OP_CYCLES_ALL": 0}


@case
def ears_of_each_pmu() -> None:
    for pmu, event, record, found in (
        (Itanium2(), "L1I_EAR_CACHE_LAT4", {"PMD0": 0x40, "PMD1": 9}, ("instruction", 9)),
        (Montecito(), "L1I_EAR_CACHE_LAT4", {"PMD34": 0x40, "PMD35": 9}, ("instruction", 9)),
        (Itanium(), "INSTRUCTION_EAR_CACHE_LAT4", {"PMD0": 0x40, "PMD1": 9}, ("instruction", 9)),
        (Montecito(), "DATA_EAR_CACHE_LAT4", {"PMD32": 0x1000, "PMD33": 20, "PMD36": 0x2002 | 1 << 3}, ("data", 20)),
        (Itanium(), "DATA_EAR_CACHE_LAT4", {"PMD2": 0x1000, "PMD3": 20 | 1 << 62, "PMD17": 0x2002}, ("data", 20)),
    ):
        with Context(pmu, [event], period=1) as c:
            c.model.record(**record)
            c.model.advance(event)
            ((ear,),) = [s.ears for s in c.samples]
        assert (ear.what, ear.latency) == found


@case
def samples_without_an_ear() -> None:
    with Context(Itanium2(), PAIR, period=1) as c:
        c.model.advance("CPU_CYCLES")
        (sample,) = c.samples
    assert (sample.ears, sample.branches, sample.registers) == ((), (), {})
    with pytest.raises(DecodeError, match="DATA_EAR"):
        sample.decoded  # noqa: B018 - raises


@case
def several_events_are_sampled() -> None:
    with Context(Itanium2(), [*PAIR, "NOPS_RETIRED"], period={"cpu_cycles": 10, "IA64_INST_RETIRED": 4}) as c:
        c.model.advance("NOPS_RETIRED", 5)
        c.model.advance("CPU_CYCLES", 15)
        c.model.advance("IA64_INST_RETIRED", 9)
        assert c.counts() == {"CPU_CYCLES": 15, "IA64_INST_RETIRED": 9, "NOPS_RETIRED": 5}
        assert [(s.event, s.period, dict(s.counts)) for s in c.samples] == [
            ("CPU_CYCLES", 10, {"NOPS_RETIRED": 5}), *[("IA64_INST_RETIRED", 4, {"NOPS_RETIRED": 5})] * 2]
        assert c.counts() == {"CPU_CYCLES": 15, "IA64_INST_RETIRED": 9, "NOPS_RETIRED": 5}
    assert c.counts() == {"CPU_CYCLES": 15, "IA64_INST_RETIRED": 9, "NOPS_RETIRED": 5}
    with pytest.raises(UnknownKeyError):
        Context(Itanium2(), PAIR, period={"NOPS_RETIRED": 1})


@case
def random_periods_add_up() -> None:
    with Context(Itanium2(), PAIR, period=100, random_mask=0xFF) as c:
        c.model.advance("CPU_CYCLES", 100000)
        assert c["CPU_CYCLES"] == 100000
        periods = [s.period for s in c.samples]
        assert c["CPU_CYCLES"] == 100000
    assert c["CPU_CYCLES"] == 100000
    assert len(set(periods)) > 20
    assert {100 <= p <= 355 for p in periods} == {True}
    assert c["CPU_CYCLES"].exact


@case
def a_full_buffer_stops_and_taking_all_restarts() -> None:
    with Context(Itanium2(), PAIR, period=10, buffer_size=SMALL) as c:
        c.model.advance("CPU_CYCLES", 1000)
        first = c["CPU_CYCLES"]
        assert first < 100
        assert "not restarted" in first.note
        assert select.select([c], [], [], 0)[0] == [c]
        c.model.advance("IA64_INST_RETIRED", 5)
        assert c["IA64_INST_RETIRED"] == 0
        taken = list(c.samples)
        assert len(taken) * 10 == first
        c.model.advance("CPU_CYCLES", 1000)
        c.model.advance("IA64_INST_RETIRED", 5)
        assert c["CPU_CYCLES"] == 2 * first
        assert len(list(c.samples)) == len(taken)
        c.model.advance("CPU_CYCLES", 15)
        assert c["CPU_CYCLES"] == 2 * first + 15
    assert c["CPU_CYCLES"] == 2 * first + 15
    assert "stopped by 2 overflows" in c["CPU_CYCLES"].note
    assert len(list(c.samples)) == 1


@case
def a_restart_keeps_samples() -> None:
    c = Context(Itanium2(), PAIR, period=10, buffer_size=SMALL)
    with c:
        for n in range(5):
            c.model.interrupt_at(n)
            c.model.advance("CPU_CYCLES", 1000)
            if n < 4:
                c.restart()
        count = c["CPU_CYCLES"]
        assert [c.wait(0).kind for _ in range(5)] == ["overflow"] * 5
        assert c.wait(0) is None
    found = [s.ip for s in c.samples]
    assert sorted(found) == found
    assert set(found) == {0, 1, 2, 3, 4}
    assert len(found) * 10 == count == c["CPU_CYCLES"]


@case
def overflows_without_a_place_are_told() -> None:
    """Two counters overflow at once: of an odd number of places the last one is for the first of them."""
    found = set()
    for others in ([], ["NOPS_RETIRED"]):  # whose counts take room in each sample
        with Context(Itanium2(), ["CPU_CYCLES", EventRequest("CPU_CYCLES", plm="user,kernel"), *others], buffer_size=SMALL,
                     period={"CPU_CYCLES:u": 10, "CPU_CYCLES:ku": 10}) as c:
            c.model.advance("CPU_CYCLES", 1000)
            lost = len(list(c.samples)) % 2
            assert {label for label in c if f"{lost} overflows found no place" in c[label].note} == (
                {"CPU_CYCLES:u", "CPU_CYCLES:ku"} if lost else set())
        found.add(lost)
    assert found == {0, 1}


@case
def an_iterator_left_early() -> None:
    with Context(Itanium2(), PAIR, period=10) as c:
        c.model.advance("CPU_CYCLES", 100)
        samples = c.samples
        next(samples)
        for _ in c.samples:
            break
        assert c["CPU_CYCLES"] == 100
        c.model.advance("CPU_CYCLES", 10)
        kept = next(samples)
    assert isinstance(kept, Sample)
    assert next(samples).event == "CPU_CYCLES"  # the buffer is there as long as it is looked at
    assert len(list(c.samples)) == 7
    assert list(samples) == []
    assert c["CPU_CYCLES"] == 110


@case
def many_samples_without_loss() -> None:
    with Context(Itanium2(), PAIR, period=3, buffer_size=1 << 13) as c:
        taken = 0
        for _ in range(700):  # nothing happens between the overflow that fills the buffer and the restart
            c.model.advance("CPU_CYCLES", 3)
            taken += sum(1 for _ in c.samples)
        assert taken == 700
        assert c["CPU_CYCLES"] == 2100
    assert "stopped by 4 overflows" in c["CPU_CYCLES"].note


# ---- notifications --------------------------------------------------------------------------

@case
def a_notification() -> None:
    with Context(Itanium2(), PAIR, period=100, notify=True) as c:
        assert c.wait(0) is None
        c.model.interrupt_at(0x1230)
        c.model.advance("CPU_CYCLES", 250)
        assert c["CPU_CYCLES"] == 100
        message = c.wait()
        assert message == Message("overflow", ("CPU_CYCLES",), 0, 0x1230, os.getpid(), threading.get_native_id(),
                                  message.cpu)
        assert "not restarted" in c["IA64_INST_RETIRED"].note
        c.restart()
        with pytest.raises(ContextError, match="EBUSY"):
            c.restart()
        c.model.advance("CPU_CYCLES", 130)
        assert c["CPU_CYCLES"] == 200
        c.restart()  # before the message is read
        c.model.advance("CPU_CYCLES", 30)
        assert c["CPU_CYCLES"] == 230
        assert c.wait(0).kind == "overflow"
        with pytest.raises(ContextError, match="EDEADLK"):
            c.wait()
        before = time.monotonic()
        assert c.wait(0.05) is None
        assert c.wait(-1) is None
        assert 0.04 < time.monotonic() - before < 5
    assert c["CPU_CYCLES"] == 230
    assert "stopped by 2 overflows" in c["CPU_CYCLES"].note


@case
def random_notifications_add_up() -> None:
    with Context(Itanium2(), PAIR, period=10, random_mask=7, notify=True) as c:
        counted = 0
        for _ in range(20):
            c.model.advance("CPU_CYCLES", 1000)
            count = c["CPU_CYCLES"]
            assert 10 <= count - counted <= 17
            counted = count
            c.restart()
            assert c["CPU_CYCLES"] == counted


@case
def a_signal_handler_in_python() -> None:
    c = Context(Itanium2(), PAIR, period=100, notify=True, signal=_handled(lambda: c.restart()))
    with c:
        for _ in range(5):
            c.model.advance("CPU_CYCLES", 60)
            c.model.advance("CPU_CYCLES", 60)
    assert len(_seen) == 5
    assert c["CPU_CYCLES"] == 500 + 0 * len(_seen)  # the rest of a call that overflows is not counted


_seen: list[int] = []


def _handled(do):
    def handler(number, _frame):
        _seen.append(number)
        do()

    signal.signal(signal.SIGIO, handler)
    return signal.SIGIO


@case
def a_signal_that_nothing_handles() -> None:
    with pytest.raises(ValueError, match=r"SIGIO.*signal\.signal"):
        Context(Itanium2(), PAIR, period=1, signal=signal.SIGIO)
    with pytest.raises(ValueError, match="none of this number"):
        Context(Itanium2(), PAIR, period=1, signal=1000)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    with Context(Itanium2(), PAIR, period=1, notify=True, signal=signal.SIGRTMIN) as c:
        c.model.advance("CPU_CYCLES")
        info = signal.sigwaitinfo({signal.SIGRTMIN})
        assert info.si_signo == signal.SIGRTMIN


@case
def a_handler_that_raises() -> None:
    def handler(_number, _frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGIO, handler)
    c = Context(Itanium2(), PAIR, period=10, notify=True, signal=signal.SIGIO)
    with pytest.raises(KeyboardInterrupt), c:
        c.model.advance("CPU_CYCLES", 10)
    assert c.closed
    assert c["CPU_CYCLES"] == 10
    with Context(Itanium2(), PAIR) as again:
        again.model.advance("CPU_CYCLES", 3)
    assert again["CPU_CYCLES"] == 3


@case
def a_thread_that_waits_for_another() -> None:
    """It restarts, takes the samples and is told the end; it cannot read while the other one counts."""
    c = Context(Itanium2(), PAIR, period=10, buffer_size=SMALL)
    done, go, stopped = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        c.start()
        c.model.advance("CPU_CYCLES", 1000)
        done.set()
        go.wait(10)
        c.model.advance("CPU_CYCLES", 15)
        c.stop()
        stopped.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert c.wait(10).kind == "overflow"
    done.wait(10)  # the rest of the call is not counted
    full = c["CPU_CYCLES"]  # it stands: then others may read
    assert len(list(c.samples)) * 10 == full
    with pytest.raises(ContextError, match=r"ESRCH.*only it can"):
        c.counts()
    with pytest.raises(ContextError, match=r"pfm_stop: ESRCH.*only it can"):
        c.stop()
    go.set()
    thread.join()
    assert stopped.is_set()
    assert c["CPU_CYCLES"] == full + 15  # it has ended
    c.close()
    assert c["CPU_CYCLES"] == full + 15


@case
def a_handler_in_the_middle_of_everything() -> None:
    """No sample is taken twice, none is left out, and the counts agree at any moment."""
    c = Context(Itanium2(), PAIR, period=10, buffer_size=4 * SMALL)
    taken: list[int] = []
    interrupted = 0

    def handler(_number, _frame) -> None:
        nonlocal interrupted
        interrupted += 1
        if not c.closed:
            before = c["CPU_CYCLES"]
            taken.extend(s.ip for s in c.samples)
            assert before <= c["CPU_CYCLES"] <= before + 10
        signal.setitimer(signal.ITIMER_REAL, 0.0003)  # once: on a slow machine a handler takes longer than that

    signal.signal(signal.SIGALRM, handler)
    events, end = 0, time.monotonic() + 0.5
    with c:
        signal.setitimer(signal.ITIMER_REAL, 0.0003)
        try:
            while time.monotonic() < end:
                c.model.interrupt_at(events)
                c.model.advance("CPU_CYCLES", 10)  # no less than the overflow: what fills the buffer is counted
                events += 10
                taken.extend(s.ip for s in c.samples)
                if events % 70 == 0:
                    with pytest.raises(ContextError, match="EBUSY"):
                        c.restart()
        finally:
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
    taken.extend(s.ip for s in c.samples)
    assert interrupted > 25
    assert c["CPU_CYCLES"] == events
    assert sorted(taken) == list(range(0, events, 10))


@case
def an_event_loop() -> None:
    async def main() -> None:
        with Context(Itanium2(), PAIR, period=10, notify=True) as c:
            loop, told = asyncio.get_running_loop(), asyncio.Event()
            loop.add_reader(c, told.set)
            c.model.advance("CPU_CYCLES", 10)
            await asyncio.wait_for(told.wait(), 10)
            assert c.wait(0).events == ("CPU_CYCLES",)
            loop.remove_reader(c)

    asyncio.run(main())


# ---- another process ---------------------------------------------------------------------------

@case(LIBPFM_PERFMON="model,np")
def a_child_that_ends() -> None:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    c = Context(Itanium2(), PAIR, tid=child, period=10)
    with c:
        c.model.advance("CPU_CYCLES", 25)
        c.model.pass_time(0.5)
        c.model.advance("IA64_INST_RETIRED", 3)
        assert c["CPU_CYCLES"] == 25
        (one, two) = c.samples
        assert (one.pid, one.tid) == (child, child)
        assert two.counts == {"IA64_INST_RETIRED": 0}
        os.write(write, b"x")
        assert c.wait(10) == Message("end", set=0)
        os.waitpid(child, 0)
        assert c.counts() == {"CPU_CYCLES": 25, "IA64_INST_RETIRED": 3}
        with pytest.raises(ContextError, match="pfm_stop: EINVAL: the thread that was counted has ended"):
            c.stop()
    assert c.counts() == {"CPU_CYCLES": 25, "IA64_INST_RETIRED": 3}
    assert c["CPU_CYCLES"].seconds == 0.5


@case
def a_child_that_is_traced() -> None:
    """Without option np: each call but a restart finds it stopped by ptrace(2)."""
    ptrace = ctypes.CDLL(None).ptrace
    child = os.fork()
    if not child:
        ptrace(0, 0, None, None)  # PTRACE_TRACEME
        os.kill(os.getpid(), signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os.waitpid(child, 0)
    with Context(Itanium2(), PAIR, tid=child, period=10, notify=True) as c:
        ptrace(7, child, None, None)  # PTRACE_CONT
        os.waitpid(child, 0)
        c.model.advance("CPU_CYCLES", 15)
        assert c.wait(10).tid == child
        c.restart()
        c.model.advance("CPU_CYCLES", 3)
        assert c["CPU_CYCLES"] == 13
        ptrace(7, child, None, None)
        os.waitpid(child, 0)
        assert c.wait(10).kind == "end"
    assert c["CPU_CYCLES"] == 13


@case
def a_child_that_runs() -> None:
    """It is stopped for each call, and then goes on; its signals reach it, and its status whoever waits for it."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        count = 0

        def handler(_number, _frame) -> None:
            nonlocal count
            count += 1

        signal.signal(signal.SIGUSR1, handler)
        os.write(write, b"x")
        while count < 10:
            time.sleep(0.0001)
        os._exit(7)
    os.read(read, 1)
    with Context(Itanium2(), PAIR, tid=child) as c:
        for n in range(9):
            os.kill(child, signal.SIGUSR1)
            c.model.advance("CPU_CYCLES", 10)
            assert c["CPU_CYCLES"] == 10 * n + 10
            while sent(child):
                time.sleep(0.0001)
        assert "TracerPid:\t0\n" in Path(f"/proc/{child}/status").read_text()
        c.stop()
        c.start()
        os.kill(child, signal.SIGUSR1)
        assert c.wait(10).kind == "end"
        assert os.waitpid(child, 0)[1] == 7 << 8
        assert c["CPU_CYCLES"] == 90
    assert c["CPU_CYCLES"] == 90


def sent(child: int) -> bool:
    """Whether a signal waits for a process."""
    pending = [line for line in Path(f"/proc/{child}/status").read_text().splitlines() if line.startswith(("SigPnd", "ShdPnd"))]
    return any(int(line.split()[1], 16) for line in pending)


@case
def a_process_that_runs_and_is_left() -> None:
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
    c = Context(Itanium2(), PAIR, tid=child)
    c.start()
    c.model.advance("CPU_CYCLES", 10)
    del c
    with Context(Itanium2(), PAIR, tid=child) as c:
        c.model.advance(Itanium2()["CPU_CYCLES"], 11)
        with pytest.raises(InvalidTypeError, match="event"):
            c.model.advance(5)  # type: ignore[arg-type] # which is the test
    assert c["CPU_CYCLES"] == 11
    os.kill(child, signal.SIGSTOP)  # and one that its own shell has stopped
    assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
    with Context(Itanium2(), PAIR, tid=child) as c:
        c.model.advance("CPU_CYCLES", 12)
    assert c["CPU_CYCLES"] == 12
    end = time.monotonic() + 10
    while Path(f"/proc/{child}/stat").read_text().split()[2] != "T":  # it stops again a moment after it was released
        assert time.monotonic() < end
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


@case
def threads_that_cannot_be_traced() -> None:
    ready, done = threading.Event(), threading.Event()

    def work() -> None:
        ready.set()
        done.wait(10)

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait(10)
    c = Context(Itanium2(), PAIR, tid=thread.native_id)  # no thread of one's own process can be
    with pytest.raises(ContextError, match=r"pfm_load_context: ESRCH.*ptrace.*np") as caught:
        c.start()
    assert caught.value.errno == errno.ESRCH
    done.set()
    thread.join()
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(ContextError, match="ESRCH"), Context(Itanium2(), PAIR, tid=child):
        pass


@case
def a_child_forked_while_a_thread_takes_samples() -> None:
    """The child has no thread that would open the lock; it has what was not taken yet."""
    entered, go = threading.Event(), threading.Event()
    with Context(Itanium2(), PAIR, period=10) as c:
        c.model.advance("CPU_CYCLES", 25)

    def take() -> None:
        c._overflows._change(lambda: (entered.set(), go.wait()))

    thread = threading.Thread(target=take)
    thread.start()
    entered.wait()
    child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(len(list(c.samples)))
    status = os.waitpid(child, 0)[1]
    go.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == len(list(c.samples)) == 2


@case
def a_child_forked_while_its_own_thread_takes_samples() -> None:
    """By a signal handler: what it interrupts goes on afterwards, in the child as well."""
    with Context(Itanium2(), PAIR, period=10) as c:
        c.model.advance("CPU_CYCLES", 25)

    def take() -> tuple[int, int]:
        child = os.fork()
        return child, len(list(c.samples))  # there is nothing to take in the middle

    found = c._overflows._change(take)
    assert found is not None
    child, inside = found
    after = len(list(c.samples))
    if not child:
        os._exit(10 * inside + after)
    assert (inside, after, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])) == (0, 2, 2)


@case(LIBPFM_PERFMON="model,rate=1000")
def waiting() -> None:
    """A message comes while another process runs, and nobody calls."""
    child = os.fork()
    while not child:
        pass
    try:
        with Context(Itanium2(), PAIR, tid=child, period=50_000, notify=True) as c:
            for events, limit in ((50_000, None), (100_000, 60)):
                message = c.wait(limit)
                assert message is not None
                assert (message.kind, message.tid) == ("overflow", child)
                assert c["CPU_CYCLES"] == events
                c.restart()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
