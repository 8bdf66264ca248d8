"""Programs that qemu-user runs: which qemu is for a file, and where its libraries are."""

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

__all__ = ["PACKAGES", "Abi", "abi", "find", "host", "installed", "version", "words"]

#: What is installed to run programs under qemu, with the plugin.
PACKAGES = "Debian, Ubuntu: apt-get install gcc qemu-user"
_HEAD = 0x34  # bytes of a file until its flags have been read, in each class
_MIPS = 8  # e_machine
_N32 = 0x20  # EF_MIPS_ABI2
_HOSTS = {62: "qemu-x86_64", 183: "qemu-aarch64"}  # by e_machine
_SCRIPT = 256  # bytes of the first line of a script, as far as the kernel reads it


@dataclass(frozen=True)
class Abi:
    """A kind of programs.

    :ivar qemu: the program that runs them
    :ivar sysroots: directories in which a cross compiler's libraries may be
    :ivar mips: they are MIPS code; else that of this host
    """

    qemu: str
    sysroots: tuple[str, ...] = ()
    mips: bool = True

    @property
    def sysroot(self) -> str:
        """Return the directory of the libraries for dynamically linked programs; "": qemu's own."""
        if os.environ.get("QEMU_LD_PREFIX"):
            return ""
        return next((path for path in self.sysroots if os.path.isdir(path)), "")


def words(command: Sequence[str]) -> tuple[str, ...]:
    """Return what the kernel executes: of a script its interpreter with an argument, then the script, and the rest.

    The first word is a path, where there is such a program.
    """
    path = shutil.which(command[0]) or command[0]
    head = _head(path, _SCRIPT)
    line = head[2:].partition(b"\n")[0].strip() if head[:2] == b"#!" else b""
    if not line:
        return path, *command[1:]
    return *(os.fsdecode(word) for word in line.split(None, 1)), path, *command[1:]


def abi(command: Sequence[str]) -> Abi | None:
    """Return the kind of MIPS program that a command executes; None: it is none, or not a program at all."""
    head = _head(words(command)[0], _HEAD) if command else b""
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


def host(command: Sequence[str]) -> Abi | None:
    """Return the kind of program that a command executes, if it is one of this host; None: it is none."""
    head, own = _head(words(command)[0], _HEAD), _head("/proc/self/exe", _HEAD)
    if len(head) < _HEAD or (head[:6], head[18:20]) != (own[:6], own[18:20]):
        return None
    qemu = _HOSTS.get(int.from_bytes(own[18:20], "little"))
    return Abi(qemu, mips=False) if qemu else None


def _head(path: str, size: int) -> bytes:
    """Return the first bytes of a file; none, if it cannot be read."""
    with suppress(OSError, ValueError), open(path, "rb") as stream:
        return stream.read(size)
    return b""


def find(kind: Abi) -> str:
    """Return the path of a qemu.

    :raises PerfexError: not installed, names the package
    """
    try:
        return installed(kind.qemu)
    except PerfexError as error:
        what = "a MIPS program, for which" if kind.mips else "--backend qemu:"
        raise PerfexError(f"{what} {error}") from None


def installed(name: str = "qemu-mips64") -> str:
    """Return the path of a qemu, by its name.

    :raises PerfexError: not installed, names the package
    """
    path = shutil.which(name)
    if path is None:
        raise PerfexError(f"{name} is not installed: {PACKAGES}")
    return path


@cache
def version(path: str) -> str:
    """Return the version of a qemu, such as 7.2.22.

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
