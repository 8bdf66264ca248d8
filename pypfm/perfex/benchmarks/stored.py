"""Counts in a file: --perfex-json, --perfex-save, --perfex-compare (schema: pypfm/schemas/perfex_benchmarks.json)."""

from __future__ import annotations

import json
import platform
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pypfm
from pypfm.errors import printable, shown
from pypfm.perfex import reading, report
from pypfm.perfex.backends.valgrind import installed
from pypfm.perfex.benchmarks.names import PYTHON
from pypfm.perfex.c_call import read_limited
from pypfm.perfex.model import PerfexError
from pypfm.perfex.output import save

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pypfm.perfex.backends.simulation.machine import Machine
    from pypfm.perfex.benchmarks.plan import Plan
    from pypfm.perfex.benchmarks.results import Benchmark

__all__ = ["Stored", "expect_baseline", "expect_room", "expect_same", "json_text", "keep", "place", "read",
           "surroundings"]

_FORMAT = "perfex benchmarks 1"
_LARGEST = 256 << 20  # bytes
_DIRECTORY = ".perfex"
# Features of processors for which libraries have code of their own, and which valgrind has, too.
_FEATURES = ("aes", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "popcnt", "rdrand", "rdseed", "sse4_2",
             "asimd", "sve")
_ANEW = "make the baseline anew with --perfex-save, on the commit to compare with"


@dataclass(frozen=True)
class Stored:
    """A benchmark of a file.

    :ivar functions, lines: instructions by function, those of Python with what they call, and by line of source
    """

    report: reading.StoredReport
    functions: Mapping[tuple[str, str], int]
    lines: Mapping[tuple[str, int], int]


def surroundings(plan: Plan, machine: Machine) -> dict[str, str]:
    """Return all that counts depend on besides the program: what is another here makes another count."""
    found = " ".join(sorted({*_flags()} & {*_FEATURES}))
    return {"pypfm": pypfm.__version__, "Python": " ".join(sys.version.split()),
            "C library": " ".join(platform.libc_ver()), "valgrind": installed.version(),
            "processor": f"{platform.machine()} {found}".strip(), "caches": str(machine), "warm-up": str(plan.warmup),
            "functions of Python": "named" if plan.functions else "not named"}


def _flags() -> list[str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    match = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    return match[1].split() if match else []


def json_text(made: Sequence[Benchmark], around: Mapping[str, str]) -> str:
    """Return all benchmarks, each with its report as perfex --json writes it."""
    rows = [{"name": one.name, "group": one.group or None, "warm": one.warm,
             "report": json.loads(report.json_text(one.report))} for one in made]
    return json.dumps({"format": _FORMAT, "counted_with": around, "benchmarks": rows}) + "\n"


def place(name: str, root: Path) -> Path:
    """Return the file that a name means.

    :param root: of the tests
    :raises PerfexError: it is none
    """
    if not name.strip("./") or "\0" in name:
        raise PerfexError(f"{shown(name)} is not a name of a baseline, such as main, or of a file, such as ./main.json")
    return Path(name) if "/" in name else root / _DIRECTORY / f"{name}.json"


def expect_baseline(path: Path) -> None:
    """Check that there is a baseline.

    :raises PerfexError: there is none; says which there are
    """
    if not path.exists():
        others = sorted(other.stem for other in path.parent.glob("*.json"))
        there = f"; there are {', '.join(map(printable, others))}" if others else ""
        raise PerfexError(f"{path}: no such baseline: --perfex-save {printable(path.stem)} makes it{there}")


def expect_room(path: Path) -> None:
    """Check that a baseline can be written, before all is counted for it.

    :raises PerfexError: it cannot
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise PerfexError(f"{path}: {error.strerror}") from None
    if path.is_dir():
        raise PerfexError(f"{path}: is a directory")


def keep(path: Path, text: str) -> None:
    """Write a file.

    :raises PerfexError: it cannot be written
    """
    try:
        save(path, text)
    except OSError as error:
        raise PerfexError(f"{path}: {error.strerror}") from None


# ---- reading -----------------------------------------------------------------------------

def read(path: Path) -> tuple[dict[str, str], dict[str, Stored]]:
    """Read what the counts depend on, and the benchmarks by name.

    :raises PerfexError: it is no such file
    """
    content = read_limited(path, _LARGEST)
    try:
        data = json.loads(content)
        if data["format"] != _FORMAT:
            raise ValueError(f"its format is {shown(str(data['format']))}, and not {_FORMAT}")
        if not isinstance(data["benchmarks"], list):
            raise ValueError("its benchmarks are no list")
        around = {str(name): printable(str(value)) for name, value in data["counted_with"].items()}
        return around, {str(row["name"]): _stored(row, path.name) for row in data["benchmarks"]}
    except PerfexError as error:  # of a report in it
        raise PerfexError(f"{path}: {error}") from None
    except ValueError as error:
        raise PerfexError(f"{path}: not a file of --perfex-save: {shown(str(error))}") from None
    except (LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        raise PerfexError(f"{path}: not a file of --perfex-save, or damaged: {_ANEW}") from None


def _stored(row: Any, name: str) -> Stored:
    made = row["report"]
    found = reading.parsed(json.dumps(made), name)
    if made["annotation"] is None:
        return Stored(found, {}, {})
    functions, lines = dict[tuple[str, str], int](), dict[tuple[str, int], int]()
    for one in made["annotation"]["functions"]:
        key = base(str(one["file"] or one["object"] or "")), printable(str(one["name"]))
        part = "inclusive" if one["object"] == PYTHON else "self"
        functions[key] = functions.get(key, 0) + int(one[part]["counts"][0])
    for one in made["annotation"]["lines"]:
        at = base(str(one["file"])), int(one["line"])
        lines[at] = lines.get(at, 0) + int(one["self"]["counts"][0])
    return Stored(found, functions, lines)


def base(name: str) -> str:
    """Return a file without its directory, which need not be the same in both; printable."""
    return printable(name.rpartition("/")[2])


def expect_same(name: str, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Refuse a baseline whose counts differ from those of here without a change of the program.

    :param name: of the baseline
    :raises PerfexError: says what is another, and what to do
    """
    for what, value in now.items():
        known = before.get(what, "unknown")
        if known == value:
            continue
        do = {"caches": "give the same --perfex-cache", "warm-up": "give the same --perfex-warmup",
              "functions of Python": "give --perfex-functions to both or to none"}.get(what, _ANEW)
        raise PerfexError(f"{name}: its {what}: {known}; here: {value}; counts of the two do not compare: {do}")
