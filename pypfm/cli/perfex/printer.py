"""Where perfex(1) prints: its report, its samples, and what it says on the way."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.cli._program import is_terminal, say
from pypfm.cli.common import file_errors
from pypfm.perfex.model import PerfexError

if TYPE_CHECKING:
    import argparse

    from pypfm.perfex.model import Sample
    from pypfm.perfex.output import Output
    from pypfm.perfex.report import Format, Report

__all__ = ["Printer", "erase_progress", "launch_rank", "print_now", "print_result", "progress", "result_file"]

# Which rank a process is, under Open MPI, MPICH and Slurm.
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


def print_now(text: str) -> None:
    """Write to stdout, now."""
    sys.stdout.write(text)
    sys.stdout.flush()


def result_file(args: argparse.Namespace) -> Output | None:
    """Return the file of -o; None: stdout.

    :raises PerfexError: it cannot be written
    """
    from pypfm.perfex.output import Output
    return Output(Path(args.out)) if args.out else None


def print_result(args: argparse.Namespace, text: str, out: Output | None = None) -> None:
    """Write what no command is needed for to stdout, or to the file of -o.

    :param out: the file, if it has been opened already
    :raises PerfexError: the file cannot be written
    """
    out = out or result_file(args)
    if out is None:
        print_now(text)
        return
    with file_errors(PerfexError, str(args.out)):
        out.write(text)
        out.close()


_DRAWN: list[bool] = []  # not empty: there is a line of progress


def progress(line: str) -> None:
    """Show a line on the terminal that the next one, or the report, replaces."""
    _DRAWN.append(True)
    say(f"\r\x1b[Kperfex: {line}")


def erase_progress() -> None:
    """Take away the line of progress, if there is one: else what stands there is the command's."""
    if _DRAWN:
        say("\r\x1b[K")
    _DRAWN.clear()


def launch_rank() -> int | None:
    """Which rank of a job this process is."""
    for name in _RANKS:
        value = os.environ.get(name, "")
        if re.fullmatch(r"[0-9]{1,9}", value):
            return int(value)
    return None


class Printer:
    """Writes the report: to stderr or the file of -o."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.format: Format = "json" if args.json else "csv" if args.csv else "text"
        self.rank = launch_rank() if args.out else None
        self._path = None
        if args.out:
            self._path = Path(args.out if self.rank is None else f"{args.out}.{self.rank}")
        self._failure: OSError | None = None
        on_terminal = is_terminal(sys.stderr)
        self._width = os.get_terminal_size(sys.stderr.fileno()).columns or 80 if on_terminal and not args.out else None
        # The terminal is the command's, if it prints there.
        self.shows_progress = on_terminal and (args.progress or not is_terminal(sys.stdout))
        self._file: Output | None = None
        self._annotates = bool(args.annotate)

    def open(self) -> None:
        """Begin the report: all checks are done, and the command is started next.

        :raises PerfexError: the file of -o cannot be written
        """
        if self._path is not None:
            from pypfm.perfex.output import Output
            self._file = Output(self._path)
        if self.format == "csv":
            from pypfm.perfex import report
            self._write(report.csv_head())

    def _write(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text)
            return
        if sys.stderr is not None:  # Python has none where the descriptor is closed
            sys.stderr.write(text)
            sys.stderr.flush()

    def sample(self, sample: Sample) -> None:
        """Print a sample; the command goes on where that fails."""
        from pypfm.perfex import report
        if self.format == "json" or self._failure:
            return
        try:
            self._write(report.csv_sample(sample) if self.format == "csv" else report.sample_line(sample))
        except OSError as error:
            self._failure = error

    def finish(self, made: Report) -> None:
        """Print the report; with -mp and -o, a file for each thread beside it.

        :raises OSError: here, or with a sample
        """
        from pypfm.perfex import report
        if self._failure:
            raise self._failure
        erase_progress()
        apart = self._path is not None and bool(made.outcome.threads)
        if self.format == "json":
            self._write(report.json_text(made))
        elif self.format == "csv":
            self._write(report.csv_text(made))
        else:
            self._write(report.text(made, threads=not apart) + (made.places(self._width) if self._annotates else ""))
        if self._file is not None:
            self._file.close()
        for thread in made.outcome.threads if apart else ():
            from pypfm.perfex.output import save
            save(Path(f"{self._path}.{thread.pid}.{thread.tid}"), {
                "json": lambda t: report.json_text(made, [t]), "text": lambda t: report.thread_text(made, t),
                "csv": lambda t: report.csv_head() + report.csv_text(made, [t])}[self.format](thread))
