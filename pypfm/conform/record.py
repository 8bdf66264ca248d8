"""New vectors: random calls, or those of a file, with the answers of a library."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pypfm.conform import runner
from pypfm.conform.checks.differences import call_of, differences
from pypfm.conform.model import OPTIONAL, PMUS, base
from pypfm.conform.random import pfm3, pfm4
from pypfm.conform.vectors import in_steps, sequence_of
from pypfm.conform.worker.asking import Answers, ask
from pypfm.errors import ConformError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypfm.conform.model import Report, Vector
    from pypfm.conform.worker.asking import Reply

__all__ = ["Recording", "random_vectors", "record", "record_again"]


@dataclass
class Recording:
    """The answers of a library.

    :ivar api: its API: pfm3, pfm3-manual or pfm4
    :ivar vectors: the calls that it answered, with ``expect``
    :ivar left_out: how many others there were, by reason
    """

    api: str
    vectors: list[Vector] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def random_vectors(pmu: str, count: int, seed: int, api: str | None = None) -> Iterator[Vector]:
    """Yield random calls for any PMU; see `pypfm.conform.random`.

    :param api: pfm3, pfm3-manual or pfm4; None: the first that has the PMU
    """
    make = pfm3.vectors if (PMUS[pmu][0] if api is None else base(api)) == "pfm3" else pfm4.vectors
    return make(pmu, count, seed)


def record_again(path: str, vectors: Sequence[Vector], api: str | None = None, *, jobs: int = 1,
                 timeout: float = runner.TIMEOUT) -> Recording:
    """Record the answers of a library to existing calls.

    :param vectors: the calls; what they expect is not looked at. A step of a sequence on which the library ends its
        process gets the signal as its ``reference``, if it has none, and null as what it expects; those after it are
        dropped
    :raises ConformError: it is no library of that API
    """
    report = _opened(path, api, timeout)
    recording, calls = Recording(report.api), in_steps(vectors)
    replies = ask(path, report.api, calls, jobs=jobs, timeout=timeout).replies
    for index, (vector, reply) in enumerate(zip(calls, replies, strict=True)):
        if vector["kind"] != "step":
            _enter(recording, [vector], [reply])
        elif reply is None or "missing" in reply:
            recording.left_out[_reason(reply)] += 1
        else:
            if "ended" in reply:
                calls[index].setdefault("reference", reply["ended"])
            calls[index]["expect"] = None if "reference" in vector else reply["answer"]
            if recording.vectors and recording.vectors[-1]["id"] == vector["sequence"]:
                recording.vectors.pop()
            recording.vectors.append(sequence_of(calls, index))
    return recording


def _opened(path: str, api: str | None, timeout: float) -> Report:
    """Load a library and check that it survives that."""
    report = runner.opened(path, api, timeout)
    if report.findings:
        raise ConformError(f"{path}: {report.findings[0].call}: {report.findings[0].differences[0].got}")
    return report


def record(path: str, pmu: str, count: int, seed: int, api: str | None = None, *, jobs: int = 1,
           timeout: float = runner.TIMEOUT) -> Recording:
    """Record the answers of a library to random calls.

    :param path: the library; a name without a slash is looked up as the loader does
    :param pmu: itanium2, montecito, itanium, gen_ia64; gen_ia64, ita, ita2, mont, glm, perf or perf_raw of libpfm 4
    :param count: how many calls
    :param seed: which ones
    :param api: pfm3, pfm3-manual or pfm4; None: what the library exports decides
    :param jobs: processes that make calls
    :param timeout: seconds for one call
    :raises ConformError: it is no library for that PMU, or it answers no call at all
    """
    report = _opened(path, api, timeout)
    if base(report.api) not in PMUS[pmu]:
        raise ConformError(f"{path} is a library of {base(report.api)}, which has no {pmu}")
    calls = list(random_vectors(pmu, count, seed, report.api))
    if pmu in OPTIONAL.get(report.api, ()) and pmu in runner.lacking(path, report.api, timeout):
        raise ConformError(runner.lack(path, [pmu]))
    recording = Recording(report.api)
    answers = ask(path, report.api, calls, jobs=jobs, timeout=timeout)
    _enter(recording, calls, answers.replies)
    if not recording.vectors:
        raise ConformError(f"{path} answers none of {count} calls on {pmu}{_why_not(report.api, answers)}")
    return recording


def _enter(recording: Recording, calls: Sequence[Vector], replies: Sequence[Reply | None]) -> None:
    for vector, reply in zip(calls, replies, strict=True):
        if reply is not None and reply.get("answer"):  # of queries none may be exported
            recording.vectors.append(vector | {"expect": reply["answer"]})
        else:
            recording.left_out[_reason(reply)] += 1


def _reason(reply: Reply | None) -> str:
    """Describe why a call has no answer."""
    if reply is None:
        return "not made after many crashes or hangs"
    if "ended" not in reply:
        return "of functions that are not exported"
    return "hung" if reply["hang"] else f"crashed ({reply['ended']})"


def _why_not(api: str, answers: Answers) -> str:
    """Describe the first of the calls before all others that was not answered as it must be."""
    for _, start, reply in answers.starts:
        call = call_of(start)
        if "answer" not in reply:
            return f": {call}: {reply.get('ended', 'not exported')}"
        for difference in differences(api, start, start.get("expect", reply["answer"]), reply["answer"]):
            return f": {call}: {difference.field}: expected {difference.expected}, got {difference.got}"
    return ""
