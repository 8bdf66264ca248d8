"""Where the counts come from: --annotate and --annotate-to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.cli.perfex.options import UsageError
from pypfm.cli.perfex.printer import launch_rank

if TYPE_CHECKING:
    import argparse

    from pypfm.perfex.annotate import Annotation
    from pypfm.perfex.model import Request
    from pypfm.perfex.output import Output
    from pypfm.perfex.report import Report

__all__ = ["Places", "annotated", "begin", "check"]


def check(request: Request) -> None:
    """Check whether functions and lines can be known; no command has been started.

    :raises UsageError: they cannot
    """
    if not request.annotate:
        return
    from pypfm.perfex import annotate
    if reason := annotate.excluded(request):
        raise UsageError(f"{reason} (see perfex --help)")


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
        if made.annotation is not None:
            self._file.write(self._text(made, made.annotation))
            self._file.close()

    def _text(self, made: Report, annotation: Annotation) -> str:
        if self._suffix == ".html":
            from pypfm.perfex import annotate_html
            return annotate_html.page(made)
        if self._suffix == ".folded":
            from pypfm.perfex import flame
            return flame.folded(annotation)
        from pypfm.perfex import callgrind
        assert made.outcome.profile is not None
        return callgrind.text(made.request.command, made.outcome.profile)


def begin(args: argparse.Namespace) -> Places | None:
    """Return the file of --annotate-to, if there is to be one; of each rank its own.

    :raises PerfexError: it cannot be written
    """
    if args.annotate_to is None:
        return None
    path, rank = args.annotate_to, launch_rank()
    return Places(path if rank is None else path.with_name(f"{path.stem}.{rank}{path.suffix}"))


def annotated(made: Report) -> Report:
    """Return the report, with functions and lines if these were counted."""
    if made.outcome.profile is None:
        return made
    from pypfm.perfex import annotate
    return replace(made, annotation=annotate.annotation(made.request, made.outcome))
