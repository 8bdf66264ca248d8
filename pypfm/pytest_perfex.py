"""The plugin of pytest: ``pytest --perfex`` counts benchmarks under perfex's valgrind tool.

It is loaded in each run of pytest where pypfm is installed, and imports nothing of pypfm that the run does not ask for.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from pypfm.perfex.benchmarks.command import Outputs
    from pypfm.perfex.benchmarks.plan import Plan

__all__ = ["pytest_addoption", "pytest_cmdline_main", "pytest_configure"]

_TIMING = "benchmark"  # the name of pytest-benchmark's plugin
_OTHERS = (_TIMING, "codspeed")  # plugins that have a fixture ``benchmark``
_SESSION = "PYPFM_PERFEX_SESSION"
_MARK = "benchmark: the test is a benchmark, which pytest --perfex counts; group=NAME: with which others it is printed"
_COMPARING = ("--perfex-json", "--perfex-save", "--perfex-compare", "--perfex-fail-above")
_OUTPUTS = (*_COMPARING, "--perfex-sort", "--perfex-group-by")
_SORTS = ("instructions", "loads", "stores", "l1", "l2", "mispredicted", "cycles", "name")
_GROUPS = ("group", "func", "fullfunc", "param", "file")
# What other options make of pytest, for which nothing is to be counted.
_NO_RUN = ("help", "version", "markers", "showfixtures", "show_fixtures_per_test", "cacheshow", "collectonly",
           "setuponly", "setupplan")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("perfex", "benchmarks that are counted, not timed")
    add = group.addoption
    add("--perfex", action="store_true", help="count benchmarks under valgrind: instructions, cache misses and more")
    add("--perfex-json", metavar="FILE", help="write what was counted as JSON")
    add("--perfex-save", metavar="NAME", help="keep it in .perfex/NAME.json; a NAME with a slash is a file")
    add("--perfex-compare", metavar="NAME", help="say what has changed since --perfex-save NAME")
    add("--perfex-fail-above", metavar="PERCENT",
        help="with --perfex-compare: exit status 1 if a benchmark has so many percent more instructions")
    add("--perfex-sort", metavar="COLUMN", default="instructions", choices=_SORTS,
        help=f"sort the table by {', '.join(_SORTS)} (default: instructions)")
    add("--perfex-group-by", metavar="WHAT", default="group", choices=_GROUPS,
        help=f"a table for each {', '.join(_GROUPS)} (default: group, of the mark benchmark)")
    add("--perfex-cache", metavar="CACHES", default="r10000",
        help="the caches that are simulated: r10000 (default), host, or L1=32k,8,64:L2=1m,16,64 (size, ways, line)")
    add("--perfex-layouts", metavar="N", default="1",
        help="count N times, each with memory laid out in another way; a change counts outside of their spread only")
    add("--perfex-warmup", metavar="N", default="10",
        help="call a benchmark N times before it is counted (default: 10)")
    add("--perfex-functions", action="store_true",
        help="name functions of Python, too (3.12 or later): their calls have more instructions then")
    parser.addini("perfex_env", "variables of the environment that pytest --perfex passes on to the tests", "args", [])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARK)
    manager = config.pluginmanager
    if not manager.has_plugin("perfex-session"):
        manager.register(_Blocks(), "perfex-blocks")
        if not any(map(manager.has_plugin, _OTHERS)):
            manager.register(_Calls(), "perfex-calls")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run pytest again under the tool; in that one, count."""
    if not config.getoption("perfex"):
        _expect_no_others(config)
        return None
    if any(config.getoption(name, None) for name in _NO_RUN):
        return None
    manager = config.pluginmanager
    if _SESSION in os.environ:
        from pypfm.perfex.benchmarks.inside import Session
        if manager.has_plugin(_TIMING):
            manager.unregister(name=_TIMING)  # its fixture is replaced
        try:
            manager.register(Session(), "perfex-session")
        except (OSError, ValueError, TypeError, AttributeError):
            raise pytest.UsageError(f"{_SESSION} is set, and names no session of pytest --perfex: unset it") from None
        return None
    _refuse(config)
    from pypfm.errors import PfmError
    from pypfm.perfex.benchmarks.command import run
    try:
        return run(_plan(config), config.rootpath, _outputs(config))
    except PfmError as error:
        raise pytest.UsageError(f"--perfex: {error}") from None


def _expect_no_others(config: pytest.Config) -> None:
    for option in _COMPARING:
        if config.getoption(option) is not None:
            raise pytest.UsageError(f"{option} needs --perfex")


def _refuse(config: pytest.Config) -> None:
    """:raises pytest.UsageError: another option excludes --perfex"""
    if config.getoption("numprocesses", None) or config.getoption("tx", None):
        raise pytest.UsageError("--perfex and -n exclude each other: which tests share a process would be another thing"
                                " each time, and counts depend on it; -n 0 takes -n back")
    if config.getoption("perfex_functions") and sys.version_info < (3, 12):
        raise pytest.UsageError("--perfex-functions needs Python 3.12 or later, which can name its functions to others")
    if config.getoption("perfex_fail_above") is not None and config.getoption("perfex_compare") is None:
        raise pytest.UsageError("--perfex-fail-above needs --perfex-compare")


def _number(config: pytest.Config, option: str, least: int, most: int) -> int:
    text = str(config.getoption(f"perfex_{option}"))
    if not re.fullmatch("[0-9]{1,5}", text) or not least <= int(text) <= most:
        raise pytest.UsageError(f"--perfex-{option} {text!r}: it is a number from {least} to {most}")
    return int(text)


def _of_session(args: Iterable[str]) -> Iterator[str]:
    """Arguments without those that say what becomes of the counts: a session is the same with them and without."""
    words = iter(args)
    for word in words:
        name, equals, _ = word.partition("=")
        if name not in _OUTPUTS:
            yield word
        elif not equals:
            next(words, None)


def _plan(config: pytest.Config) -> Plan:
    from pypfm.perfex.benchmarks.plan import Plan
    args = tuple(_of_session(map(str, config.invocation_params.args)))
    return Plan(args, sys.argv[0], sys.orig_argv[1:3] == ["-m", "pytest"], _number(config, "warmup", 0, 10000),
                _number(config, "layouts", 1, 100), config.getoption("perfex_cache"),
                tuple(config.getini("perfex_env")), config.getoption("perfex_functions"))


def _outputs(config: pytest.Config) -> Outputs:
    from pypfm.perfex.benchmarks.command import Outputs
    percent = config.getoption("perfex_fail_above")
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{0,9})?) ?%?", "0" if percent is None else percent)
    if not match:
        raise pytest.UsageError(f"--perfex-fail-above {percent!r}: it is a number of percent, such as 2%")
    json, save, compare = (config.getoption(option) for option in _COMPARING[:3])
    if json == "":
        raise pytest.UsageError("--perfex-json '': it is the name of a file")
    return Outputs(json, save, compare, None if percent is None else float(match[1]),
                   config.getoption("perfex_sort"), config.getoption("perfex_group_by"))


# ---- without --perfex ------------------------------------------------------------------

class _Blocks:
    """The fixture ``perfex`` where nothing is counted."""

    @pytest.fixture
    def perfex(self) -> Callable[[str], AbstractContextManager[None]]:
        """Return a block that ``pytest --perfex`` counts: ``with perfex("name"):``."""
        return lambda _name: nullcontext()


class _Calls:
    """The fixture ``benchmark`` where nothing is counted, and pytest-benchmark is not there."""

    @pytest.fixture
    def benchmark(self, request: pytest.FixtureRequest) -> Callable[..., Any]:
        """Return a call that ``pytest --perfex`` counts: ``benchmark(function, *args, **kwargs)``."""
        return _Called(request.node)


class _Called:
    """Calls what it is given, once; its members are those of pytest-benchmark's fixture, for tests that ask."""

    disabled, enabled, stats, skipped = True, False, None, False

    def __init__(self, item: pytest.Item) -> None:
        mark, callspec = item.get_closest_marker("benchmark"), getattr(item, "callspec", None)
        self.name, self.fullname = item.name, item.nodeid
        self.group = mark.kwargs.get("group") if mark else None
        self.param: str | None = callspec.id if callspec else None
        self.params: dict[str, Any] | None = callspec.params if callspec else None
        self.extra_info: dict[str, Any] = {}

    def __call__(self, function_to_benchmark: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function_to_benchmark(*args, **kwargs)

    def pedantic(self, target: Callable[..., Any], args: Any = (), kwargs: Any = None, setup: Any = None,
                 teardown: Any = None, **_rounds: int) -> Any:
        """Call it for one round."""
        args, kwargs = (setup() if setup else None) or (args, kwargs or {})
        result = target(*args, **kwargs)
        if teardown:
            teardown(*args, **kwargs)
        return result
