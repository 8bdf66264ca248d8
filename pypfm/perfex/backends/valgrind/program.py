"""Programs that valgrind runs, and what it says of those that it cannot."""

from __future__ import annotations

import re
import shutil
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.errors import printable, shown
from pypfm.perfex.backends.simulation.command import check_executable, check_rights
from pypfm.perfex.model import PerfexError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["REFUSALS", "Refusal", "check_command", "refusals", "width"]

# Words in what valgrind says of what it cannot simulate, and how it ends the program; None: it goes on.
REFUSALS = {"unhandled instruction bytes": -signal.SIGILL, "Assertion '": 1, "Max number of threads": 1,
            "the 'impossible' happened": 1, "out of memory": 1, "Can't execute setuid": None,
            "WARNING: unhandled": None}
_X86, _X86_64 = (b"\x01\x01", b"\x03\0"), (b"\x02\x01", b"\x3e\0")  # class and byte order, machine


def check_command(command: Sequence[str]) -> None:
    """Check that valgrind can execute a program.

    :raises PerfexError: says why it cannot
    """
    path = check_executable(command)
    if not _for_this_machine(Path(path)):
        raise PerfexError(f"{shown(command[0])}: not a program for this machine")
    check_rights(path, command[0], "valgrind")


def _for_this_machine(path: Path) -> bool:
    """Tell whether a program is for this processor; valgrind would hand another one to a shell.

    x86-64 executes programs of x86, too, and valgrind where it has the tool for them; else it says so.
    """
    head, ours = b"", b""
    # A program may be executable and not readable.
    with suppress(OSError), path.open("rb") as stream, Path("/proc/self/exe").open("rb") as us:
        head, ours = stream.read(64), us.read(64)
    class_, machine = slice(4, 6), slice(18, 20)
    kinds = [(head[class_], head[machine]), (ours[class_], ours[machine])]
    return head[:4] != ours[:4] or kinds[0] == kinds[1] or kinds == [_X86, _X86_64]


def width(command: Sequence[str]) -> int:
    """Return the bits of a word of the program that is executed; for a script, those of this machine's programs."""
    head = b""
    with suppress(OSError), open(shutil.which(command[0]) or command[0], "rb") as stream:
        head = stream.read(20)
    return 32 if head[:4] == b"\x7fELF" and (head[4:6], head[18:20]) == _X86 else 64


@dataclass(frozen=True)
class Refusal:
    """An instruction or a call that valgrind cannot simulate.

    :ivar pid: the process, or 0: not known
    :ivar text: valgrind's own line
    """

    pid: int
    text: str

    def ends(self, code: int) -> bool:
        """Tell whether it may be why a program ended like that (os.waitstatus_to_exitcode())."""
        return code in {REFUSALS[word] for word in REFUSALS if word in self.text}


def refusals(lines: Iterable[str]) -> list[Refusal]:
    """Find in valgrind's messages what it cannot simulate, each once."""
    found = [re.fullmatch(r"(?:(==|--|\*\*)(\d+)\1 )?(.*)", line) for line in lines if any(r in line for r in REFUSALS)]
    return list(dict.fromkeys(Refusal(int(m[2] or 0), printable(m[3].strip())) for m in found if m))
