"""Python code that uses pypfm.pfm4, run in a process of its own: environment and state are nobody else's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fresh import fresh_python

PROLOGUE = """
import gc, json, os, sys
from pypfm.pfm4 import *
GLM, PERF, RAW = PFM_PMU_INTEL_GLM << 21, PFM_PMU_PERF_EVENT << 21, PFM_PMU_PERF_EVENT_RAW << 21

def tell(*answers):
    print(json.dumps(answers if len(answers) != 1 else answers[0]))

def raw(struct):
    return bytes(struct).hex()

def said(cell):
    return None if cell.value is None else cell.value.decode()

def none(text, plm=9, **fields):
    "An encoding for PFM_OS_NONE."
    arg, fstr = pfm_pmu_encode_arg_t(size=32, **fields), c_char_p()
    arg.fstr = pointer(fstr)
    ret = pfm_get_os_event_encoding(text, plm, PFM_OS_NONE, arg)
    codes = [arg.codes[i] for i in range(arg.count)] if ret == 0 else []
    return {"ret": ret, "codes": codes, "fstr": said(fstr), "idx": arg.idx}

def perf(text, os=PFM_OS_PERF_EVENT_EXT, plm=9, **fields):
    "An encoding for one of the perf_event interfaces."
    attr, fstr = perf_event_attr(**{"size": 128} | fields), c_char_p()
    arg = pfm_perf_encode_arg_t(size=40, attr=pointer(attr), fstr=pointer(fstr))
    ret = pfm_get_os_event_encoding(text, plm, os, arg)
    flags = int.from_bytes(bytes(attr)[40:48], "little")
    return {"ret": ret, "type": attr.type, "config": attr.config, "config1": attr.config1, "config2": attr.config2,
            "flags": flags, "cpu": arg.cpu, "fstr": said(fstr), "idx": arg.idx, "period": attr.sample_period}
"""


def mirror(code: str, *args: object, **env: str) -> list[Any]:
    """What the code tells, one item for each call of tell()."""
    done = fresh_python(PROLOGUE + code, *args, **env)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def encode_all(rows: Sequence[tuple[str, int, int]], **env: str) -> list[dict[str, Any]]:
    """Encodings of (string, interface, default levels)."""
    code = ("assert pfm_initialize() == 0\n"
            "for text, os, plm in json.loads(sys.argv[1]):\n"
            "    tell(perf(text, os, plm) if os else none(text, plm))\n")
    # An argument has a limit of 128 KB.
    return [a for at in range(0, len(rows), 1000) for a in mirror(code, json.dumps(rows[at:at + 1000]), **env)]
