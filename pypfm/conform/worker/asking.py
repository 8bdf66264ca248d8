"""Handing vectors to worker processes, and collecting the answers.

The vectors of one group are cut into chunks, always the same ones.  Each worker process takes chunk after
chunk; what is found does not depend on how many workers there are.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from itertools import takewhile
from threading import Lock, Thread
from typing import TYPE_CHECKING, TypeAlias, cast

from pypfm.config import LIBRARIES
from pypfm.conform.vectors import environment, function_of, group_of, start_of
from pypfm.conform.worker.process import Worker, WorkerLostError
from pypfm.conform.worker.program import exhausted
from pypfm.errors import ConformError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pypfm.conform.model import Json, Vector

    Progress: TypeAlias = Callable[[int, int], None]

__all__ = ["Answers", "Progress", "Reply", "ask", "load", "loader_name"]

Reply: TypeAlias = "dict[str, Json]"  # a message of `pypfm.conform.worker`

_CHUNK = 1000  # vectors of one child
_CHUNKS = {"probe": 10}  # these may ruin the memory of their process
_STRIDE = 100  # answers between two reports of progress


@dataclass
class Answers:
    """The outcomes of vectors.

    :ivar replies: for each vector the worker's message, or None if it was not run
    :ivar starts: the calls before the first vector of each group: index of that vector, call, message
    :ivar ends: what processes that had answered did at their end, or what calls had changed there
    """

    replies: list[Reply | None]
    starts: list[tuple[int, Vector, Reply]] = field(default_factory=list)
    ends: list[Reply] = field(default_factory=list)


def loader_name(path: str) -> str:
    """Return a library's name for the loader: a name without a slash as it is, else the absolute path."""
    return os.path.abspath(path) if "/" in path else path


def load(path: str, timeout: float) -> Reply:
    """Load a library in a worker and return its message, or how the process ended."""
    with Worker() as worker:
        try:
            # To its end: a generator that is dropped may swallow a KeyboardInterrupt.
            first, *more = worker.do(_job(path, None, timeout, [], [], exit_too=False))
        except WorkerLostError as error:
            return cast("Reply", error.args[0])
        return next((message for message in more if "ended" in message), first)


def ask(path: str, api: str, vectors: Sequence[Vector], *, jobs: int, timeout: float, descriptions: bool = False,
        progress: Progress | None = None) -> Answers:
    """Have a library make the calls of vectors.

    :param path: the library
    :param api: its API
    :param jobs: processes that make calls
    :param timeout: seconds for one call
    :param descriptions: whether descriptions are returned as texts
    :param progress: called with the number of vectors done and the number of all
    :raises ConformError: a vector is no call that can be made
    """
    chunks = _chunks(vectors)
    ask_chunk = _Asking(path, api, timeout, descriptions, vectors)
    ledger, waiting, lock, done = _Ledger(chunks, vectors), iter(chunks), Lock(), 0
    workers: list[Worker] = []

    def advance(count: int) -> None:
        nonlocal done
        with lock:
            done += count
            if progress:
                progress(done, len(vectors))

    def work() -> None:
        with Worker() as worker:
            workers.append(worker)
            while True:
                with lock:
                    chunk = next(waiting, None)
                    todo = ledger.to_run(chunk) if chunk else []
                if chunk is None:
                    return
                if todo:
                    ask_chunk(worker, chunk, todo, advance)
                with lock:
                    ledger.enter(chunk)
                advance(len(chunk.indices) - len(chunk.replies) // _STRIDE * _STRIDE)

    count = max(1, min(jobs, len(chunks)))

    def stop() -> None:
        nonlocal waiting
        with lock:
            waiting = iter(())
        for worker in workers:
            worker.kill()  # so that nothing waits for an answer any longer

    _in_threads(work, count, stop)
    return ledger.answers


def _in_threads(work: Callable[[], None], count: int, stop: Callable[[], None]) -> None:
    """Run the same work in several threads until all are done; stop them when one fails, or at Ctrl-C.

    Not concurrent.futures: it takes part in fork() from when it is loaded, which may be while another thread forks.
    """
    failures: list[BaseException] = []

    def attempt() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - of whatever kind, the caller raises it
            failures.append(error)
            stop()

    threads = [Thread(target=attempt) for _ in range(count)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:
        stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        raise
    if failures:
        raise failures[0]


# ---- chunks -------------------------------------------------------------------------

@dataclass
class _Chunk:
    """Vectors for one child.

    :ivar indices: which ones, in their order
    :ivar start: the calls that come before
    :ivar replies: the worker's messages, by index
    :ivar starts: those about the calls that come before
    """

    indices: list[int]
    group: str
    start: list[Vector]
    replies: dict[int, Reply] = field(default_factory=dict)
    starts: dict[int, Reply] = field(default_factory=dict)
    ends: list[Reply] = field(default_factory=list)
    done: bool = False


def _chunks(vectors: Sequence[Vector]) -> list[_Chunk]:
    groups: dict[str, list[int]] = {}
    for i, vector in enumerate(vectors):
        groups.setdefault(group_of(vector), []).append(i)
    chunks = []
    for group, indices in groups.items():
        first = vectors[indices[0]]
        size = len(indices) if "long" in first else _CHUNKS.get(str(first["kind"]), _CHUNK)
        chunks += [_Chunk(indices[n:n + size], group, start_of(vectors[indices[0]]))
                   for n in range(0, len(indices), size)]
    return chunks


# ---- one chunk -----------------------------------------------------------------------

def _job(path: str, api: str | None, timeout: float, start: Sequence[Vector], vectors: Sequence[Vector],
         descriptions: bool = False, exit_too: bool = True) -> Reply:
    calls: list[Json] = [{key: value for key, value in vector.items() if key != "expect"} for vector in vectors]
    return {"library": loader_name(path), "api": api, "timeout": timeout, "start": list(start), "vectors": calls,
            "descriptions": descriptions, "exit": exit_too}


class _Asking:
    """Sends vectors to a worker, and enters the answers."""

    def __init__(self, path: str, api: str, timeout: float, descriptions: bool, vectors: Sequence[Vector]) -> None:
        self._path, self._api, self._timeout, self._descriptions = path, api, timeout, descriptions
        self._vectors = vectors
        self._exits = True  # until the library makes one end badly: enough is known then

    def __call__(self, worker: Worker, chunk: _Chunk, todo: Sequence[int],
                 advance: Callable[[int], None]) -> None:
        """Have a worker do some vectors of a chunk."""
        while todo:
            job = _job(self._path, self._api, self._timeout, chunk.start, [self._vectors[i] for i in todo],
                       self._descriptions, self._exits)
            try:
                for message in worker.do(job):
                    self._enter(chunk, todo, message)
                    if "at" in message and len(chunk.replies) % _STRIDE == 0:
                        advance(_STRIDE)
                return
            except WorkerLostError as error:
                at = next((i for i in todo if i not in chunk.replies), todo[-1])
                chunk.replies[at] = cast("Reply", error.args[0])
                todo = [] if self._vectors[at]["kind"] == "step" else [
                    i for i in todo if i > at and not self._given_up(chunk, i)]

    def _enter(self, chunk: _Chunk, todo: Sequence[int], message: Reply) -> None:
        """Note a message."""
        if "at" in message:
            index = todo[cast(int, message["at"])]
            if "invalid" in message and not self._own(index):
                raise ConformError(f"vector {self._vectors[index].get('id', index)}: {message['invalid']}")
            if "invalid" in message:
                message = {"ended": f"makes the caller fail: {message['invalid']}", "hang": False}
            chunk.replies.setdefault(index, message)
        elif "end" in message:
            chunk.ends.append(message)
            self._exits = self._exits and "ended" not in message
        elif "start" in message:
            chunk.starts[cast(int, message["start"])] = message
        elif "loaded" not in message:  # or not in this environment, or not again
            env = environment(self._vectors[todo[0]])
            if "refused" in message:
                message = {"ended": f"could be loaded once, then no more: {message['refused']}", "hang": False}
            chunk.start = [{"kind": "start", "call": "dlopen", "args": [self._path], "env": cast("Json", env)}]
            chunk.starts = {0: message}

    def _given_up(self, chunk: _Chunk, index: int) -> bool:
        """Tell whether the function of a vector ended several processes that made its calls."""
        name = function_of(self._vectors[index])
        ends = [bool(reply["hang"]) for i, reply in chunk.replies.items()
                if "ended" in reply and function_of(self._vectors[i]) == name]
        return exhausted(ends.count(False), ends.count(True))

    def _own(self, index: int) -> bool:
        """Tell whether our own library answers a vector: then it is a valid call."""
        before = cast(int, self._vectors[index].get("at", 1)) - 1  # steps of its sequence
        job = _job(str(LIBRARIES[self._api].path), self._api, self._timeout, start_of(self._vectors[index]),
                   self._vectors[index - before:index + 1], exit_too=False)
        with Worker() as worker:
            try:
                return any("answer" in message for message in worker.do(job) if message.get("at") == before)
            except WorkerLostError:
                return False


# ---- what earlier chunks mean for later ones --------------------------------------------

class _Ledger:
    """The chunks in their order; what an earlier one found decides whether calls of a later one are made.

    Only chunks that stand before it count for a chunk, so the outcome is that of a single process.
    """

    def __init__(self, chunks: list[_Chunk], vectors: Sequence[Vector]) -> None:
        self._chunks, self._vectors = chunks, vectors
        self.answers = Answers([None] * len(vectors))
        self._next = 0  # the first chunk that is not yet entered
        self._crashes: Counter[str] = Counter()
        self._hangs: Counter[str] = Counter()
        self._groups: dict[str, bool] = {}  # that have been started, and whether they could be

    def to_run(self, chunk: _Chunk) -> list[int]:
        """Return the vectors of a chunk that need an answer."""
        if not self._groups.get(chunk.group, True) or any(self._given_up(start) for start in chunk.start):
            return []
        if self._vectors[chunk.indices[0]]["kind"] == "step":  # up to one of a function that is given up
            return [*takewhile(lambda i: not self._given_up(self._vectors[i]), chunk.indices)]
        return [i for i in chunk.indices if not self._given_up(self._vectors[i])]

    def enter(self, chunk: _Chunk) -> None:
        """Note that a chunk is done."""
        chunk.done = True
        while self._next < len(self._chunks) and self._chunks[self._next].done:
            self._enter(self._chunks[self._next])
            self._next += 1

    def _enter(self, chunk: _Chunk) -> None:
        if not self.to_run(chunk):
            return
        if chunk.group not in self._groups:
            for n, reply in sorted(chunk.starts.items()):
                self.answers.starts.append((chunk.indices[0], chunk.start[n], reply))
                self._count(chunk.start[n], reply)
            self._groups[chunk.group] = all(_as_expected(chunk.start[n], r) for n, r in chunk.starts.items())
        self.answers.ends += chunk.ends
        for i in chunk.indices:
            if i in chunk.replies and not self._given_up(self._vectors[i]):
                self.answers.replies[i] = chunk.replies[i]
                self._count(self._vectors[i], chunk.replies[i])

    def _count(self, vector: Vector, reply: Reply) -> None:
        if "ended" in reply:
            (self._hangs if reply["hang"] else self._crashes)[function_of(vector)] += 1

    def _given_up(self, vector: Vector) -> bool:
        return exhausted(self._crashes[function_of(vector)], self._hangs[function_of(vector)])


def _as_expected(start: Vector, reply: Reply) -> bool:
    return "answer" in reply and ("expect" not in start or start["expect"] == reply["answer"])
