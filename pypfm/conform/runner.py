"""A conformance run: a library's answers compared with the recorded ones, or with another library's."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import fields, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pypfm._c.elf import unsuitable
from pypfm.config import LIBRARIES
from pypfm.conform.checks.differences import call_of, differences
from pypfm.conform.checks.file import facts, identity, library_file
from pypfm.conform.endurance import in_one_process, with_messages
from pypfm.conform.model import APIS, MARKS, OPTIONAL, Difference, Finding, Report, Tally, base
from pypfm.conform.tried import count_call, list_exports, merge
from pypfm.conform.vectors import (
    PMU_IDS,
    SPEAKING,
    environment,
    function_of,
    in_steps,
    optional_of,
    pmus_of,
    recorded,
    sequence_of,
)
from pypfm.conform.worker.asking import Answers, Reply, ask, load, loader_name
from pypfm.errors import ConformError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pypfm.conform.model import FindingKind, Json, Vector
    from pypfm.conform.worker.asking import Progress

__all__ = ["PARANOID", "TIMEOUT", "differential", "lack", "lacking", "merged", "opened", "run"]

#: Seconds that a call may take.
TIMEOUT = 10.0

#: What a kernel without perf_event_open() does not have.
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_PATIENCE = 120.0  # seconds for our own library, on a machine that is busy


def run(path: str, api: str | None = None, *, vectors: Sequence[Vector] | None = None, jobs: int = 1,
        timeout: float = TIMEOUT, progress: Progress | None = None) -> Report:
    """Check a library against recorded answers.

    :param path: the shared library; a name without a slash is looked up as the loader does
    :param api: pfm3, pfm3-manual or pfm4; None: what the library exports decides
    :param vectors: calls and answers; None: all that come with the package
    :param jobs: processes that make calls
    :param timeout: seconds for one call
    :param progress: called with the number of calls done and the number of all
    :return: the report; crashes and hangs of the library are findings in it
    :raises ConformError: the library cannot be loaded, or is not one of that API
    """
    begin, file = time.monotonic(), identity(path)
    report = opened(path, api, timeout)
    if not report.findings:
        calls = in_steps(recorded(report.api) if vectors is None else vectors)
        if report.api == "pfm4" and (reason := _foreign_host()):
            report.notes.append(f"{reason}: the {len(calls)} recorded answers hold elsewhere and were left out")
            calls = []
        if any(map(optional_of, calls)):
            lacks = lacking(path, report.api, timeout)
            # One that has some of these PMUs has to have all.
            calls = _without(report, calls, {path: lacks} if len(lacks) == len(OPTIONAL[report.api]) else {})
        calls = _with_goldmont(report, calls, path, timeout)
        exports = facts(Path(report.library.loaded)).exports or {}
        calls, left_out = _for_exports(calls, exports)
        if vectors is None:
            calls = [*calls, *in_one_process(report.api, calls), *with_messages(calls)]
        answers = ask(path, report.api, calls, jobs=jobs, timeout=timeout, progress=progress)
        _compare(report, calls, answers, lambda i: calls[i].get("expect"))
        _once(report)
        list_exports(report, exports, facts(LIBRARIES[report.api].path).exports or {}, left_out)
        if identity(path) != file:
            _add(report, _replaced(path))
    report.seconds = time.monotonic() - begin
    return report


def differential(path: str, against: str, vectors: Callable[[str], Sequence[Vector]], api: str | None = None, *,
                 jobs: int = 1, timeout: float = TIMEOUT, progress: Progress | None = None) -> Report:
    """Make the same calls with two libraries and compare their answers.

    :param path: the library under test
    :param against: the other one, whose answers are the expected ones
    :param vectors: the calls for an API; what they expect is not looked at
    :return: the report; descriptions are compared as texts
    :raises ConformError: as `run`, for either library
    """
    begin = time.monotonic()
    report = opened(path, api, timeout)
    other = opened(against, report.api or api, timeout)
    report.against = other.library
    if other.findings:
        raise ConformError(f"{against}: {other.findings[0].call}: {other.findings[0].differences[0].got}")
    if not report.findings:
        calls = in_steps(vectors(report.api))
        if any(map(optional_of, calls)):
            calls = _without(report, calls, {file: lacking(file, report.api, timeout) for file in (path, against)})
        total = 2 * len(calls)
        theirs = ask(against, report.api, calls, jobs=jobs, timeout=timeout, descriptions=True,
                     progress=progress and (lambda done, _: progress(done, total)))
        ours = ask(path, report.api, calls, jobs=jobs, timeout=timeout, descriptions=True,
                   progress=progress and (lambda done, _: progress(len(calls) + done, total)))
        _compare(report, calls, ours, lambda i: (theirs.replies[i] or {}).get("answer"))
        if silent := sum("answer" not in (reply or {}) for reply in theirs.replies):
            report.notes.append(f"{against} itself gave no answer to {silent} of {len(calls)} calls: not compared")
    report.seconds = time.monotonic() - begin
    return report


def merged(one: Report, other: Report) -> Report:
    """Merge two reports about one library: of a run, and of a comparison with another library."""
    tallies = {name: replace(tally) for name, tally in one.tallies.items()}
    for name, tally in other.tallies.items():
        mine = tallies.setdefault(name, Tally())
        for count in fields(Tally):
            setattr(mine, count.name, getattr(mine, count.name) + getattr(tally, count.name))
    return Report(one.api, one.library, other.against or one.against, tallies, one.findings + other.findings,
                  one.notes + [note for note in other.notes if note not in one.notes], one.seconds + other.seconds,
                  merge(one.tried, other.tried))


# ---- the library -----------------------------------------------------------------------

def opened(path: str, api: str | None, timeout: float) -> Report:
    """Load a library once and return a report about it; with a finding if that crashed or hung."""
    if "/" in path and (reason := unsuitable(path)):
        raise ConformError(f"{shown(path)} cannot be loaded: {reason}")
    file = identity(path)
    head, name = load(path, timeout), loader_name(path)
    if "refused" in head:
        reason = " ".join(str(head["refused"]).removeprefix(f"{name}: ").splitlines())
        here = "/" not in path and Path(path).exists()
        hint = f" (the loader does not look here; ./{path} is the file)" if here else ""
        raise ConformError(f"{shown(path)} cannot be loaded: {reason}{hint}")
    if "ended" in head:
        report = Report(api or "", library_file(path, name))
        report.findings.append(_ended("dlopen", f"dlopen({name})", head, None))
        report.tally("dlopen").run = report.tally("dlopen").differ = 1
        return report
    library = library_file(path, str(head["loaded"]) or name)
    if identity(path) != file:
        report = Report(api or "", library)
        _add(report, _replaced(path))
        return report
    apis = cast("list[str]", head["apis"])
    if api is None:
        return Report(_api_of(path, library.soname, apis), library)
    return Report(_allowed(path, api, apis, bool(head["loaded"])), library)


def _replaced(path: str) -> Finding:
    return Finding("crash", "dlopen", f"dlopen({loader_name(path)})", (
        Difference("file", "as it was", "another one, or changed, since it was loaded: nothing is known of it"),))


def _api_of(path: str, soname: str, apis: Sequence[str]) -> str:
    """Return the API of a library: that of ours with the same soname, else the one that its exports suggest."""
    other = next((name for name in ("pmc", "perfex") if name in LIBRARIES and soname == LIBRARIES[name].soname), "")
    if other and not apis:
        raise ConformError(f"{shown(path)} is {soname}: conform takes libpfm 3 and 4 only; the tests of this library"
                           f" are tests/{other} in the sources of pypfm, and pypfm layout --diff compares structures")
    if not apis:
        marks = ", ".join(f"{mark}() ({api})" for api, mark in MARKS.items())
        raise ConformError(f"{shown(path)} is no libpfm 3 or 4: it exports none of {marks}")
    same = [name for name in APIS if LIBRARIES[name].soname == soname and base(name) in apis]
    return same[0] if same else apis[0]


def _allowed(path: str, api: str, apis: Sequence[str], some_libpfm: bool) -> str:
    """Return the API that the user asks for, unless the library is clearly of another.

    :param some_libpfm: it exports what both APIs have; what is missing of this one will be findings
    """
    if api not in APIS:
        raise ConformError(f"no such API: {shown(api)}; there are {', '.join(APIS)}")
    if base(api) not in apis and (apis or not some_libpfm):
        hint = f"; what it exports is {' and '.join(apis)}" if apis else ""
        raise ConformError(f"{shown(path)} is no library of {api}: it exports no {MARKS[base(api)]}(){hint}")
    return api


def _foreign_host() -> str:
    """Return why the recorded answers of libpfm 4 do not hold on this host, or ""."""
    if not PARANOID.exists():
        return f"this host has no {PARANOID}"
    hosts = {"glm": "a Goldmont", **dict.fromkeys(OPTIONAL["pfm4"], "an IA-64 machine")}
    asked: list[Vector] = [{"kind": "info", "pmu": PMU_IDS[name]} for name in hosts]  # flags: whether it is active
    replies = ask(str(LIBRARIES["pfm4"].path), "pfm4", asked, jobs=1, timeout=_PATIENCE).replies
    for host, reply in zip(hosts.values(), replies, strict=True):
        if "answer" not in (reply or {}):
            return "pypfm's own library did not say in time which processor this host has"
        if cast("dict[str, dict[str, Json]]", reply)["answer"]["flags"]:
            return f"this host is {host}"
    return ""


# ---- PMUs that not every library has ---------------------------------------------------

def lacking(path: str, api: str, timeout: float, names: Sequence[str] | None = None) -> list[str]:
    """Return those of the named PMUs that a library does not know.

    :param names: which ones; None: those that not every library of the API has

    One that does not return what it is asked for, but crashes or hangs, may know them: its calls are made.
    """
    names = OPTIONAL.get(api, ()) if names is None else names
    asked: list[Vector] = [{"kind": "info", "pmu": PMU_IDS[name]} for name in names]
    replies = ask(path, api, asked, jobs=1, timeout=timeout).replies
    answers = [cast("dict[str, Json]", (reply or {}).get("answer", {})) for reply in replies]
    return [name for name, answer in zip(names, answers, strict=True) if answer.get("ret")]


def _without(report: Report, calls: Sequence[Vector], lacks: dict[str, list[str]]) -> list[Vector]:
    """Return the calls whose PMUs the library has; enter the others as not run, with a note.

    :param lacks: the PMUs, by the library that lacks them
    """
    kept = list(calls)
    for path, names in lacks.items():
        left_out = [vector for vector in kept if pmus_of(vector) & {*names}]
        kept = [vector for vector in kept if not pmus_of(vector) & {*names}]
        for vector in left_out:
            report.tally(function_of(vector)).not_run += 1
        if left_out:
            them = "them" if names[1:] else "it"
            report.notes.append(f"{lack(path, names)}: {len(left_out)} calls that need {them} were not made")
    return kept


def _with_goldmont(report: Report, calls: Sequence[Vector], path: str, timeout: float) -> list[Vector]:
    """Leave out the calls about Goldmont if the library lacks it: that is one finding, not thousands."""
    if any("glm" in pmus_of(vector) for vector in calls) and lacking(path, report.api, timeout, ("glm",)):
        calls = _without(report, calls, {path: ["glm"]})
        _add(report, Finding("value", "pfm_get_pmu_info", call_of({"kind": "info", "pmu": PMU_IDS["glm"]}), (
            Difference("PMU", "glm", "not there"),)))
    return [*calls]


def _for_exports(calls: Sequence[Vector], exports: Collection[str]) -> tuple[list[Vector], dict[str, str]]:
    """Leave out the calls of sequences that need a symbol which is not exported.

    :return: also the functions of the others, and the symbol that each needs
    """
    needs = {index: str(call["needs"]) for index, call in enumerate(calls) if call.get("needs")}
    left_out = {function_of(calls[index]): symbol for index, symbol in needs.items() if symbol not in exports}
    return [call for index, call in enumerate(calls) if needs.get(index) is None or needs[index] in exports], left_out


def lack(path: str, names: Sequence[str]) -> str:
    """Say that a library lacks PMUs."""
    return f"{path} has no {', '.join(names[:-1])}{' or ' if names[1:] else ''}{names[-1]}"


# ---- comparing -------------------------------------------------------------------------

def _compare(report: Report, vectors: Sequence[Vector], answers: Answers, expected: Callable[[int], Json]) -> None:
    """Enter the findings, in the order of the vectors, and count the checks.

    :param expected: the expected answer of a vector; None if there is nothing to compare with
    """
    missing: Counter[str] = Counter()
    unasked: Counter[str] = Counter()
    before = len(report.findings)
    starts: dict[int, list[tuple[Vector, Reply]]] = {}
    without_end: set[Json] = set()  # sequences in which the library could not be terminated
    for index, start, reply in answers.starts:
        starts.setdefault(index, []).append((start, reply))
    for index, (vector, answer) in enumerate(zip(vectors, answers.replies, strict=True)):
        for start, reply in starts.get(index, []):
            _check(report, [start], 0, reply, start.get("expect"), missing)
        if answer is None or (vector.get("state") == "after" and vector.get("sequence") in without_end):
            report.tally(function_of(vector)).not_run += 1
        else:
            if "missing" in answer and vector.get("call") == "pfm_terminate":
                without_end.add(vector.get("sequence"))
            wanted = expected(index)
            _check(report, vectors, index, answer, wanted, missing)
            if vector["kind"] == "query" and isinstance(wanted, dict):
                unasked.update(_unanswered(wanted, answer))
    _check_missing(report, missing, unasked)
    _check_ends(report, answers.ends)
    not_run = [vector for vector, answer in zip(vectors, answers.replies, strict=True) if answer is None]
    if not_run and len(report.findings) == before and not missing:
        _add(report, Finding("crash", function_of(not_run[0]), f"{len(not_run)} calls", (
            Difference("calls", "made", "not made, without a reason"),)))


def _once(report: Report) -> None:
    """Leave out differences of the long process, or with messages, that the same call had without, too."""
    values = [f.vector if f.kind == "value" and f.vector else {} for f in report.findings]
    keys = [(str(v.get("id")), f.differences) for v, f in zip(values, report.findings, strict=True)]
    repeats = ["long" in v or bool(environment(v).keys() & {*SPEAKING}) for v in values]
    first = {key for key, v, repeated in zip(keys, values, repeats, strict=True) if "id" in v and not repeated}
    again = [repeated and key in first for key, repeated in zip(keys, repeats, strict=True)]
    for finding in compress(report.findings, again):
        report.tally(finding.function).differ -= 1
    report.findings[:] = [finding for finding, is_again in zip(report.findings, again, strict=True) if not is_again]


def _unanswered(wanted: dict[str, Json], reply: Reply) -> list[str]:
    """Return the functions of a query that were not found in the library."""
    got = cast("dict[str, Json]", reply.get("answer") or wanted)
    functions = {name if name.startswith("pfm_") else "pfm_get_num_event_masks" for name in wanted if name not in got}
    return sorted(functions)


def _check_missing(report: Report, missing: Counter[str], unasked: Counter[str]) -> None:
    """Check by the file whether functions that the process did not find are really missing."""
    exports = facts(Path(report.library.loaded)).exports
    for name, count in (missing + unasked).items():
        if exports is None or name in exports:
            what = "exported" if exports is not None else "unknown, for the file cannot be read"
            found = Difference("address", "a function", f"none; its symbol is {what}")
            _add(report, Finding("symbol", name, name, (found,)))
        elif name in missing:
            report.notes.append(f"{name}() is not exported: {count} calls of it were not made")


def _check_ends(report: Report, ends: Sequence[Reply]) -> None:
    """Enter how the processes of calls ended, and which changes they left; each once."""
    kinds: dict[str, FindingKind] = {str(end["ended"]): "hang" if end["hang"] else "crash"
                                     for end in ends if "ended" in end}
    for words, kind in kinds.items():
        _add(report, Finding(kind, "exit", "exit() after the calls", (Difference("process", "its end", words),)))
    states: dict[str, Difference] = {}
    for end in ends:
        for what, (before, after) in cast("dict[str, list[str]]", end.get("changed", {})).items():
            states.setdefault(what, Difference(what, before, after))
    if states:
        _add(report, Finding("value", "process", "state of the process after the calls", tuple(states.values())))
    strings: dict[str, dict[str, Difference]] = {}
    for end in ends:
        for function, members in cast("dict[str, dict[str, list[str]]]", end.get("lasting", {})).items():
            for member, (before, after) in members.items():
                strings.setdefault(function, {}).setdefault(member, Difference(member, before, after))
    for function, found in strings.items():
        _add(report, Finding("value", function, f"a string of {function}(), after later calls", tuple(found.values())))


def _add(report: Report, finding: Finding) -> None:
    """Add a finding that is not about a single call."""
    report.findings.append(finding)
    report.tally(finding.function).run += 1
    report.tally(finding.function).differ += 1


def _check(report: Report, vectors: Sequence[Vector], index: int, reply: Reply, expected: Json,
           missing: Counter[str]) -> None:
    """Count the call of a vector, and enter the finding if there is one."""
    vector = vectors[index]
    function = function_of(vector)
    tally = report.tally(function)
    if "missing" in reply:
        tally.not_run += 1
        missing[str(reply["missing"])] += 1
        return
    tally.run += 1
    count_call(report, vector, reply.get("answer"))
    if "reference" in vector:  # it did not return there, either: nothing is compared
        return
    if "answer" not in reply:
        report.findings.append(_ended(function, call_of(vector), reply, sequence_of(vectors, index)))
    elif found := differences(report.api, vector, expected, reply["answer"]) if expected is not None else ():
        if {difference.field for difference in found} == {"find"}:
            tally.run -= 1
            function, tally = "pfm_find_event", report.tally("pfm_find_event")
            tally.run += 1
        report.findings.append(Finding("value", function, call_of(vector), found, sequence_of(vectors, index)))
    else:
        return
    tally.differ += 1


def _ended(function: str, call: str, reply: Reply, vector: Vector | None) -> Finding:
    """Return the finding for a call that never came back."""
    kind: FindingKind = "hang" if reply["hang"] else "crash"
    return Finding(kind, function, call, (Difference("process", "an answer", str(reply["ended"])),), vector)
