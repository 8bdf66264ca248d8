"""A command under perfex, from Python: it is run and counted in a process of its own, which has no other threads."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from pypfm.common.arguments import expect_choice, expect_items, expect_type
from pypfm.errors import InvalidTypeError, InvalidValueError, PfmError, named, shown
from pypfm.perfex import backends, events
from pypfm.perfex.model import CPUS, Cpu, PerfexError, Request, signal_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pypfm.perfex.backends import Choice
    from pypfm.perfex.report import Report

__all__ = ["begin", "run"]

# Not "-m": that would look for modules in the current directory first.
_PROGRAM = ("import sys; sys.path[:] = sys.argv[3:];"
            " from pypfm.perfex.running import begin; begin(int(sys.argv[1]), int(sys.argv[2]))")


def run(command: Sequence[str | os.PathLike[str]], *, events: Iterable[int | str] | None = None, cpu: Cpu = "r10000",
        backend: Choice = "auto", cache: str = Request.cache, cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None, stdin: int | IO[bytes] | None = subprocess.DEVNULL) -> Report:
    """Run a command to its end, and say what was counted, and in which lines of its source.

    ::

        report = perfex.run(["./matrix", "columns"], events=["L2D-misses"])
        report                                    # in a notebook: the lines with most of these misses
        report.annotation.lines[0].line           # the first of them
        print(report)                             # all that the command perfex prints

    What the command prints goes where this program prints.

    :param command: program and arguments; lines are known of what was compiled with -g
    :param events: numbers or names (``perfex --list``); the lines are sorted by the first of them.  None: all events,
        and lines by estimated cycles
    :param backend: "auto" and "valgrind" simulate; "perf" counts with the processor's counters, and knows no lines
    :param cache: the caches that are simulated, such as "host" for this machine's (perfex(1), --cache)
    :param cwd, env, stdin: as of `subprocess.run`; by default there is nothing to read
    :return: its ``outcome.status`` is the exit status of the command, as a shell gives it
    :raises PerfexError: the command cannot be run or counted; says what is missing, such as a package
    :raises InvalidArgumentError: an argument is not allowed
    """
    request = _request(command, events, expect_choice(cpu, CPUS, "cpu"), cache)
    name = expect_choice(backend, backends.NAMES, "backend")
    request = replace(request, annotate=name != "perf")
    data, code = _answered((name, request), partial(subprocess.Popen, cwd=cwd, env=env, stdin=stdin))
    if not data:
        how = f"ended by {signal_name(code)}" if code < 0 else f"ended with status {code}"
        raise PerfexError(f"the process that was to run {shown(request.command[0])} was {how}")
    answer: Report | PfmError = pickle.loads(data)
    if isinstance(answer, PfmError):
        raise answer
    return answer


def _request(command: object, wanted: object, cpu: Cpu, cache: str) -> Request:
    if isinstance(command, (str, bytes)):
        raise InvalidTypeError(f"command: expected a list of words, such as ['ls', '-l'], not {shown(command)}")
    words = []
    for word in expect_items(command, "command"):
        expect_type(word, (str, os.PathLike), "word of the command")
        words.append(os.fspath(word))
    expect_type(cache, str, "cache")
    chosen = tuple(range(events.NUM_EVENTS)) if wanted is None else tuple(
        dict.fromkeys(events.numbers(cpu, expect_items(wanted, "events"), "events")))
    if not chosen:
        raise InvalidValueError("events: there is none; leave events out to count all")
    return Request(command=tuple(words), cpu=cpu, events=chosen, multiplex=wanted is None, together=wanted is not None,
                   cache=cache, estimates=True)


def _answered(asked: tuple[Choice, Request], start: Callable[..., Any]) -> tuple[bytes, int]:
    """Have another process run the command: what it answers, and how it ends.

    :param start: makes the process
    """
    ask_read, ask = os.pipe()
    answer, answer_write = os.pipe()
    with open(ask, "wb") as to, open(answer, "rb") as back:
        try:
            path = [os.path.abspath(place) for place in sys.path]
            process = start([sys.executable, "-c", _PROGRAM, str(ask_read), str(answer_write), *path],
                            pass_fds=[ask_read, answer_write])
        except OSError as error:
            raise PerfexError(f"{named(error.filename)}: {error.strerror}") from None
        finally:
            os.close(ask_read)
            os.close(answer_write)
        try:
            pickle.dump(asked, to)
            to.close()
            return back.read(), process.wait()
        except BaseException:
            back.close()
            while process.poll() is None:  # it passes the signal on; one can be lost where a program executes another
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(1)
            raise


def begin(ask: int, answer: int) -> None:
    """Read a request, run the command, and write the report, or the error: the work of the process.

    :param ask, answer: descriptors, which the command does not get
    """
    for fd in (ask, answer):
        os.set_inheritable(fd, False)
    with open(ask, "rb") as asked:
        name, request = pickle.load(asked)
    made: Report | PfmError
    try:
        made = _report(name, request)
    except PfmError as error:
        made = error
    with suppress(BrokenPipeError), open(answer, "wb") as back:  # nobody waits for it: an interrupt
        pickle.dump(made, back)


def _report(name: Choice, request: Request) -> Report:
    """Run the command here."""
    from pypfm.perfex import annotate, costs
    from pypfm.perfex.report import Report

    table = costs.in_effect(request.cpu, None, os.environ)
    backend, why = backends.choose(name, request)
    outcome = replace(backend.run(request), why=why)
    found = annotate.annotation(request, outcome) if outcome.profile else None
    return Report(request, outcome, table, annotation=found)
