"""Calls of Python that are measured: the mirrors and the classes on top, each next to the same function of C through cffi.

The mirrors work on the global state of their libraries: LIBPFM_FORCE_PMU=glm has to be in the environment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

__all__ = ["EVENTS", "STARTS", "STRING", "Call", "calls"]

EVENTS = {
    "itanium": ("CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED"),
    "itanium2": ("CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED"),
    "montecito": ("CPU_OP_CYCLES_ALL", "IA64_INST_RETIRED", "NOPS_RETIRED", "LOADS_RETIRED"),
}
STRING = "glm::MEM_LOAD_UOPS_RETIRED:L2_MISS:u:c=2"

#: Arguments of Python processes that are measured.
STARTS = {
    "python": ["-c", "pass"],
    "import pypfm.pfm3": ["-c", "import pypfm.pfm3"],
    "import pypfm.pfm4": ["-c", "import pypfm.pfm4"],
    "import Itanium2": ["-c", "from pypfm import Itanium2"],
    "import Goldmont": ["-c", "from pypfm import Goldmont"],
    "pypfm --version": ["-m", "pypfm", "--version"],
    "pypfm encode": ["-m", "pypfm", "encode", "-p", "itanium2", "CPU_CYCLES"],
    "pypfm decode": ["-m", "pypfm", "decode", "-p", "mont", "code=0x2001208"],
}


@dataclass(frozen=True)
class Call:
    """A call to time.

    :ivar group: mirror or objects
    :ivar run: the call
    :ivar floor: the same function of C through cffi alone, everything prepared
    :ivar memory: what the two have addresses of
    """

    group: str
    name: str
    pmu: str
    run: Callable[[], object]
    floor: Callable[[], object]
    memory: tuple[object, ...] = ()


def _mirror3(pmu: str, kind: int) -> Iterator[Call]:
    from pypfm._c.pfm3 import lib

    from pypfm import pfm3
    from pypfm.ia64 import pmu as itanium

    assert pfm3.pfm_force_pmu(kind) == 0
    names = EVENTS[pmu]
    idx, cell, name = pfm3.c_uint(), pfm3.ffi.new("unsigned int *"), names[2].encode()
    yield Call("mirror", "pfm3.pfm_find_event", pmu, partial(pfm3.pfm_find_event, names[2], idx),
               partial(lib.pfm_find_event, name, cell))
    inp = pfm3.pfmlib_input_param_t(pfp_dfl_plm=8, pfp_event_count=len(names))
    outp = pfm3.pfmlib_output_param_t()
    for i, event in enumerate(names):
        assert pfm3.pfm_find_event(event, pfm3.byref(inp.pfp_events[i], "event")) == 0
    null = pfm3.ffi.NULL
    floor = partial(lib.pfm_dispatch_events, pfm3.ffi.from_buffer("pfmlib_input_param_t *", inp), null,
                    pfm3.ffi.from_buffer("pfmlib_output_param_t *", outp), null)
    yield Call("mirror", "pfm3.pfm_dispatch_events", pmu, partial(pfm3.pfm_dispatch_events, inp, None, outp, None),
               floor, (inp, outp))
    classes: dict[str, type[itanium.Itanium | itanium.Itanium2 | itanium.Montecito]] = {
        "itanium": itanium.Itanium, "itanium2": itanium.Itanium2, "montecito": itanium.Montecito}
    cls = classes[pmu]
    yield Call("objects", f"{cls.__name__}().encode", pmu, lambda: cls().encode(names), floor, (inp, outp))


def _mirror4() -> Iterator[Call]:
    from pypfm._c.pfm4 import lib

    from pypfm import pfm4
    from pypfm.perf.pmu import Goldmont

    assert pfm4.pfm_initialize() == 0
    text = STRING.encode()
    yield Call("mirror", "pfm4.pfm_find_event", "glm", partial(pfm4.pfm_find_event, STRING),
               partial(lib.pfm_find_event, text))
    room, cell = (pfm4.c_uint64 * 2)(), pfm4.c_char_p()
    plain = pfm4.pfm_pmu_encode_arg_t(codes=room, count=2)
    with_string = pfm4.pfm_pmu_encode_arg_t(codes=room, count=2, fstr=pfm4.pointer(cell))
    memory = (room, cell, plain, with_string)
    arg, os = pfm4.ffi.from_buffer("pfm_pmu_encode_arg_t *", plain), pfm4.PFM_OS_NONE
    plm = pfm4.PFM_PLM0 | pfm4.PFM_PLM3

    encode, floor = pfm4.pfm_get_os_event_encoding, partial(lib.pfm_get_os_event_encoding, text, plm, os, arg)
    yield Call("mirror", "pfm4 encoding", "glm", partial(encode, STRING, plm, os, plain), floor, memory)
    yield Call("mirror", "pfm4 encoding, string", "glm", partial(encode, STRING, plm, os, with_string), floor,
               memory)
    yield Call("objects", "Goldmont().encode", "glm", lambda: Goldmont().encode(STRING), floor, memory)


def calls() -> Iterator[Call]:
    """All calls; each is good until the next one is asked for, for that may select another PMU."""
    from pypfm import pfm3

    yield from _mirror3("itanium", pfm3.PFMLIB_ITANIUM_PMU)
    yield from _mirror3("itanium2", pfm3.PFMLIB_ITANIUM2_PMU)
    yield from _mirror3("montecito", pfm3.PFMLIB_MONTECITO_PMU)
    yield from _mirror4()
