"""The process that calls a library under test, in children of its own.

The runner starts this module as a program with a file descriptor's number as its argument, writes jobs, one
JSON object in each line, to its standard input, and reads JSON lines from that descriptor.  A job is a library,
its API and vectors of one group (`pypfm.conform.vectors.group_of`).  This process never touches a library: it
forks a child that loads the library, initialises it and answers the vectors in a row.  If the child dies or
takes too long, another one goes on behind the call: a crash costs a fork, not a new interpreter.

For a job come

* ``{"loaded": FILE, "apis": [...]}``, the file mapped and the interfaces that it exports; or
  ``{"refused": TEXT}`` from the loader, and no more;
* for each call of the job's ``start`` ``{"start": INDEX, ...}``, and no more if one does not answer as expected;
* for each vector ``{"at": INDEX, ...}``; a vector without a line was not run, for its function had crashed
  or hung too often;
* ``{"done": true}``.

The dots are one of ``"answer"``; ``"missing"``, the function that is not exported; ``"invalid"``, why the vector
is no call; ``"ended"``, how the child did, with ``"hang"``, whether it had to be killed.  A child that ends while
it loads the library has that last one alone.  What each child does again comes again after a crash.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import sys
from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, NoReturn, cast

from pypfm.conform._children import adopt, how, out_of_reach, reaped, separate
from pypfm.conform._library import Functions, MissingFunctionError, api_module, loaded_file, symbol
from pypfm.conform.answers3 import Library3
from pypfm.conform.answers4 import Library4
from pypfm.conform.model import MARKS
from pypfm.conform.vectors import environment, function_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypfm.conform.model import Json, Vector

__all__ = ["exhausted", "main"]

_CRASHES, _HANGS = 20, 3  # of one function: its other calls are given up
_END = b'{"end": true}'
_MESSAGES = tuple(f'{{"{key}": '.encode() for key in ("loaded", "refused", "start", "at"))  # how lines begin
_PIECE = 1 << 16  # bytes


def exhausted(crashes: int, hangs: int) -> bool:
    """Whether a function has crashed or hung so often that the rest of its calls is given up."""
    return crashes >= _CRASHES or hangs >= _HANGS


def main(answers: int) -> None:
    """Do the jobs that come through standard input, until it ends.

    A job has ``library``, ``api`` (null: load it only), ``start`` (the calls before), ``vectors``, ``timeout``
    (seconds for a call) and ``descriptions`` (whether they are answered as texts).

    :param answers: the file descriptor for the answers
    """
    adopt()
    for line in sys.stdin.buffer:
        _do(json.loads(line), answers)
        _send(answers, {"done": True})


def _send(fd: int, message: Json) -> None:
    _write(fd, json.dumps(message).encode() + b"\n")


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data):]


# ---- the parent -------------------------------------------------------------------

def _do(job: dict[str, Json], answers: int) -> None:
    """Have children do a job."""
    vectors, start = cast("list[Vector]", job["vectors"]), cast("list[Vector]", job["start"])
    crashes: Counter[str] = Counter()
    hangs: Counter[str] = Counter()
    todo = list(range(len(vectors)))
    while True:
        lines, end = _attempt(job, todo, answers)
        if end is None:
            return
        place = lines - 1 - len(start)  # the first line is about loading
        if place < 0:
            _send(answers, end | ({"start": lines - 1} if lines else {}))
            return
        _send(answers, end | {"at": todo[place]})
        (hangs if end["hang"] else crashes)[function_of(vectors[todo[place]])] += 1
        names = {i: function_of(vectors[i]) for i in todo[place + 1:]}
        todo = [i for i, name in names.items() if not exhausted(crashes[name], hangs[name])]
        if not todo:
            return


def _attempt(job: dict[str, Json], todo: Sequence[int], answers: int) -> tuple[int, dict[str, Json] | None]:
    """Fork one child and hand on what it writes.

    :return: how many lines it wrote; how it ended, None if it did all that it had to
    """
    read_end, write_end = os.pipe()
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        os.close(read_end)
        os.close(answers)
        _child(job, todo, write_end, parent)
    os.close(write_end)
    count, rest, timeout = 0, b"", cast(float, job["timeout"])
    try:
        while select.select([read_end], [], [], timeout)[0]:
            data = os.read(read_end, _PIECE)
            if not data:
                return count, how(reaped(pid, timeout))
            complete, newline, rest = (rest + data).rpartition(b"\n")
            lines = complete.split(b"\n") if newline else []
            finished = bool(lines) and lines[-1] == _END
            lines = lines[:-1] if finished else lines
            good = list(takewhile(lambda line: line.startswith(_MESSAGES), lines))
            if good:
                _write(answers, b"\n".join(good) + b"\n")
            count += len(good)
            if len(good) < len(lines):
                reaped(pid, 0)
                return count, {"ended": "wrote into a descriptor that is not its own", "hang": False}
            if finished:
                reaped(pid, timeout)
                return count, None
        return count, how(reaped(pid, 0))
    finally:
        os.close(read_end)


# ---- the child --------------------------------------------------------------------

def _child(job: dict[str, Json], todo: Sequence[int], answers: int, parent: int) -> NoReturn:
    """Load the library, start it, answer; never returns."""
    status = 1
    try:
        gc.disable()
        answers = out_of_reach(answers)
        vectors = cast("list[Vector]", job["vectors"])
        _separate(environment(vectors[0]) if vectors else {})
        if os.getppid() == parent:  # else it ended before this process was bound to it
            _answer_all(job, [(i, vectors[i]) for i in todo], answers)
        _write(answers, _END + b"\n")
        status = 0
    finally:
        os._exit(status)


def _separate(env: dict[str, str]) -> None:
    """Let what the library does reach nobody else; give it the environment of its group."""
    separate()
    os.environ.update(env)  # this process was started without what the user has set (_process.py)


def _answer_all(job: dict[str, Json], vectors: Sequence[tuple[int, Vector]], answers: int) -> None:
    try:
        handle = ctypes.CDLL(str(job["library"]))
    except (OSError, ValueError) as error:
        # The loader's words with a path in them that is no UTF-8 are an exception of their own.
        words = os.fsdecode(error.object) if isinstance(error, UnicodeDecodeError) else str(error)
        _send(answers, {"refused": words})
        return
    addresses = [symbol(handle, name) for name in ("pfm_initialize", *MARKS.values())]
    file = next((loaded_file(address) for address in addresses if address), "")
    _send(answers, {"loaded": file, "apis": [api for api, mark in MARKS.items() if symbol(handle, mark)]})
    if job["api"] is None or not vectors:
        return
    api = str(job["api"])
    ffi, lib = api_module(api)
    kind = Library4 if api == "pfm4" else Library3
    library = kind(ffi, Functions(handle, ffi, lib), descriptions=bool(job["descriptions"]))
    for n, call in enumerate(cast("list[Vector]", job["start"])):
        outcome = _outcome(library, call)
        _send(answers, {"start": n} | outcome)
        if "answer" not in outcome or call.get("expect", outcome["answer"]) != outcome["answer"]:
            return
    for index, vector in vectors:
        _send(answers, {"at": index} | _outcome(library, vector))


def _outcome(library: Library3 | Library4, vector: Vector) -> dict[str, Json]:
    try:
        return {"answer": library.answer(vector)}
    except MissingFunctionError as error:
        return {"missing": str(error)}
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError) as error:
        return {"invalid": f"{type(error).__name__}: {error}"}
