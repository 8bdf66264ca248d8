"""Members and out-parameters that a library writes too narrowly or too widely, without debug information: each is found.

The library does to the caller's memory what a member of another width would do: the upper half stays as the caller had it,
or as many bytes more are written.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pypfm._c.pfm3 import ffi as ffi3
from pypfm._c.pfm4 import ffi as ffi4

from broken import DISPATCH, with_code
from forwarder import forwarder
from native import PFM3, build_library
from pypfm.conform import runner
from pypfm.conform.model import Vector
from pypfm.conform.vectors import environment, recorded

pytestmark = pytest.mark.long

TAGS = {"ita2": "itanium2", "mont": "montecito", "ita": "itanium"}
# The types that a function writes, and through which argument; that of struct perf_event_attr has its address.
TYPES = {
    "pfm4": {"pfm_pmu_info_t": ("pfm_get_pmu_info", 1), "pfm_event_info_t": ("pfm_get_event_info", 2),
             "pfm_event_attr_info_t": ("pfm_get_event_attr_info", 3),
             **dict.fromkeys(["pfm_pmu_encode_arg_t", "pfm_perf_encode_arg_t", "struct perf_event_attr"],
                             ("pfm_get_os_event_encoding", 3))},
    "pfm3": {"unsigned": ("pfm_get_num_events", 0), "pfmlib_output_param_t": ("pfm_dispatch_events", 2),
             **{f"pfmlib_{tag}_output_param_t": ("pfm_dispatch_events", 3) for tag in TAGS},
             "pfmlib_event_t": ("pfm_find_full_event", 1), "pfmlib_regmask_t": ("pfm_get_impl_pmcs", 0)},
}
# Members that the caller sets, and that no library fills in.
GIVEN = {"size", "attr", "fstr", "codes", "pad0", "plm"}
ATTR = {"type", "config", "config1", "config2", "sample_period"}  # of a struct perf_event_attr, what the library fills in


def places(ffi: Any, ctype: Any, base: int = 0, path: str = "") -> list[tuple[str, int, int]]:
    """Name, offset and size of the members that are no structures; of an array the first; bit-fields as their word."""
    if ctype.kind == "array":
        return places(ffi, ctype.item, base, f"{path}[0]")
    if ctype.kind not in ("struct", "union"):
        return [(path or ctype.cname, base, ffi.sizeof(ctype))]
    found = []
    for name, field in ctype.fields:
        if name in GIVEN or "reserved" in name or field.bitshift > 0 or (
                ctype.cname == "struct perf_event_attr" and name not in ATTR):
            continue
        found += places(ffi, field.type, base + field.offset, f"{path}.{name}" if path else name)
    return found


CASES = [("pfm4", "pfm_pmu_info_t", "narrow"), ("pfm3", "unsigned", "wide")]
CASES += [case for kind in ("narrow", "wide") for api in TYPES for ctype in TYPES[api] if (case := (api, ctype, kind)) not in CASES]
FFI = {"pfm3": ffi3, "pfm4": ffi4}


def sides(tag: str, *names: str) -> set[str]:
    """Members of a model's output: of the data side and of the code side, or of the one that a name begins with."""
    return {f"pfmlib_{tag}_output_param_t.pfp_{tag}_{side}.{name.removeprefix(side + '.')}" for side in ("drange", "irange")
            for name in names if not name.startswith(("drange.", "irange.")) or name.startswith(side)}


_NARROW = ("rr_nbr_used", "rr_br[0].reg_addr", "rr_br[0].reg_num", "rr_br[0].reg_alt_addr")
_WIDE = ("rr_nbr_used", "rr_br[0].reg_num", "drange.rr_br[0].reg_value", "drange.rr_br[0].reg_addr")
# What leaves the bytes of a caller as they should be, and so is no difference: the upper half of a number in memory that
# the caller has to zero; zeros over a zero that the library writes or the caller gave (Montecito's data ranges and
# Itanium's code ranges have no offsets); what belongs to nobody (padding, the values of PMDs, reserved bits next to
# bit-fields, of which a compiler may write the bytes with the bits only).
SAME = {
    "narrow": {*sides("ita2", *_NARROW, "irange.rr_infos[0].rr_soff"),
        *sides("mont", *_NARROW, "drange.rr_infos[0].rr_soff", "drange.rr_infos[0].rr_eoff"),
        *sides("ita", *_NARROW, "irange.rr_infos[0].rr_soff", "irange.rr_infos[0].rr_eoff"),
        "pfm_pmu_info_t.is_present",
        "pfm_event_info_t.is_precise", "pfm_event_attr_info_t.is_dfl", "pfmlib_event_t.flags",
        "pfm_perf_encode_arg_t.flags", "perf_event_attr.sample_period", "perf_event_attr.config2"},
    "wide": {*sides("ita2", *_WIDE, "irange.rr_infos[0].rr_eoff"), *sides("mont", *_WIDE, "irange.rr_infos[0].rr_eoff"),
        *sides("ita", *_WIDE, "irange.rr_br[0].reg_value", "irange.rr_br[0].reg_addr"),
        "pfmlib_output_param_t.pfp_pmcs[0].reg_num", "pfmlib_output_param_t.pfp_pmds[0].reg_num",
        "pfmlib_output_param_t.pfp_pmds[0].reg_alt_addr", "pfmlib_event_t.event", "pfmlib_event_t.num_masks",
        "pfmlib_regmask_t.bits[0]", "pfm_event_info_t.nattrs", "pfm_event_attr_info_t.is_dfl",
        "pfm_event_attr_info_t.dfl_bool", "pfm_event_attr_info_t.dfl_int", "pfm_perf_encode_arg_t.cpu",
        "pfm_perf_encode_arg_t.flags", "perf_event_attr.sample_period", "perf_event_attr.config2"},
}


@cache
def calls(api: str, ctype: str) -> list[Vector]:
    """Recorded calls that fill in a type."""
    vectors = recorded(api)
    if ctype.startswith("pfmlib") and "output" in ctype:
        pmu = next((pmu for tag, pmu in TAGS.items() if f"_{tag}_" in ctype), "itanium2")
        return [v for v in vectors if v["kind"] == "dispatch" and v["pmu"] == pmu and v["expect"]["ret"] == 0
                and (ctype == "pfmlib_output_param_t" or v.get("model_out"))][:200]
    if api == "pfm3":
        names = {"pfmlib_event_t": "pfm_find_full_event", "pfmlib_regmask_t": "pfm_get_impl_pmcs", "unsigned": "pfm_get_num_events"}
        return [v for v in vectors if v.get("call") == names[ctype]]
    info = [v for v in vectors if v["kind"] == "info"]
    if ctype == "pfm_pmu_info_t":
        return [v for v in info if "event" not in v]
    if "info" in ctype:
        return info
    return [v for v in vectors if v["kind"] == "encode" and (v["os"] == "none") == ("pmu" in ctype)][::8]


@pytest.mark.parametrize(("api", "ctype", "kind"), CASES)
def test_the_members(api: str, ctype: str, kind: str) -> None:
    """The members that go unnoticed are those that have to."""
    function, arg = TYPES[api][ctype]
    name = ctype.removeprefix("struct ")
    members = places(FFI[api], FFI[api].typeof(ctype))
    some = calls(api, name)

    def asked(offset: int, size: int) -> list[Vector]:
        half = size // 2
        what, bytes_, at = ("n", size - half, offset + half) if kind == "narrow" else ("w", size, offset + size)
        change = f"{function} {what.upper() if ctype.startswith('struct') else what} {bytes_} {arg} {at}"
        return [vector | {"env": {**environment(vector), "LIBPFM_MUTANT": change}} for vector in some]

    library = str(forwarder(api))
    # A number that is wrong crashes nobody, so that one process can serve all; half a pointer does, until it is given up.
    numbers = [place for place in members if place[2] < 8 or api == "pfm3"]
    replies = runner.ask(library, api, [v for _, *place in numbers for v in asked(*place)], jobs=1, timeout=20).replies
    assert None not in replies
    found = {member: replies[n * len(some):(n + 1) * len(some)] for n, (member, _, _) in enumerate(numbers)}
    found |= {member: runner.ask(library, api, asked(*place), jobs=1, timeout=20).replies
              for member, *place in members if member not in found}
    unnoticed = {f"{name}.{member}" for member, replies in found.items() if all(
        reply is not None and "answer" in reply and not runner.differences(api, vector, vector["expect"], reply["answer"])
        for vector, reply in zip(some, replies, strict=True))}
    assert unnoticed == {member for member in SAME[kind] if member.startswith(f"{name}.")}


def test_a_wide_member_of_a_request(tmp_path: Path) -> None:
    """There is padding after num_masks, so that everything else stays at its place."""
    shutil.copytree(PFM3.include_dir, tmp_path / "include")
    path = tmp_path / "include" / "perfmon" / "pfmlib.h"
    text = path.read_text()
    assert text.count("unsigned int num_masks;") == 1
    path.write_text(text.replace("unsigned int num_masks;", "unsigned long num_masks;"))
    built = build_library(PFM3, tmp_path, f"-I{tmp_path / 'include'}", "-D_Static_assert(...)=", "-w")
    report = runner.run(str(built), "pfm3", vectors=recorded("pfm3")[::10], jobs=2)
    assert report.status == 4
    assert {f.function for f in report.findings} >= {"pfm_dispatch_events", "pfm_get_full_event_name"}


def test_an_input_that_is_changed(tmp_path: Path) -> None:
    library = with_code(DISPATCH, tmp_path, "((pfmlib_input_param_t *)in)->pfp_dfl_plm ^= 1;")
    calls = [v for v in recorded("pfm3") if v["kind"] == "dispatch" and v["expect"]["ret"] == 0][:50]
    report = runner.run(str(library), "pfm3", vectors=calls)
    assert "input changed" in {d.field for f in report.findings for d in f.differences}
