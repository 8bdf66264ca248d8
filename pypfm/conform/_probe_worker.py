"""The process that probes the structures of a library, each probe in a child of its own.

The arguments are the library, its API and the seconds that a probe may take; standard output has one
JSON object a line for each probe: its name and ``answer``, or ``ended`` (how the child did) or ``failed``
(why it is no answer).
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pypfm.config import LIBRARIES
from pypfm.conform._children import adopt, how, out_of_reach, reaped, separate
from pypfm.conform._probing import table

if TYPE_CHECKING:
    from pypfm.conform._probing import Probe

__all__ = ["main", "probes_of"]

_PIECE = 1 << 16  # bytes
_MOST_HANGS = 2  # the other probes are given up then


def probes_of(api: str) -> tuple[Any, Any, dict[str, tuple[str, str, Probe]]]:
    """ffi, lib and the probes of an API."""
    module = import_module(f"pypfm._{LIBRARIES[api].module}")
    probes = import_module(f"pypfm.conform._probes{4 if api == 'pfm4' else 3}").probes()
    return module.ffi, module.lib, probes


def main(path: str, api: str, timeout: str) -> None:
    """Make all probes.

    :param path: the library
    :param api: pfm3, pfm3-manual or pfm4
    :param timeout: seconds for one probe
    """
    adopt()
    ffi, lib, probes = probes_of(api)
    hangs = 0
    for name, (_, _, probe) in probes.items():
        outcome = (_outcome(path, ffi, lib, probe, float(timeout)) if hangs < _MOST_HANGS
                   else {"failed": "given up after others hung"})
        hangs += bool(outcome.get("hang"))
        print(json.dumps({"name": name} | outcome), flush=True)


def _outcome(path: str, ffi: Any, lib: Any, probe: Probe, timeout: float) -> dict[str, object]:
    """Make one probe in a child."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        _child(path, ffi, lib, probe, write_end)
    os.close(write_end)
    data, deadline = b"", time.monotonic() + timeout
    # Not until the end of the pipe: what the library left behind may hold it.
    while not data.endswith(b"\n") and select.select([read_end], [], [], max(0.0, deadline - time.monotonic()))[0]:
        piece = os.read(read_end, _PIECE)
        if not piece:
            break
        data += piece
    os.close(read_end)
    status = reaped(pid, max(0.0, deadline - time.monotonic()))
    try:
        return cast("dict[str, object]", json.loads(data)) if status == 0 and data else dict(how(status))
    except ValueError:
        return {"failed": "the library wrote into a descriptor that is not its own"}


def _child(path: str, ffi: Any, lib: Any, probe: Probe, answers: int) -> NoReturn:
    status = 1
    try:
        answers = out_of_reach(answers)
        separate()
        try:
            outcome: dict[str, object] = {"answer": probe(ffi, table(ctypes.CDLL(path), ffi, lib))}
        except (AttributeError, KeyError, OSError, RuntimeError) as error:
            outcome = {"failed": f"{type(error).__name__}: {error}"}
        with os.fdopen(answers, "wb") as out:
            out.write(json.dumps(outcome).encode() + b"\n")
        status = 0
    finally:
        os._exit(status)
