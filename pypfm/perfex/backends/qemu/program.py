"""MIPS programs: which qemu runs a file, and where their libraries are."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.errors import shown
from pypfm.perfex.model import PerfexError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PACKAGES", "Abi", "abi", "find", "version"]

#: What is installed to run and to build MIPS programs.
PACKAGES = "Debian, Ubuntu: apt-get install gcc qemu-user"
_HEAD = 0x34  # bytes of a file until its flags have been read, in each class
_MIPS = 8  # e_machine
_N32 = 0x20  # EF_MIPS_ABI2


@dataclass(frozen=True)
class Abi:
    """A kind of MIPS programs.

    :ivar qemu: the program that runs them
    :ivar sysroots: directories in which a cross compiler's libraries may be
    """

    qemu: str
    sysroots: tuple[str, ...]

    @property
    def sysroot(self) -> str:
        """The directory of the libraries for dynamically linked programs; "": qemu's own."""
        if os.environ.get("QEMU_LD_PREFIX"):
            return ""
        return next((path for path in self.sysroots if os.path.isdir(path)), "")


def abi(command: Sequence[str]) -> Abi | None:
    """The kind of MIPS program that a command executes; None: it is none, or not a program at all."""
    head = b""
    with suppress(OSError, ValueError), open(shutil.which(command[0]) or command[0], "rb") as stream:
        head = stream.read(_HEAD)
    if len(head) < _HEAD or head[:4] != b"\x7fELF" or head[4] not in (1, 2) or head[5] not in (1, 2):
        return None
    order, wide = "<" if head[5] == 1 else ">", head[4] == 2
    machine, = struct.unpack_from(order + "H", head, 18)
    flags, = struct.unpack_from(order + "I", head, 48 if wide else 36)
    if machine != _MIPS:
        return None
    end = "el" if order == "<" else ""
    if wide:
        return Abi(f"qemu-mips64{end}", (f"/usr/mips64{end}-linux-gnuabi64",))
    if flags & _N32:
        return Abi(f"qemu-mipsn32{end}", (f"/usr/mips64{end}-linux-gnuabin32",))
    return Abi(f"qemu-mips{end}", (f"/usr/mips{end}-linux-gnu",))


def find(name: str) -> str:
    """The path of a qemu.

    :raises PerfexError: not installed, names the package
    """
    path = shutil.which(name)
    if path is None:
        raise PerfexError(f"a MIPS program, for which {name} is not installed: {PACKAGES}")
    return path


@cache
def version(path: str) -> str:
    """The version of a qemu, such as 7.2.22.

    :raises PerfexError: it does not run
    """
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", check=False,
                                timeout=60, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        raise PerfexError(f"{Path(path).name} does not run: {error}") from None
    match = re.search(r"version (\d+\.\d+\S*)", answer.stdout)
    if not match:
        raise PerfexError(f"{Path(path).name} does not run: {shown((answer.stderr or answer.stdout).strip())}")
    return match[1]
