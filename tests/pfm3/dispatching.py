"""Calls of pfm_dispatch_events() through the mirror, as the tests of libpfm 3 write them.

A request is written as in the files of vectors: an event is a name, or a dict with
"event", "plm" and "unit_masks"; a structure is a dict, an array a list.
PYPFM_MIRROR=pfm3_manual chooses the mirror of the library's other form.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pfm3_vectors
from fill import fill

pfm3: Any = import_module(f"pypfm.{os.environ.get('PYPFM_MIRROR', 'pfm3')}")

Event = str | dict[str, Any]
NO_QUALCHECK = pfm3.PFMLIB_ITA2_FL_EVT_NO_QUALCHECK  # the same bit on both PMUs
UNCHECKED = [{"flags": NO_QUALCHECK}] * 4
UNSIGNED_INT = 1 << 32


def find(name: str) -> int:
    """The index of an event of the selected PMU."""
    index = pfm3.c_uint()
    assert pfm3.pfm_find_event(name, index) == 0, name
    return index.value


def numbers(value: Any) -> Any:
    """A structure as the mirror takes it: hexadecimal strings as ints, negative enums as C has them."""
    if isinstance(value, dict):
        return {key: numbers(v) for key, v in value.items()}
    if isinstance(value, list):
        return [numbers(v) for v in value]
    number = int(value, 0) if isinstance(value, str) else value
    return number % UNSIGNED_INT if number < 0 else number


def ranges(*limits: Sequence[int], flags: int = 0, used: int = 1) -> dict[str, Any]:
    """The ranges [start, end) of a request, each with an optional privilege level mask."""
    rows = [dict(zip(("rr_start", "rr_end", "rr_plm"), limit, strict=False)) for limit in limits]
    return {"rr_flags": flags, "rr_limits": rows, "rr_used": used}


def request(events: Iterable[Event], dfl_plm: int = 8, flags: int = 0,
            unavail: Iterable[int] = ()) -> pfm3.pfmlib_input_param_t:
    """The generic input of a call."""
    rows = []
    for event in events:
        row: dict[str, Any] = {"event": event} if isinstance(event, str) else event
        masks = row.get("unit_masks", [])
        rows.append({"event": find(row["event"]), "plm": row.get("plm", 0),
                     "unit_masks": masks, "num_masks": len(masks)})
    inp = pfm3.pfmlib_input_param_t(pfp_event_count=len(rows), pfp_dfl_plm=dfl_plm, pfp_flags=flags)
    fill(inp, {"pfp_events": rows})
    for pmc in unavail:
        assert pfm3.pfm_regmask_set(inp.pfp_unavail_pmcs, pmc) == 0
    return inp


@dataclass
class Answer:
    """What came back from one call; model is None if no model output was passed.

    irange and drange are references into model: keep the answer alive while using them.
    """

    ret: int
    out: pfm3.pfmlib_output_param_t
    model: Any
    tag: str

    @property
    def order(self) -> list[int]:
        """Numbers of the PMCs, in the order of the output."""
        return [r.reg_num for r in list(self.out.pfp_pmcs)[:self.out.pfp_pmc_count]]

    @property
    def pmcs(self) -> dict[int, int]:
        """Value of each PMC."""
        return {r.reg_num: r.reg_value for r in list(self.out.pfp_pmcs)[:self.out.pfp_pmc_count]}

    @property
    def pmds(self) -> list[int]:
        """Numbers of the PMDs, in the order of the output."""
        return [r.reg_num for r in list(self.out.pfp_pmds)[:self.out.pfp_pmd_count]]

    @property
    def irange(self) -> Any:
        return getattr(self.model, f"pfp_{self.tag}_irange")

    @property
    def drange(self) -> Any:
        return getattr(self.model, f"pfp_{self.tag}_drange")

    @property
    def fine(self) -> int:
        """What pfm_*_irange_is_fine() returns."""
        return int(getattr(pfm3, f"pfm_{self.tag}_irange_is_fine")(self.out, self.model))

    def as_recorded(self) -> dict[str, Any]:
        """The answer in the form of the files of vectors."""
        if self.ret:
            return {"ret": self.ret}
        pmcs, pmds = list(self.out.pfp_pmcs), list(self.out.pfp_pmds)
        got = {"ret": 0, "pmcs": pfm3_vectors.regs(pmcs, self.out.pfp_pmc_count),
               "pmds": pfm3_vectors.regs(pmds, self.out.pfp_pmd_count, with_value=False)}
        if self.model is not None:
            got |= {"drange": range_output(self.drange), "irange": range_output(self.irange)}
            if self.tag != "ita":  # has no fine mode
                got["fine"] = self.fine
        return got


def range_output(rr: Any) -> Any:
    """The debug registers and offsets of a range output, in the form of the files of vectors."""
    return pfm3_vectors.ranges(SimpleNamespace(
        rr_nbr_used=rr.rr_nbr_used, rr_infos=rr.rr_infos, rr_br=list(rr.rr_br)))


def pairs(rr: Any) -> list[tuple[int, int, int, int]]:
    """The pairs of a range output: register, address, 56 bits of mask, privilege levels."""
    br = list(rr.rr_br)[:rr.rr_nbr_used]
    assert all(odd.reg_num == even.reg_num + 1 for even, odd in zip(br[::2], br[1::2], strict=True))
    return [(even.reg_num, even.reg_value, odd.reg_value % (1 << 56), odd.reg_value >> 56)
            for even, odd in zip(br[::2], br[1::2], strict=True)]


@dataclass(frozen=True)
class Pmu:
    """A processor model: its types, and requests to it."""

    name: str
    type: int
    tag: str  # of the names of its types and fields
    input_type: Any
    output_type: Any
    counters: int
    cycles: str  # the event that the manual page contrasts with EAR events
    branches: str  # name of the branch trace buffer in predicates and fields
    iear: int  # PMC of the instruction EAR; and so on
    dear: int
    trace: int
    irange: int
    drange: int
    page: int  # a fine range lies inside one
    tagged: tuple[str, ...]  # the four IA64_INST_RETIRED events, one for each pair

    def select(self) -> None:
        assert pfm3.pfm_force_pmu(self.type) == 0

    def call(self, name: str) -> Any:
        """The function of this model: call("is_ear") is pfm_ita2_is_ear."""
        return getattr(pfm3, f"pfm_{self.tag}_{name}")

    def cell(self, getter: str, value: int = 0) -> Any:
        """A variable for what a getter of this model stores."""
        if getter.endswith("ear_mode"):
            return getattr(pfm3, f"pfmlib_{self.tag}_ear_mode_t")(value)
        types = {"get_event_umask": pfm3.c_ulong, "get_event_maxincr": pfm3.c_uint}
        return types.get(getter, pfm3.c_int)(value)

    def query(self, name: str, event: str) -> Any:
        """The answer of a predicate or getter of this model on an event."""
        if name.startswith(("is_", "support_")):
            return self.call(name)(find(event))
        cell = self.cell(name)
        assert self.call(name)(find(event), cell) == 0
        return cell.value

    def field(self, value: int, member: str, name: str) -> int:
        """A bit-field of a PMC value: member is that of the register union."""
        register = getattr(pfm3, f"pfm_{self.tag}_pmc_reg_t")(pmc_val=value)
        return int(getattr(getattr(register, member), name))

    def counter_field(self, value: int, name: str) -> int:
        """A bit-field of a counter PMC."""
        return self.field(value, f"pmc_{self.tag}_counter_reg", name)

    def constant(self, name: str) -> int:
        """The constant of this model: constant("EVT_NO_GRP") is PFMLIB_ITA2_EVT_NO_GRP."""
        return int(getattr(pfm3, f"PFMLIB_{self.tag.upper()}_{name}"))

    def settings(self, **fields: Any) -> Any:
        """Model input: settings(irange=...) sets pfp_ita2_irange."""
        return fill(self.input_type(), {f"pfp_{self.tag}_{name}": numbers(v) for name, v in fields.items()})

    def dispatch(self, *events: Event, dfl_plm: int = 8, flags: int = 0, unavail: Iterable[int] = (),
                 **fields: Any) -> Answer:
        """One call; with fields of the model input, or without model structures."""
        model_in = self.settings(**fields) if fields else None
        model_out = self.output_type() if fields else None
        out = pfm3.pfmlib_output_param_t()
        inp = request(events, dfl_plm, flags, unavail)
        ret = pfm3.pfm_dispatch_events(inp, model_in, out, model_out)
        return Answer(ret, out, model_out, self.tag)

    def replay(self, vector: dict[str, Any]) -> Answer:
        """The call that a vector describes."""
        given = vector.get("model_in")
        model_in = None if given is None else fill(self.input_type(), numbers(given))
        model_out = self.output_type() if vector.get("model_out") else None
        out = pfm3.pfmlib_output_param_t()
        inp = request(vector["events"], vector.get("dfl_plm", 0), vector.get("pfp_flags", 0),
                      vector.get("unavail_pmcs", []))
        ret = pfm3.pfm_dispatch_events(inp, model_in, out, model_out)
        return Answer(ret, out, model_out, self.tag)


ITANIUM2 = Pmu(
    "itanium2", pfm3.PFMLIB_ITANIUM2_PMU, "ita2", pfm3.pfmlib_ita2_input_param_t,
    pfm3.pfmlib_ita2_output_param_t, pfm3.PMU_ITA2_NUM_COUNTERS, cycles="CPU_CYCLES", branches="btb",
    iear=10, dear=11, trace=12, irange=14, drange=13, page=4096,
    tagged=tuple(f"IA64_TAGGED_INST_RETIRED_IBRP{i}_PMC{8 + i % 2}" for i in range(4)))
MONTECITO = Pmu(
    "montecito", pfm3.PFMLIB_MONTECITO_PMU, "mont", pfm3.pfmlib_mont_input_param_t,
    pfm3.pfmlib_mont_output_param_t, pfm3.PMU_MONT_NUM_COUNTERS, cycles="CPU_OP_CYCLES_ALL", branches="etb",
    iear=37, dear=40, trace=39, irange=38, drange=41, page=65536,
    tagged=tuple(f"IA64_TAGGED_INST_RETIRED_IBRP{i}_PMC{('32_33', '34_35')[i % 2]}" for i in range(4)))
ITANIUM = Pmu(
    "itanium", pfm3.PFMLIB_ITANIUM_PMU, "ita", pfm3.pfmlib_ita_input_param_t, pfm3.pfmlib_ita_output_param_t,
    pfm3.PMU_ITA_NUM_COUNTERS, cycles="CPU_CYCLES", branches="btb", iear=10, dear=11, trace=12, irange=13, drange=11,
    page=0, tagged=())
PMUS = {pmu.name: pmu for pmu in (ITANIUM2, MONTECITO)}  # those with manual pages
ALL_PMUS = PMUS | {ITANIUM.name: ITANIUM}
