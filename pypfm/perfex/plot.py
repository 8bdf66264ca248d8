"""A bar chart of the estimated time by event (perfex --plot)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from pypfm.perfex.model import PerfexError, PerfexValueError

if TYPE_CHECKING:
    from pathlib import Path

    from pypfm.perfex.report import Report

__all__ = ["check", "draw"]

_SUFFIXES = (".svg", ".png")


def check(path: Path) -> None:
    """Check, before the command is started, whether the chart can be drawn.

    :raises PerfexValueError: another format than SVG or PNG
    :raises PerfexError: no matplotlib, or no such directory
    """
    if path.suffix not in _SUFFIXES:
        raise PerfexValueError(f"--plot {path}: the name has to end in {' or '.join(_SUFFIXES)}")
    if find_spec("matplotlib") is None:
        raise PerfexError("--plot needs matplotlib: pip install 'pypfm[plot]'")
    if not path.parent.is_dir():
        raise PerfexError(f"--plot {path}: {path.parent} is not a directory")


def draw(report: Report, path: Path) -> None:
    """Draw the typical times, with lines from the minimum to the maximum.

    :raises OSError: the file cannot be written
    """
    from matplotlib.figure import Figure  # without pyplot: no display is needed, no global state

    rows = [(m, times) for m in report.ordered() if (times := report.times(m)) and any(times)]
    figure = Figure(figsize=(10, 1.5 + 0.3 * len(rows)), layout="constrained")
    axes = figure.subplots()
    typical = [t for _, (t, _, _) in rows]
    spread = [[t - least for _, (t, least, _) in rows], [most - t for _, (t, _, most) in rows]]
    names = [f"{m.event.index} {m.event.name}{' (estimated)' * report.is_estimated(m)}" for m, _ in rows]
    axes.barh(range(len(rows)), typical, xerr=spread, color="#4477aa", ecolor="#555555", capsize=2)
    axes.set_yticks(range(len(rows)), names)
    axes.invert_yaxis()
    axes.set_xlabel("seconds: typical; line: minimum to maximum")
    axes.set_title(f"{report.outcome.backend}, {report.request.cpu}, {report.outcome.clock:g} MHz")
    figure.savefig(path)
