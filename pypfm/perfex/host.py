"""What is known of this host's processor: its model and its caches."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["CACHES", "Caches", "available_memory", "caches", "model"]

#: Where the kernel describes the caches of the first processor.
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# Numbers of glibc's sysconf(), which Python does not name: size and size of a line of data caches by level.
_SYSCONF = {1: (188, 190), 2: (191, 193), 3: (194, 196)}
_MODEL = ("model name", "cpu family", "model", "stepping", "cpu", "uarch", "CPU implementer", "CPU variant", "CPU part")


@dataclass(frozen=True)
class Caches:
    """Sizes in bytes; 0: there is none, or it is not known.

    :ivar l1, l2, llc: of the data caches: the first, the second, and the last one if that is a third
    :ivar line: of a line of the first cache
    :ivar last_line: of a line of the last cache
    """

    l1: int = 0
    l2: int = 0
    llc: int = 0
    line: int = 0
    last_line: int = 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _bytes(text: str) -> int:
    """A size as sysfs has it, such as 48K."""
    match = re.fullmatch(r"(\d{1,9})([KMG]?)", text)
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]] if match else 0


def _of_sysfs(directory: Path) -> dict[int, tuple[int, int]]:
    """Size and line of each level."""
    found = {}
    for path in directory.glob("index*"):
        level = _read(path / "level")
        if _read(path / "type") in ("Data", "Unified") and level.isdigit():
            found[int(level)] = _bytes(_read(path / "size")), _bytes(_read(path / "coherency_line_size"))
    return found


def _of_sysconf() -> dict[int, tuple[int, int]]:
    found = {}
    for level, numbers in _SYSCONF.items() if platform.libc_ver()[0] == "glibc" else ():
        try:
            size, line = (max(os.sysconf(number), 0) for number in numbers)
        except (OSError, ValueError):
            continue
        if size:
            found[level] = size, line
    return found


@cache
def caches(directory: Path = CACHES) -> Caches:
    """The caches of the first processor, of sysfs or else of the C library."""
    levels = _of_sysfs(directory) or _of_sysconf()
    if not levels:
        return Caches()
    last = max(levels)
    sizes = {level: size for level, (size, _) in levels.items()}
    return Caches(sizes.get(1, 0), sizes.get(2, 0), sizes[last] if last > 2 else 0,
                  levels.get(1, (0, 0))[1] or levels[last][1], levels[last][1])


def model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model, in one line."""
    first = _read(cpuinfo).partition("\n\n")[0]
    known = dict(re.findall(r"^([^\t:]+?)\s*: *(.*\S)\s*$", first, re.MULTILINE))
    words = [known[name] for name in _MODEL if name in known]
    return "".join(c if c.isprintable() else "?" for c in ", ".join([platform.machine(), *words]))


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Bytes that programs may use without any being swapped out; 0: not known."""
    match = re.search(r"^MemAvailable: *(\d{1,15}) kB$", _read(meminfo), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0
