"""The layout of the structures that a library under test believes in.

If it has debug information, that says so.  If not, probes do: what it writes and where, what
changes its answer, whether it goes beyond the end of a structure.  They compare with our own
library in the same situations, so that a wrong value is not taken for a wrong place: a member has
moved if what ours has at one place is found at another one.  Probes see no bit-field that has
moved within its word, no member that never changes an answer, and nothing in ``pfmlib_options_t``:
what a note of the outcome calls "not checked".
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, Any, cast

from pypfm.config import LIBRARIES
from pypfm.conform.checks.differences import code_name
from pypfm.conform.checks.file import READING, facts
from pypfm.conform.checks.symbols import Outcome
from pypfm.conform.model import Difference, Finding
from pypfm.conform.worker.asking import ask
from pypfm.conform.worker.leaves import Leaf, leaves
from pypfm.conform.worker.probing import XORS
from pypfm.conform.worker.program import probes_of
from pypfm.layout import describe, dwarf, types
from pypfm.layout.differences import compare, same_bytes
from pypfm.layout.model import LayoutError

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from pathlib import Path

    from pypfm.conform.model import FindingKind, Json, Vector
    from pypfm.layout.model import Member, TypeLayout

__all__ = ["TIMEOUT", "answers", "check", "from_debug_info", "probe"]

Answer = dict[str, Any]  # of a probe, as it comes through JSON
# Types that no function of the library takes or fills in.
_NOT_PASSED = {"struct perf_event_mmap_page", "struct perf_event_header"}
#: Seconds that a probe may take.
TIMEOUT = 5.0
_OWN_TIMEOUT = 120.0  # of our own library, which always returns, on a busy machine late
_GROWTH = 8  # bytes by which an element of an array may have grown
_FARTHEST = 128  # bytes that a member is looked for away from its place


def check(path: Path, api: str, timeout: float = TIMEOUT) -> Outcome:
    """Check the structures of a library, by its debug information or else by probing.

    :param path: the library under test
    :param api: pfm3, pfm3-manual or pfm4
    :param timeout: seconds for one probe
    :return: a finding for each type with members at other places, or of another size
    :raises LayoutError: the file cannot be read
    """
    try:
        found = from_debug_info(path, api)
    except LayoutError as error:
        found = Outcome(notes=[f"structures were probed: {error}"])
    if found.checks:
        return found
    probed = probe(path, api, timeout)
    probed.notes[:0] = found.notes
    return probed


# ---- debug information -------------------------------------------------------------------

def from_debug_info(path: Path, api: str) -> Outcome:
    """Compare sizes and members with those that the library's debug information has.

    :raises LayoutError: there is no debug information, or it cannot be read
    """
    outcome = Outcome()
    names = [name for name in types(api) if name not in _NOT_PASSED]
    if not facts(path).debug_info:
        hint = "(compile it with -g, or install its debug file)"
        raise LayoutError(facts(path).why_not or f"{path} has no debug information {hint}")
    found = dwarf.layouts(path, names, READING)
    absent = [name for name in names if name not in found]
    for name, theirs in found.items():
        outcome.checks[name] += 1
        differences = tuple(_unlike(describe(name, api), theirs))
        if differences:
            outcome.findings.append(Finding("layout", name, f"{name} in the debug information", differences))
    if absent:
        outcome.notes.append(f"not checked, for they are not in the debug information: {', '.join(absent)}")
    return outcome


def _unlike(ours: TypeLayout, theirs: TypeLayout) -> Iterator[Difference]:
    if ours.size != theirs.size:
        yield Difference("size", f"{ours.size} bytes", f"{theirs.size} bytes")
    rows = [row for row in compare(ours, theirs).rows if not row.same]
    lefts = [row.left for row in rows if row.left is not None and row.right is None]
    rights = [row.right for row in rows if row.right is not None and row.left is None]
    # Under another name at the same place, a member is the same to a program.
    renamed = {id(m) for pair in product(lefts, rights) if same_bytes(*pair) for m in pair}
    for row in rows:
        if id(row.left) not in renamed and id(row.right) not in renamed:
            yield Difference(row.path, _place(row.left), _place(row.right))


def _place(member: Member | None) -> str:
    if member is None:
        return "no such member"
    bits = "" if member.bits is None else f", bit {member.bit_offset}, {member.bits} bits"
    return f"{member.type} at offset {member.offset}, {member.size} bytes{bits}"


# ---- probing -----------------------------------------------------------------------------

def probe(path: Path, api: str, timeout: float = TIMEOUT) -> Outcome:
    """Find out by calls where the library has the members of the structures.

    :param path: the library under test; it is loaded in processes of its own
    :param api: pfm3, pfm3-manual or pfm4
    :param timeout: seconds for one probe of it
    """
    ours, theirs = answers(LIBRARIES[api].path, api, _OWN_TIMEOUT), answers(path, api, timeout)
    outcome, evidence = Outcome(), _Evidence(api)
    seen: dict[str, set[int]] = defaultdict(set)
    silent: dict[tuple[str, FindingKind, str], None] = {}
    failed: dict[tuple[str, int], None] = {}  # calls, and what they returned
    lacks: dict[str, None] = {}  # PMUs
    absent: dict[str, None] = {}  # notes about functions
    by_type: dict[str, list[tuple[Answer, Answer]]] = defaultdict(list)
    for name, (ctype, kind, _) in probes_of(api).items():
        expected, got = ours[name], theirs[name]
        if "answer" not in expected:  # on a machine that is too busy, or out of memory
            outcome.not_run[ctype] += 1
            why = expected.get("ended") or "no answer"
            outcome.notes.append(f"{ctype}: not checked by the probe '{name}', for which pypfm's own library has no"
                                 f" answer: {why}")
            continue
        if "ended" not in got and "answer" not in got:
            outcome.not_run[ctype] += 1
            if "failed" in got:  # a value, which says nothing about places
                failed[tuple(got["failed"])] = None
            elif "lacks" in got:
                lacks[got["lacks"]] = None
            elif "missing" in got:
                absent[f"{ctype}: not checked, {got['missing']}() is missing"] = None
            continue
        outcome.checks[ctype] += 1
        if "answer" in got:
            seen[ctype] |= _shown(kind, expected["answer"])
        if kind == "guard" and got.get("ended") in ("SIGSEGV", "SIGBUS"):
            evidence.add(ctype, "(end)", f"{evidence.layouts(ctype).size} bytes", "accesses bytes after the end")
        elif "ended" in got:
            silent[ctype, "hang" if got["hang"] else "crash", got["ended"]] = None
        elif kind == "reads":
            evidence.reads(ctype, expected["answer"], got["answer"])
        elif kind == "writes":
            by_type[ctype].append((expected["answer"], got["answer"]))
    for ctype, pairs in by_type.items():
        evidence.writes(ctype, pairs)
    outcome.notes += _not_checked(api, seen)
    outcome.findings += evidence.findings()
    outcome.findings += [Finding(what, ctype, f"{ctype}, probed by calls", (Difference("probes", "an answer", why),))
                         for ctype, what, why in silent]
    outcome.findings += [Finding("value", call.partition("(")[0], f"{call} before a probe of structures", (
        Difference("ret", code_name(api, 0), code_name(api, ret)),)) for call, ret in failed]
    outcome.notes += [*absent, *(f"{path} has no {pmu}: not probed" for pmu in lacks)]
    return outcome


def _shown(kind: str, answer: Answer) -> set[int]:
    """Return the bytes of a structure that a probe says something about."""
    if kind == "reads":
        return {int(change.partition(":")[0]) for change in answer["changed"]}
    return set(_bytes(answer)) if kind == "writes" else set()


def _not_checked(api: str, seen: dict[str, set[int]]) -> Iterator[str]:
    """Notes about types and members that no probe has shown.

    :param seen: by type, its bytes that probes have said something about
    """
    parts: dict[tuple[str, str], float] = {}  # of each member, how much of it was seen at most
    for ctype, places in seen.items():
        for leaf in leaves(api, ctype):
            inner, _, member = leaf.chain[-1]
            key = inner, member.partition("[")[0]
            part = sum(leaf.offset + i in places for i in range(leaf.size)) / leaf.size
            parts[key] = max(parts.get(key, 0), part)
    told = {ctype for ctype, _ in parts}
    if absent := [name for name in types(api) if name not in _NOT_PASSED | told]:
        yield f"not checked, for no probe shows them: {', '.join(absent)}"
    bits = {(name, path) for name in told for path, m in describe(name, api).flat() if m.bits is not None}
    for words, some in (("places not checked, for no answer depends on them", [k for k, v in parts.items() if v == 0]),
                        ("widths not checked, for answers show the lower bytes only",
                         [k for k, v in parts.items() if 0 < v < 1 and k not in bits])):
        names = [f"{ctype}.{member}" for ctype, member in some if "reserved" not in member and "pad" not in member]
        if names:
            yield f"{words}: {', '.join(names)}"


def answers(path: Path, api: str, timeout: float) -> dict[str, Answer]:
    """Run all probes; return their answers by name, as messages of `pypfm.conform.worker`, empty if one did not run."""
    names = list(probes_of(api))
    env: dict[str, Json] = {"LIBPFM_ENCODE_INACTIVE": "1"}
    calls: list[Vector] = [{"kind": "probe", "name": name, "env": env} for name in names]
    answers = ask(str(path), api, calls, jobs=1, timeout=timeout)
    replies: list[Answer] = [dict(reply or {}) for reply in answers.replies]
    for _, _, reply in answers.starts:
        replies[0] = dict(reply)  # not even loaded
    return dict(zip(names, replies, strict=True))


class _Evidence:
    """The evidence of probes about the places of members."""

    def __init__(self, api: str) -> None:
        self._api = api
        self._found: dict[str, dict[str, Difference]] = defaultdict(dict)

    def layouts(self, ctype: str) -> TypeLayout:
        return describe(ctype, self._api)

    def add(self, ctype: str, member: str, expected: str, got: str) -> None:
        self._found[ctype].setdefault(member, Difference(member, expected, got))

    def findings(self) -> Iterator[Finding]:
        for ctype, differences in self._found.items():
            yield Finding("layout", ctype, f"{ctype}, probed by calls", tuple(differences.values()))

    # ---- what the library reads ----

    def reads(self, ctype: str, ours: Answer, theirs: Answer) -> None:
        """Compare how answers change with the bytes of a request."""
        if ours["ret"] != theirs["ret"]:
            self._exchanged(ctype, theirs.get("exchanged", []))
            return
        owner = {leaf.offset + i: leaf for leaf in leaves(self._api, ctype) for i in range(leaf.size)}
        mine, other = _by_change(ours["changed"]), _by_change(theirs["changed"])
        moves: dict[Leaf, int] = {}
        still: set[Leaf] = set()
        for key, places in mine.items():
            now = other.get(key, set())
            still |= {owner[p] for p in places & now if p in owner}
            gone, new = sorted(places - now), sorted(now - places)
            for place in gone if new else ():
                delta = min((n - place for n in new), key=abs)
                if place in owner and abs(delta) < abs(moves.get(owner[place], _FARTHEST)):
                    moves[owner[place]] = delta
        self._blame(moves, still - set(moves))
        self._reads_nothing_else(ctype, ours, theirs, owner)

    def _exchanged(self, ctype: str, pairs: list[list[int]]) -> None:
        """Find members whose values had to be exchanged for the library to take the request."""
        at = {leaf.offset: leaf for leaf in leaves(self._api, ctype)}
        for a, b in pairs:
            self._blame({at[a]: b - a, at[b]: a - b}, ())

    def _reads_nothing_else(self, ctype: str, ours: Answer, theirs: Answer, members: Container[int]) -> None:
        layout = self.layouts(ctype)
        places = {int(change.partition(":")[0]) for change in theirs["changed"] if change not in ours["changed"]}
        for first, last in _runs(p for p in places if p not in members and not _in_array(layout, p)):
            if first >= layout.size:
                self.add(ctype, "(end)", f"{layout.size} bytes", f"reads byte {first}")
            else:
                self.add(ctype, f"bytes {first} to {last}", "no member", "are read")

    # ---- what the library writes ----

    def writes(self, ctype: str, pairs: list[tuple[Answer, Answer]]) -> None:
        """Compare the bytes that calls write, over several calls."""
        both = [(_bytes(a), _bytes(b)) for a, b in pairs if a["ret"] == b["ret"] == 0]
        ours = {leaf: _values((a for a, _ in both), leaf.offset, leaf.size) for leaf in leaves(self._api, ctype)}
        moves: dict[Leaf, int] = {}
        still: set[Leaf] = set()
        for leaf, values in ours.items():
            if _values((b for _, b in both), leaf.offset, leaf.size) == values:
                still.add(leaf)
            elif _telling(values):
                delta = _found_at(both, leaf, values, self._near(leaf))
                if delta is not None:
                    moves[leaf] = delta
        self._blame(moves, still)
        size = self.layouts(ctype).size
        after = [offset for _, b in both for offset in b if offset >= size]
        if after:
            self.add(ctype, "(end)", f"{size} bytes", f"writes byte {min(after)}")

    def _near(self, leaf: Leaf) -> range:
        """Return where a member is looked for; within an array, not in other elements."""
        if any(member.endswith("]") for _, _, member in leaf.chain):
            ctype, base, _ = leaf.chain[-1]
            return range(base, base + self.layouts(ctype).size + _GROWTH - leaf.size + 1)
        return range(max(0, leaf.offset - _FARTHEST), leaf.offset + _FARTHEST)

    # ---- which type it is ----

    def _blame(self, moves: dict[Leaf, int], still: Iterable[Leaf]) -> None:
        """Enter each member that has moved with the innermost type that explains it."""
        located = moves | dict.fromkeys(still, 0)
        for leaf, delta in moves.items():
            level = len(leaf.chain) - 1
            while level and (shift := self._shift(located, leaf, delta, level)) == delta:
                level -= 1  # the structure as a whole has moved
            shift = self._shift(located, leaf, delta, level)
            ctype, base, member = leaf.chain[level]
            offset = (leaf.offset if level == len(leaf.chain) - 1 else leaf.chain[level + 1][1]) - base
            self.add(ctype, member, f"offset {offset}", f"offset {offset + delta - shift}")

    def _shift(self, located: dict[Leaf, int], leaf: Leaf, delta: int, level: int) -> int:
        """Return by how much a structure around a member has moved; the outermost one does not."""
        ctype, base, _ = leaf.chain[level]
        if level == 0:
            return 0
        deltas = [d for other, d in located.items()
                  if len(other.chain) > level and other.chain[level][:2] == (ctype, base)]
        if len(deltas) == 1:  # nothing to compare with: it has moved inside, if that can be
            return 0 if base < leaf.offset and leaf.offset + delta < base + self.layouts(ctype).size else delta
        # Members that went both ways, or not at all: the structure stayed.
        return 0 if min(deltas) <= 0 <= max(deltas) else min(deltas, key=abs)


def _by_change(changed: dict[str, str]) -> dict[tuple[int, str], set[int]]:
    """Return the places where a changed byte changes an answer; only answers of successful calls can be told apart."""
    found: dict[tuple[int, str], set[int]] = defaultdict(set)
    for change, answer in changed.items():
        offset, _, xor = change.partition(":")
        if answer.startswith("0:") and int(xor) in XORS:
            found[int(xor), answer].add(int(offset))
    return found


def _in_array(layout: TypeLayout, offset: int) -> bool:
    """Tell whether a byte lies in an array, of which not all elements are looked at."""
    return any(m.dimensions and m.offset <= offset < m.offset + m.size for _, m in layout.flat())


def _runs(places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of adjacent numbers."""
    known = set(places)
    starts, ends = (sorted(p for p in known if p + step not in known) for step in (-1, 1))
    yield from zip(starts, ends, strict=True)


def _bytes(answer: Answer) -> dict[int, int]:
    runs = cast("dict[str, str]", answer["bytes"])
    return {i: byte for start, data in runs.items() for i, byte in enumerate(bytes.fromhex(data), int(start))}


def _values(runs: Iterable[dict[int, int]], offset: int, size: int) -> tuple[tuple[int | None, ...], ...]:
    return tuple(tuple(run.get(i) for i in range(offset, offset + size)) for run in runs)


def _telling(values: tuple[tuple[int | None, ...], ...]) -> bool:
    """Tell whether values can be recognised: they differ between calls, or are large."""
    known = {tuple(byte or 0 for byte in value) for value in values}
    return len(known) > 1 or any(sum(1 for byte in value if byte) > 1 for value in known)


def _found_at(both: list[tuple[dict[int, int], dict[int, int]]], leaf: Leaf,
              values: tuple[tuple[int | None, ...], ...], near: range) -> int | None:
    """Return how far from our place the other library has the same values, if it has something else there."""
    for offset in sorted(near, key=lambda offset: abs(offset - leaf.offset)):
        if (_values((b for _, b in both), offset, leaf.size) == values
                and _values((a for a, _ in both), offset, leaf.size) != values):
            return offset - leaf.offset
    return None
