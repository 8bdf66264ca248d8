"""Parsing, printing and exit statuses that the three commands share."""

from __future__ import annotations

import argparse
import errno
import io
import os
import re
import shutil
import sys
import textwrap
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pypfm
from pypfm.errors import PfmError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import IO, Protocol

    class Writable(Protocol):
        """A stream that argparse can print to."""

        def write(self, text: str, /) -> object: ...

    Completer = Callable[[str, argparse.Namespace], Iterable[str]]  # of a word's beginning and what stands before it

__all__ = ["Parser", "complete", "completed", "is_terminal", "say", "status_line", "to_the_end"]

_FAILED = 1
_WIDTH = 80  # of help
# What write(2) says of a file, as against what others say of processes, descriptors and memory.
_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _Help(argparse.HelpFormatter):
    """Lines of 80 columns at most; a paragraph that is moved in is a command, and keeps its lines."""

    def __init__(self, prog: str, columns: int | None) -> None:
        super().__init__(prog, width=min(_WIDTH, columns or shutil.get_terminal_size().columns))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(_block(part, width, indent) for part in re.split(r"\n\n+", text.strip("\n")))


def _block(text: str, width: int, indent: str) -> str:
    if not text.startswith(" "):
        return textwrap.fill(" ".join(text.split()), width, initial_indent=indent, subsequent_indent=indent)
    return "\n".join(" \\\n".join(textwrap.wrap(line, width - 2, subsequent_indent="      ", break_long_words=False,
                                               break_on_hyphens=False)) for line in text.split("\n"))


class Parser(argparse.ArgumentParser):
    """A parser that does not ignore an output that cannot be written.

    For each argument that is added argparse makes a formatter, which prints nothing, and asks how wide the terminal is.
    Here it asks when it prints.
    """

    def __init__(self, **options: Any) -> None:
        self._columns: int | None = _WIDTH
        made: Any = lambda prog: _Help(prog, self._columns)  # noqa: E731 - argparse wants a type
        super().__init__(formatter_class=made, **options)

    def format_help(self) -> str:
        self._columns = None
        return super().format_help()

    def format_usage(self) -> str:
        self._columns = None
        return super().format_usage()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Say which of the choices is near one that there is not."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += nearest(str(value), map(str, action.choices or ()))
            raise

    def add_version(self, group: argparse._ActionsContainer | None = None) -> None:
        (group or self).add_argument("--version", action="version", version=f"{self.prog} {pypfm.__version__}",
                                     help="show the version")

    def _print_message(self, message: str, file: Writable | None = None) -> None:
        if file is sys.stdout and file is not None:
            file.write(message)
        else:
            say(message)


def completed(action: argparse.Action, completer: Completer) -> None:
    """Let a shell complete the value of an option or argument.

    :param completer: returns all values that there are
    """
    def quietly(prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
        try:
            return [value for value in completer(prefix, parsed_args) if value.isprintable()]
        except (OSError, PfmError, AttributeError):  # what stands before the word is wrong, or is not there yet
            return []
    vars(action)["completer"] = quietly  # where argcomplete looks for it


def _begins(value: str, prefix: str) -> bool:
    return value.lower().startswith(prefix.lower())


def complete(parser: argparse.ArgumentParser) -> None:
    """Print what a command line may go on with, and end, if a shell asks for it by argcomplete's variable."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete
        argcomplete.autocomplete(parser, always_complete_options=False, validator=_begins)


def is_terminal(stream: IO[str] | None) -> bool:
    """Tell whether a person reads a standard stream, which is None where its descriptor is closed."""
    return stream is not None and stream.isatty()


def say(text: str) -> None:
    """Write to stderr, if that can be."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError):  # None where it is closed
        _forget(sys.stderr)


@contextmanager
def status_line() -> Iterator[Callable[[str], None] | None]:
    """Show a line on the terminal that says what goes on, until the end; None if standard error is no terminal.

    The cursor is not hidden: signals end a command, or stop it, without a word to Python.
    """
    if not is_terminal(sys.stderr) or os.environ.get("TERM", "dumb") == "dumb":
        yield None
        return
    width = shutil.get_terminal_size().columns - 1  # a longer line would not be replaced as a whole
    try:
        yield lambda text: say(f"\r\x1b[K{text[:width]}")
    finally:
        say("\r\x1b[K")


def to_the_end(prog: str, work: Callable[[], int]) -> int:
    """Do the work of a command, and see that what it prints is written; the exit status.

    A reader that has gone (``| head``) ends it by SIGPIPE, as it ends any filter.

    :param prog: what its messages begin with
    """
    try:
        try:
            _fill_closed()
            _prepare_output()
            return work()
        finally:  # argparse exits
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        import signal  # not for programs that print all

        _forget(sys.stdout)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
        return 128 + signal.SIGPIPE  # it is blocked
    except OSError as error:
        _forget(sys.stdout)
        where = f"{error.filename}: " if error.filename else "standard output: " if error.errno in _OF_WRITING else ""
        closed = error.errno == errno.EBADF and not error.filename
        say(f"{prog}: {'standard output is closed' if closed else where + (error.strerror or str(error))}\n")
        return _FAILED


def _fill_closed() -> None:
    """Put what can be neither read nor written in the place of closed standard streams, for this process alone.

    Else a pipe to a child would get the number 0 or 2, and be taken for that stream.
    """
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if fd else os.O_WRONLY)  # gets the lowest number that is free


def _prepare_output() -> None:
    """Have a closed stdout, for which Python has None, fail when it is written; print all characters."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _forget(stream: IO[str]) -> None:
    """Do not try again, at exit, what could not be written."""
    with suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
