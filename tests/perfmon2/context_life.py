"""Cases for test_perfmon2_context.py, each run in a process of its own: beginnings and ends, processes, threads, what is left over."""

from __future__ import annotations

import errno
import fcntl
import gc
import os
import signal
import subprocess
import sys
import threading
import warnings
import weakref
from random import Random

import pytest

from conftest import coded
from perfmon2_cases import case
from pypfm import ContextError, GenericIA64, Itanium, Itanium2, Montecito, PfmError, pfm3
from pypfm.ia64 import Context

PAIR = ["CPU_CYCLES", "IA64_INST_RETIRED"]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def mappings() -> int:
    with open("/proc/self/maps") as maps:
        return sum("memfd" in line for line in maps)


@case
def nothing_is_left_over() -> None:
    def use(period: int | None) -> None:
        with Context(Itanium2(), PAIR, period=period) as c:
            c.model.advance("CPU_CYCLES", 10)
            assert (c["CPU_CYCLES"], descriptors() > before) == (10, True)

    with Context(Itanium2(), PAIR):  # what the engine keeps
        pass
    before = descriptors()
    for n in range(20):
        use(None)
        use(3)
        with pytest.raises(ContextError, match="ENOMEM"):  # once with a descriptor already
            Context(Itanium2(), PAIR, period=1, buffer_size=1 << 47) if n else Context(
                Itanium2(), [["CPU_CYCLES"]] * 1025, timeout=1)
    gc.collect()
    Context(Itanium2(), PAIR).close()
    assert descriptors() <= before + 2  # what the last of them held is closed when another is made
    assert mappings() <= 2


@case
def an_exception_inside() -> None:
    c = Context(Itanium2(), PAIR)
    with pytest.raises(ZeroDivisionError), c:
        [c.model.advance("CPU_CYCLES", 1 // n) for n in (1, 0)]
    assert c.closed
    assert c["CPU_CYCLES"] == 1
    c = Context(Itanium2(), PAIR)
    with pytest.raises(ZeroDivisionError), c:
        print(1 // (os.close(c.fileno()) or 0))


@case
def a_generator_left_early() -> None:
    seen = []

    def counting():
        with Context(Itanium2(), PAIR, period=5) as c:
            seen.append(c)
            while True:
                c.model.advance("CPU_CYCLES", 5)
                yield from c.samples

    for _, sample in zip(range(3), counting(), strict=False):
        assert sample.period == 5
    gc.collect()
    (c,) = seen
    assert c.closed
    assert c["CPU_CYCLES"] in (15, 20)
    Context(Itanium2(), PAIR).start()


@case
def closed_inside() -> None:
    with Context(Itanium2(), PAIR) as c:
        c.model.advance("CPU_CYCLES", 5)
        c.close()
        c.model.advance("CPU_CYCLES", 50)
    assert c["CPU_CYCLES"] == 5


@case
def an_unclosed_context_is_collected() -> None:
    c = Context(Itanium2(), PAIR, period=5)
    c.start()
    samples = c.samples
    c.model.advance("CPU_CYCLES", 10)
    next(samples)
    gone = weakref.ref(c)
    del c
    assert gone() is not None  # who takes samples has it
    del samples
    gc.collect()
    assert gone() is None
    with Context(Itanium2(), PAIR) as c:
        c.model.advance("CPU_CYCLES", 10)
        assert c["CPU_CYCLES"] == 10


@case
def collected_in_another_thread() -> None:
    box = [Context(Itanium2(), PAIR)]
    box[0].start()
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    gc.collect()
    with Context(Itanium2(), PAIR) as c:
        c.model.advance("CPU_CYCLES", 10)
    assert c["CPU_CYCLES"] == 10


@case
def closed_by_another_thread() -> None:
    c = Context(Itanium2(), PAIR)
    c.start()
    c.model.advance("CPU_CYCLES", 10)
    thread = threading.Thread(target=c.close)
    thread.start()
    thread.join()
    assert c.closed
    with pytest.raises(ContextError, match=r"could not be read.*only it can", check=coded(errno.EBADF)):
        c.counts()
    with pytest.raises(ContextError, match="could not be read", check=coded(errno.EBADF)):
        c["CPU_CYCLES"]
    with Context(Itanium2(), PAIR) as c:  # the thread is free again
        pass


@case
def made_in_one_thread_and_used_in_another() -> None:
    c = Context(Itanium2(), PAIR)
    problems: list[BaseException] = []

    def work() -> None:
        try:
            with c:
                c.model.advance("CPU_CYCLES", 10)
        except BaseException as error:  # noqa: BLE001 - looked at below
            problems.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert problems == []
    assert c["CPU_CYCLES"] == 10


@case
def a_thread_that_ends_without_a_word() -> None:
    c = Context(Itanium2(), PAIR)

    def work() -> None:
        c.start()
        c.model.advance("CPU_CYCLES", 10)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert c["CPU_CYCLES"] == 10  # at once: join() returns before the system's thread has ended
    with pytest.raises(ContextError, match=r"pfm_start: EINVAL.*has ended"):
        c.start()
    c.close()
    assert c["CPU_CYCLES"] == 10


@case
def a_context_for_each_thread() -> None:
    found = {}

    def work(n: int) -> None:
        for _ in range(5):
            with Context(Itanium2(), PAIR, period=10) as c:
                c.model.advance("CPU_CYCLES", 100 + n)
                taken = len(list(c.samples))
            assert (taken, c["CPU_CYCLES"]) == (10, 100 + n)
        found[n] = c["CPU_CYCLES"]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: 100 + n for n in range(8)}


@case
def a_child_leaves_the_context_alone() -> None:
    with Context(Itanium2(), PAIR, period=4) as c:
        c.model.advance("CPU_CYCLES", 10)
        child = os.fork()
        if not child:
            status = 1
            try:
                for call in (c.counts, c.start, c.stop, c.restart, c.wait, lambda: list(c.samples)):
                    with pytest.raises(ContextError, match=r"parent process's|not started"):
                        call()
                c.close()
                c.close()
                with Context(Itanium2(), PAIR) as own:
                    own.model.advance("CPU_CYCLES", 1)
                assert own["CPU_CYCLES"] == 1
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        c.model.advance("CPU_CYCLES", 10)
        assert c["CPU_CYCLES"] == 20
        assert len(list(c.samples)) == 5
    assert c["CPU_CYCLES"] == 20


@case
def a_child_that_ends_as_programs_do() -> None:
    """The finalizers of the child run at its exit."""
    with Context(Itanium2(), PAIR, cpu=min(os.sched_getaffinity(0))) as c:
        child = os.fork()
        if not child:
            sys.exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        c.model.advance("CPU_CYCLES", 10)
    assert c["CPU_CYCLES"] == 10


@case
def programs_do_not_inherit_it() -> None:
    with Context(Itanium2(), PAIR) as c:
        link = f"/proc/self/fd/{c.fileno()}"
        ours = os.readlink(link)
        code = f"import os, sys; sys.exit(os.path.exists({link!r}) and os.readlink({link!r}) == {ours!r})"
        assert subprocess.run([sys.executable, "-c", code], close_fds=False).returncode == 0


@case
def a_descriptor_closed_behind_its_back() -> None:
    c = Context(Itanium2(), PAIR)
    number = c.fileno()
    os.close(number)
    with pytest.raises(ContextError, match="was closed", check=coded(errno.EBADF)):
        c.start()
    other = os.dup2(os.open("/dev/null", os.O_RDONLY), number)
    with pytest.raises(ContextError, match="another file", check=coded(errno.EBADF)):
        c.counts()
    c.close()
    assert os.fstat(other)  # not ours to close
    c = Context(Itanium2(), PAIR)
    c.start()
    os.dup2(other, c.fileno())
    del c
    gc.collect()
    Context(Itanium2(), PAIR).start()


@case
def the_calls_of_c_on_it() -> None:
    """The descriptor is one for the mirror, too."""
    with Context(Itanium2(), PAIR) as c:
        c.model.advance("CPU_CYCLES", 10)
        pmd = pfm3.pfarg_pmd_t(reg_num=4)
        assert pfm3.pfm_read_pmds(c.fileno(), pmd, 1) == 0
        assert pmd.reg_value == 10
        assert pfm3.pfm_unload_context(c.fileno()) == 0
        assert c["CPU_CYCLES"] == 10
        with pytest.raises(ContextError, match="pfm_start: EINVAL"):
            c.start()
    assert c["CPU_CYCLES"] == 10


@case(LIBPFM_PERFMON="model,rate=2000000")
def a_model_that_runs_by_itself() -> None:
    import time

    with Context(Itanium2(), PAIR, period=1_500_000, buffer_size=1 << 17) as c:
        end, last = time.thread_time() + 0.2, 0
        while time.thread_time() < end:
            count = c["CPU_CYCLES"]
            assert count >= last  # read at one moment: no overflow is in it twice, or not at all
            last = int(count)
        c.stop()
        samples = list(c.samples)
    assert c["CPU_CYCLES"] > 100_000_000
    assert len(samples) == c["CPU_CYCLES"] // 1_500_000
    assert {s.tid for s in samples} == {threading.get_native_id()}


@case(LIBPFM_PERFMON="model,rate=2000000")
def sets_that_switch_while_they_are_read() -> None:
    import time

    with Context(Itanium2(), [["CPU_CYCLES"], ["CPU_CYCLES", "NOPS_RETIRED"]], period={"CPU_CYCLES": 1_500_000},
                 overflows=1, buffer_size=0) as c:
        end, last = time.thread_time() + 0.2, 0
        while time.thread_time() < end:
            count = c["CPU_CYCLES"]
            assert count >= last
            last = int(count)
        assert c.counts(1)["CPU_CYCLES"] > 100_000_000


@case
def random_calls() -> None:
    """In any order, on several contexts at once: an error of ours, or none, and nothing is left over."""
    random = Random(17)
    pmus = [Itanium2(), Montecito(), Itanium(), GenericIA64()]
    contexts: list[Context] = []
    refused = done = 0

    def make() -> Context:
        pmu = random.choice(pmus)
        sets = [random.choices(list(pmu), k=random.randint(1, 3)) for _ in range(random.randint(1, 3))]
        choices = {"period": (1, 3, 1000), "timeout": (1e-3, 1), "overflows": (1, 2), "notify": (True,), "cpu": (0, 1),
                   "random_mask": (1, 1 << 40), "buffer_size": (0, 512, 4096), "tid": (threading.get_native_id(),)}
        return Context(pmu, sets if len(sets) > 1 else sets[0],
                       **{name: random.choice(values) for name, values in choices.items() if random.random() < 0.3})

    calls = [
        Context.start, Context.stop, Context.counts, Context.restart, Context.close, Context.__enter__,
        lambda c: list(c.samples), lambda c: next(c.samples, None), lambda c: c.wait(0), lambda c: repr(c.counts()),
        lambda c: c.model.pass_time(1e-3), lambda c: contexts.remove(c),
        *[lambda c: c.model.advance(random.choice(list(c)), 100, plm=random.choice([8, 15]))] * 4,
    ]
    before = descriptors()
    for _ in range(1000):
        try:
            if not contexts or random.random() < 0.2:
                contexts.append(make())
            random.choice(calls)(random.choice(contexts))
            done += 1
        except PfmError:
            refused += 1
        if len(contexts) > 20:
            contexts.clear()
    assert refused > 100
    assert done > 100
    contexts.clear()
    gc.collect()
    Context(Itanium2(), PAIR).start()
    assert descriptors() <= before + 6


@case
def what_is_left_open_is_warned_of() -> None:
    """As of a file: where it was started, and is collected, or open at the end."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        Context(Itanium2(), PAIR)  # never started
        with Context(Itanium2(), PAIR) as c:
            pass
        c = Context(Itanium2(), PAIR)
        c.start()
        c.close()
        del c
        gc.collect()
        assert not seen
        c = Context(Itanium2(), PAIR)
        c.start()
        c.stop()
        del c
        gc.collect()
    assert [(w.category, str(w.message)) for w in seen] == [
        (ResourceWarning, "unclosed context of itanium2: CPU_CYCLES, IA64_INST_RETIRED")]
    program = """
import os
from pypfm import Itanium2
from pypfm.ia64 import Context
c = Context(Itanium2(), ["CPU_CYCLES"])
c.start()
if os.fork() == 0:
    raise SystemExit
os.wait()
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.count("ResourceWarning: unclosed context of itanium2: CPU_CYCLES\n") == 1, done.stderr
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True).stderr == ""


@case
def a_closed_one_with_a_signal_is_not_started() -> None:
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    context = Context(Itanium2(), PAIR, period=100, signal=signal.SIGUSR1)
    number = context.fileno()
    context.close()
    ends = os.pipe()
    os.dup2(ends[0], number)  # another file has the number now
    with pytest.raises(ContextError, match="closed"):
        context.start()
    assert fcntl.fcntl(number, fcntl.F_GETOWN) == 0
