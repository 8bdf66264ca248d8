"""pypfm.Counter and pypfm.Machine: values, errors, profiling, fork, collection."""

from __future__ import annotations

import copy
import errno
import gc
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import pypfm
from conftest import coded, run, run_python
from pypfm.common import counting
from pypfm.netbsd.counter import MACHINES, open_machine

pytestmark = pytest.mark.usefixtures("runtime_dir")


@pytest.fixture
def xscale() -> pypfm.Machine:
    return pypfm.Machine("xscale")


# ---- counting -------------------------------------------------------------------------------------------

def test_the_example_of_the_documentation() -> None:
    with pypfm.Counter("dcache-miss", machine="xscale") as c:
        c.machine.advance("dcache-miss", 1234)
        assert c.value == 1234
    c.machine.advance("dcache-miss", 1)
    assert (c.value, c.accumulated) == (1234, 0)


def test_a_counter_goes_on_where_it_was(xscale: pypfm.Machine) -> None:
    c = pypfm.Counter("dcache-miss", machine=xscale)
    for _ in range(3):
        c.start()
        xscale.advance("dcache-miss", 5)
        c.stop()
        xscale.advance("dcache-miss", 100)
    assert c.value == 15


def test_values_have_64_bits(xscale: pypfm.Machine) -> None:
    with pypfm.Counter("dcache-miss", machine=xscale, reset=2**64 - 1) as c:
        xscale.advance("dcache-miss", 2**32)
        xscale.advance("dcache-miss", 2**63)
        assert c.value == 2**63 + 2**32


def test_counters_are_given_out(xscale: pypfm.Machine) -> None:
    one = pypfm.Counter("dcache-miss", machine=xscale)
    two = pypfm.Counter("dcache-miss", machine=xscale)
    assert (one.number, two.number, pypfm.Counter("clock", machine=xscale).number) == (1, 2, 0)
    with pytest.raises(pypfm.CounterError, match="in use", check=coded(errno.EBUSY)):
        pypfm.Counter("instruction-executed", machine=xscale)
    with pytest.raises(pypfm.CounterError, match="counter 2 is in use", check=coded(errno.EBUSY)):
        pypfm.Counter("instruction-executed", machine=xscale, number=2)
    del one
    gc.collect()
    assert pypfm.Counter("instruction-executed", machine=xscale).number == 1


def in_threads(number: int, work: Callable[[], object]) -> None:
    """Let threads do the same at the same time, taking turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    start = threading.Barrier(number)

    def begin() -> None:
        start.wait()
        work()

    threads = [threading.Thread(target=begin) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)


def test_counters_are_given_out_once_among_threads() -> None:
    """Two threads that ask at the same time had one and the same counter."""
    for _ in range(30):
        k7 = pypfm.Machine("k7")
        made: list[pypfm.Counter] = []
        in_threads(k7.num_counters, lambda k7=k7, made=made: made.append(pypfm.Counter("l1cache-miss", machine=k7)))
        assert sorted(c.number for c in made) == [0, 1, 2, 3]


def only_without_counters(error: pypfm.CounterError) -> None:
    """Skip where this host does not count the event; anything else is a failure."""
    if error.errno != errno.ENODEV:
        raise error
    pytest.skip(str(error))


def test_threads_count_beside_each_other() -> None:
    """Whoever has a counter has it alone until it is closed, also while others are closed and collected."""
    k7, wrong, made = pypfm.Machine("k7"), [], []
    all_have_tried = threading.Barrier(6, timeout=60)

    def taken(turn: int) -> pypfm.Counter | None:
        try:
            return pypfm.Counter("l1cache-miss", machine=k7)
        except pypfm.CounterError as error:
            if error.errno != errno.EBUSY:
                raise
            return None
        finally:
            if turn == 0:  # four have one, two have none
                all_have_tried.wait()

    def count() -> None:
        for i in range(100):
            counter = taken(i)
            if counter is None:
                continue
            made.append(counter.number)
            counter.start()
            before = counter.value
            k7.advance("l1cache-miss", 10)
            if counter.value < before + 10:  # somebody has stopped it, or configured it anew
                wrong.append((before, counter.value))
            if i % 2:
                counter.close()
                counter.close()

    in_threads(6, count)
    assert (wrong, set(made)) == ([], {0, 1, 2, 3})
    gc.collect()
    assert [pypfm.Counter("l1cache-miss", machine=k7, number=n).number for n in range(4)] == [0, 1, 2, 3]


def test_what_was_not_given_out_is_free(xscale: pypfm.Machine) -> None:
    for _ in range(5):
        with pytest.raises(pypfm.CounterError, check=coded(errno.ENODEV)):
            pypfm.Counter("clock", machine=xscale, number=1)
        with pytest.raises(pypfm.CounterError, check=coded(errno.ENODEV)), xscale.profile("clock", 1000, counter=1):
            pass
        with xscale.profile("dcache-miss", 1000) as number, pytest.raises(pypfm.CounterError, check=coded(errno.EBUSY)):
            pypfm.Counter("dcache-miss", machine=xscale, number=number)
    assert pypfm.Counter("dcache-miss", machine=xscale).number == 1


def test_counters_and_machines_are_not_copied(xscale: pypfm.Machine) -> None:
    """A copy would give back a counter that is still in use."""
    for value, say in ((pypfm.Counter("dcache-miss", machine=xscale), "make another Counter('dcache-miss')"),
                       (xscale, "make a Machine('xscale')")):
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(pypfm.InvalidTypeError) as caught:
                copied(value)
            assert say in str(caught.value)


def test_what_counters_and_machines_print(xscale: pypfm.Machine) -> None:
    with pypfm.Counter("dcache-miss", machine=xscale) as counter:
        assert repr(counter) == "<Counter 1 of xscale: dcache-miss>"
    assert repr(counter) == "<Counter 1 of xscale: dcache-miss, closed>"
    assert repr(xscale) == f"<Machine xscale: {len(xscale)} events>"
    xscale.close()
    assert repr(xscale).endswith(" events, closed>")


def test_a_collected_counter_is_stopped(xscale: pypfm.Machine) -> None:
    counter = pypfm.Counter("dcache-miss", machine=xscale, number=1)
    counter.start()
    other = pypfm.Machine("xscale")
    with pytest.raises(pypfm.CounterError, check=coded(errno.EBUSY)), other.profile("dcache-miss", 1, 1):
        pass
    del counter
    gc.collect()
    with other.profile("dcache-miss", 1, 1):
        pass


def test_a_counter_keeps_its_machine() -> None:
    counter = pypfm.Counter("dcache-miss", machine=pypfm.Machine("xscale"))
    gc.collect()
    with counter:
        counter.machine.advance("dcache-miss", 5)
    assert counter.value == 5


def test_machines_are_apart() -> None:
    machines = [pypfm.Machine("k7") for _ in range(3)]
    counters = [pypfm.Counter("l1cache-miss", machine=machine) for machine in machines]
    for factor, (machine, counter) in enumerate(zip(machines, counters, strict=True), 1):
        with counter:
            machine.advance("l1cache-miss", factor)
    assert [counter.value for counter in counters] == [1, 2, 3]
    assert open_machine("k7") is open_machine("k7")
    assert open_machine("k7") not in machines


@pytest.mark.long
def test_thousands_of_machines() -> None:
    """Each frees its account and its locks."""
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(9000):
        pypfm.Machine("i586")
    for _ in range(50):
        machine = pypfm.Machine("i586")
        counter = pypfm.Counter("mem-read", machine=machine)
        counter.start()
        del counter, machine
        gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


# ---- a machine is a mapping -------------------------------------------------------------------------------

@pytest.mark.parametrize("name", MACHINES)
def test_events(name: str) -> None:
    machine = pypfm.Machine(name)
    assert len(machine) == len(list(machine)) == len({*machine})
    for event in machine.values():
        assert machine[event.name] is event
        assert event.name in machine
        assert event.description
        assert event.to_json()["counters"] == list(event.counters)
    assert None not in machine
    assert machine.is_model == (name != "linux")
    assert {machine: 1}[machine] == 1


# ---- errors ---------------------------------------------------------------------------------------------

ERRORS = [
    ("unknown event", lambda m: pypfm.Counter("dcache-mis", machine=m), pypfm.EventNotFoundError, 0, "dcache-miss"),
    ("unknown case", lambda m: pypfm.Counter("DCACHE-MISS", machine=m), pypfm.EventNotFoundError, 0, "DCACHE-MISS"),
    ("another counter's", lambda m: pypfm.Counter("clock", machine=m, number=1), pypfm.CounterError, errno.ENODEV,
     "not valid"),
    ("profile another counter's", lambda m: m.profile("clock", 1, counter=2).__enter__(), pypfm.CounterError,
     errno.ENODEV, "clock: the event is not valid for this counter; it is for 0"),
    ("no interrupts", lambda _: pypfm.Machine("i586").profile("tlb-data-miss", 1).__enter__(), pypfm.CounterError,
     errno.ENODEV, "the counters of this machine do not interrupt"),
    ("above range", lambda m: pypfm.Counter("clock", machine=m, number=3), pypfm.CounterError, errno.EINVAL, "0 to 2"),
    ("below range", lambda m: pypfm.Counter("clock", machine=m, number=-1), pypfm.CounterError, errno.EINVAL, "0 to 2"),
    ("no int", lambda m: pypfm.Counter("clock", machine=m, number=2**40), pypfm.CounterError, errno.EINVAL, "0 to 2"),
    ("negative reset", lambda m: pypfm.Counter("clock", machine=m, reset=-1), pypfm.CounterError, errno.EINVAL, "2^64"),
    ("large reset", lambda m: pypfm.Counter("clock", machine=m, reset=2**64), pypfm.CounterError, errno.EINVAL, "2^64"),
    ("negative count", lambda m: m.advance("clock", -1), pypfm.CounterError, errno.EINVAL, "2^64"),
    ("large count", lambda m: m.advance("clock", 2**64), pypfm.CounterError, errno.EINVAL, "2^64"),
    ("advance unknown", lambda m: m.advance("clocks"), pypfm.EventNotFoundError, 0, "clock"),
    ("profile unknown", lambda m: m.profile("clocks", 1).__enter__(), pypfm.EventNotFoundError, 0, "clock"),
    ("no machine", lambda _: pypfm.Counter("clock", machine="pentium"), pypfm.UnknownKeyError, 0, "xscale"),
    ("no model", lambda _: open_machine("linux").advance("clock"), pypfm.CounterError, errno.ENODEV, "counts by itself"),
]


@pytest.mark.parametrize(("call", "error", "code", "text"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_errors(call: object, error: type[pypfm.PfmError], code: int, text: str, xscale: pypfm.Machine) -> None:
    assert callable(call)
    with pytest.raises(error) as raised:
        call(xscale)
    assert type(raised.value) is error
    assert getattr(raised.value, "errno", 0) == code
    assert text in str(raised.value)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), getattr(again, "errno", 0), str(again)) == (error, code, str(raised.value))


def test_errors_of_the_state(xscale: pypfm.Machine) -> None:
    counter = pypfm.Counter("dcache-miss", machine=xscale)
    counter.start()
    with pytest.raises(pypfm.CounterError, check=coded(errno.EINPROGRESS)) as raised:
        counter.start()
    assert raised.value.errno == errno.EINPROGRESS
    counter.stop()
    with pypfm.Machine("xscale").profile("dcache-miss", 1, counter.number):
        with pytest.raises(pypfm.CounterError, check=coded(errno.EBUSY)):
            counter.start()
        assert counter.value == 0


# ---- profiling --------------------------------------------------------------------------------------------

@contextmanager
def ticks() -> Iterator[list[int]]:
    found: list[int] = []
    before = signal.signal(signal.SIGPROF, lambda *_: found.append(1))
    yield found
    signal.signal(signal.SIGPROF, before)


def test_profile(xscale: pypfm.Machine) -> None:
    with ticks() as found:
        with xscale.profile("dcache-miss", 2**32 + 100) as number:  # a counter has 32 bits
            assert number == 1
            xscale.advance("dcache-miss", 12345)
            assert len(found) == 123
        xscale.advance("dcache-miss", 12345)
        assert len(found) == 123


def test_the_machine_goes_while_it_profiles() -> None:
    machine = pypfm.Machine("xscale")
    context = machine.profile("dcache-miss", 10)
    context.__enter__()
    other = pypfm.Machine("xscale")
    with pytest.raises(pypfm.CounterError, check=coded(errno.EBUSY)), other.profile("dcache-miss", 10, 1):
        pass
    context.__exit__(None, None, None)
    del context, machine
    gc.collect()
    with other.profile("dcache-miss", 10, 1):
        pass
    assert signal.getsignal(signal.SIGPROF) == signal.SIG_DFL


# ---- other processes ---------------------------------------------------------------------------------------

# With xdist there are threads; they hold none of our locks.
forks = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")


def in_child(code: object) -> int:
    """Call it in a child; its exit status is 0 if nothing was raised."""
    assert callable(code)
    pid = os.fork()
    if pid == 0:
        try:
            code()
        except BaseException:  # noqa: BLE001 - the parent is told
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@forks
def test_fork(xscale: pypfm.Machine) -> None:
    counter = pypfm.Counter("dcache-miss", machine=xscale)

    def child() -> None:
        assert counter.value == 0
        xscale.advance("dcache-miss", 7)
        assert in_child(lambda: xscale.advance("dcache-miss", 100)) == 0
        assert (counter.value, counter.accumulated) == (7, 100)

    with counter:
        xscale.advance("dcache-miss", 1000)
        assert in_child(child) == 0
        assert (counter.value, counter.accumulated) == (1000, 107)


@forks
def test_a_child_that_frees_its_machine(xscale: pypfm.Machine) -> None:
    """As at the end of an interpreter: what it counted is the parent's all the same."""
    from pypfm.pmc import lib

    with pypfm.Counter("dcache-miss", machine=xscale) as counter:
        def child() -> None:
            xscale.advance("dcache-miss", 7)
            in_child(lambda: xscale.advance("dcache-miss", 20))
            lib.pmc_state_free(xscale._state)
        assert in_child(child) == 0
        assert counter.accumulated == 27


NO_PLACE = """
import errno, os, sys, pypfm
from pypfm.pmc import ffi, lib
machine = pypfm.Machine("xscale")
counter = pypfm.Counter("dcache-miss", machine=machine)
counter.start()
states = []
while (state := lib.pmc_state_new(b"xscale")) != ffi.NULL:
    states.append(state)
print(len(states), errno.errorcode[ffi.errno])
try:
    pypfm.Machine("k7")
except pypfm.CounterError as error:
    print(errno.errorcode[error.errno])
sys.stdout.flush()  # or the child prints it, too
pid = os.fork()
if pid == 0:
    answers = []
    for call in (lambda: counter.value, counter.start, lambda: pypfm.Counter("dcache-miss", machine=machine, number=2),
                 lambda: counter.accumulated, lambda: machine.advance("dcache-miss")):
        try:
            answers.append(call())
        except pypfm.CounterError as error:
            answers.append(errno.errorcode[error.errno])
    print(*answers, flush=True)
    os._exit(0)
print(os.waitpid(pid, 0)[1])
for state in states:
    lib.pmc_state_free(state)
pid = os.fork()
if pid == 0:
    machine.advance("dcache-miss", 9)
    os._exit(0)
os.waitpid(pid, 0)
try:
    print(counter.accumulated)
except pypfm.CounterError as error:
    print(errno.errorcode[error.errno], "not known" in str(error))
"""


def test_no_account_is_left() -> None:
    """A model has 4096 of them; a child for which there is none counts nothing, and says so; so does its parent."""
    done = run_python(NO_PLACE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "4095 ENOMEM\nENOMEM\nENXIO ENXIO ENOMEM ENXIO None\n0\nENOMEM True\n"


@pytest.mark.parametrize(("code", "text"), [
    (errno.EACCES, "perf_event_paranoid"), (errno.EAGAIN, "before them, or try again"), (errno.ENOMEM, "ulimit -n"),
    (errno.ENODEV, "no /proc lists them")])
def test_words_for_what_the_kernel_refuses(code: int, text: str) -> None:
    machine = open_machine()
    assert text in str(machine._error(1, "page-faults", code))
    assert machine._error(1, "page-faults", code).errno == code


def test_where_there_is_no_such_counter_it_says_what_the_command_pmc_says() -> None:
    command = run(Path(sys.executable).with_name("pmc"), "-c", "cache-miss", "true")
    if command.returncode == 0:
        pytest.skip("this machine has a counter for cache-miss")
    words = command.stderr.removeprefix("pmc: cache-miss, user mode: ").strip()
    for call in (lambda: pypfm.Counter("cache-miss"), lambda: pypfm.Counter("cache-miss", number=1),
                 lambda: open_machine().profile("cache-miss", 1000).__enter__()):
        with pytest.raises(pypfm.CounterError) as raised:
            call()
        assert str(raised.value) == f"linux, counter 1, cache-miss: {words}"


@pytest.mark.parametrize("code", [errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP])
def test_why_the_kernel_has_no_such_counter(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine has."""
    def refuse(*_: object) -> None:
        raise pypfm.CountingError(code, "page-faults")

    monkeypatch.setattr("pypfm.netbsd.counter.PerfEvent", refuse)
    error = open_machine()._error(1, "page-faults", errno.ENODEV)
    assert str(error) == f"linux, counter 1, page-faults: {counting.reason(code)}"
    assert "hardware counters are rare" in str(error) or code == errno.EOPNOTSUPP


CLOSED_DESCRIPTORS = """
import os, pypfm
counter = pypfm.Counter("page-faults")
counter.start()
os.closerange(3, 1000)
for read in (lambda: counter.value, lambda: counter.accumulated):
    try:
        read()
    except pypfm.CounterError as error:
        print(error)
"""


def test_reading_a_counter_whose_descriptors_are_closed() -> None:
    done = run_python(CLOSED_DESCRIPTORS)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all("or has closed the counter's descriptors" in line for line in lines)


ENDS = """
import os, sys, pypfm
machine = pypfm.Machine("xscale")
counter = pypfm.Counter("dcache-miss", machine=machine)
counter.start()
pid = os.fork()
machine.advance("dcache-miss", 9 if pid == 0 else 1)
if pid == 0:
    sys.exit(0)  # the interpreter ends as it always does
os.waitpid(pid, 0)
print(counter.value, counter.accumulated)
"""
PROCESSES = """
import multiprocessing, pypfm
machine = pypfm.Machine("xscale")
counter = pypfm.Counter("dcache-miss", machine=machine)
def work(n):
    machine.advance("dcache-miss", n)
    return counter.value >= n
if __name__ == "__main__":
    with counter:
        context = multiprocessing.get_context("fork")
        with context.Pool(3) as pool:
            assert all(pool.map(work, range(1, 101)))
            pool.close()
            pool.join()
        process = context.Process(target=work, args=(1000,))
        process.start()
        process.join()
    print(counter.value, counter.accumulated)
"""
SUBPROCESSES = """
import errno, os, subprocess, sys, pypfm
touch = "import mmap\\nm = mmap.mmap(-1, 4096 * 3000)\\nm.madvise(mmap.MADV_NOHUGEPAGE)\\nfor i in range(3000): m[4096 * i] = 1\\n"
try:
    counter = pypfm.Counter("page-faults")
except pypfm.CounterError as error:
    if error.errno != errno.ENODEV:
        raise
    print("skip:", error)
    sys.exit()
with counter:
    subprocess.run([sys.executable, "-c", touch], check=True)
    first = counter.accumulated
    subprocess.run([sys.executable, "-c", touch], check=True, close_fds=False)
    os.system(f"{sys.executable} -c '{touch}'")
    print(counter.value < 3000, first >= 3000, counter.accumulated >= first + 6000)
"""


@pytest.mark.parametrize(("program", "answer"), [
    (ENDS, "1 9\n"), (PROCESSES, "0 6050\n"), (SUBPROCESSES, "True True True\n")], ids=["end", "multiprocessing", "subprocess"])
def test_children_of_programs(program: str, answer: str) -> None:
    done = run_python(program)
    assert (done.returncode, done.stderr) == (0, "")
    if done.stdout.startswith("skip: "):
        pytest.skip(done.stdout)
    assert done.stdout == answer


# ---- linux ---------------------------------------------------------------------------------------------------

def test_a_known_load_on_this_host() -> None:
    import mmap

    machine = pypfm.Machine()
    try:
        counters = [pypfm.Counter("page-faults", machine=machine) for _ in range(3)]
    except pypfm.CounterError as error:
        only_without_counters(error)
    assert [counter.number for counter in counters] == [1, 2, 3]
    with mmap.mmap(-1, mmap.PAGESIZE * 2000, mmap.MAP_PRIVATE) as memory, counters[0], counters[1]:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(2000):
            memory[page * mmap.PAGESIZE] = 1
    assert all(counter.value >= 2000 for counter in counters[:2])
    assert (counters[2].value, counters[0].accumulated) == (0, 0)


def test_profiling_on_this_host() -> None:
    machine = pypfm.Machine()
    with ticks() as found:
        try:
            with machine.profile("task-clock", 1_000_000):  # nanoseconds
                while len(found) < 3:
                    sum(range(1000))
        except pypfm.CounterError as error:
            only_without_counters(error)
    assert len(found) >= 3


# ---- closing ------------------------------------------------------------------------------------------------

def test_with_in_a_loop(xscale: pypfm.Machine) -> None:
    """Each gives its counter back, also where the objects are kept."""
    kept = []
    for n in range(20):
        with pypfm.Counter("dcache-miss", machine=xscale) as c:
            xscale.advance("dcache-miss", n)
        kept.append(c)
    assert [c.value for c in kept] == list(range(20))
    assert {c.accumulated for c in kept} == {0}
    assert all(c.closed for c in kept)


def test_a_closed_counter(xscale: pypfm.Machine) -> None:
    counter = pypfm.Counter("dcache-miss", machine=xscale, number=1)
    counter.start()
    xscale.advance("dcache-miss", 7)
    assert not counter.closed
    counter.close()
    counter.close()
    assert (counter.closed, counter.value, counter.accumulated) == (True, 7, 0)
    for call in (counter.start, counter.stop, counter.__enter__):
        with pytest.raises(pypfm.CounterError, match="xscale, counter 1, dcache-miss: closed; make another", check=coded(errno.EBADF)) as caught:
            call()
        assert caught.value.errno == errno.EBADF
    other = pypfm.Counter("dcache-miss", machine=xscale, number=1)
    other.start()
    xscale.advance("dcache-miss", 5)
    del counter
    gc.collect()  # does not stop the counter that another one has now
    xscale.advance("dcache-miss", 5)
    assert other.value == 10


def test_closing_inside_the_with(xscale: pypfm.Machine) -> None:
    with pypfm.Counter("dcache-miss", machine=xscale) as c:
        xscale.advance("dcache-miss", 3)
        c.close()
        xscale.advance("dcache-miss", 3)
    assert c.value == 3


def test_stopping_inside_the_with(xscale: pypfm.Machine) -> None:
    with pypfm.Counter("dcache-miss", machine=xscale) as c:
        xscale.advance("dcache-miss", 3)
        c.stop()
        xscale.advance("dcache-miss", 3)
    assert (c.value, c.closed) == (3, True)


def test_an_exception_closes_the_counter(xscale: pypfm.Machine) -> None:
    with pytest.raises(ZeroDivisionError), pypfm.Counter("dcache-miss", machine=xscale) as c:
        1 / 0  # noqa: B018
    assert c.closed


def test_a_machine_is_closed() -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    with pypfm.Machine("xscale") as machine:
        counter = pypfm.Counter("dcache-miss", machine=machine)
        counter.start()
        machine.advance("dcache-miss", 9)
    assert (machine.closed, counter.closed, counter.value) == (True, True, 9)
    machine.close()
    assert len(os.listdir("/proc/self/fd")) == descriptors
    for call in (lambda: machine.advance("dcache-miss"), lambda: pypfm.Counter("dcache-miss", machine=machine),
                 lambda: machine.profile("dcache-miss", 5).__enter__(), machine.__enter__):
        with pytest.raises(pypfm.CounterError, match="xscale: the machine is closed; make another one", check=coded(errno.EBADF)):
            call()
    assert machine["dcache-miss"].name == "dcache-miss"  # what it knows is no resource


def test_a_machine_closed_while_it_profiles() -> None:
    machine = pypfm.Machine("xscale")
    with ticks(), machine.profile("dcache-miss", 10):
        machine.close()
    with pypfm.Machine("xscale") as other, other.profile("dcache-miss", 10, 1):
        pass


def test_the_shared_machine_is_made_anew() -> None:
    shared = open_machine("i686")
    shared.close()
    assert open_machine("i686") is not shared
    assert open_machine("i686") is open_machine("i686")
    assert not open_machine("i686").closed


def test_nothing_is_said_at_the_end_of_the_interpreter() -> None:
    """Objects that were never closed, in cycles, at exit."""
    done = run_python("import pypfm\nkept = []\n"
                      "for _ in range(2):\n"
                      "    c = pypfm.Counter('dcache-miss', machine='xscale')\n"
                      "    c.start()\n    c.own = c\n    kept.append(c)\n"
                      "m = pypfm.Machine('k7')\nm.own = m\n", PYTHONWARNINGS="error")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
