"""A fence that keeps the process of a library under test from reaching other processes.

A seccomp filter ends the process with SIGSYS when it signals, traces or limits another one, its parent and all
of the user's (``kill(-1, ...)``) among them; children that it forks are under the filter, too, and may signal
only it.  Kernels and machines without such filters are left without: `pypfm.conform.worker.process` then still
has its time limit.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from typing import NamedTuple

__all__ = ["MACHINES", "fence"]

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # instructions of the kernel's filter machine
_NUMBER, _MACHINE, _ARGUMENT0, _ARGUMENT1 = 0, 4, 16, 24  # places in struct seccomp_data
_X32 = 0x40000000  # system call numbers of x86-64's other ABI begin there


class _Calls(NamedTuple):
    """System call numbers of a machine.

    :ivar machine: AUDIT_ARCH_...
    :ivar of_others: those that are about another process: ptrace, process_vm_writev, pidfd_send_signal, pidfd_getfd
    :ivar by_pid: those whose first argument is a process: kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo,
        prlimit64
    :ivar fcntl, ioctl: which can have the kernel send a signal to whom one likes
    """

    machine: int
    of_others: tuple[int, ...]
    by_pid: tuple[int, ...]
    fcntl: int
    ioctl: int


_GENERIC = ((117, 271, 424, 438), (129, 130, 131, 138, 240, 261), 25, 29)
MACHINES = {
    "x86_64": _Calls(0xC000003E, (101, 311, 424, 438), (62, 200, 234, 129, 297, 302), 72, 16),
    "aarch64": _Calls(0xC00000B7, *_GENERIC),
    "riscv64": _Calls(0xC00000F3, *_GENERIC),
}
_OWNERS = {"fcntl": (8, 15), "ioctl": (0x8901, 0x8902)}  # F_SETOWN, F_SETOWN_EX; FIOSETOWN, SIOCSPGRP


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """Encode one instruction; a comparison has the numbers of instructions to skip in either case."""
    return struct.pack("=HBBI", code, yes, no, value)


def _one_of(place: int, values: tuple[int, ...], inside: int, outside: int) -> bytes:
    """Encode a check that ends with one verdict if an argument is one of some values, with another if not."""
    tests = b"".join(_instruction(_EQUAL, value, yes=len(values) - i) for i, value in enumerate(values))
    return (_instruction(_LOAD, place) + tests + _instruction(_RETURN, outside) + _instruction(_RETURN, inside))


def _filter(calls: _Calls, pid: int) -> bytes:
    """Build the program that puts other processes out of bounds for a process."""
    own = _one_of(_ARGUMENT0, (pid, 0), _ALLOW, _KILL_PROCESS)  # 0: its own group, or itself
    parts = [(calls.by_pid, own), (calls.of_others, _instruction(_RETURN, _KILL_PROCESS))]
    parts += [((number,), _one_of(_ARGUMENT1, _OWNERS[name], _KILL_PROCESS, _ALLOW))
              for name, number in (("fcntl", calls.fcntl), ("ioctl", calls.ioctl))]
    program = [_instruction(_LOAD, _MACHINE), _instruction(_EQUAL, calls.machine, yes=1),
               _instruction(_RETURN, _KILL_PROCESS), _instruction(_LOAD, _NUMBER),
               _instruction(_AT_LEAST, _X32, no=1), _instruction(_RETURN, _KILL_PROCESS)]
    size = len(_instruction(0, 0))
    for numbers, verdict in parts:
        program += [_instruction(_EQUAL, number, yes=len(numbers) - i) for i, number in enumerate(numbers)]
        program += [_instruction(0x05, len(verdict) // size), verdict]  # jump over it
    return b"".join([*program, _instruction(_RETURN, _ALLOW)])


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def fence() -> bool:
    """Keep this process, and what it forks, from reaching for other processes.

    :return: whether the kernel does it
    """
    calls = MACHINES.get(os.uname().machine)
    if calls is None or sys.maxsize < 1 << 32:
        return False
    code = _filter(calls, os.getpid())
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # without it, only root may
    program = _Program(len(code) // 8, code)
    return bool(prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program), 0, 0) == 0)
