"""pypfm here: what this machine can count, and how."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.cli.common import SYSTEM, add_json_option, on_terminal, print_json, try_library
from pypfm.common.value import Value
from pypfm.errors import LibraryError, PfmError, printable

if TYPE_CHECKING:
    import argparse

__all__ = ["DESCRIPTION", "HELP", "Here", "Means", "add_options", "refusal", "run"]

HELP = "say what this machine can count"
DESCRIPTION = (
    "Say what this machine can count, and how: the processor's counters, or why there are none; the"
    " kernel's events; the simulation under valgrind, and of MIPS programs under qemu; the PMUs of the system's"
    " libpfm 4.  For each, say what to try next.")

_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_STATUS = Path("/proc/self/status")
_LEAST_PARANOID = 2  # with which a program may count itself
_FILTER = 2  # of Seccomp in /proc/self/status
_PAGE_FAULTS = {"type": 1, "config": 2, "exclude_kernel": 1, "exclude_hv": 1}
_SIMULATE = "perfex --backend valgrind -a -y ls"
_KERNELS = ("perf", "perf_raw")  # PMUs that every Linux has


class Means(Value):
    """One way to count, or to get codes, on this machine.

    :ivar available: whether it is here
    :ivar says: what is here, or why nothing is
    :ivar command: what to try next; of what is missing, how to do without, or how to get it
    """

    name: str
    available: bool
    says: str
    command: str


class Here(Value):
    """The means by which this machine can count.

    :ivar processor: its model, as the kernel says
    :ivar virtual_machine: its kind; empty: not known; null: this is none
    """

    processor: str
    virtual_machine: str | None
    means: tuple[Means, ...]


def add_options(parser: argparse.ArgumentParser) -> None:
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    from pypfm.perfex import host

    kind = host.virtual()
    here = Here(host.model(), kind, (_counters(kind), _kernel(), _valgrind(), _qemu(), _libpfm4()))
    if args.json:
        print_json(here.to_json())
    elif on_terminal(args):
        _draw(here)
    else:
        print("processor", printable(here.processor), sep="\t")
        for one in here.means:
            print(one.name, "yes" if one.available else "no", printable(one.says), printable(one.command), sep="\t")
    return 0


def _draw(here: Here) -> None:
    from pypfm.cli import draw

    rows = [("processor", here.processor)]
    if here.virtual_machine is not None:
        rows.append(("machine", f"virtual {here.virtual_machine}"))
    draw.rows(rows)
    for one in here.means:
        draw.say("")
        draw.rows([(one.name, f"{'yes' if one.available else 'no'}: {one.says}"), ("try", one.command)])


def _counters(virtual: str | None) -> Means:
    """Return the counters of the processor."""
    from pypfm.perfex.backends.perf import offers_hardware

    code = offers_hardware()
    if code == 0:
        return Means("counters", True, "the kernel counts events of the processor", "perfex --backend perf -a -y ls")
    paranoid, status = (path.read_text(encoding="ascii", errors="replace") if path.exists() else ""
                        for path in (_PARANOID, _STATUS))
    return Means("counters", False, *refusal(code, virtual, paranoid, status))


def refusal(code: int, virtual: str | None, paranoid: str, status: str) -> tuple[str, str]:
    """Why the kernel does not count events of the processor, and what to try.

    :param code: errno of perf_event_open(2)
    :param virtual: as `pypfm.perfex.host.virtual` says
    :param paranoid: the file perf_event_paranoid; empty: there is none
    :param status: the file /proc/self/status
    """
    level = int(paranoid) if re.fullmatch(r"-?\d{1,9}\s*", paranoid) else _LEAST_PARANOID
    filtered = re.search(rf"^Seccomp:\s*{_FILTER}$", status, re.MULTILINE) is not None
    too_paranoid = level > _LEAST_PARANOID and code in (errno.EACCES, errno.EPERM)
    if filtered and (code in (errno.EPERM, errno.ENOSYS) or (code == errno.EACCES and not too_paranoid)):
        return ("a seccomp filter forbids perf_event_open(2), as containers have it",
                "docker run --cap-add PERFMON --security-opt seccomp=unconfined IMAGE")
    if too_paranoid:
        return (f"perf_event_paranoid is {level}: only root may count; with {_LEAST_PARANOID} a program may count"
                " itself",
                f"sudo sysctl kernel.perf_event_paranoid={_LEAST_PARANOID}")
    if code in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP) and virtual is not None:
        return "this is a virtual machine that was given no counters; perfex simulates them", _SIMULATE
    from pypfm.common.counting import reason
    return f"{reason(code)}; perfex simulates counters", _SIMULATE


def _kernel() -> Means:
    """Events that the kernel itself counts."""
    from pypfm.common.counting import PerfEvent

    try:
        PerfEvent(_PAGE_FAULTS, name="page-faults").close()
    except PfmError as error:
        return Means("kernel events", False, str(error), "pmc --machine xscale -h")
    return Means("kernel events", True, "page faults, context switches, times",
                 "pypfm encode -p perf --open page-faults")


def _valgrind() -> Means:
    """Return the simulation of an R10000."""
    from pypfm.perfex.backends.valgrind import installed, tool

    try:
        version = installed.version()
        state = "is built" if tool.is_built() else "is built when it is first used"
    except PfmError as error:
        return Means("simulation", False, str(error), "apt-get install gcc valgrind")
    return Means("simulation", True, f"valgrind {version}; its tool r10k {state}",
                 "perfex --backend valgrind --annotate -a -y ls")


def _qemu() -> Means:
    """Return the simulation of an R10000 that executes MIPS code."""
    from pypfm.perfex.backends.qemu import plugin, program

    try:
        version = program.version(program.installed())
        state = "is built" if plugin.is_built() else "is built when it is first used"
    except PfmError as error:
        return Means("MIPS programs", False, str(error), "apt-get install gcc qemu-user gcc-mips64-linux-gnuabi64")
    return Means("MIPS programs", True, f"qemu {version}; its plugin r10k {state}", "perfex --list")


def _libpfm4() -> Means:
    """Return the system's libpfm 4 and the PMUs that it detects."""
    from pypfm.perf.foreign import foreign_pmus

    try:
        try_library(SYSTEM)
        file, pmus = foreign_pmus(SYSTEM)
    except LibraryError as error:
        from pypfm.perf.system import HOW_TO_GET
        return Means("libpfm 4", False, f"{error}; pypfm has {', '.join(_own())} itself", HOW_TO_GET)
    detected = [pmu.name for pmu in pmus if pmu.is_present]
    core = next((name for name in detected if name not in _KERNELS), None)
    return Means("libpfm 4", True,
                 f"{file} knows {len(pmus)} PMUs; this machine has {', '.join(detected) or 'none of them'}",
                 f"pypfm find {f'-p {core} ' if core else ''}cache miss")


def _own() -> list[str]:
    from pypfm.common.pmu_names import PMUS
    return [name for name, home in PMUS.items() if home.library == "pfm4"]
