"""The calls of pypfm's recorded sequences, without answers: a program that writes them as JSON lines.

    python tests/conform/sequences.py pfm4 > calls.jsonl
    pypfm vectors record libpfm.so.4 --vectors calls.jsonl | bzip2 > pypfm/vectors/sequences_pfm4.jsonl.bz2

For libpfm 3 the library is pypfm's own, which other tests hold to the specification.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

Step = dict[str, Any]
Sequence = dict[str, Any]

INT_MAX, UINT_MAX = 2147483647, 4294967295
GLM, INACTIVE = {"LIBPFM_FORCE_PMU": "glm"}, {"LIBPFM_ENCODE_INACTIVE": "1"}


def call(name: str, *args: Any, kind: str = "", **more: Any) -> Step:
    """A call; its class where arguments do not say it: range or small."""
    return {"call": name, "args": list(args)} | ({"class": kind} if kind else {}) | more


def out(name: str, **more: Any) -> Step:
    """Memory that a call writes into: ``set`` for its members, ``fill`` for its bytes, ``room`` for its elements."""
    return {"out": name, **more}


def free(name: str) -> Step:
    return {"free": name}


# ---- libpfm 4 ------------------------------------------------------------------------------

INITIALIZE, TERMINATE = call("pfm_initialize"), call("pfm_terminate")
PMUS4 = {"perf": 51, "glm": 202}
EVENTS4 = {"perf": "perf::PERF_COUNT_HW_CPU_CYCLES", "glm": "glm::ICACHE:MISSES"}
FIRST4 = {"perf": "perf::PERF_COUNT_HW_CPU_CYCLES", "glm": "glm::UNHALTED_CORE_CYCLES"}
BAD_EVENTS = ("perf::NONE", "none::X", "", "glm::ICACHE:NONE", "glm::ICACHE:c=1:c=2", "perf::PERF_COUNT_HW_CPU_CYCLES:u=x",
              "glm::ICACHE,glm::ICACHE", "glm::ICACHE:HIT:MISSES", "glm::ICACHE:period=5", "glm::ICACHE:0x1ff", "::", "x" * 300)


def raw(**members: Any) -> Step:
    """An argument of pfm_get_os_event_encoding() for PFM_OS_NONE, with a string to be freed."""
    return out("arg", type="pfm_pmu_encode_arg_t", set={"size": 32, "codes": None, "fstr": out("fstr", type="char *")} | members)


def attr(**members: Any) -> Step:
    return out("attr", type="struct perf_event_attr", fill=0, set={"size": 128} | members)


def perf(**members: Any) -> Step:
    """An argument of pfm_get_os_event_encoding() for perf_events, with a string to be freed."""
    return out("arg", type="pfm_perf_encode_arg_t", set={"size": 40, "attr": attr(), "fstr": out("fstr", type="char *")} | members)


def encodings(event: str, plm: int = 8) -> Iterator[Step]:
    """An event through every function that encodes; what it allocates is freed."""
    yield call("pfm_get_event_encoding", event, plm, out("fstr"), out("idx"), out("codes", set=None), out("count", set=0))
    yield from (free("fstr"), free("codes"))
    yield call("pfm_get_os_event_encoding", event, plm, 0, raw())
    yield from (free("fstr"), free("arg.codes"))
    for layer in (1, 2):
        yield call("pfm_get_os_event_encoding", event, plm, layer, perf())
        yield free("fstr")
    yield call("pfm_get_perf_event_encoding", event, plm, attr(), out("fstr"), out("idx"))
    yield free("fstr")


def every4(event: str = EVENTS4["perf"], idx: Any = 0, pmu: int = 51) -> Iterator[Step]:
    """Each function once, with arguments that are right for a library that is initialised."""
    yield call("pfm_get_version")
    yield call("pfm_find_event", event, **{"as": "found"})
    yield call("pfm_get_event_next", idx, **{"as": "next"})
    yield call("pfm_get_pmu_info", pmu, out("pmu", set={"size": 0}))
    yield call("pfm_get_event_info", idx, 0, out("event", set={"size": 0}))
    yield call("pfm_get_event_attr_info", idx, 0, 0, out("attribute", set={"size": 0}))
    yield call("pfm_get_os_event_encoding", event, 8, 0, raw())
    yield call("pfm_get_os_event_encoding", event, 8, 1, perf())
    yield call("pfm_get_event_encoding", event, 8, out("fstr"), out("idx"), out("codes", set=None), out("count", set=0))
    yield call("pfm_get_perf_event_encoding", event, 8, attr(), out("fstr"), out("idx"))
    yield call("pfm_pmu_validate", pmu, {"file": "file"})
    yield from (call("pfm_strerror", code) for code in (0, -1, -3, -12))


def nulls4(event: str) -> Iterator[Step]:
    yield call("pfm_find_event", None)
    yield call("pfm_get_pmu_info", 51, None)
    for layer in (0, 1, 2):
        yield call("pfm_get_event_info", {"value": "idx"}, layer, None)
        yield call("pfm_get_event_attr_info", {"value": "idx"}, 0, layer, None)
        yield call("pfm_get_os_event_encoding", event, 8, layer, None)
        yield call("pfm_get_os_event_encoding", None, 8, layer, raw() if layer == 0 else perf())
    yield call("pfm_get_os_event_encoding", event, 8, 0, raw(fstr=None))
    yield call("pfm_get_os_event_encoding", event, 8, 1, perf(fstr=None))
    yield call("pfm_get_event_encoding", None, 8, out("fstr"), out("idx"), out("codes", set=None), out("count", set=0))
    yield call("pfm_get_event_encoding", event, 8, None, None, out("codes", set=None), out("count", set=0))
    yield free("codes")
    yield call("pfm_get_event_encoding", event, 8, out("fstr"), out("idx"), None, out("count", set=0))
    yield call("pfm_get_event_encoding", event, 8, out("fstr"), out("idx"), out("codes", set=None), None)
    yield call("pfm_get_perf_event_encoding", None, 8, attr(), out("fstr"), out("idx"))
    yield call("pfm_get_perf_event_encoding", event, 8, None, out("fstr"), out("idx"))
    yield call("pfm_get_perf_event_encoding", event, 8, attr(), None, None)
    yield call("pfm_pmu_validate", 51, None)


def ranges4(event: str) -> Iterator[Step]:
    """Numbers that no library has, and errors on which nothing may be written."""
    idx = {"value": "idx"}
    for number in (-1, 0, 50, 516, 517, 1000, INT_MAX, -INT_MAX - 1):
        yield call("pfm_get_pmu_info", number, out("pmu", set={"size": 0}), kind="range")
        yield call("pfm_pmu_validate", number, {"file": "file"}, kind="range")
    for number in (-1, 1000, INT_MAX, -INT_MAX - 1):
        yield call("pfm_get_event_next", number, kind="range")
        yield call("pfm_get_event_info", number, 0, out("event", set={"size": 0}), kind="range")
        yield call("pfm_get_event_attr_info", number, 0, 0, out("attribute", set={"size": 0}), kind="range")
    for number in (-1, 100, INT_MAX):
        yield call("pfm_get_event_attr_info", idx, number, 0, out("attribute", set={"size": 0}), kind="range")
    for layer in (-1, 3, 1000):
        yield call("pfm_get_event_info", idx, layer, out("event", set={"size": 0}), kind="range")
        yield call("pfm_get_event_attr_info", idx, 0, layer, out("attribute", set={"size": 0}), kind="range")
        yield call("pfm_get_os_event_encoding", event, 8, layer, perf(), kind="range")
    for plm in (32, -1, 256):
        yield call("pfm_get_os_event_encoding", event, plm, 0, raw(), kind="range")
        yield call("pfm_get_os_event_encoding", event, plm, 1, perf(), kind="range")
        yield call("pfm_get_perf_event_encoding", event, plm, attr(), out("fstr"), out("idx"), kind="range")
        yield call("pfm_get_event_encoding", event, plm, out("fstr"), out("idx"), out("codes", set=None), out("count", set=0), kind="range")
    for bad in BAD_EVENTS:
        yield call("pfm_find_event", bad, kind="range")
        yield call("pfm_get_os_event_encoding", bad, 8, 0, raw(), kind="range")
        yield call("pfm_get_os_event_encoding", bad, 8, 2, perf(), kind="range")
        yield call("pfm_get_event_encoding", bad, 8, out("fstr"), out("idx"), out("codes", set=None), out("count", set=0), kind="range")
        yield call("pfm_get_perf_event_encoding", bad, 8, attr(), out("fstr"), out("idx"), kind="range")
    yield from (call("pfm_strerror", code, kind="range") for code in (1, -13, -14, 1000, INT_MAX, -INT_MAX - 1))


def sizes4(event: str) -> Iterator[Step]:
    """Structures of every size: too small, too large with zeros after what the library knows, and with other bytes there."""
    idx = {"value": "idx"}
    for size, fill in ((1, 165), (31, 165), (39, 165), (40, 165), (55, 165), (63, 165), (64, 165), (72, 165), (80, 165), (96, 0), (96, 165)):
        more: Step = {"fill": fill, "room": 2, "set": {"size": size}}
        kind = {"kind": "small" if size < 64 else "valid"}
        yield call("pfm_get_pmu_info", 51, out("pmu", **more), **kind)
        yield call("pfm_get_event_info", idx, 0, out("event", **more), **kind)
        yield call("pfm_get_event_attr_info", idx, 0, 0, out("attribute", **more), **kind)
        for layer, arg in ((0, raw(size=size, fstr=None)), (1, perf(size=size, fstr=None))):
            yield call("pfm_get_os_event_encoding", event, 8, layer, arg | {"fill": fill, "room": 4}, **kind)
    for size in (0, 1, 63, 64, 72, 96, 120, 128, 136, 4096):
        yield call("pfm_get_perf_event_encoding", event, 8, attr(size=size) | {"room": 40}, None, None, kind="small" if size < 64 else "valid")
    for count in (-1, 0, 1, 2):
        array = out("array", type="uint64_t", room=4)
        yield call("pfm_get_os_event_encoding", event, 8, 0, raw(codes=array, count=count, fstr=None), kind="valid" if count > 0 else "small")
        yield call("pfm_get_event_encoding", event, 8, None, out("idx"), out("codes", set=array), out("count", set=count),
                   kind="valid" if count > 0 else "small")
    yield call("pfm_get_event_encoding", event, 8, None, out("idx"), out("codes", set=None), out("count", set=5), kind="range")


def sequences4() -> Iterator[Sequence]:
    yield sequence("before", [*every4(), *(call("pfm_pmu_validate", n, {"file": "file"}) for n in PMUS4.values()), TERMINATE, *every4()])
    yield sequence("errors", [call("pfm_strerror", code) for code in range(1, -16, -1)])
    for name, env in (("perf", {}), ("glm", GLM), ("inactive", INACTIVE)):
        pmu = "perf" if name == "perf" else "glm"
        event, idx, tag = EVENTS4[pmu], {"value": "idx"}, name
        start = [INITIALIZE, call("pfm_find_event", FIRST4[pmu], **{"as": "first"}), call("pfm_find_event", event, **{"as": "idx"})]
        whole = [*every4(event, idx, PMUS4[pmu]), *encodings(event)]
        yield sequence(f"lives-{tag}", [*start, *whole, INITIALIZE, *whole, TERMINATE, *every4(event, idx, PMUS4[pmu]), TERMINATE,
                                        *start, *whole, TERMINATE, INITIALIZE, TERMINATE, INITIALIZE, *whole], env)
        yield sequence(f"nulls-{tag}", [*start, *nulls4(event)], env)
        yield sequence(f"ranges-{tag}", [*start, *ranges4(event), *whole], env)
        yield sequence(f"sizes-{tag}", [*start, *sizes4(event), *whole], env)
        for plm in (0, 1, 9, 31):
            yield sequence(f"levels-{tag}-{plm}", [*start, *encodings(event, plm)], env)
        for n, number in enumerate(PMUS4.values()):
            yield sequence(f"validate-{tag}-{n}", [INITIALIZE, call("pfm_pmu_validate", number, {"file": "file"}), TERMINATE,
                                                   call("pfm_pmu_validate", number, {"file": "file"})], env)
        # The structure of the codes is too small, and a string is wanted.
        yield sequence(f"too-small-{tag}", [*start, call("pfm_get_os_event_encoding", event, 8, 0, raw(
            codes=out("array", type="uint64_t", room=4), count=0), kind="small")], env)
        yield sequence(f"no-attr-{tag}", [*start, call("pfm_get_os_event_encoding", event, 8, 1, perf(attr=None), kind="null")], env)


# ---- libpfm 3 ------------------------------------------------------------------------------

TYPES3 = {"itanium2": 3, "montecito": 4, "itanium": 2, "gen_ia64": 1}
CYCLES3 = {"itanium2": "CPU_CYCLES", "montecito": "CPU_OP_CYCLES_ALL", "itanium": "CPU_CYCLES"}
# Of each PMU an event with unit masks if there is one, with its index and code; and the first of an event address register.
OTHERS3 = {"itanium2": (179, "CPU_CYCLES:ANY", 18, 183), "montecito": (474, "L3_INSERTS:M", 218, 205), "itanium": (130, "CPU_CYCLES", 18, 115)}
TAGS3 = {"itanium2": "ita2", "montecito": "mont", "itanium": "ita"}
WORDS = {"value": ("pfm_get_num_events", "pfm_get_num_pmcs", "pfm_get_num_pmds", "pfm_get_num_counters", "pfm_get_hw_counter_width",
                   "pfm_get_max_event_name_len", "pfm_get_pmu_type", "pfm_get_version"),
         "mask": ("pfm_get_impl_pmcs", "pfm_get_impl_pmds", "pfm_get_impl_counters"),
         "event": ("pfm_get_cycle_event", "pfm_get_inst_retired_event")}
PREDICATES = ("is_ear", "is_dear", "is_dear_tlb", "is_dear_cache", "is_dear_alat", "is_iear", "is_iear_tlb", "is_iear_cache", "is_btb",
              "is_etb", "support_opcm", "support_iarr", "support_darr", "support_all")
NUMBERS = ("get_event_maxincr", "get_event_umask", "get_event_group", "get_event_grp", "get_event_set", "get_event_type")
MODES = ("get_ear_mode", "get_event_ear_mode")
# What each PMU does not have.
LACKING = {"ita2": {"is_etb", "get_event_type", "support_all"}, "mont": {"is_btb"},
           "ita": {"is_etb", "support_all", "is_dear_alat", "get_event_group", "get_event_grp", "get_event_set", "get_event_type", "get_event_ear_mode"}}


def generic3(idx: int, name: str, code: int, mask: str = "ANY") -> Iterator[Step]:
    """Each function about events once, with arguments that are right for an event."""
    for place, functions in WORDS.items():
        yield from (call(function, out(place)) for function in functions)
    yield call("pfm_find_event", name, out("idx"))
    yield call("pfm_find_event_byname", name, out("idx"))
    yield call("pfm_find_event_bycode", code, out("idx"))
    yield call("pfm_find_event_bycode_next", code, 0, out("idx"))
    yield call("pfm_find_full_event", name, out("event"))
    yield call("pfm_find_event_mask", idx, mask, out("mask_idx"))
    yield call("pfm_get_event_code", idx, out("code"))
    yield call("pfm_get_event_code_counter", idx, 4, out("code"))
    yield call("pfm_get_event_counters", idx, out("mask"))
    yield call("pfm_get_num_event_masks", idx, out("value"))
    yield call("pfm_get_event_mask_code", idx, 0, out("code"))
    yield call("pfm_get_event_name", idx, out("name", room=64), 64)
    yield call("pfm_get_event_mask_name", idx, 0, out("name", room=64), 64)
    yield call("pfm_get_full_event_name", out("event", fill=0, set={"event": idx}), out("name", room=64), 64)
    yield call("pfm_get_pmu_name", out("name", room=64), 64)
    yield call("pfm_get_pmu_name_bytype", 3, out("name", room=64), 64)
    yield call("pfm_list_supported_pmus", {"callback": "told"})
    yield call("pfm_is_pmu_supported", 3)
    yield call("pfm_strerror", -4)


def of_model3(tag: str, idx: int) -> Iterator[Step]:
    """Each function of a PMU once."""
    yield from (call(f"pfm_{tag}_{name}", idx) for name in PREDICATES if name not in LACKING[tag])
    yield from (call(f"pfm_{tag}_{name}", idx, out("value")) for name in NUMBERS if name not in LACKING[tag])
    yield from (call(f"pfm_{tag}_{name}", idx, out("mode")) for name in MODES if name not in LACKING[tag])
    if tag != "ita":
        yield call(f"pfm_{tag}_irange_is_fine", out("output", fill=0), out("model", fill=0))


def freed3(idx: int) -> Iterator[Step]:
    """Descriptions, which the caller frees."""
    yield call("pfm_get_event_description", idx, out("text"))
    yield free("text")
    yield call("pfm_get_event_mask_description", idx, 0, out("text"))
    yield free("text")


def described3(idx: int) -> Iterator[Step]:
    """The same where they fail: there is nothing to free."""
    return (step for step in freed3(idx) if "call" in step)


def dispatch3(events: list[int], **members: Any) -> Step:
    """pfm_dispatch_events() on a list of no events, or of those that members have."""
    given = out("input", fill=0, set={"pfp_event_count": len(events), "pfp_dfl_plm": 8} | members)
    return call("pfm_dispatch_events", given, None, out("output"), None, kind="range" if not events else "valid")


def with_nulls(steps: Iterator[Step]) -> Iterator[Step]:
    """Each call with NULL for one of its pointers, for each of them."""
    for step in steps:
        for n, arg in enumerate(step["args"]):
            if isinstance(arg, (dict, str)) and not (step["call"] == "pfm_get_event_counters" and n == 1):
                yield call(step["call"], *step["args"][:n], None, *step["args"][n + 1:])


def with_indices(steps: Iterator[Step], indices: tuple[int, ...]) -> Iterator[Step]:
    """Each call about an event with indices that no event has."""
    for step in steps:
        if step["args"] and step["args"][0] == 0 and not step["call"].endswith("ear_mode"):  # which reads there
            yield from (call(step["call"], index, *step["args"][1:], kind="range") for index in indices)


def rooms3() -> Iterator[Step]:
    """Buffers of every size."""
    for room in (0, 1, 2, 5, 20):
        kind = {"kind": "small" if room < 20 else "valid"}
        yield call("pfm_get_event_name", 0, out("name", room=room), room, **kind)
        yield call("pfm_get_event_mask_name", 0, 0, out("name", room=room), room, **kind)
        yield call("pfm_get_full_event_name", out("event", fill=0, set={"event": 0}), out("name", room=room), room, **kind)
        yield call("pfm_get_pmu_name", out("name", room=room), room, **kind)
        yield call("pfm_get_pmu_name_bytype", 4, out("name", room=room), room, **kind)
    yield call("pfm_get_pmu_name", out("name", room=4), -1, kind="small")


def types3() -> Iterator[Step]:
    """Types of PMUs that there are, and that no library has; then which one is current."""
    for number in (-1, 0, 99, INT_MAX, -INT_MAX - 1, 2, 3, 4):
        kind = {"kind": "valid" if number in TYPES3.values() else "range"}
        yield call("pfm_is_pmu_supported", number, **kind)
        yield call("pfm_get_pmu_name_bytype", number, out("name", room=64), 64, **kind)
        yield call("pfm_force_pmu", number, **kind)
        yield call("pfm_get_pmu_type", out("value"))
        yield call("pfm_get_pmu_name", out("name", room=64), 64)
        yield call("pfm_list_supported_pmus", {"callback": "told"})


def perfmon2() -> Iterator[Step]:
    """The calls of a kernel, with descriptors and pointers that are none."""
    for fd in (-1, 1000):
        kind = {"kind": "range"}
        yield call("perfmonctl", fd, 5, None, 0)
        yield call("pfm_attach", fd, 0, 0, **kind)
        yield from (call(f"pfm_{name}", fd, None, 0) for name in ("create_evtsets", "delete_evtsets", "getinfo_evtsets", "getinfo_evtsets_v2old",
                                                                "read_pmds", "write_pmcs", "write_pmds"))
        yield from (call(f"pfm_{name}", fd, 0, None, 0) for name in ("create_sets", "getinfo_sets"))
        yield from (call(f"pfm_{name}", fd, 0, 0, None, 0) for name in ("read", "write"))
        yield from (call(f"pfm_{name}", fd, None) for name in ("load_context", "start"))
        yield from (call(f"pfm_{name}", fd, **kind) for name in ("stop", "restart", "unload_context"))
        yield call("pfm_set_state", fd, 0, 0, **kind)
        yield from (call(f"pfm_{name}", None, 4096, 1, 1, fd, 0) for name in ("mmap", "mmap64"))
    yield from (call(f"pfm_{name}", None, None, None, 0) for name in ("create_context", "create_context_v2old"))
    yield call("pfm_create", -1, None)
    yield call("pfm_model_advance", 0, 0, 0)
    yield call("pfm_model_advance_code", 0, 0, 0, 0)
    yield call("pfm_model_advance_task", -1, 0, 0, 0, kind="range")
    yield call("pfm_model_set_ip", 0)
    yield call("pfm_model_set_pmd", 1000, 0, kind="range")
    yield call("pfm_model_time", 0)
    yield call("pfm_model_time_task", -1, 0, kind="range")


def sequences3() -> Iterator[Sequence]:
    every = [*generic3(0, "CPU_CYCLES", 18), *described3(0)]
    models = [step for tag in LACKING for step in of_model3(tag, 0)]
    force = {pmu: call("pfm_force_pmu", number) for pmu, number in TYPES3.items()}
    yield sequence("before", [*every, *models, dispatch3([]), call("pfm_initialize"), *every, call("pfm_force_pmu", 99, kind="range"), *every])
    yield sequence("errors", [call("pfm_strerror", code, kind="valid" if -40 < code <= 0 else "range") for code in (*range(2, -40, -1), INT_MAX, -INT_MAX - 1)])
    yield sequence("models", [*with_nulls(iter(models)), *with_indices(iter(models), (497, 637, 1000, UINT_MAX))])
    yield sequence("types", [*types3(), call("pfm_initialize"), *types3()])
    yield sequence("perfmon2", [*perfmon2()], needs="pfm_model_advance")
    for pmu, tag in TAGS3.items():
        env = {"LIBPFM_FORCE_PMU": str(TYPES3[pmu])}
        other = next(force[name] for name in TAGS3 if name != pmu)
        index, name, code, ear = OTHERS3[pmu]
        about = [*generic3(0, CYCLES3[pmu], 18), *described3(0)]
        whole = [*about, *freed3(0), *freed3(index), *generic3(index, name, code, "M"), *of_model3(tag, 0), *of_model3(tag, ear)]
        last = [dispatch3([0], pfp_events=[{"event": 0}]), dispatch3([0, 1], pfp_events=[{"event": 0, "plm": 3}, {"event": 1}])]
        start = [call("pfm_initialize"), call("pfm_set_options", out("options", fill=0))]
        yield sequence(f"lives-{pmu}", [*start, *whole, *last, call("pfm_initialize"), *whole, other, *freed3(0), *about, force[pmu], *whole, *last,
                                        call("pfm_force_pmu", 99, kind="range"), *whole, *last], env)
        yield sequence(f"forced-{pmu}", [force[pmu], *whole, *last])
        yield sequence(f"nulls-{pmu}", [*start, call("pfm_set_options", None), *with_nulls(iter(about)), *whole], env)
        yield sequence(f"ranges-{pmu}", [*start, *with_indices(iter(about), (497, 637, 1000, INT_MAX, UINT_MAX)), *[
            step for name in ("", "NONE", "CPU_CYCLES:X", "X" * 300) for step in (
                call("pfm_find_event", name, out("idx"), kind="range"), call("pfm_find_event_byname", name, out("idx"), kind="range"),
                call("pfm_find_full_event", name, out("event"), kind="range"), call("pfm_find_event_mask", 0, name, out("idx"), kind="range"))],
            call("pfm_find_event_bycode", -1, out("idx"), kind="range"), call("pfm_find_event_bycode_next", 18, 1000, out("idx"), kind="range"),
            call("pfm_get_event_code_counter", 0, 99, out("code"), kind="range"), call("pfm_get_event_mask_code", 0, 99, out("code"), kind="range"),
            call("pfm_get_event_mask_name", 0, 99, out("name", room=64), 64, kind="range"), dispatch3([0], pfp_events=[{"event": 9999}]),
            dispatch3([0] * 600), dispatch3([0], pfp_dfl_plm=0, pfp_events=[{"event": 0}]), *whole], env)
        yield sequence(f"rooms-{pmu}", [*start, *rooms3(), *whole], env)
        # Verbose: what is printed then is not compared.
        yield sequence(f"options-{pmu}", [call("pfm_initialize"), call("pfm_set_options", out("options", fill=0, set={"pfm_verbose": 1})), *whole,
                                          call("pfm_set_options", out("options", fill=0)), *whole], env)
        yield sequence(f"no-counters-{pmu}", [*start, call("pfm_get_event_counters", 0, None, reference="SIGSEGV")], env)
        yield sequence(f"no-input-{pmu}", [*start, call("pfm_dispatch_events", None, None, None, None),
                                           call("pfm_dispatch_events", None, out("model", type=f"pfmlib_{tag}_input_param_t", fill=0), out("output"),
                                                None, reference="SIGSEGV")], env)
        for name in MODES[:1 + (tag != "ita")]:
            yield sequence(f"{name}-{pmu}", [*start, call(f"pfm_{tag}_{name}", 1000, out("mode"), kind="range", reference="reads beyond its table")], env)


def sequence(name: str, steps: list[Step], env: dict[str, str] | None = None, **more: Any) -> Sequence:
    return {"kind": "sequence", "id": name, "env": env or {}, **more, "steps": steps}


SEQUENCES: dict[str, Callable[[], Iterator[Sequence]]] = {"pfm3": sequences3, "pfm4": sequences4}

if __name__ == "__main__":
    for made in SEQUENCES[sys.argv[1]]():
        print(json.dumps(made, separators=(",", ":")))
