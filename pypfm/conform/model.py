"""The data of a conformance run: vectors, findings, the report.

A vector is one call with the answer that a conforming library gives, as JSON data.
Its ``kind`` says which call:

* ``dispatch``: pfm_dispatch_events() of libpfm 3: ``pmu``, ``dfl_plm``, ``events``, ``model_in`` ...;
* ``call``: another function of libpfm 3: ``pmu`` (null: before pfm_initialize()), ``call``, ``args``;
* ``query``: every query about one libpfm 3 event: ``pmu``, ``index``;
* ``encode``: pfm_get_os_event_encoding() of libpfm 4: ``env``, ``os``, ``dfl_plm``, ``event`` ...;
* ``start``: a call that brings a library into the state of others: ``call``, ``args``, ``env``; the run makes these;
* ``sequence``: ``steps`` in a process of their own, calls and frees; ``step``: one of them, as the run makes them;
* ``probe``: a look at the places of a structure's members: ``name``, one of `pypfm.conform.checks.structures`' own;
* ``info``: what libpfm 4 says about a ``pmu``, or about an ``event`` (index) and its attributes for an ``os``.

``expect`` is the answer: the return code ``ret`` and, where the call succeeded, what it wrote.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pypfm.common.in_notebooks import Tabled
from pypfm.common.pmu_names import PMUS as HOMES
from pypfm.config import LIBRARIES

__all__ = ["APIS", "MARKS", "OPTIONAL", "PMUS", "STATUS_ERROR", "STATUS_LAYOUT", "STATUS_USAGE", "STATUS_VALUES",
           "Difference", "Finding", "FindingKind", "Json", "LibraryFile", "Report", "Tally", "Tried", "Vector", "base"]

#: What JSON can say.
Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
#: A call and its answer, as in ``pypfm/schemas/vector.json``.
Vector: TypeAlias = "dict[str, Json]"
#: What a finding is about.
FindingKind = Literal["value", "crash", "hang", "symbol", "layout"]

#: A function that tells libpfm 3 and 4 apart.
MARKS = {"pfm3": "pfm_dispatch_events", "pfm4": "pfm_get_os_event_encoding"}
#: The PMUs, and the libraries that each is one of; perf_raw is one of the C interface only.
PMUS = {name: (home.library,) for name, home in HOMES.items()} | {
    "gen_ia64": ("pfm3", "pfm4"), "perf_raw": ("pfm4",)}
#: Those that not every library of its API has (no libpfm 4 but pypfm's).
OPTIONAL = {"pfm4": ("gen_ia64", "ita", "ita2", "mont")}


def base(api: str) -> str:
    """Return the API that a form such as pfm3-manual belongs to."""
    return LIBRARIES[api].form_of or api


#: The interfaces that can be checked.
APIS = tuple(name for name in LIBRARIES if base(name) in MARKS)

# The exit status is a set of these bits, as abidiff's is.
#: Bit of the exit status for an error.
STATUS_ERROR = 1
#: Bit of the exit status for wrong usage.
STATUS_USAGE = 2
#: Bit of the exit status for other values than the recorded ones.
STATUS_VALUES = 4
#: Bit of the exit status for other symbols or structures.
STATUS_LAYOUT = 8


@dataclass(frozen=True)
class Difference:
    """One place where an answer is not the expected one.

    :ivar field: where in the answer: ``ret``, ``pmcs[0].value`` ...; a member's path for a layout
    :ivar expected, got: the two values as text
    """

    field: str
    expected: str
    got: str


@dataclass(frozen=True)
class Finding:
    """A call, a type or a symbol that is not as it should be.

    :ivar kind: what is wrong: a value, a crash, a hang, an exported symbol, a layout
    :ivar function: the C function, the type, or the symbol
    :ivar call: the call as text, in one line
    :ivar differences: where the answer differs; of a crash or a hang, one that says how it ended
    :ivar vector: the call as data, to be replayed; None for symbols and layouts
    :ivar suppressed: the reason of the suppression that accepts it, or ""
    """

    kind: FindingKind
    function: str
    call: str
    differences: tuple[Difference, ...]
    vector: Vector | None = None
    suppressed: str = ""

    @property
    def status(self) -> int:
        """Return its bit of the exit status; 0 if it is suppressed."""
        if self.suppressed:
            return 0
        return STATUS_LAYOUT if self.kind in ("symbol", "layout") else STATUS_VALUES


@dataclass(frozen=True)
class LibraryFile:
    """The library under test, as the process that loaded it saw it.

    :ivar asked: the path or name given
    :ivar loaded: the file that was mapped
    :ivar soname: its DT_SONAME, or ""
    :ivar build_id: hexadecimal, or ""
    :ivar sha256: of the file's bytes, hexadecimal
    """

    asked: str
    loaded: str
    soname: str
    build_id: str
    sha256: str


@dataclass
class Tally:
    """How many checks of one function there were.

    :ivar run: checks made
    :ivar differ: checks with a finding that is not suppressed
    :ivar suppressed: checks with a suppressed one
    :ivar not_run: checks given up after repeated crashes or hangs, or of functions and PMUs that the library lacks
    """

    run: int = 0
    differ: int = 0
    suppressed: int = 0
    not_run: int = 0


@dataclass
class Tried:
    """The calls of one function that were tried.

    :ivar calls: how often it was called
    :ivar valid, null, range, small: of these, with arguments that are right, a NULL among them, out of range, of too
        small a size
    :ivar before, after: of these, before pfm_initialize(), after pfm_terminate()
    :ivar only: why it is only looked for among the exported symbols; "" if it is called
    """

    calls: int = 0
    valid: int = 0
    null: int = 0
    range: int = 0
    small: int = 0
    before: int = 0
    after: int = 0
    only: str = ""


@dataclass
class Report(Tabled):
    """The outcome of a run.

    :ivar api: pfm3, pfm3-manual or pfm4
    :ivar library: the file under test
    :ivar against: the file that it was compared with, if any
    :ivar tallies: by function (or type)
    :ivar tried: by exported function
    :ivar findings: in the order of the checks
    :ivar notes: what could not be checked, and why
    :ivar seconds: duration
    """

    api: str
    library: LibraryFile
    against: LibraryFile | None = None
    tallies: dict[str, Tally] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    tried: dict[str, Tried] = field(default_factory=dict)

    def tally(self, function: str) -> Tally:
        """Return the tally of a function, a new one at first."""
        return self.tallies.setdefault(function, Tally())

    @property
    def status(self) -> int:
        """Return the exit status, made of the bits of all findings that are not suppressed."""
        bits = 0
        for finding in self.findings:
            bits |= finding.status
        return bits
