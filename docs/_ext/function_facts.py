"""What is known of each C function besides its comment: csrc/functions.csv, its columns, and how they are said.

The C reference (c_headers), the manual pages (manual_pages) and the page of guarantees take their facts from here;
programs in tests/c read the same file and show that they hold.  The columns:

library, function
    every function that a library exports, then those that its headers define (``static inline``)
threads
    any: reads no state. reading: reads the state. alone: changes the state. locked: holds a mutex
needs_init
    yes: it fails before the library is initialised
environment
    yes: it reads variables of the environment
signals
    yes: a signal handler may call it.  no: that is not promised.  waits: it may, because signals wait until the call is
    done, and no memory is taken.  running: so, but for what makes a context
frees
    where a caller receives memory to free: a parameter, or a member of a structure; with "?": if it was NULL
stays, lasts
    where a caller receives the library's own memory ("return": the result), and how long it is valid: until unloading
    of the library, or until the exit of the process
export
    the version of the original that exports it (3.10, 4.13.0, NetBSD, IRIX); or text: only a manual page or a header
    has the name; own: only pypfm's library; inline: a header defines it.  `pypfm conform` demands the first of a
    library, and with --complete text and own, too
since, evidence
    first version of the original: "not known", or "never" if it is in none; what says so

``:functions:`pfm3 threads=alone``` lists functions with that fact, as links.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxRole

from library_headers import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sphinx.application import Sphinx

__all__ = ["TABLE", "Facts", "facts", "grouped", "statements"]

TABLE = ROOT / "csrc" / "functions.csv"

_THREADS = {"any": "any, at any time", "reading": "any, once the library is initialised",
            "alone": "one, with no other in the library", "locked": "any, at any time; calls wait for each other"}
_READING_BEFORE = "any, while no other initialises the library"  # it needs no initialisation
_ENVIRONMENT = "; no thread may change the environment meanwhile"
_SIGNALS = {"yes": "allowed", "no": "not allowed", "waits": "allowed; other signals wait until the call is done",
            "running": "allowed, but to make a context; other signals wait until the call is done"}
_LASTS = {"unloading": "until that is unloaded", "exit": "until the process ends"}


@dataclass(frozen=True)
class Facts:
    """A row of the table; see above."""

    library: str
    function: str
    threads: str
    needs_init: str
    environment: str
    signals: str
    frees: str
    stays: str
    lasts: str
    export: str
    since: str
    evidence: str


@cache
def facts(library: str) -> dict[str, Facts]:
    """The rows of a library, by function."""
    with TABLE.open(encoding="ascii", newline="") as stream:
        rows = [Facts(**row) for row in csv.DictReader(stream)]
    return {row.function: row for row in rows if row.library == library}


def statements(one: Facts, *, since: bool = True) -> Iterator[tuple[str, str]]:
    """What is said of a function: headings and phrases; names of parameters stand in double backquotes."""
    threads = _READING_BEFORE if one.threads == "reading" and one.needs_init == "no" else _THREADS[one.threads]
    yield "Threads", threads + _ENVIRONMENT * (one.environment == "yes")
    yield "Signal handlers", _SIGNALS[one.signals]
    yield "Memory", "; ".join(_memory(one)) or "nothing to free"
    if since:
        first = "in no version of the original" if one.since == "never" else one.since
        yield "Since", f"{first} ({one.evidence})"


def _memory(one: Facts) -> Iterator[str]:
    always = [_place(name) for name in one.frees.split() if not name.endswith("?")]
    sometimes = [_place(name[:-1]) for name in one.frees.split() if name.endswith("?")]
    if always:
        also = f", and in {_listed(sometimes)} if that was NULL," if sometimes else ""
        yield f"the caller frees what it receives in {_listed(always)}{also} with free()"
    if one.stays:
        names = one.stays.split()
        what = "what is returned" if names == ["return"] else _listed(map(_place, names))
        yield f"{what} {'is' if len(names) == 1 else 'are'} the library's, {_LASTS[one.lasts]}"


def _place(name: str) -> str:
    """A parameter, or a member of the structure that one points to."""
    return f"``{name.replace('.', '->')}``"


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def grouped(library: str, column: str, value: str) -> list[str]:
    """Functions with a value in a column; ``pfm_ita2_*`` where all of that prefix have it, and they are many."""
    rows = facts(library)
    wanted = {name for name, row in rows.items() if _has(row, column, value)}
    prefixes = {match[0] for name in rows if (match := re.match(r"[a-z]+_[a-z0-9]+_", name))}
    whole = {prefix for prefix in prefixes
             if len(own := {name for name in rows if name.startswith(prefix)}) > 8 and own <= wanted}
    return list(dict.fromkeys(next((f"{p}*" for p in whole if name.startswith(p)), name)
                              for name in rows if name in wanted))


def _has(row: Facts, column: str, value: str) -> bool:
    found: str = getattr(row, column)
    return bool(found) if value == "*" else found == value


class FunctionsRole(SphinxRole):
    """``:functions:`LIBRARY COLUMN=VALUE```; the value ``*`` stands for any that is not empty."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        library, condition = self.text.split()
        column, _, value = condition.partition("=")
        names = grouped(library, column, value) if column in {f.name for f in fields(Facts)} else []
        if not names:
            message = self.inliner.reporter.error(f"no function: {self.text}", line=self.lineno)
            return [], [message]
        found: list[nodes.Node] = []
        for i, name in enumerate(names):
            found += [nodes.Text(", ")] * bool(i) + self._link(library, name)
        return found, []

    def _link(self, library: str, name: str) -> list[nodes.Node]:
        if name.endswith("*"):
            return [nodes.literal("", name)]
        link = self.env.domains["c"].role("func")
        assert link
        return list(link("c:func", f":c:func:`{name}`", f"~{library}.{name}", self.lineno, self.inliner)[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("functions", FunctionsRole())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
