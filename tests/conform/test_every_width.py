"""Every member that a library fills in, written too narrowly or too widely, without debug information: each is found.

The shim calls our own library and then does to the caller's memory what a member of another width would do: the upper
half stays as the caller had it, or as many bytes more are written.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pypfm._c.pfm3 import ffi as ffi3
from pypfm._c.pfm4 import ffi as ffi4

from native import CC, PFM3, PFM4, build, build_library, library_sources
from pypfm.conform import runner
from pypfm.conform.model import Vector
from pypfm.conform.vectors import environment, recorded

TAMPER = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib.h>
#define ROOM 40000
static char before[ROOM];
static void remember(const void *memory, size_t size) { if (memory) memcpy(before, memory, size); }
static void tamper(const char *what, char *memory)
{
	char kind[8] = "", name[80] = "";
	unsigned long offset = 0, size = 0;
	const char *wish = getenv("LIBPFM_SHIM");

	if (!memory || !wish || sscanf(wish, "%7s %79s %lu %lu", kind, name, &offset, &size) != 4 || strcmp(name, what))
		return;
	if (!strcmp(kind, "narrow"))
		memcpy(memory + offset + size / 2, before + offset + size / 2, size - size / 2);
	else
		memset(memory + offset + size, 0, size);
}
#define SHIM(function, parameters, arguments, pointer, type) int real_##function parameters; \
	int shim_##function parameters __asm__(#function); int shim_##function parameters { int ret; \
	remember(pointer, sizeof(type)); ret = real_##function arguments; if (!ret) tamper(#type, (char *)pointer); return ret; }
"""
SHIMS4 = r"""
#include <perfmon/pfmlib_perf_event.h>
SHIM(pfm_get_pmu_info, (int a, void *p), (a, p), p, pfm_pmu_info_t)
SHIM(pfm_get_event_info, (int a, int b, void *p), (a, b, p), p, pfm_event_info_t)
SHIM(pfm_get_event_attr_info, (int a, int b, int c, void *p), (a, b, c, p), p, pfm_event_attr_info_t)
int real_pfm_get_os_event_encoding(const char *, int, int, void *);
int shim_encode(const char *text, int plm, int os, void *arg) __asm__("pfm_get_os_event_encoding");
int shim_encode(const char *text, int plm, int os, void *arg)
{
	pfm_perf_encode_arg_t *perf = arg;
	const char *wish = getenv("LIBPFM_SHIM");
	int attr = wish && strstr(wish, "perf_event_attr"), ret;

	if (os == PFM_OS_NONE)
		remember(arg, sizeof(pfm_pmu_encode_arg_t));
	else if (attr)
		remember(perf->attr, sizeof(struct perf_event_attr));
	else
		remember(arg, sizeof *perf);
	ret = real_pfm_get_os_event_encoding(text, plm, os, arg);
	if (!ret && os == PFM_OS_NONE)
		tamper("pfm_pmu_encode_arg_t", arg);
	else if (!ret)
		attr ? tamper("perf_event_attr", (char *)perf->attr) : tamper("pfm_perf_encode_arg_t", arg);
	return ret;
}
"""
SHIMS3 = r"""
#include <perfmon/pfmlib_itanium.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
#define PLAIN(function, type) SHIM(function, (type *p), (p), p, type)
SHIM(pfm_find_full_event, (const char *text, pfmlib_event_t *p), (text, p), p, pfmlib_event_t)
PLAIN(pfm_get_impl_pmcs, pfmlib_regmask_t)
PLAIN(pfm_get_num_events, unsigned)
int real_pfm_dispatch_events(void *, void *, void *, void *);
int shim_dispatch(void *in, void *model_in, void *out, void *model_out) __asm__("pfm_dispatch_events");
int shim_dispatch(void *in, void *model_in, void *out, void *model_out)
{
	static const struct { const char *name; size_t size; } types[] = {
#define TYPE(name) { #name, sizeof(name) }
		TYPE(pfmlib_ita2_output_param_t), TYPE(pfmlib_mont_output_param_t), TYPE(pfmlib_ita_output_param_t) };
	const char *wish = getenv("LIBPFM_SHIM");
	int ret, n = 0;

	while (n < 3 && !(wish && strstr(wish, types[n].name)))
		n++;
	remember(n < 3 ? model_out : out, n < 3 ? types[n].size : sizeof(pfmlib_output_param_t));
	ret = real_pfm_dispatch_events(in, model_in, out, model_out);
	if (!ret)
		n < 3 ? tamper(types[n].name, model_out) : tamper("pfmlib_output_param_t", out);
	return ret;
}
"""
TAGS = {"ita2": "itanium2", "mont": "montecito", "ita": "itanium"}
FUNCTIONS = {
    "pfm4": ["pfm_get_pmu_info", "pfm_get_event_info", "pfm_get_event_attr_info", "pfm_get_os_event_encoding"],
    "pfm3": ["pfm_find_full_event", "pfm_get_impl_pmcs", "pfm_get_num_events", "pfm_dispatch_events"],
}
TYPES = {
    "pfm4": ["pfm_pmu_info_t", "pfm_event_info_t", "pfm_event_attr_info_t", "pfm_pmu_encode_arg_t",
             "pfm_perf_encode_arg_t", "struct perf_event_attr"],
    "pfm3": ["pfmlib_output_param_t", "pfmlib_ita2_output_param_t", "pfmlib_mont_output_param_t", "pfmlib_ita_output_param_t",
             "pfmlib_event_t", "pfmlib_regmask_t", "unsigned"],
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


CASES = [(api, ctype) for api, ctypes in TYPES.items() for ctype in ctypes]
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


@pytest.fixture(scope="module")
def shims(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    built = {}
    for api, library, text in (("pfm3", PFM3, SHIMS3), ("pfm4", PFM4, SHIMS4)):
        directory = tmp_path_factory.mktemp(api)
        (directory / "shim.c").write_text(TAMPER + text)
        build(CC, "-c", "-fPIC", "-fno-strict-aliasing", "-w", *library.cflags, directory / "shim.c", "-o", directory / "shim.o")
        renamed = [f"-D{name}=real_{name}" for name in FUNCTIONS[api]]
        built[api] = build_library(library, directory, *renamed, "-w",
                                   sources=[*library_sources(library, directory), directory / "shim.o"])
    return built


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


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["narrow", "wide"])
@pytest.mark.parametrize(("api", "ctype"), CASES)
def test_the_members(api: str, ctype: str, kind: str, shims: dict[str, Path]) -> None:
    """The members that go unnoticed are those that have to."""
    name = ctype.removeprefix("struct ")
    members = places(FFI[api], FFI[api].typeof(ctype))
    some = calls(api, name)

    def asked(offset: int, size: int) -> list[Vector]:
        return [vector | {"env": {**environment(vector), "LIBPFM_SHIM": f"{kind} {name} {offset} {size}"}} for vector in some]

    # A number that is wrong crashes nobody, so that one process can serve all; half a pointer does, until it is given up.
    numbers = [place for place in members if place[2] < 8 or api == "pfm3"]
    replies = runner.ask(str(shims[api]), api, [v for _, *place in numbers for v in asked(*place)], jobs=1, timeout=20).replies
    assert None not in replies
    found = {member: replies[n * len(some):(n + 1) * len(some)] for n, (member, _, _) in enumerate(numbers)}
    found |= {member: runner.ask(str(shims[api]), api, asked(*place), jobs=1, timeout=20).replies
              for member, *place in members if member not in found}
    unnoticed = {f"{name}.{member}" for member, replies in found.items() if all(
        reply is not None and "answer" in reply and not runner.differences(api, vector, vector["expect"], reply["answer"])
        for vector, reply in zip(some, replies, strict=True))}
    assert unnoticed == {member for member in SAME[kind] if member.startswith(f"{name}.")}


@pytest.mark.long
@pytest.mark.slow
def test_the_shims_alone_change_nothing(shims: dict[str, Path]) -> None:
    for api, ctype in ((api, ctype.removeprefix("struct ")) for api, ctype in CASES):
        answers = runner.ask(str(shims[api]), api, calls(api, ctype), jobs=1, timeout=20)
        for vector, reply in zip(calls(api, ctype), answers.replies, strict=True):
            assert reply is not None
            assert not runner.differences(api, vector, vector["expect"], reply["answer"])
