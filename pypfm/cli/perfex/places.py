"""Where the counts come from: --annotate, --annotate-to and --keep."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.cli.perfex.options import UsageError
from pypfm.cli.perfex.printer import launch_rank

if TYPE_CHECKING:
    import argparse

    from pypfm.perfex.model import Request
    from pypfm.perfex.output import Output
    from pypfm.perfex.report import Report

__all__ = ["Places", "annotated", "begin", "check"]


def check(request: Request) -> None:
    """Check whether functions and lines can be known; no command has been started.

    :raises UsageError: they cannot, or --keep names a file
    :raises PerfexError: the directory of --keep cannot be made or written
    """
    if not request.annotate and request.keep is None:
        return
    from pypfm.perfex import annotate
    if reason := annotate.excluded(request):
        raise UsageError(f"{reason} (see perfex --help)")
    if request.keep is not None:
        _check_directory(request.keep)


def _check_directory(path: Path) -> None:
    from pypfm.perfex.model import PerfexError
    try:
        if path.exists() and not path.is_dir():
            raise UsageError(f"--keep {path}: this is a file, and has to be a directory (see perfex --help)")
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise PerfexError(f"--keep {path}: {getattr(error, 'strerror', None) or error}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise PerfexError(f"--keep {path}: Permission denied")


class Places:
    """The file of --annotate-to."""

    def __init__(self, path: Path) -> None:
        from pypfm.perfex.output import Output
        self._suffix = path.suffix
        self._file: Output = Output(path)

    def finish(self, made: Report) -> None:
        """Write it.

        :raises OSError: it cannot be written
        """
        if made.annotation is None:
            return
        if self._suffix == ".html":
            from pypfm.perfex import annotate_html
            self._file.write(annotate_html.page(made))
        else:
            from pypfm.perfex import flame
            self._file.write(flame.folded(made.annotation))
        self._file.close()


def begin(args: argparse.Namespace) -> Places | None:
    """The file of --annotate-to, if there is to be one; of each rank its own.

    :raises PerfexError: it cannot be written
    """
    if args.annotate_to is None:
        return None
    path, rank = args.annotate_to, launch_rank()
    return Places(path if rank is None else path.with_name(f"{path.stem}.{rank}{path.suffix}"))


def annotated(made: Report) -> Report:
    """The report, with functions and lines if these were counted."""
    if made.outcome.profile is None:
        return made
    from pypfm.perfex import annotate
    return replace(made, annotation=annotate.annotation(made.request, made.outcome))
