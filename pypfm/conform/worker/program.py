"""The program of a worker process, and of the children that it forks to call a library."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import socket
import struct
import time
from collections import Counter, deque
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, cast

from pypfm._c.loading import Functions, MissingFunctionError, loaded_file, loader_words, symbol
from pypfm.config import LIBRARIES
from pypfm.conform.model import MARKS
from pypfm.conform.vectors import environment, function_of, group_of
from pypfm.conform.worker.answers3 import Library3
from pypfm.conform.worker.answers4 import Library4
from pypfm.conform.worker.children import (
    NO_CHANNEL,
    adopt,
    end_as_programs_do,
    has_ended,
    how,
    orphans,
    out_of_reach,
    reaped,
    separate,
)
from pypfm.conform.worker.library import Lasting, api_module
from pypfm.conform.worker.prints import Prints
from pypfm.conform.worker.probing import NoPmuError, ProbeError
from pypfm.conform.worker.steps import Steps
from pypfm.conform.worker.surroundings import changed, memory, surroundings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pypfm.conform.model import Json, Vector
    from pypfm.conform.worker.probing import Probe

__all__ = ["exhausted", "main", "probes_of"]

_CRASHES, _HANGS = 20, 3  # of one function: its other calls are given up
_WORD = 16  # bytes of the word that answers begin with
_PIECE = 1 << 16  # bytes
_LONGEST = 1 << 24  # bytes of an answer
_GLANCE = 0.02  # seconds between looks at a child that is slow to answer
_TOGETHER = 20  # times that calls in a row may take as long as one
_SETTLED = 1000  # calls of a long process after which it needs no more memory
_GROWTH = {"memory": 1 << 16, "mapped memory": 1 << 22}  # bytes more at the end: the reference takes 26,000
_PAUSE = 0.0005  # seconds between looks at a child that is about to end
_END: dict[str, Json] = {"end": True}
_STRAY = "wrote into a descriptor that is not its own"
_DOUBLED = 0.2  # seconds in which a process that a child left behind shows itself
_CREDENTIALS = struct.Struct("3i")  # of a sender: process, user, group


def exhausted(crashes: int, hangs: int) -> bool:
    """Tell whether a function has crashed or hung so often that the rest of its calls is given up."""
    return crashes >= _CRASHES or hangs >= _HANGS


def main(channel: int) -> None:
    """Do the jobs that come, until there are no more.

    A job has ``library``, ``api`` (null: load it only), ``start`` (the calls before), ``vectors``, ``timeout``
    (seconds for a call), ``descriptions`` (whether they are answered as texts) and ``exit`` (whether the child
    ends as programs do).

    :param channel: the descriptor of a socket
    """
    adopt()
    runner = socket.socket(fileno=channel)
    with runner.makefile("rb") as jobs:
        for line in jobs:
            _do(json.loads(line), _Runner(runner))


class _Runner:
    """The connection to the runner: messages are sent together unless a call takes long."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel, self._waiting = channel, bytearray()

    def tell(self, label: dict[str, Json], reply: bytes) -> None:
        """Add a message.

        :param label: which call it is about
        :param reply: a JSON object
        """
        inner = reply[:-1] + b", " if label and reply != b"{}" else reply[:-1]
        self._waiting += inner + json.dumps(label).encode()[1:] + b"\n" if label else reply + b"\n"
        if len(self._waiting) >= _PIECE:
            self.flush()

    def flush(self) -> None:
        self.channel.sendall(self._waiting)
        self._waiting.clear()


@cache
def probes_of(api: str) -> dict[str, tuple[str, str, Probe]]:
    """Return the probes of an API's structures: by name, the type that each is about, its kind and the probe."""
    import_module(f"pypfm.{LIBRARIES[api].module}")  # which they use: not in each process anew
    if api == "pfm4":
        from pypfm.conform.worker import probes4
        return probes4.probes()
    from pypfm.conform.worker import probes3
    return probes3.probes()


# ---- the parent -------------------------------------------------------------------

class _EndedError(Exception):
    """A child that gave no answer, or no acceptable one; its argument says how."""


def _do(job: dict[str, Json], runner: _Runner) -> None:
    """Have children do a job."""
    vectors = cast("list[Vector]", job["vectors"])
    if job["api"] is not None:
        api_module(str(job["api"]))  # once for all children
        if any(vector["kind"] == "probe" for vector in vectors):
            probes_of(str(job["api"]))
    crashes: Counter[str] = Counter()
    hangs: Counter[str] = Counter()
    todo = list(range(len(vectors)))
    while True:
        label, end = _attempt(job, todo, runner)
        if end is None:
            break
        runner.tell(label, json.dumps(end).encode())
        if "at" not in label or group_of(vectors[0]) == vectors[0].get("sequence"):  # the steps after it say nothing
            break
        at = cast(int, label["at"])
        (hangs if end["hang"] else crashes)[function_of(vectors[at])] += 1
        names = {i: function_of(vectors[i]) for i in todo if i > at}
        todo = [i for i, name in names.items() if not exhausted(crashes[name], hangs[name])]
        if not todo:
            break
    runner.tell({}, b'{"done": true}')
    runner.flush()


def _attempt(job: dict[str, Json], todo: Sequence[int], runner: _Runner) -> tuple[
        dict[str, Json], dict[str, Json] | None]:
    """Fork one child and take its answers.

    :return: which call the last one was about; how the child ended there, None if it answered all that it had to
    """
    ours, theirs = socket.socketpair()
    for option in (socket.SO_PASSCRED, socket.SO_OOBINLINE):  # nothing that is sent goes another way
        ours.setsockopt(socket.SOL_SOCKET, option, 1)
    prints = Prints()
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        ours.close()
        os.close(runner.channel.fileno())  # close() would wait for the file that reads from it
        _child(job, todo, theirs.detach(), parent, prints)
    theirs.close()
    prints.watch()
    label: dict[str, Json] = {}
    child = _Child(pid, ours, cast(float, job["timeout"]), runner.flush)
    try:
        labels = _labels(job, todo)
        for label in labels:
            reply = child.answer()
            if label == _END:
                child.finish()
                reply = _with_last_words(reply, prints.taken())
            runner.tell(label, reply)
            if not {"at", "end"} & label.keys() and not _goes_on(job, label, json.loads(reply)):
                break
    except _EndedError as error:
        return label, cast("dict[str, Json]", error.args[0])
    finally:
        child.reap(0)
        ours.close()
        prints.close()
    return label, None


def _with_last_words(reply: bytes, printed: dict[str, str]) -> bytes:
    """Return the message about what the calls have changed, with the output at the end."""
    if not printed:
        return reply
    said = json.loads(reply)
    return json.dumps(said | {"changed": _unsaid(printed) | said["changed"]}).encode()


def _unsaid(printed: dict[str, str]) -> dict[str, list[str]]:
    """Report output that no call has printed, as a change of the process."""
    return {name: ["", text] for name, text in printed.items()}


def _labels(job: dict[str, Json], todo: Sequence[int]) -> list[dict[str, Json]]:
    """Label each answer of a child with its subject: loading, the calls before, the vectors, the end."""
    if job["api"] is None or not todo:
        return [{}, _END]
    labels: list[dict[str, Json]] = [{}]
    labels += [{"start": n} for n in range(len(cast("list[Vector]", job["start"])))]
    labels += [{"at": i} for i in todo]
    return [*labels, _END]


def _goes_on(job: dict[str, Json], label: dict[str, Json], said: dict[str, Json]) -> bool:
    """Tell whether the next call makes sense: the library is loaded and started."""
    if "start" not in label:
        return "loaded" in said
    start = cast("list[Vector]", job["start"])[cast(int, label["start"])]
    return "answer" in said and start.get("expect", said["answer"]) == said["answer"]


class _Child:
    """A child that calls a library, seen from outside.

    :param pid: its number
    :param channel: where answers come from, with the number of their sender
    :param timeout: seconds for one answer; all together may take `_TOGETHER` times as long
    :param waiting: called when an answer does not come at once
    """

    def __init__(self, pid: int, channel: socket.socket, timeout: float, waiting: Callable[[], None]) -> None:
        self._pid, self._channel, self._timeout, self._waiting = pid, channel, timeout, waiting
        self._reaped, self._status = False, cast("int | None", None)
        self._lines: deque[bytes] = deque()  # that have come and were not asked for yet
        self._rest, self._count = b"", 0
        self._farewell: int | None = None  # the status that it has to end with, once it knows
        self._last = time.monotonic() + _TOGETHER * timeout
        word = os.urandom(_WORD)
        self._word = word.hex().encode()
        channel.sendall(word)  # the child is there, or was
        channel.settimeout(_GLANCE)

    def reap(self, deadline: float) -> int | None:
        """Wait for it and all that it left behind; return its status, or None if it had to be killed."""
        if not self._reaped:
            self._reaped, self._status = True, reaped(self._pid, deadline)
        return self._status

    def answer(self) -> bytes:
        """Read the next answer.

        :return: a JSON object
        :raises _EndedError: nothing came, or something else
        """
        deadline = min(time.monotonic() + self._timeout, self._last)
        while not self._lines:
            *lines, self._rest = (self._rest + self._piece(deadline)).split(b"\n")
            self._lines.extend(lines)
            if len(self._rest) > _LONGEST:
                raise _EndedError({"ended": f"wrote more than {_LONGEST >> 20} MiB", "hang": False})
        line, head = self._lines.popleft(), b"%s %d " % (self._word, self._count)
        self._count += 1
        if not line.startswith(head + b"{"):
            raise _EndedError({"ended": _STRAY, "hang": False})
        return line[len(head):]

    def finish(self) -> None:
        """Let it end by itself.

        :raises _EndedError: it did not, or something else came after the last answer, or a process is left
        """
        self._farewell = 1 + os.urandom(1)[0] % (NO_CHANNEL - 1)
        with suppress(OSError):  # it has gone already, which its status tells
            self._channel.sendall(bytes([self._farewell]))
        deadline = time.monotonic() + self._timeout
        while not has_ended(self._pid) and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        left = [pid for pid in orphans() if pid != self._pid]
        self._channel.settimeout(_DOUBLED if left else 0)
        with suppress(OSError):  # nothing there
            if self._lines or self._rest or self._received():
                raise _EndedError({"ended": _STRAY, "hang": False})
        running = any(not has_ended(pid) for pid in left) or set(orphans()) - {self._pid, *left}
        status = self.reap(0)
        if status is None or os.waitstatus_to_exitcode(status) != self._farewell:
            raise _EndedError(how(status))
        if running:
            raise _EndedError({"ended": "left a process running", "hang": False})

    def _piece(self, deadline: float) -> bytes:
        """Read the next piece of output."""
        ended = False
        while True:
            try:
                piece = self._received()
            except TimeoutError:
                if ended:  # and yet somebody holds the channel
                    raise self._went_on(str(self._end(deadline, 0)["ended"])) from None
                if time.monotonic() >= deadline:
                    raise _EndedError(self._end(deadline, 0)) from None
                self._waiting()
                ended = has_ended(self._pid)  # what it left in the channel is read first
                continue
            except ConnectionError:
                piece = b""
            if not piece or time.monotonic() >= deadline:
                raise _EndedError(self._end(deadline, deadline))
            return piece

    def _end(self, deadline: float, patience: float) -> dict[str, Json]:
        """Describe how it ended, or that it was too slow: each call came back, but all together took too long."""
        end = how(self.reap(patience))
        if end["hang"] and deadline == self._last:
            end["ended"] = f"slow: calls in a row took more than {_TOGETHER * self._timeout:g} s"
        return end

    def _received(self) -> bytes:
        """Receive a piece, and check that the child wrote it itself.

        :raises _EndedError: a process that it forked did
        """
        piece, control, _, _ = self._channel.recvmsg(_PIECE, socket.CMSG_SPACE(_CREDENTIALS.size))
        if piece and _CREDENTIALS.unpack(control[0][2])[0] != self._pid:
            status = self.reap(time.monotonic() + _DOUBLED)
            # Not of its own accord: it was killed, lost the channel, or had made all calls.
            at_work = status is None or os.waitstatus_to_exitcode(status) in (NO_CHANNEL, self._farewell)
            raise self._went_on("doubled the process" if at_work else str(how(status)["ended"]))
        return piece

    @staticmethod
    def _went_on(first: str) -> _EndedError:
        return _EndedError({"ended": f"{first}; one that it had forked went on", "hang": False})


# ---- the child --------------------------------------------------------------------

def _child(job: dict[str, Json], todo: Sequence[int], channel: int, parent: int, prints: Prints) -> NoReturn:
    """Load the library, start it, make the calls; never returns."""
    status = 1
    try:
        gc.disable()
        channel = out_of_reach(channel)
        vectors = cast("list[Vector]", job["vectors"])
        separate()
        prints.connect()
        os.environ.update(environment(vectors[0]) if vectors else {})  # without what the user has set (process.py)
        if os.getppid() == parent:  # else it ended before this process was bound to it
            status = _answer_all(_replies(job, [vectors[i] for i in todo], prints), channel)
            if status != NO_CHANNEL and job["exit"]:
                end_as_programs_do(status)
    finally:
        os._exit(status)


def _answer_all(replies: Iterator[dict[str, Json]], channel: int) -> int:
    """Send the answers, then wait for the end; if the library has damaged the channel, this ends at once.

    :return: the status to end with, which the parent says when it has all answers
    """
    with suppress(OSError):
        word = os.read(channel, _WORD).hex()
        for number, reply in enumerate(replies):
            data = f"{word} {number} {json.dumps(reply)}\n".encode()
            while data:
                data = data[os.write(channel, data):]
        return (os.read(channel, 1) or bytes([NO_CHANNEL]))[0]
    return NO_CHANNEL


def _replies(job: dict[str, Json], vectors: Sequence[Vector], prints: Prints) -> Iterator[dict[str, Json]]:
    """Load the library, start it, make the calls, look at what they have changed: yield one answer for each."""
    before = surroundings()
    handle, reply = _loaded(str(job["library"]))
    printed = prints.taken()
    yield reply
    last, used = len(cast("list[Vector]", job["start"])) + len(vectors) - 1, list[dict[str, int]]()
    lasting = Lasting(cast("str | None", job["api"]))
    for number, reply in enumerate(_calls(job, vectors, handle, prints, lasting)):
        if number in (_SETTLED, last) and "long" in vectors[0]:
            used.append(memory())
        yield reply
    more = {what: [f"{used[0][what]:,} bytes after {_SETTLED:,} calls", f"{used[-1][what]:,} bytes at the end"]
            for what, growth in _GROWTH.items() if used and used[-1][what] - used[0][what] > growth}
    yield {"changed": cast("Json", _unsaid(printed) | changed(before, surroundings()) | more),
           "lasting": cast("Json", lasting.changed())}


def _calls(job: dict[str, Json], vectors: Sequence[Vector], handle: ctypes.CDLL | None, prints: Prints,
           lasting: Lasting) -> Iterator[dict[str, Json]]:
    """Make the calls; yield one answer for each."""
    if handle is None or job["api"] is None or not vectors:
        return
    ffi, lib = api_module(str(job["api"]))
    kind = Library4 if job["api"] == "pfm4" else Library3
    functions = Functions(handle, ffi, lib)
    library = kind(ffi, functions, lasting, descriptions=bool(job["descriptions"]))
    for n, call in enumerate(cast("list[Vector]", job["start"])):
        yield (reply := _outcome(library.answer, call, prints))
        if not _goes_on(job, {"start": n}, reply):
            return
    steps = Steps(ffi, functions, lasting, descriptions=bool(job["descriptions"]))
    make: dict[str, Callable[[Vector], Json]] = {
        "probe": lambda vector: probes_of(str(job["api"]))[str(vector["name"])][2](ffi, functions),
        "step": steps.answer}
    for vector in vectors:
        yield _outcome(make.get(str(vector["kind"]), library.answer), vector, prints)


def _loaded(path: str) -> tuple[ctypes.CDLL | None, dict[str, Json]]:
    """Load the library; return it, and the message about loading."""
    try:
        handle = ctypes.CDLL(path)
    except (OSError, ValueError) as error:
        # The loader's words with a path in them that is no UTF-8 are an exception, or lost (Python 3.11.2).
        words = os.fsdecode(error.object) if isinstance(error, UnicodeDecodeError) else str(error)
        return None, {"refused": words or loader_words(path)}
    addresses = [symbol(handle, name) for name in ("pfm_initialize", *MARKS.values())]
    file = next((loaded_file(address) for address in addresses if address), "")
    return handle, {"loaded": file, "apis": [api for api, mark in MARKS.items() if symbol(handle, mark)]}


def _outcome(make: Callable[[Vector], Json], vector: Vector, prints: Prints) -> dict[str, Json]:
    """Make a call and return its outcome."""
    try:
        answer, printed = make(vector), prints.unasked(vector)
        return {"answer": {**answer, **printed} if printed and isinstance(answer, dict) else answer}
    except MissingFunctionError as error:
        return {"missing": str(error)}
    except ProbeError as error:
        return {"failed": [*error.args]}
    except NoPmuError as error:
        return {"lacks": str(error)}
    except Exception as error:  # noqa: BLE001 - of the vector, or of what the library did to this process
        return {"invalid": f"{type(error).__name__}: {error}"}
