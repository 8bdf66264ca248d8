"""Measure how long the C libraries take, next to others and to floors.

    >>> for measure in bench(against="/usr/lib/x86_64-linux-gnu/libpfm.so.4").measures:
    ...     print(measure.name, measure.library_over_other)

All that is compared takes turns in one process, in rounds, so that what else the machine does
hits all alike.  Times are nanoseconds of one call; the shortest of the rounds counts, and of
machines that differ, ratios do.  ``pypfm bench`` prints what is here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from pypfm.common.arguments import expect_file, expect_int
from pypfm.common.frozen import FrozenMap
from pypfm.common.value import Value, in_json, said
from pypfm.config import LIBRARIES, built
from pypfm.errors import InvalidValueError, LibraryError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["APIS", "MOST_ROUNDS", "PFMTIME", "ROUNDS", "Compared", "Measure", "Report", "Time", "bench"]

#: How often everything in C is timed, if nothing else is said.
ROUNDS = 500
#: The largest number of rounds.
MOST_ROUNDS = 100_000
#: The libraries that have an API of their own.
APIS = ("pfm3", "pfm3-manual", "pfm4")
#: The program that times libraries.
PFMTIME = built("libexec/pfmtime")
_LOADING = 10.0  # seconds that loading a library may take
_PATIENCE = 120  # and all measures, with a second more for each round

Progress: TypeAlias = "Callable[[str], object]"


class Time(Value):
    """How long one call took, in nanoseconds.

    :ivar min_ns: in the shortest of the rounds
    :ivar median_ns: in the middle one
    """

    min_ns: float
    median_ns: float


class Measure(Value):
    """One thing that was timed.

    :ivar group: pfm3, pfm3-manual or pfm4: the C library
    :ivar name: find_event, dispatch ...
    :ivar pmu: the PMU in use, or None
    :ivar calls: calls in one run of it, of whose times this is the average
    :ivar library, other: the two libraries; None: there is none, or `missing` says why
    :ivar floors: what the least that has to be done takes, by name
    :ivar missing: why something was not timed, by "library", "other" or name of the floor
    """

    group: str = field(metadata=said(enum=APIS))
    name: str
    pmu: str | None
    calls: int
    library: Time | None
    other: Time | None = None
    floors: Mapping[str, Time] = FrozenMap({})
    missing: Mapping[str, str] = FrozenMap({})

    @property
    @in_json()
    def library_over_other(self) -> float | None:
        """The library's time divided by the other's; below 1 the library is faster."""
        return None if self.library is None or self.other is None else self.library.min_ns / self.other.min_ns

    @property
    @in_json()
    def library_over_floor(self) -> Mapping[str, float]:
        """The library's time divided by that of each floor."""
        return {} if self.library is None else {
            name: self.library.min_ns / floor.min_ns for name, floor in self.floors.items()}

    @property
    def noise(self) -> float:
        """By how much of itself the median of the library lies above the shortest time."""
        return 0.0 if self.library is None else self.library.median_ns / self.library.min_ns - 1

    @classmethod
    def from_json(cls, group: str, data: dict[str, Any]) -> Measure:
        """Read a measure from what pfmtime prints of it."""
        times, missing = {}, {}
        for name, subject in data["subjects"].items():
            if "missing" in subject:
                missing[name] = str(subject["missing"])
            else:
                times[name] = Time(float(subject["min_ns"]), float(subject["median_ns"]))
        library, other = times.pop("library", None), times.pop("other", None)
        return cls(group, data["name"], data["pmu"], data["calls"], library, other, times, missing)


class Compared(Value):
    """A C library that was measured, and the one beside it.

    :ivar api: pfm3, pfm3-manual or pfm4
    :ivar library, other: the files that were loaded
    """

    api: str = field(metadata=said(enum=APIS))
    library: str
    other: str | None = None


class Report(Value):
    """The result of a run.

    :ivar rounds: how often everything was timed
    """

    rounds: int = field(metadata=said(minimum=1))
    libraries: tuple[Compared, ...] = field(metadata=said(minItems=1))
    measures: tuple[Measure, ...]


def bench(library: str | os.PathLike[str] | None = None, *, against: str | os.PathLike[str] | None = None,
          rounds: int = ROUNDS, progress: Progress | None = None) -> Report:
    """Measure a library, or libpfm 3 and 4 of this installation.

    :param library: a libpfm 3 or 4; a name without a slash is looked up as the loader does.  None:
        the one of this installation with the API of ``against``; without that, libpfm 3 and 4 of
        this installation
    :param against: another library of the same API, timed in the same rounds
    :param rounds: how often everything is timed, 1 to 100000
    :param progress: called with what comes next, a few times
    :raises LibraryError: a library crashes, or the two have different APIs
    :raises ConformError: a library cannot be loaded, or is no libpfm
    """
    if not 1 <= expect_int(rounds, "rounds") <= MOST_ROUNDS:
        raise InvalidValueError(f"rounds={shown(rounds)}: expected 1 to {MOST_ROUNDS}")
    say: Progress = progress or (lambda _: None)
    libraries = tuple(_libraries(None if library is None else expect_file(library, "library"),
                                 None if against is None else expect_file(against, "against")))
    measures: list[Measure] = []
    for compared in libraries:
        say(f"lib{compared.api} in C")
        measures += _of_c(compared, rounds)
    return Report(rounds, libraries, tuple(measures))


def _libraries(library: str | None, against: str | None) -> Iterator[Compared]:
    """Yield the libraries to compare."""
    if library is None and against is None:
        yield from (Compared(api, str(LIBRARIES[api].path)) for api in ("pfm3", "pfm4"))
        return
    given = None if library is None else _opened(library)
    other = None if against is None else _opened(against)
    if given is None:
        assert other is not None
        given = Compared(other.api, str(LIBRARIES[other.api].path))
    if other is not None and other.api != given.api:
        raise LibraryError(
            f"{shown(given.library)} is a library of {given.api}, {shown(other.library)} one of {other.api}")
    yield Compared(given.api, given.library, None if other is None else other.library)


def _opened(path: str) -> Compared:
    """Return the API and the file of a library, which is loaded once in a process of its own."""
    from pypfm.conform.runner import opened

    report = opened(path, None, _LOADING)
    if report.findings:
        why = "; ".join(d.got for d in report.findings[0].differences)
        raise LibraryError(f"{shown(path)} does not survive being loaded: {why}")
    return Compared(report.api, report.library.loaded)


def _of_c(compared: Compared, rounds: int) -> list[Measure]:
    """Return the measures of pfmtime."""
    paths = [compared.library] if compared.other is None else [compared.library, compared.other]
    text = _output([str(PFMTIME), str(rounds), compared.api, *paths], rounds, " and ".join(map(shown, paths)))
    return [Measure.from_json(compared.api, data) for data in json.loads(text)["measures"]]


def _output(command: Sequence[str], rounds: int, what: str) -> str:
    """Run a measuring program and return its output."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LIBPFM_")}
    limit = _PATIENCE + rounds  # of a hang there is no other sign
    try:
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        raise LibraryError(f"measuring {what} did not end within {limit} seconds") from None
    except OSError as error:
        raise LibraryError(f"{command[0]} cannot be run: {error.strerror}") from None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        how = (f"{signal.Signals(-done.returncode).name}" if done.returncode < 0 else f"status {done.returncode}")
        raise LibraryError(": ".join([f"measuring {what} ended with {how}", *last]))
    return done.stdout
