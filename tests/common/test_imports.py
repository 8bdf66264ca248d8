"""After ``from pypfm import X`` nothing that X's methods do imports a module of pypfm.

A child that is forked while a thread imports a module waits for ever for the import lock of that module: what computes
in threads must not import.  Drawing, the command line, the conformance kit, other libraries and for_perf(), which is
libpfm 4's, are doors of their own.
"""

from __future__ import annotations

import json

import pytest

from conftest import run_python

WORKS = {
    "Itanium2": """
pmu = Itanium2()
made = pmu.encode(["NOPS_RETIRED", "BRANCH_EVENT"], plm="user", code_ranges=[(0x1000, 0x2000)], opcode_match=5)
made.decode().to_request(); made.to_json(); repr(made); made == made; hash(made)
pmu.find("*EAR*"); pmu["CPU_CYCLES"]; list(pmu); "X" in pmu
for wrong in (["CPU_CYCLE"], ["CPU_CYCLES"] * 5, [5], ["DATA_EAR_CACHE_LAT4", "DATA_EAR_TLB_ALL"]):
    try:
        pmu.encode(wrong)
    except ValueError:
        pass
    except TypeError:
        pass
type(made).from_registers("itanium2", {"PMC4": 0x1228})
""",
    "Itanium": """
made = Itanium(corrected=True).encode(["BRANCH_EVENT"])
made.decode().to_request()
""",
    "Montecito": """
made = Montecito().encode(["ETB_EVENT"])
made.decode(etb=True).to_request()
""",
    "GenericIA64": """
GenericIA64().encode(["CPU_CYCLES"]).decode()
""",
    "Goldmont": """
made = Goldmont().encode("OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE", plm="user,kernel")
made.decode().candidates; made.to_json(); made.fields
Goldmont().average_latency("DMND_DATA_RD")
for wrong in ("NO_SUCH", "ICACHE:NO", "ICACHE:e", "ICACHE:c=999"):
    try:
        Goldmont().encode(wrong)
    except ValueError:
        pass
""",
    "Perf": """
Perf().encode("cpu-cycles:u").decode()
Perf().count("task-clock", int)
try:
    Perf().count("cpu-cycles", int)
except OSError:
    pass
""",
    "decode": """
decode("itanium2", {"PMC4": 0x1228}).to_request()
decode("montecito", {"PMC4": 0x2001208}).to_request()
decode("glm", {"code": 0x5300c0}).candidates
decode("mont", {"config": 0x1200}).candidates
decode("perf", {"type": 0, "config": 0}).candidates
for pmu, values in (("itanium2", {"PMC99": 1}), ("glm", {"code": -1})):
    try:
        decode(pmu, values)
    except ValueError:
        pass
""",
    "Context": """
import os
os.environ["LIBPFM_PERFMON"] = "model"
import pypfm
from pypfm.ia64 import Itanium2
with Context(Itanium2(), ["CPU_CYCLES", "DATA_EAR_CACHE_LAT4"], period={"DATA_EAR_CACHE_LAT4": 1000}) as context:
    for sample in context.samples:
        sample.ears
    context.counts()
""",
    "Machine": """
machine = Machine("xscale")
machine["dcache-miss"]
with machine.profile("dcache-miss", 1000):
    pass
for wrong in ("no-such",):
    try:
        machine[wrong]
    except KeyError:
        pass
""",
    "Counter": """
with Counter("page-faults") as counter:
    pass
counter.value
try:
    Counter("instruction-executed")
except OSError:
    pass
""",
}
PROGRAM = """
import json, sys
from pypfm import {door}
def loaded():
    return {{name for name in sys.modules if name.partition(".")[0] == "pypfm"}}
before = loaded()
{work}
print(json.dumps(sorted(loaded() - before)))
"""


@pytest.mark.parametrize("door", WORKS)
def test_what_works_imports_nothing(door: str) -> None:
    done = run_python(PROGRAM.format(door=door, work=WORKS[door]))
    assert done.stderr == ""
    assert json.loads(done.stdout) == []


def test_only_what_is_asked_for_is_loaded() -> None:
    """A program that encodes for IA-64 needs nothing of libpfm 4, nor of what counts."""
    done = run_python("import sys, pypfm\nprint([m for m in sys.modules if m.startswith('pypfm')])\n"
                      "from pypfm import Itanium2\nprint([m for m in sys.modules if m.startswith('pypfm.')])")
    package, encoder = done.stdout.splitlines()
    assert package == "['pypfm']"
    for other in ("pypfm.perf", "pypfm._c.pfm4", "pypfm.ia64.counting", "pypfm.netbsd", "pypfm.cli", "pypfm.conform"):
        assert f"'{other}" not in encoder
