"""A conformance run: vectors handed to worker processes, their answers compared.

The vectors of one group are cut into chunks, always the same ones.  Each worker process takes chunk after
chunk; what is found does not depend on how many workers there are.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias, cast

from pypfm.config import LIBRARIES
from pypfm.conform._process import Worker, library_file
from pypfm.conform._words import call_of, differences
from pypfm.conform.model import Difference, Finding, LibraryFile, Report
from pypfm.conform.vectors import APIS, PMU_IDS, environment, function_of, group_of, recorded, start_of
from pypfm.conform.worker import MARKS, exhausted
from pypfm.errors import ConformError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pypfm.conform.model import FindingKind, Json, Vector

    Progress: TypeAlias = Callable[[int, int], None]

__all__ = ["TIMEOUT", "Progress", "differential", "run"]

#: Seconds that a call may take.
TIMEOUT = 10.0

_CHUNK = 1000  # vectors of one child
_STRIDE = 100  # answers between two reports of progress
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


def run(path: str, api: str | None = None, *, jobs: int = 1, timeout: float = TIMEOUT,
        progress: Progress | None = None) -> Report:
    """Check a library against the recorded answers.

    :param path: the shared library; a name without a slash is looked up as the loader does
    :param api: pfm3, pfm3-manual or pfm4; None: what the library exports decides
    :param jobs: processes that make calls
    :param timeout: seconds for one call
    :param progress: called with the number of calls done, and of all
    :return: the report; crashes and hangs of the library are findings in it
    :raises ConformError: the library cannot be loaded, or is not one of that API
    """
    asking = _Asking(jobs, timeout, progress)
    begin = time.monotonic()
    report = _opened(path, api, asking)
    if not report.findings:
        vectors = recorded(report.api)
        if report.api == "pfm4" and (reason := _foreign_host()):
            report.notes.append(f"{reason}: the {len(vectors)} recorded answers hold elsewhere and were left out")
            vectors = []
        _compare_recorded(report, vectors, asking.ask(path, report.api, vectors))
    report.seconds = time.monotonic() - begin
    return report


def differential(path: str, against: str, vectors: Sequence[Vector], api: str | None = None, *, jobs: int = 1,
                 timeout: float = TIMEOUT, progress: Progress | None = None) -> Report:
    """Have two libraries make the same calls.

    :param path: the library under test
    :param against: the other one, whose answers are the expected ones
    :param vectors: the calls; what they expect is not looked at
    :return: the report; descriptions are compared as texts
    :raises ConformError: as `run`, for either library
    """
    total = 2 * len(vectors)
    asking = _Asking(jobs, timeout, progress and (lambda done, _: progress(done, total)))
    begin = time.monotonic()
    report = _opened(path, api, asking)
    other = _opened(against, report.api, asking)
    report.against = other.library
    if other.findings:
        message = f"{against}: {other.findings[0].call}: {other.findings[0].differences[0].got}"
        raise ConformError(message)
    if not report.findings:
        theirs = asking.ask(against, report.api, vectors, descriptions=True)
        ours = asking.ask(path, report.api, vectors, descriptions=True)
        _compare_both(report, vectors, ours, theirs)
    report.seconds = time.monotonic() - begin
    return report


def _opened(path: str, api: str | None, asking: _Asking) -> Report:
    """A report about a library that has been loaded once; a finding if that crashed or hung."""
    name = os.path.abspath(path) if "/" in path else path
    head = asking.load(name)
    if "refused" in head:
        message = f"{shown(path)} cannot be loaded: {head['refused']}"
        raise ConformError(message)
    if "ended" in head:
        report = Report(api or "", LibraryFile(path, name, "", "", ""))
        finding = _ended("dlopen", f"dlopen({name})", head, None)
        report.findings.append(finding)
        report.tally("dlopen").run = report.tally("dlopen").differ = 1
        return report
    apis = cast("list[str]", head["apis"])
    marks = ", ".join(f"{mark} ({name})" for name, mark in MARKS.items())
    if not apis:
        message = f"{shown(path)} is no libpfm 3 or 4: it exports none of {marks}"
        raise ConformError(message)
    if api is None:
        api = apis[0]
    elif api not in APIS:
        message = f"no such API: {shown(api)}; there are {', '.join(APIS)}"
        raise ConformError(message)
    elif api.split("-")[0] not in apis:
        message = f"{shown(path)} exports no {MARKS[api.split('-')[0]]}: it is a library of {apis[0]}, not of {api}"
        raise ConformError(message)
    return Report(api, library_file(path, str(head["loaded"]) or name))


def _foreign_host() -> str:
    """Why the recorded answers of libpfm 4 do not hold on this host, or ""."""
    if not _PARANOID.exists():
        return f"this host has no {_PARANOID}"
    glm: Vector = {"kind": "info", "pmu": PMU_IDS["glm"]}  # of our own library: its flags say whether it is active
    reply = _Asking(1, TIMEOUT, None).ask(str(LIBRARIES["pfm4"].path), "pfm4", [glm]).replies[0] or {}
    return "this host is a Goldmont" if cast("dict[str, int]", reply["answer"])["flags"] else ""


# ---- asking --------------------------------------------------------------------------

@dataclass
class _Chunk:
    """Vectors that one child answers.

    :ivar indices: which ones, in their order
    :ivar start: the calls that come before
    :ivar replies: the worker's messages, by index
    :ivar starts: those about the calls that come before
    """

    indices: list[int]
    group: str
    start: list[Vector]
    replies: dict[int, dict[str, Json]] = field(default_factory=dict)
    starts: dict[int, dict[str, Json]] = field(default_factory=dict)
    done: bool = False


@dataclass
class _Answers:
    """What came of vectors.

    :ivar replies: for each vector the worker's message, or None if it was not run
    :ivar starts: the calls before the first vector of each group: index of that vector, call, message
    """

    replies: list[dict[str, Json] | None]
    starts: list[tuple[int, Vector, dict[str, Json]]] = field(default_factory=list)


class _Ledger:
    """The chunks in their order; what an earlier one found decides whether calls of a later one are made.

    Only chunks that stand before it count for a chunk, so the outcome is that of a single process.
    """

    def __init__(self, chunks: list[_Chunk], vectors: Sequence[Vector]) -> None:
        self._chunks, self._vectors = chunks, vectors
        self.answers = _Answers([None] * len(vectors))
        self._next = 0  # the first chunk that is not yet entered
        self._crashes: Counter[str] = Counter()
        self._hangs: Counter[str] = Counter()
        self._groups: dict[str, bool] = {}  # that have been started, and whether they could be

    def to_run(self, chunk: _Chunk) -> list[int]:
        """The vectors of a chunk that need an answer."""
        if not self._groups.get(chunk.group, True) or any(self._given_up(function_of(v)) for v in chunk.start):
            return []
        return [i for i in chunk.indices if not self._given_up(function_of(self._vectors[i]))]

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
        for i in chunk.indices:
            if i in chunk.replies and not self._given_up(function_of(self._vectors[i])):
                self.answers.replies[i] = chunk.replies[i]
                self._count(self._vectors[i], chunk.replies[i])

    def _count(self, vector: Vector, reply: dict[str, Json]) -> None:
        if "ended" in reply:
            (self._hangs if reply["hang"] else self._crashes)[function_of(vector)] += 1

    def _given_up(self, function: str) -> bool:
        return exhausted(self._crashes[function], self._hangs[function])


def _as_expected(start: Vector, reply: dict[str, Json]) -> bool:
    return "answer" in reply and ("expect" not in start or start["expect"] == reply["answer"])


def _chunks(vectors: Sequence[Vector]) -> list[_Chunk]:
    groups: dict[str, list[int]] = {}
    for i, vector in enumerate(vectors):
        groups.setdefault(group_of(vector), []).append(i)
    return [_Chunk(indices[n:n + _CHUNK], group, start_of(vectors[indices[0]]))
            for group, indices in groups.items() for n in range(0, len(indices), _CHUNK)]


class _Asking:
    """How libraries are asked.

    :param jobs, timeout, progress: as `run` has them
    """

    def __init__(self, jobs: int, timeout: float, progress: Progress | None) -> None:
        self._jobs, self._timeout, self._progress = jobs, timeout, progress
        self._lock = Lock()
        self._done = 0  # vectors, over all libraries

    def load(self, library: str) -> dict[str, Json]:
        """What comes of loading a library: the worker's only message."""
        with Worker() as worker:
            return next(iter(worker.do(self._job(library, None, [], []))))

    def _job(self, library: str, api: str | None, start: list[Vector], vectors: list[Vector]) -> dict[str, Json]:
        return {"library": library, "api": api, "timeout": self._timeout, "start": cast("Json", start),
                "vectors": cast("Json", vectors), "descriptions": False}

    def ask(self, path: str, api: str, vectors: Sequence[Vector], descriptions: bool = False) -> _Answers:
        """Have a library answer vectors, in as many processes as there are jobs."""
        chunks = _chunks(vectors)
        ledger = _Ledger(chunks, vectors)
        waiting = iter(chunks)
        library = os.path.abspath(path) if "/" in path else path

        def work() -> None:
            with Worker() as worker:
                while True:
                    with self._lock:
                        chunk = next(waiting, None)
                        todo = ledger.to_run(chunk) if chunk else []
                    if chunk is None:
                        return
                    if todo:
                        job = self._job(library, api, chunk.start, [_call(vectors[i]) for i in todo])
                        self._answer(worker, job | {"descriptions": descriptions}, chunk, todo, len(vectors))
                    with self._lock:
                        ledger.enter(chunk)
                        self._advance(len(chunk.indices) - len(chunk.replies), len(vectors))

        with ThreadPoolExecutor(max(1, min(self._jobs, len(chunks)))) as pool:
            for future in [pool.submit(work) for _ in range(max(1, min(self._jobs, len(chunks))))]:
                future.result()
        return ledger.answers

    def _answer(self, worker: Worker, job: dict[str, Json], chunk: _Chunk, todo: list[int], total: int) -> None:
        vectors = cast("list[Vector]", job["vectors"])
        for message in worker.do(job):
            if "at" in message:
                index = todo[cast(int, message["at"])]
                if "invalid" in message:
                    vector = vectors[cast(int, message["at"])]
                    text = f"vector {vector.get('id', index)}: {message['invalid']}"
                    raise ConformError(text)
                chunk.replies[index] = message
                if len(chunk.replies) % _STRIDE == 0:
                    with self._lock:
                        self._advance(_STRIDE, total)
            elif "start" in message:
                chunk.starts[cast(int, message["start"])] = message
            elif "ended" in message:  # while it was loaded, in this environment
                chunk.start = [{"kind": "start", "call": "dlopen", "args": [job["library"]],
                                "env": cast("Json", environment(vectors[0]))}]
                chunk.starts = {0: message}

    def _advance(self, count: int, total: int) -> None:
        self._done += count
        if self._progress:
            self._progress(self._done, total)


def _call(vector: Vector) -> Vector:
    """A vector without what only the comparison needs."""
    return {key: value for key, value in vector.items() if key not in ("expect", "about", "leaves")}


# ---- comparing -----------------------------------------------------------------------

def _ended(function: str, call: str, reply: dict[str, Json], vector: Vector | None) -> Finding:
    """The finding for a call that never came back."""
    kind: FindingKind = "hang" if reply["hang"] else "crash"
    return Finding(kind, function, call, (Difference("process", "an answer", str(reply["ended"])),), vector)


def _findings(report: Report, vectors: Sequence[Vector], answers: _Answers,
              expected: Callable[[int], Json]) -> Iterator[tuple[int, Finding]]:
    """The findings with the index of the vector where each belongs; counts the checks.

    :param expected: the expected answer of a vector; None if there is nothing to compare with
    """
    missing: Counter[str] = Counter()
    for index, start, reply in answers.starts:
        if "missing" in reply:
            missing[str(reply["missing"])] += 1
        else:
            yield from _checked(report, index, start, reply, start.get("expect"))
    for index, vector in enumerate(vectors):
        reply_or_none = answers.replies[index]
        if reply_or_none is None or "missing" in reply_or_none:
            report.tally(function_of(vector)).not_run += 1
            missing.update([str(reply_or_none["missing"])] if reply_or_none else [])
            continue
        yield from _checked(report, index, vector, reply_or_none, expected(index))
    report.notes += [f"{name} is not exported: {count} calls not made" for name, count in missing.items()]


def _checked(report: Report, index: int, vector: Vector, reply: dict[str, Json],
             expected: Json) -> Iterator[tuple[int, Finding]]:
    """The finding about one call that was made, if there is one."""
    function = function_of(vector)
    tally = report.tally(function)
    if "ended" in reply:
        finding = _ended(function, call_of(vector), reply, vector)
    else:
        found = differences(report.api, vector, expected, reply.get("answer")) if expected is not None else ()
        finding = Finding("value", function, call_of(vector), found, vector)
    tally.run += 1
    if finding.differences:
        tally.differ += 1
        yield index, finding


def _compare_recorded(report: Report, vectors: Sequence[Vector], answers: _Answers) -> None:
    found = _findings(report, vectors, answers, lambda i: vectors[i]["expect"])
    report.findings += [finding for _, finding in sorted(found, key=lambda pair: pair[0])]


def _compare_both(report: Report, vectors: Sequence[Vector], ours: _Answers, theirs: _Answers) -> None:
    def expected(index: int) -> Json:
        return (theirs.replies[index] or {}).get("answer")

    found = _findings(report, vectors, ours, expected)
    report.findings += [finding for _, finding in sorted(found, key=lambda pair: pair[0])]
    silent = sum(expected(i) is None for i in range(len(vectors)))
    if silent and report.against:
        report.notes.append(
            f"{report.against.asked} itself gave no answer to {silent} of {len(vectors)} calls: not compared")
