"""The state of its process that a library shares with the program that uses it, and has to leave as it was."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm._c.loading import loaded_file

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["changed", "memory", "surroundings"]

_NOTHING = "none"
# Lines of /proc/self/status, in words.
_STATUS = {
    "Umask": "umask", "TracerPid": "tracing process", "Uid": "user", "Gid": "group", "Groups": "groups",
    "Threads": "threads", "VmLck": "locked memory", "SigBlk": "blocked signals", "SigIgn": "ignored signals",
    "SigCgt": "signals with a handler", "CapPrm": "permitted capabilities", "CapEff": "effective capabilities",
    "CapInh": "inheritable capabilities", "CapAmb": "ambient capabilities", "CapBnd": "bounding capabilities",
    "Seccomp": "seccomp mode", "Seccomp_filters": "seccomp filters", "Cpus_allowed_list": "allowed CPUs",
}
_SIGNALS = frozenset({"SigBlk", "SigIgn", "SigCgt"})
_PRCTL = {"parent-death signal": 2, "dumpable": 3, "adopts orphans": 37}  # what prctl() is asked for
_AS_VALUE = "dumpable"
_ACTION = 32  # pointers: more than struct sigaction has; the first is the handler


def surroundings() -> dict[str, str]:
    """Return the state of this process that others see or inherit, by subject."""
    found = dict(_status())
    for name, look in _LOOKS.items():
        found[name] = _looked(look)
    for name in sorted(dir(resource)):
        if name.startswith("RLIMIT_"):
            with suppress(OSError, ValueError):  # of another kernel
                found[f"limit {name}"] = "{} {}".format(*resource.getrlimit(getattr(resource, name)))
    for name, option in _PRCTL.items():
        found[name] = _prctl(option, as_value=name == _AS_VALUE)
    found |= {f"handler of {name}": file for name, file in _handlers().items()}
    for number, target in _descriptors().items():
        found[f"descriptor {number}"] = target
    for variable in _environment():
        name, _, value = variable.partition("=")
        found[f"variable {name}"] = value
    return found


def changed(before: dict[str, str], after: dict[str, str]) -> dict[str, list[str]]:
    """Return each part of the state that has changed, with its values before and after."""
    names = [*before, *(name for name in after if name not in before)]
    return {name: [before.get(name, _NOTHING), after.get(name, _NOTHING)] for name in names
            if before.get(name) != after.get(name)}


class _Mallinfo(ctypes.Structure):
    """struct mallinfo2."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"))


def memory() -> dict[str, int]:
    """Return the bytes that malloc() has given out, and those mapped apart from it: all if libc does not count."""
    found = _Mallinfo()
    if mallinfo := getattr(ctypes.CDLL(None), "mallinfo2", None):
        mallinfo.restype = _Mallinfo
        found = mallinfo()
    total = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    return {"memory": int(found.uordblks + found.hblkhd), "mapped memory": total - int(found.arena + found.hblkhd)}


def _looked(look: Callable[[], object]) -> str:
    try:
        return str(look())
    except OSError as error:
        return f"unknown: {error.strerror}"


def _status() -> dict[str, str]:
    found = {}
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError as error:
        return {"/proc/self/status": f"unknown: {error.strerror}"}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name in _STATUS:
            words = " ".join(value.split())
            found[_STATUS[name]] = _signal_names(int(words, 16)) if name in _SIGNALS else words
    return found


def _signal_names(mask: int) -> str:
    names = []
    for number in range(1, mask.bit_length() + 1):
        if mask >> (number - 1) & 1:
            try:
                names.append(signal.Signals(number).name)
            except ValueError:
                names.append(str(number))
    return " ".join(names) or _NOTHING


def _handlers() -> dict[str, str]:
    """Return the file of each signal's handler."""
    libc, action, found = ctypes.CDLL(None), (ctypes.c_void_p * _ACTION)(), {}
    for number in signal.valid_signals():
        if libc.sigaction(number, None, action) == 0 and (address := action[0] or 0) > 1:  # SIG_DFL, SIG_IGN
            found[_signal_names(1 << (number - 1))] = loaded_file(address)
    return found


def _prctl(option: int, *, as_value: bool) -> str:
    libc, value = ctypes.CDLL(None), ctypes.c_int()
    result = libc.prctl(option, ctypes.byref(value), 0, 0, 0)
    return str(result if as_value else value.value)


def _descriptors() -> dict[int, str]:
    """Return the open descriptors and what they are, without the one that lists them, which is closed by then."""
    found = {}
    with suppress(OSError):  # which another row tells
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found


def _environment() -> list[str]:
    """Return the variables as C has them; Python does not see them change."""
    pointers = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found: list[str] = []
    while pointers and (variable := pointers[len(found)]) is not None:
        found.append(os.fsdecode(variable))
    return found


def _locale() -> str:
    setlocale = ctypes.CDLL(None).setlocale
    setlocale.restype = ctypes.c_char_p
    return os.fsdecode(setlocale(6, None) or b"")  # LC_ALL


def _arithmetic() -> str:
    """Return results that depend on the modes of the floating-point unit."""
    tiny, one = float("1e-308"), float("1")
    return f"{tiny / 16!r} {one / 3!r} {-one / 3!r}"


_LOOKS: dict[str, Callable[[], object]] = {
    "working directory": lambda: os.readlink("/proc/self/cwd"),
    "root directory": lambda: os.readlink("/proc/self/root"),
    "locale": _locale,
    "session": lambda: "its own" if os.getsid(0) == os.getpid() else "another",
    "process group": lambda: "its own" if os.getpgrp() == os.getpid() else "another",
    "nice value": lambda: os.getpriority(os.PRIO_PROCESS, 0),
    "scheduler": lambda: os.sched_getscheduler(0),
    "timers": lambda: " ".join("off" if signal.getitimer(timer) == (0, 0) else "on" for timer in (
        signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)),
    "floating point": _arithmetic,
}
