"""Facts about this host's processor: its model and its caches."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CACHES", "Caches", "Shape", "available_memory", "caches", "model", "shapes", "virtual"]

#: Where the kernel describes the caches of the first processor.
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# Numbers of glibc's sysconf(), which Python does not name: size, ways and size of a line by level and type.
_SYSCONF = {(1, "Instruction"): (185, 186, 187), (1, "Data"): (188, 189, 190), (2, "Unified"): (191, 192, 193),
            (3, "Unified"): (194, 195, 196)}
_VIRTUAL = re.compile("virtual|kvm|qemu|vmware|bochs|compute engine|droplet|xen", re.IGNORECASE)
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
    """Parse a size as sysfs has it, such as 48K."""
    match = re.fullmatch(r"(\d{1,9})([KMG]?)", text)
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]] if match else 0


class Shape(NamedTuple):
    """A cache: bytes, ways, and bytes of a line; 0: not known."""

    size: int
    ways: int
    line: int


def _of_sysfs(directory: Path) -> dict[tuple[int, str], Shape]:
    found = {}
    for path in directory.glob("index*"):
        level = _read(path / "level")
        if level.isdigit():
            found[int(level), _read(path / "type")] = Shape(*(_bytes(_read(path / name)) for name in (
                "size", "ways_of_associativity", "coherency_line_size")))
    return found


def _of_sysconf() -> dict[tuple[int, str], Shape]:
    found = {}
    for key, numbers in _SYSCONF.items() if platform.libc_ver()[0] == "glibc" else ():
        try:
            shape = Shape(*(max(os.sysconf(number), 0) for number in numbers))
        except (OSError, ValueError):
            continue
        if shape.size:
            found[key] = shape
    return found


@cache
def shapes(directory: Path = CACHES) -> Mapping[tuple[int, str], Shape]:
    """Return the caches of the first processor by level and type (Data, Instruction, Unified), as sysfs or else the C
    library says; empty: neither does."""
    return _of_sysfs(directory) or _of_sysconf()


@cache
def caches(directory: Path = CACHES) -> Caches:
    """Return the data caches of the first processor."""
    levels = {level: shape for (level, kind), shape in shapes(directory).items() if kind in ("Data", "Unified")}
    if not levels:
        return Caches()
    last = max(levels)
    sizes = {level: shape.size for level, shape in levels.items()}
    return Caches(sizes.get(1, 0), sizes.get(2, 0), sizes[last] if last > 2 else 0,
                  (levels[1].line if 1 in levels else 0) or levels[last].line, levels[last].line)


def model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor's model, in one line."""
    first = _read(cpuinfo).partition("\n\n")[0]
    known = dict(re.findall(r"^([^\t:]+?)\s*: *(.*\S)\s*$", first, re.MULTILINE))
    words = [known[name] for name in _MODEL if name in known]
    return "".join(c if c.isprintable() else "?" for c in ", ".join([platform.machine(), *words]))


def virtual(cpuinfo: Path = Path("/proc/cpuinfo"), system: Path = Path("/sys")) -> str | None:
    """Detect a virtual machine, and return its kind, such as KVM; "": its kind is not known; None: this is none."""
    product = _read(system / "class/dmi/id/product_name")
    kind = _read(system / "hypervisor/type") or (product if _VIRTUAL.search(product) else "")
    flagged = re.search(r"^flags\s*:.*\bhypervisor\b", _read(cpuinfo), re.MULTILINE)
    # Of AArch64: a devicetree says what QEMU has made.
    made = "dummy-virt" in _read(system / "firmware/devicetree/base/compatible")
    return kind if kind or flagged or made else None


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return the bytes that programs may use without swapping; 0: not known."""
    match = re.search(r"^MemAvailable: *(\d{1,15}) kB$", _read(meminfo), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0
