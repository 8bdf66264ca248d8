"""What tests/c/pmc_script.c does, through the mirror (argument "mirror") or a state of its own ("state").

A state is of the machine that PMC_MACHINE names, which the state functions themselves do not read.

A line of variables (JSON) makes a process, whose number is the answer.  It answers the lines up to an empty one;
"ended" and its exit status follow.
"""

from __future__ import annotations

import errno
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from typing import Any

from pypfm import pmc
from pypfm._c import pmc_hand
from pypfm.pmc import ffi, lib

KNOWN = {"EFAULT", "ENXIO", "EINPROGRESS", "EINVAL", "EBUSY", "ENODEV", "ENOMEM", "ESRCH"}
signals: list[int] = []


def of_state(state: Any) -> dict[str, Callable[..., int]]:
    def raw(argp: Any) -> Any:
        if argp is None:
            return ffi.NULL
        return ffi.from_buffer(argp) if isinstance(argp, (pmc.pmc_counter_cfg, pmc.c_int, pmc.c_uint64)) else argp
    return {
        "control": lambda ctr, op, argp: lib.pmc_state_control(state, ctr, op, raw(argp)),
        "info": lambda ctr, op, argp: lib.pmc_state_get_info(state, ctr, op, raw(argp)),
        "advance": lambda event, count: pmc_hand.advance(state, event, count),
    }


def functions(kind: str) -> dict[str, Callable[..., int]]:
    if kind == "state":
        return of_state(ffi.gc(lib.pmc_state_new(os.environ["PMC_MACHINE"].encode()), lib.pmc_state_free))
    return {"control": pmc.pmc_control, "info": pmc.pmc_get_info, "advance": pmc.pmc_model_advance}


def argument(text: str) -> object:
    if text.startswith("cfg:"):
        event, reset = (int(word, 0) for word in text.split(":")[1:])
        return pmc.pmc_counter_cfg(event_id=event, reset_value=reset)
    return {"null": None, "bad": ffi.cast("void *", 8), "int": pmc.c_int(), "uint64": pmc.c_uint64()}[text]


def answer(line: str, api: dict[str, Callable[..., int]]) -> str:
    op, *words = line.split()
    if op == "signals":
        ret, stored = len(signals), ""
        signals.clear()
    else:
        args: list[object] = [int(word, 0) for word in words[:2]]
        args += [argument(word) for word in words[2:]]
        ret = api[op](*args)
        cell = args[-1]
        stored = f" {cell.value}" if ret == 0 and isinstance(cell, (pmc.c_int, pmc.c_uint64)) else ""
    name = errno.errorcode.get(ffi.errno, "another") if ret == -1 else "-"
    return f"{ret} {name if name in KNOWN or name == '-' else 'another'}{stored}"


def work(lines: Iterable[bytes]) -> None:
    signal.signal(signal.SIGPROF, lambda *_: signals.append(1))
    api = functions(sys.argv[1])
    for line in lines:
        if line == b"\n":
            return
        print(answer(line.decode(), api), flush=True)


def main() -> None:
    gc.freeze()  # what is there now, no child has to look through at its end
    with open(0, "rb", buffering=0) as lines:  # without a buffer, each process reads its own lines only
        for line in lines:
            pid = os.fork()
            if pid == 0:
                os.environ.update(json.loads(line))
                work(lines)
                return
            print(pid, flush=True)
            print("ended", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
