"""The process that probes the structures of a library, each probe in a child of its own.

The arguments are the library and its API; standard output has one JSON object a line for each
probe: its name and ``answer``, or ``ended`` (how the child did) or ``failed`` (why it is no answer).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pypfm.config import LIBRARIES
from pypfm.conform._probing import table

if TYPE_CHECKING:
    from pypfm.conform._probing import Probe

__all__ = ["main", "probes_of"]

_SECONDS = 5  # for one probe
_MOST_HANGS = 2  # the other probes are given up then
_HANG = "no answer in time"


def probes_of(api: str) -> tuple[Any, Any, dict[str, tuple[str, str, Probe]]]:
    """ffi, lib and the probes of an API."""
    module = import_module(f"pypfm._{LIBRARIES[api].module}")
    probes = import_module(f"pypfm.conform._probes{4 if api == 'pfm4' else 3}").probes()
    return module.ffi, module.lib, probes


def main(path: str, api: str) -> None:
    """Make all probes.

    :param path: the library
    :param api: pfm3, pfm3-manual or pfm4
    """
    ffi, lib, probes = probes_of(api)
    hangs = 0
    for name, (_, _, probe) in probes.items():
        outcome = _outcome(path, ffi, lib, probe) if hangs < _MOST_HANGS else {"failed": "given up after others hung"}
        hangs += outcome.get("ended") == _HANG
        print(json.dumps({"name": name} | outcome), flush=True)


def _outcome(path: str, ffi: Any, lib: Any, probe: Probe) -> dict[str, object]:
    """Make one probe in a child."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(path, ffi, lib, probe, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as answers:
        data = answers.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return cast("dict[str, object]", json.loads(data)) if code == 0 and data else {"ended": _how(code)}


def _how(code: int) -> str:
    if code == -signal.SIGALRM:
        return _HANG
    return signal.Signals(-code).name if code < 0 else f"ended the process with status {code}"


def _child(path: str, ffi: Any, lib: Any, probe: Probe, answers: int) -> NoReturn:
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        signal.alarm(_SECONDS)
        try:
            outcome: dict[str, object] = {"answer": probe(ffi, table(ctypes.CDLL(path), ffi, lib))}
        except (AttributeError, KeyError, OSError, RuntimeError) as error:
            outcome = {"failed": f"{type(error).__name__}: {error}"}
        with os.fdopen(answers, "wb") as out:
            out.write(json.dumps(outcome).encode())
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
