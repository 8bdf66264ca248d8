"""Runs pytest again under the valgrind tool, where nothing changes from one session to another but what is tested.

Addresses are valgrind's choice, and the same each time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.errors import printable
from pypfm.perfex.backends.simulation import counts
from pypfm.perfex.backends.simulation.command import check_directory
from pypfm.perfex.backends.valgrind import installed, program, tool
from pypfm.perfex.benchmarks import names
from pypfm.perfex.benchmarks.plan import BEGUN, DIRECTORY, PLAN, ROUNDS, Plan, Round, begun
from pypfm.perfex.model import PerfexError, exit_status, signal_name
from pypfm.perfex.opening import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pypfm.perfex.backends.simulation.machine import Machine

__all__ = ["Run", "check", "collect", "outcome", "run"]

# Variables that a test may need; all others change from machine to machine, and their length moves the stack.
_PASSED = ("CI", "COLUMNS", "FORCE_COLOR", "HOME", "LD_LIBRARY_PATH", "LOGNAME", "NO_COLOR", "PATH", "PYTEST_ADDOPTS",
           "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_PLUGINS", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE",
           "PY_COLORS", "TERM", "TMPDIR", "USER", "VIRTUAL_ENV", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
_FIXED = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
_START = (sys.executable, str(Path(__file__).with_name("start.py")))
_PADDING = "PYPFM_PERFEX_PADDING"
_ROUND = 16 << 10  # bytes: a multiple of this is what arguments and environment take
_MOST_SAID = 300  # letters of what valgrind says when it fails
_LARGEST = 64 << 20  # bytes of what it says


@dataclass(frozen=True)
class Run:
    """One session.

    :ivar directory: of its files
    :ivar status: of pytest
    :ivar rounds: that were counted
    :ivar ended: what ended it before its time; "": nothing did
    :ivar functions: the names of functions of Python, as CPython writes them for perf
    """

    directory: Path
    status: int
    rounds: tuple[Round, ...]
    ended: str = ""
    functions: str = ""


def check() -> None:
    """Check that this machine has what a session takes.

    :raises PerfexError: says what is missing
    """
    installed.version()
    check_directory()
    program.check_command([sys.executable])
    tool.directory()


def _environment(passed: tuple[str, ...], own: Mapping[str, str]) -> dict[str, str]:
    """Make an environment that is the same in each session; its size does not depend on names of directories.

    :param passed: variables that are passed on, besides `_PASSED`
    :param own: those of the session
    """
    made = {name: os.environ[name] for name in (*_PASSED, *passed) if name in os.environ}
    made |= {**_FIXED, **own}
    made[_PADDING] = ""
    size = sum(len(os.fsencode(name)) + len(os.fsencode(value)) + 2 for name, value in made.items())
    size += sum(len(os.fsencode(word)) + 1 for word in _START)  # beside them on the stack
    made[_PADDING] = "-" * (-size % _ROUND)
    return made


def _written(plan: Plan, place: Path) -> Path:
    """Make a directory for a session, and its plan; tests of an earlier one may have been there.

    :raises PerfexError: it cannot be made
    """
    try:
        place.mkdir()
        return plan.write(place)
    except OSError as error:
        raise PerfexError(f"{place}, the directory of a session: {error.strerror}") from None


def collect(plan: Plan, place: Path) -> None:
    """Let Python compile the tests, once and without valgrind: so no session finds them compiled and another not."""
    made = _written(replace(plan, args=(*plan.args, "--collect-only", "-qq")), place)
    environment = _environment(plan.variables, {DIRECTORY: str(place)})
    subprocess.run([*_START, made], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def run(plan: Plan, place: Path, machine: Machine, layout: int, *, quiet: bool = False) -> Run:
    """Run pytest, once.

    :param place: a directory of its own
    :param layout: which of the places where stack, heap and mappings may lie; 0: as they are
    :param quiet: what it prints is left out
    :raises PfmError: it could not be started, or what it has left is damaged
    """
    made = _written(replace(plan, layout=layout), place)
    options = ["--command-line-only=yes", "--tool=r10k", "-q", "--vgdb=no", "--show-below-main=yes", "--asked=yes",
               "--lines=yes", "--calls=yes", f"--counts={place}", f"--messages={place}/messages",
               f"--layout={layout}", f"--machine={machine.option(seed=layout)}"]
    own = {DIRECTORY: str(place), "PYTEST_DEBUG_TEMPROOT": str(place), "VALGRIND_LIB": str(tool.directory())}
    if plan.functions:
        own["PYTHONPERFSUPPORT"] = "1"
    words = [installed.find(), *options, "--", *_START, str(made)]
    process = _waited(words, _environment(plan.variables, own), quiet=quiet, functions=plan.functions)
    functions = names.taken(process.pid) if plan.functions else ""
    return replace(outcome(place, process.returncode), functions=functions)


def _waited(words: list[str], environment: dict[str, str], *, quiet: bool, functions: bool) -> subprocess.Popen[bytes]:
    """Return a command that has ended; ^C is for the command, and so is what ends pytest.

    :param functions: it names its functions of Python
    """
    out = subprocess.DEVNULL if quiet else None
    try:
        process = subprocess.Popen(words, env=environment, stdout=out, stderr=out)
    except OSError as error:
        raise PerfexError(f"valgrind: {error.strerror}") from None
    if functions:
        names.forget(process.pid)  # valgrind starts Python later than that
    before = {number: signal.signal(number, lambda which, _frame: process.send_signal(which))
              for number in (signal.SIGTERM, signal.SIGHUP)}
    while True:
        try:
            process.wait()
            break
        except KeyboardInterrupt:  # pytest has it, too
            continue
    for number, action in before.items():
        signal.signal(number, action)
    return process


def outcome(place: Path, code: int) -> Run:
    """Read the results of a session.

    :raises PfmError: nothing has, or it is damaged
    """
    messages = ""
    with suppress(OSError):
        messages = read_regular(place / "messages", _LARGEST, os.O_NOFOLLOW).decode("utf-8", "replace")
    if not any(place.glob("*.r10k")):
        if code == 0 or os.path.exists(place / BEGUN) or not os.path.exists(place / PLAN):
            raise PerfexError(f"{place}: the directory of counts is gone, or empty: something has removed it")
        raise PerfexError(f"valgrind has not started {sys.executable}: {' '.join(messages.split())[:_MOST_SAID]}")
    with counts.checked(place / ROUNDS):
        rounds = Round.read(place)
    with counts.checked(place / BEGUN):
        during = begun(place)
    ended = ""
    if code < 0 or during:
        how = f"ended by {signal_name(code)}" if code < 0 else "it ended the process"
        said = [refusal.text for refusal in program.refusals(messages.splitlines())]
        why = f" (valgrind: {said[0]})" if said else ""
        ended = printable(f"{during or 'pytest'}: {how}{why}; what is after it was not counted")
    return Run(place, exit_status(code), tuple(rounds), ended)
