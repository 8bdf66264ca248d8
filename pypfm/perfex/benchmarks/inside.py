"""The pytest that runs under the valgrind tool: its benchmarks are counted.

All else runs with counting off.  For a benchmark: rounds that warm it up, uncounted; then counting is on, which has all
code translated again; `_IN_CACHE` rounds more, so that it is there, and in the simulated caches; then the round that
counts.
"""

from __future__ import annotations

import gc
import inspect
import os
import shutil
from array import array
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pypfm._c.libperfex import ffi, lib
from pypfm.errors import printable
from pypfm.perfex.benchmarks.plan import DIRECTORY, Plan, Round, begin, places_file

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

__all__ = ["Session", "benchmarked"]

_IN_CACHE = 2
_POOL, _POOL_HEADER = 16 << 10, 48  # bytes of a pool of CPython's allocator, and of what it begins with
_PARTLY_FULL = 32  # pools of a size, at most, in which there is room before a fresh one is taken
_SIZES = (16, *range(48, 513, 16), 32)  # ints of Python, which the search itself makes, have 32
_SEEN = array("Q", [0, 0, 0])  # the pool of the last object; how many of the last objects lie in it; of how many
_APART = 61  # objects, by which one layout differs from the next
_BYTES = bytes.__basicsize__  # that a bytes object has besides its content
_WARM = 20  # times after which Python runs what reads the counts always in the same way
_ASYNC = "returns a coroutine, which nobody awaits: count a function that runs it to its end, with asyncio.run()"
_TWICE = ("the fixture benchmark counts one call in a test, and this is the second; the fixture perfex counts more:"
          " with perfex(name)")
_COLD = "the first round was counted: nothing was warm"
_BLOCK = "a block: warm as often as it was entered before"


class Counter:
    """Counts rounds of code; one at a time."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._pid = directory, os.getpid()
        self._number = lib.perfex_simulated_counts(ffi.NULL, 0)
        self._begin: Any = ffi.new("uint64_t[]", self._number)
        self._end: Any = ffi.new("uint64_t[]", self._number)
        self._made: Any = ffi.new("uint64_t[1]")  # no int: one that is freed leaves room in an old pool
        self._files = 0
        self.tests: set[str] = set()  # node ids of those of which something was counted
        self._on()
        for _ in range(_WARM):
            self._read_nothing()
        self._empty = [*map(int.__sub__, self._end, self._begin)]
        block = _Block(self._begin, self._end)
        for _ in range(_WARM):
            with block:
                pass
        self._empty_block = [*map(int.__sub__, self._end, self._begin)]
        self._off()

    def _on(self) -> None:
        lib.perfex_region(lib.PERFEX_REGION_ON)

    def _off(self) -> None:
        lib.perfex_region(lib.PERFEX_REGION_OFF)

    def _read_nothing(self) -> None:
        begin, end, number, read = self._begin, self._end, self._number, lib.perfex_simulated_counts
        read(begin, number)
        read(end, number)

    def _round(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Count one call."""
        __tracebackhide__ = True
        begin, end, number, read = self._begin, self._end, self._number, lib.perfex_simulated_counts
        self._made[0] = lib.perfex_region(lib.PERFEX_REGION_CLEAR)
        read(begin, number)
        result = function(*args, **kwargs)
        read(end, number)
        return result

    def call(self, name: str, item: pytest.Item, group: str, code: Code, warmup: int) -> Any:
        """Warm a benchmark up, and count it; what the round that counts has returned."""
        __tracebackhide__ = True
        in_cache = min(_IN_CACHE, warmup)
        with _noted(self._directory, name), _uncollected():
            for _ in range(warmup - in_cache):
                self._once(code, _called)
            filled = _fresh_pools(0, 1)
            self._on()
            try:
                for _ in range(in_cache):
                    self._once(code, self._round)
                result = self._once(code, self._round)
            finally:
                self._off()
            del filled
        self._keep(name, item, group, warmup, self._empty, () if warmup else (_COLD,))
        return result

    def _once(self, code: Code, call: Callable[..., Any]) -> Any:
        """Do a round of a benchmark."""
        __tracebackhide__ = True
        try:
            return code.once(call)
        finally:
            self._end_child()

    def _end_child(self) -> None:
        """End a process that a benchmark has forked and that returns from it: it would do all the other rounds, too."""
        if os.getpid() != self._pid:
            os._exit(0)

    def block(self, name: str, item: pytest.Item, warm: int) -> _Block:
        """Return a context manager that counts a block of code."""
        @contextmanager
        def around() -> Iterator[None]:
            with _noted(self._directory, name), _uncollected():
                filled = _fresh_pools(0, 1)
                self._on()
                self._made[0] = lib.perfex_region(lib.PERFEX_REGION_LOOK)
                try:
                    yield
                finally:
                    self._end_child()
                    self._off()
                    del filled
            self._keep(name, item, "", warm, self._empty_block, (_BLOCK,))

        return _Block(self._begin, self._end, around())

    def _keep(self, name: str, item: pytest.Item, group: str, warm: int, empty: Sequence[int],
              notes: tuple[str, ...]) -> None:
        """Leave what was counted to perfex."""
        made = lib.perfex_region(lib.PERFEX_REGION_LOOK)
        threads, processes = ((made >> shift) - (self._made[0] >> shift) & 0xfff for shift in (8, 20))
        self.tests.add(item.nodeid)
        file = places_file(self._files + 1)
        shutil.copyfile(self._directory / f"{os.getpid()}.0.r10k", self._directory / file)
        self._files += 1
        counts = [max(0, after - before - none)
                  for after, before, none in zip(self._end, self._begin, empty, strict=True)]
        Round(name, item.nodeid, group, tuple(counts), warm, file, threads, processes, notes).append(self._directory)


def _called(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    __tracebackhide__ = True
    return function(*args, **kwargs)


@contextmanager
def _noted(directory: Path, name: str) -> Iterator[None]:
    """While a benchmark runs, which may end the process."""
    begin(directory, name)
    try:
        yield
    finally:
        begin(directory, "")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Hold off garbage collection, whose turn depends on what was done before."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _object(size: int) -> object:
    """Return an object that takes so many bytes."""
    return object() if size == 16 else complex(1) if size == 32 else bytes(size - _BYTES)


def _fresh_pools(layout: int, pools: int) -> list[object]:
    """Objects of all sizes that CPython's allocator has pools for, until each has a pool that nothing else is in.

    What is made later then lies in the same order, however much room was left before: on addresses it depends, for
    example, how often a dictionary looks at another place; and on the room in a pool, how often another one is taken.
    Nothing that was made before a pool is freed after it, which would put that thing's pool, with room for one, first:
    hence no variables that are objects.

    :param pools: at least so many are filled, less one
    :param layout: so many times `_APART` objects more, of each size
    """
    made: list[object] = []
    made.append(sizes := iter(_SIZES))
    for size in sizes:
        made += [_object(size) for _ in range((pools - 1) * (_POOL // size))]
        _SEEN[0] = _SEEN[1] = _SEEN[2] = 0
        while _SEEN[2] < _PARTLY_FULL * _POOL // size:  # Python may have another allocator, without pools
            made.append(_object(size))
            _SEEN[1] = _SEEN[1] + 1 if _SEEN[0] == id(made[-1]) // _POOL else 1
            _SEEN[0] = id(made[-1]) // _POOL
            _SEEN[2] += 1
            if _SEEN[1] == (_POOL - _POOL_HEADER) // size:
                while _SEEN[1] > 1:  # from the last to the second, so that what is made next ascends
                    del made[-1]
                    _SEEN[1] -= 1
                break
        made += [_object(size) for _ in range(_APART * layout)]
    return made


class _Block:
    """Counts what is in a ``with``.

    :param around: what begins before and ends after that
    """

    def __init__(self, begin: Any, end: Any, around: AbstractContextManager[None] | None = None) -> None:
        self._begin, self._end, self._number, self._around = begin, end, len(begin), around or nullcontext()

    def __enter__(self) -> None:
        self._around.__enter__()
        lib.perfex_region(lib.PERFEX_REGION_CLEAR)
        lib.perfex_simulated_counts(self._begin, self._number)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> bool | None:
        lib.perfex_simulated_counts(self._end, self._number)
        return self._around.__exit__(kind, error, traceback)


class Code:
    """The call that a benchmark measures.

    :param setup: called before each round; what it returns are the arguments
    :param teardown: called after each round with the arguments
    """

    def __init__(self, function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None,
                 setup: Callable[[], Any] | None = None, teardown: Callable[..., Any] | None = None) -> None:
        self._function, self._args, self._kwargs = function, args, kwargs or {}
        self._setup, self._teardown = setup, teardown

    def once(self, call: Callable[..., Any]) -> Any:
        """Call it for one round."""
        __tracebackhide__ = True
        args, kwargs = self._args, self._kwargs
        if self._setup is not None:
            args, kwargs = self._setup() or (args, kwargs)
        result = call(self._function, args, kwargs)
        if self._teardown is not None:
            self._teardown(*args, **kwargs)
        if inspect.iscoroutine(result):
            result.close()
            pytest.fail(f"{getattr(self._function, '__name__', 'it')} {_ASYNC}", pytrace=False)
        return result


class Benchmark:
    """The fixture ``benchmark``, as pytest-benchmark has it: what it is given is counted."""

    disabled, enabled, stats, skipped = True, False, None, False  # for tests that ask: nothing is timed

    def __init__(self, counter: Counter, item: pytest.Item, warmup: int) -> None:
        self._counter, self._item, self._warmup, self._used = counter, item, warmup, False
        mark, callspec = item.get_closest_marker("benchmark"), getattr(item, "callspec", None)
        self.name, self.fullname = item.name, item.nodeid
        self.group = mark.kwargs.get("group") if mark else None
        self.param: str | None = callspec.id if callspec else None
        self.params: dict[str, Any] | None = callspec.params if callspec else None
        self.extra_info: dict[str, Any] = {}

    def _count(self, code: Code, warmup: int) -> Any:
        __tracebackhide__ = True
        if self._used:
            pytest.fail(_TWICE, pytrace=False)
        self._used = True
        return self._counter.call(self.fullname, self._item, self.group or "", code, warmup)

    def __call__(self, function_to_benchmark: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self._count(Code(function_to_benchmark, args, kwargs), self._warmup)

    def pedantic(self, target: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None,
                 setup: Callable[[], Any] | None = None, teardown: Callable[..., Any] | None = None, rounds: int = 1,
                 warmup_rounds: int = 0, iterations: int = 1) -> Any:
        """Count one call; there are no more rounds than it says."""
        __tracebackhide__ = True
        warmup = min(self._warmup, rounds * iterations + warmup_rounds - 1)
        return self._count(Code(target, args, kwargs, setup, teardown), warmup)

    def weave(self, *_args: Any, **_kwargs: Any) -> None:
        """Fail: pytest-benchmark does this with aspectlib, and it is not counted."""
        pytest.fail("benchmark.weave() is not counted under --perfex: call benchmark(function)", pytrace=False)

    patch = weave


def benchmarked(item: pytest.Item) -> bool:
    """Tell whether a test has something to count."""
    return bool({"benchmark", "perfex"} & {*getattr(item, "fixturenames", ())} or item.get_closest_marker("benchmark"))


class Session:
    """The plugin."""

    def __init__(self) -> None:
        directory = Path(os.environ.pop(DIRECTORY))
        self._plan, self._counter = Plan.read(directory), Counter(directory)
        self._filled: list[object] = []
        self._uncounted: list[str] = []

    @pytest.fixture
    def benchmark(self, request: pytest.FixtureRequest) -> Benchmark:
        """Count a call: ``benchmark(function, *args, **kwargs)`` returns what it returns."""
        return Benchmark(self._counter, request.node, self._plan.warmup)

    @pytest.fixture
    def perfex(self, request: pytest.FixtureRequest) -> Callable[[str], Any]:
        """Count a block: ``with perfex("name"):``; of one that is entered several times, the last time."""
        entered: dict[str, int] = {}

        def block(name: str) -> Any:
            entered[name] = entered.get(name, -1) + 1
            return self._counter.block(f"{request.node.nodeid}::{name}", request.node, entered[name])
        return block

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> None:
        """Fill free memory: what tests make when they are imported is then not where pytest happened to leave room."""
        if isinstance(collector, pytest.Module):
            self._filled += _fresh_pools(self._plan.layout, 1 if self._filled else 4)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config,
                                      items: list[pytest.Item]) -> Generator[None, Any, Any]:
        """Sort tests as they stand, whatever other plugins want, and leave out what is no benchmark."""
        place = {item: number for number, item in enumerate(items)}
        result = yield
        if others := [item for item in items if not benchmarked(item)]:
            config.hook.pytest_deselected(items=others)
        items[:] = sorted(filter(benchmarked, items), key=lambda item: place.get(item, 0))
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note tests that have passed without anything to count."""
        if report.when == "call" and report.passed and report.nodeid not in self._counter.tests:
            self._uncounted.append(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name them: a comparison would miss them, too."""
        for test in self._uncounted:
            terminalreporter.write_line(f"perfex: {printable(test)}: not counted: it has not called pypfm's fixture, or"
                                        " an exception has ended what it called")

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Count the body of a test that is marked as a benchmark, and has no fixture for it."""
        mark = pyfuncitem.get_closest_marker("benchmark")
        if mark is None or {"benchmark", "perfex"} & {*pyfuncitem.fixturenames}:
            return None
        arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters
                     if name in pyfuncitem.funcargs}
        code = Code(pyfuncitem.obj, (), arguments)
        self._counter.call(pyfuncitem.nodeid, pyfuncitem, mark.kwargs.get("group") or "", code, self._plan.warmup)
        return True
