"""Measured costs of events on this host (perfex --calibrate, --costs host).

libexec/perfex-calibrate measures (csrc/perfex/calibrate); costs are made of its numbers here.  Every number is
processor time, and the minimum over some rounds: whatever disturbs a round makes it longer.

* The clock: additions that wait for one another take a cycle each.
* Misses of the first cache (25): memory of half the size of the second cache against that of the first.  Maximum: one
  load after the other, in random order.  The two others: eight such sequences at the same time, and lines in ascending
  order; the shorter time is the minimum.
* Misses of the last cache (26): the same in memory of several times its size, against that of the second cache, so
  that the costs of 25 and 26 add up to the way to memory.
* TLB misses (23): a line in each of 16384 pages against as many lines side by side in huge pages, in random order.
  Maximum: one after the other; minimum: eight at a time; typical: midway.
* Mispredicted branches (24): by chance taken or not, one of two is mispredicted; against the same instructions with a
  branch that is taken every second time.  Maximum: its operand comes from the second cache.
* Loads and stores (18, 19): as many as possible in the first cache; maximum of a load: the next one waits for it.
* Floating point (21): additions, as many as possible; typical: additions that wait for one another; maximum: a
  reciprocal square root, as perfex(1) has it.
* Quadwords written back (22, 7): a store for each line against a load for each line.
* Cycles cost one, and events that sum up others have the costs that perfex(1) gives them.

What the caches' sizes are is the kernel's word; of other events no cost is known.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from pypfm.common.frozen import FrozenMap
from pypfm.config import built
from pypfm.errors import shown
from pypfm.perfex import events, host
from pypfm.perfex.costs import Cost
from pypfm.perfex.model import PerfexError
from pypfm.perfex.opening import read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pypfm.perfex.costs import CostTable
    from pypfm.perfex.model import Cpu

__all__ = ["PROGRAM", "Calibration", "HostCost", "calibrate", "head", "json_text", "load", "parse", "place", "remarks",
           "save"]

#: The program that measures.
PROGRAM = built("libexec/perfex-calibrate")
_VERSION = 1
_ROUNDS = 15
_TIMEOUT = 120.0
_MEMORY = 4 << 30  # bytes, at most
_LARGEST = 1 << 20  # bytes of the file
_QUADWORD = 16
_NOISY = 1.5  # median by minimum
_HUGE = 0.9  # of the memory
_SUMMARY = ("issued-instructions", "decoded-instructions", "graduated-instructions", "graduated-instructions-1",
            "issued-loads", "issued-stores", "decoded-loads", "decoded-stores")


@dataclass(frozen=True)
class HostCost:
    """A cost, and how it was measured.

    :ivar measures: of which it was made
    :ivar noisy: one of them differed much from round to round
    """

    cost: Cost
    measures: tuple[str, ...] = ()
    noisy: bool = False


@dataclass(frozen=True)
class Calibration:
    """The measurements.

    :ivar model: of the processor
    :ivar made: when, UTC
    :ivar line: bytes
    :ivar page: bytes of a small page
    :ivar huge: the part of the memory that was in huge pages; below 0: not known
    :ivar bytes: memory used for each level; 0: not measured
    :ivar measures: by name, nanoseconds of a step in each round
    """

    model: str
    made: str
    line: int
    page: int
    huge: float
    bytes: Mapping[str, int]
    measures: Mapping[str, tuple[float, ...]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "bytes", FrozenMap(self.bytes, "level"))
        object.__setattr__(self, "measures", FrozenMap(self.measures, "measure"))

    def ns(self, name: str) -> float:
        """Return the minimum of a measure."""
        return min(self.measures[name])

    def is_noisy(self, name: str) -> bool:
        """Tell whether it differs much from round to round."""
        return median(self.measures[name]) > _NOISY * self.ns(name)

    @property
    def clock(self) -> float:
        """Return the clock in MHz."""
        return 1000 / self.ns("dependent-add")

    def costs(self, cpu: Cpu) -> dict[int, HostCost]:
        """Return the costs of a processor's events on this host; those that were not measured are missing."""
        found = {}
        for event in events.table(cpu):
            made = self._cost(event.short)
            if made is not None:
                found[event.index] = made
        return found

    def table(self, cpu: Cpu) -> CostTable:
        """Return the costs alone, without how they were measured."""
        return {event: made.cost for event, made in self.costs(cpu).items()}

    def stalls(self, cpu: Cpu) -> Mapping[int, float]:
        """Return the typical nanoseconds of each event that has a time of its own."""
        table = self.table(cpu)
        return FrozenMap({event: cost.typical for event, cost in table.items() if cost.unit == "nsec"}, "event")

    def _cost(self, short: str) -> HostCost | None:
        if short in ("cycles", "cycles-1"):
            return HostCost(Cost("clks", 1, 1, 1))
        if short in _SUMMARY:
            return HostCost(Cost("clks", 0, 0, 1))
        if short not in _MADE:
            return None
        names, make = _MADE[short]
        if not self.measures.keys() >= {*names}:
            return None
        minimum, typical, maximum = (max(ns, 0.0) for ns in make({name: self.ns(name) for name in names}, self.line))
        typical, minimum = min(typical, maximum), min(minimum, typical, maximum)
        return HostCost(Cost("nsec", *(round(ns, 4) for ns in (typical, minimum, maximum))), names,
                        any(map(self.is_noisy, names)))

    def check(self) -> None:
        """Check that the numbers are plausible.

        :raises PerfexError: the machine was too busy
        """
        noisy = [name for name in self.measures if self.is_noisy(name)]
        if "dependent-add" in noisy or 2 * len(noisy) > len(self.measures):
            raise PerfexError(f"--calibrate: this machine is too busy: {len(noisy)} of {len(self.measures)} measures"
                              " differ by more than half from round to round; try again")


# ---- from measures to costs: minimum, typical, maximum ----------------------------

_Ns = dict[str, float]
_Make = tuple[tuple[str, ...], "Callable[[_Ns, int], tuple[float, float, float]]"]


def _miss(outer: str, inner: str, ns: _Ns, _line: int) -> tuple[float, float, float]:
    """Return the cost of a miss that the outer level serves, over a hit in the inner level."""
    together = ns[f"{outer}-chases"] - ns.get(f"{inner}-chases", ns.get("load", 0.0))
    ascending = ns[f"{outer}-lines"] - ns[f"{inner}-lines"]
    return min(together, ascending), max(together, ascending), ns[f"{outer}-chase"] - ns[f"{inner}-chase"]


def _tlb(ns: _Ns, _line: int) -> tuple[float, float, float]:
    single, together = ns["pages-chase"] - ns["dense-chase"], ns["pages-chases"] - ns["dense-chases"]
    return together, (together + single) / 2, single


def _branch(ns: _Ns, _line: int) -> tuple[float, float, float]:
    cost = 2 * (ns["random-branches"] - ns["branches"])
    return cost, cost, cost + ns["l2-chase"] - ns["l1-chase"]


def _written_back(level: str, ns: _Ns, line: int) -> tuple[float, float, float]:
    cost = (ns[f"{level}-stores"] - ns[f"{level}-lines"]) / (line / _QUADWORD)
    return cost, cost, cost


_L1_MISS: _Make = (("l1-chase", "l2-chase", "load", "l2-chases", "l1-lines", "l2-lines"), partial(_miss, "l2", "l1"))
_MADE: dict[str, _Make] = {
    "graduated-loads": (("load", "l1-chase"), lambda ns, _: (ns["load"], ns["load"], ns["l1-chase"])),
    "graduated-stores": (("store",), lambda ns, _: (ns["store"],) * 3),
    "FP-instructions": (("fp-add", "fp-dependent-add", "fp-reciprocal-root"),
                        lambda ns, _: (ns["fp-add"], ns["fp-dependent-add"], ns["fp-reciprocal-root"])),
    "L1D-misses": _L1_MISS,
    "prefetch-misses": _L1_MISS,
    "L2D-misses": (("l2-chase", "memory-chase", "l2-chases", "memory-chases", "l2-lines", "memory-lines"),
                   partial(_miss, "memory", "l2")),
    "TLB-misses": (("dense-chase", "pages-chase", "dense-chases", "pages-chases"), _tlb),
    "mispredicted-branches": (("branches", "random-branches", "l1-chase", "l2-chase"), _branch),
    "L1D-writebacks": (("l2-lines", "l2-stores"), partial(_written_back, "l2")),
    "L2-writebacks": (("memory-lines", "memory-stores"), partial(_written_back, "memory")),
}


# ---- measuring --------------------------------------------------------------------

def calibrate(progress: Callable[[str], None] | None = None, rounds: int = _ROUNDS) -> Calibration:
    """Measure this host; it takes some seconds.

    :param progress: called with a line to show
    :raises PerfexError: the program is missing or fails; the machine is too busy
    """
    known = host.caches()
    memory = min(host.available_memory() // 2 or _MEMORY // 4, _MEMORY)
    words = [str(PROGRAM), *map(str, (known.line or 64, known.l1, known.l2, known.llc, memory, rounds))]
    made = parse(_measured(words, progress), host.model(), known.line or 64,
                 datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M"))
    made.check()
    return made


def _measured(words: list[str], progress: Callable[[str], None] | None) -> str:
    """Return the last line that the program prints."""
    from threading import Timer
    try:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, errors="replace")
    except OSError as error:
        raise PerfexError(f"{words[0]}: {error.strerror}") from None
    last = ""
    with process:
        timer = Timer(_TIMEOUT, process.kill)
        timer.start()
        try:
            assert process.stdout
            for last in process.stdout:
                if progress and last.startswith("."):
                    progress(f"measuring this host: {last[1:].strip()}")
        finally:
            timer.cancel()
            process.kill()
    if not last.startswith("{"):
        raise PerfexError(f"perfex-calibrate has failed (status {process.returncode})")
    return last


def parse(text: str, model: str, line: int, made: str) -> Calibration:
    """Read what the program has printed.

    :param model, line, made: of the calibration
    :raises PerfexError: it is something else
    """
    try:
        data = json.loads(text)
        measures = {str(name): tuple(float(ns) for ns in rounds) for name, rounds in data["measures"].items()}
        used = {str(level): int(size) for level, size in data["bytes"].items()}
        if "dependent-add" not in measures or not all(measures.values()) or not all(
                0 < ns < 1e9 for rounds in measures.values() for ns in rounds):
            raise ValueError("a number is missing or out of range")
        return Calibration(model, made, line, int(data["page"]), float(data["huge"]), used, measures)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise PerfexError(f"not a calibration: {type(error).__name__}: {shown(str(error))}") from None


# ---- keeping ----------------------------------------------------------------------

def place(environ: Mapping[str, str], model: str | None = None) -> Path:
    """Return the file of this host's calibration: its name has the processor's model in it, as hosts may share a home.

    :param environ: XDG_CACHE_HOME, or HOME
    :raises PerfexError: neither is there
    """
    cache, home = environ.get("XDG_CACHE_HOME", ""), environ.get("HOME", "")
    if not cache.startswith("/") and not home:
        raise PerfexError("no place for this host's costs: neither XDG_CACHE_HOME nor HOME is set")
    directory = Path(cache) if cache.startswith("/") else Path(home) / ".cache"
    key = hashlib.sha256((model or host.model()).encode()).hexdigest()[:12]
    return directory / "pypfm" / f"perfex-host-{key}.json"


def save(made: Calibration, environ: Mapping[str, str]) -> Path:
    """Save it for `load`, and return the file.

    :raises OSError: it cannot be written
    :raises PerfexError: nobody knows where to
    """
    from pypfm.perfex.output import save as write
    path = place(environ, made.model)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, json.dumps(_data(made)) + "\n")
    return path


def load(environ: Mapping[str, str]) -> Calibration:
    """Load the calibration of this host.

    :raises PerfexError: there is none, or it is of another processor
    """
    path, model = place(environ), host.model()
    try:
        text = read_regular(path, _LARGEST).decode()
        data = json.loads(text)
        if data["version"] != _VERSION or data["model"] != model:
            raise PerfexError("of another version or another processor")
        if not re.fullmatch(r"[-0-9 :]{16}", str(data["made"])) or data["line"] not in (16, 32, 64, 128, 256, 512):
            raise PerfexError("its date or its line is wrong")
        return parse(text, model, data["line"], str(data["made"]))
    except (FileNotFoundError, NotADirectoryError):
        raise PerfexError("--costs host: this host's costs are not measured;"
                          f" perfex --calibrate does that ({path})") from None
    except OSError as error:
        raise PerfexError(f"{path}: {error.strerror}; perfex --calibrate makes it anew") from None
    except (PerfexError, ValueError, KeyError, TypeError, RecursionError) as error:
        why = error if isinstance(error, PerfexError) else type(error).__name__
        raise PerfexError(f"{path}: {why}; perfex --calibrate makes it anew") from None


def head(made: Calibration) -> str:
    """Return the first lines of a table of these costs, after its title."""
    levels = ("L1", "l1-chase"), ("L2", "l2-chase"), ("last cache", "llc-chase"), ("memory", "memory-chase")
    latencies = [f"{level} {made.ns(name):.1f} ns" for level, name in levels if name in made.measures]
    lines = [f"Measured on this host, {made.made} UTC: {made.model}",
             f"Clock {made.clock:.0f} MHz; latency of {', '.join(latencies) or 'no cache: their sizes are not known'}.",
             "Events without a measured cost have none."]
    if made.huge < _HUGE:
        lines.append("The kernel gave no huge pages: TLB misses are part of the costs of memory.")
    return "\n# ".join(lines)


def remarks(made: Calibration, cpu: Cpu) -> dict[int, str]:
    """Return remarks on some costs, by event."""
    return {event: "noisy" for event, cost in made.costs(cpu).items() if cost.noisy}


def _data(made: Calibration) -> dict[str, Any]:
    return {"version": _VERSION, "model": made.model, "made": made.made, "line": made.line, "page": made.page,
            "huge": made.huge, "bytes": dict(made.bytes), "measures": {n: list(ns) for n, ns in made.measures.items()}}


def json_text(made: Calibration, cpu: Cpu) -> str:
    """Return all measurements, and the costs that they make (schema: pypfm/schemas/perfex_calibrate.json)."""
    known, costs = events.table(cpu), made.costs(cpu)
    rows = []
    for event in known:
        found = costs.get(event.index)
        row: dict[str, object] = {"event": event.index, "name": event.name, "cost": None}
        if found is not None:
            row["cost"] = {**vars(found.cost), "measures": list(found.measures), "noisy": found.noisy}
        rows.append(row)
    summary = {name: {"minimum": made.ns(name), "median": median(made.measures[name]), "noisy": made.is_noisy(name)}
               for name in made.measures}
    data = {**_data(made), "MHz": made.clock, "cpu": cpu, "summary": summary, "costs": rows}
    return json.dumps(data, indent=2) + "\n"
