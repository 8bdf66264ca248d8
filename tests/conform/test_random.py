"""Random calls: the same ones for a seed, of every kind, most of them ones that a library takes."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, islice

import pytest
from pypfm._c.pfm3 import lib

from pypfm import GenericIA64, Goldmont, Itanium, Itanium2, Montecito, Perf
from pypfm.config import LIBRARIES
from pypfm.conform.model import Vector
from pypfm.conform.random.strings import IA64, ia64
from pypfm.conform.record import random_vectors, record
from pypfm.perf import Pmu

PMUS3 = {"itanium2": Itanium2(), "montecito": Montecito(), "itanium": Itanium(), "gen_ia64": GenericIA64()}
# Those with structures of their own.
QUALIFIED = ["itanium2", "montecito", "itanium"]
GENERIC4 = "gen_ia64-pfm4"  # as the ids have it: libpfm 3 has one, too
PMUS4 = {"glm": Goldmont(), "perf": Perf(), GENERIC4: Pmu("gen_ia64"), **{name: Pmu(name) for name in ("ita", "ita2", "mont")}}
KERNEL_HEADERS = "".join(path.read_text() for path in (LIBRARIES["pfm3"].include_dir / "perfmon").glob("perfmon*.h"))
NAMES = [*PMUS3, *PMUS4, "perf_raw"]

# The functions of libpfm 3 that no vector calls: they change the state, which the vectors' pmu and cpuid3 do,
# call back, or are of the kernel interface.  Queries of each model are those of kind "query";
# irange_is_fine() belongs to "dispatch".
NOT_CALLED = {"pfm_initialize", "pfm_set_options", "pfm_force_pmu", "pfm_list_supported_pmus",
              "pfm_self_start", "pfm_self_stop",
              *re.findall(r"\b(pfm_\w+)\(int fd", KERNEL_HEADERS),
              *re.findall(r"\b(pfm_model_\w+|pfm_mmap\w*|pfm_create\w*)\(", KERNEL_HEADERS)}


def calls_of(pmu: str, count: int, seed: int) -> Iterator[Vector]:
    name, _, api = pmu.partition("-")
    return random_vectors(name, count, seed, api or None)


@cache
def made(pmu: str, count: int = 2500, seed: int = 1) -> list[Vector]:
    return list(calls_of(pmu, count, seed))


def answers(pmu: str, seed: int = 1) -> list[Vector]:
    library = LIBRARIES["pfm3" if pmu in PMUS3 else "pfm4"]
    return record(str(library.path), pmu.partition("-")[0], 2500, seed).vectors


def without_id(vector: Vector) -> str:
    return json.dumps({k: v for k, v in vector.items() if k != "id"}, sort_keys=True)


def test_fewer_calls_are_the_first_of_many() -> None:
    assert made("glm", 300) == list(islice(calls_of("glm", 10_000, 1), 300))


# Draws do not depend on the machine or the version of Python: a change of these digests is a change
# of the sets that others have recorded.
DIGESTS = {
    "itanium2": "c3f88948fc97b8e2",
    "montecito": "da650de2b4e091f3",
    "itanium": "cae0ebd2beccea06",
    "gen_ia64": "7a46adbf66e53719",
    GENERIC4: "189f82cdc6c53292",
    "ita": "d3d0881bd12cab65",
    "ita2": "e510d3720959222e",
    "mont": "592f6b52deeedd40",
    "glm": "fcbd0eaf78379cb9",
    "perf": "b56bc66bd3e51600",
    "perf_raw": "65439d1d0e398b4d",
}


@pytest.mark.parametrize("pmu", NAMES)
def test_a_seed_gives_the_same_calls_everywhere(pmu: str) -> None:
    text = "\n".join(json.dumps(v, sort_keys=True) for v in made(pmu, 1000, 20240613))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[pmu]


@pytest.mark.parametrize("pmu", NAMES)
def test_another_seed_gives_other_calls(pmu: str) -> None:
    one, two = ({without_id(v) for v in made(pmu, 1000, seed)} for seed in (1, 2))
    most = {"gen_ia64": 0.4, GENERIC4: 0.3}.get(pmu, 0.25)  # of two events there is not much to ask
    assert len(one & two) < most * len(one), "queries and lookups of the same things, no more"
    assert made(pmu, 50, 1) != made(pmu, 50, 11)


def test_ids_are_unique_also_over_pmus_and_seeds() -> None:
    ids = {v["id"] for name in NAMES for seed in (1, 2) for v in made(name, 200, seed)}
    assert len(ids) == 200 * 2 * len(NAMES)


@pytest.mark.parametrize("pmu", PMUS3)
def test_every_kind_and_every_function_of_libpfm_3(pmu: str) -> None:
    calls = made(pmu)
    kinds = Counter(v["kind"] for v in calls)
    assert set(kinds) == {"dispatch", "call", "query"}
    assert min(kinds.values()) >= 200
    called = {v["call"] for v in calls if v["kind"] == "call"}
    ours = set(_functions())
    assert ours - called == NOT_CALLED | {"pfm_dispatch_events"}
    assert any(v["pmu"] is None for v in calls)


def _functions() -> list[str]:
    """The functions of the generic API that our header declares."""
    models = ("pfm_ita_", "pfm_ita2_", "pfm_mont_", "pfm_regmask_")
    return [name for name in dir(lib)
            if name.startswith("pfm_") and not name.startswith(models) and callable(getattr(lib, name))]


@pytest.mark.parametrize("pmu", QUALIFIED)
def test_requests_have_every_qualifier(pmu: str) -> None:
    requests = [v for v in made(pmu) if v["kind"] == "dispatch"]
    text = [json.dumps(v) for v in requests]
    tag = {"itanium2": "ita2", "montecito": "mont", "itanium": "ita"}[pmu]
    own = ["opcm1", "opcm2", "etb", "ipear"] if pmu == "montecito" else ["pmc8", "pmc9", "btb"]
    wanted = [f'"pfp_{tag}_{part}"' for part in ("counters", "iear", "dear", "irange", "drange", *own)]
    wanted += ['"thres"', '"flags": 1', '"cpuid3"', '"pfp_flags"', '"unavail_pmcs"', '"rr_plm"', '"plm"']
    wanted += {"itanium2": ['"ear_ism"', '"ism"', '"btb_ds"'], "montecito": ['"unit_masks"', '"opcm_match"'],
               "itanium": ['"ear_ism"', '"ism"', '"btb_tar"']}[pmu]
    for part in wanted:
        assert sum(part in t for t in text) >= 15, part
    outputs = Counter((("model_in" in v), v.get("model_out")) for v in requests)
    assert all(outputs[pair] for pair in [(True, True), (True, False), (False, None), (False, True)]), outputs


def test_requests_to_the_generic_pmu_have_no_structures() -> None:
    requests = [v for v in made("gen_ia64") if v["kind"] == "dispatch"]
    assert {key for v in requests for key in v} == {"id", "kind", "pmu", "dfl_plm", "pfp_flags", "events", "unavail_pmcs"}


@pytest.mark.parametrize("pmu", QUALIFIED)
def test_ranges_of_every_sort(pmu: str) -> None:
    ranges = [r for v in made(pmu) for n, r in dict(v.get("model_in") or {}).items() if n.endswith("irange")]
    assert {len(r["rr_limits"]) for r in ranges} == {0, 1, 2, 3, 4}


@pytest.mark.long
@pytest.mark.parametrize("pmu", NAMES)
def test_most_calls_succeed_and_each_error_occurs(pmu: str) -> None:
    """Of requests and strings about half; and all errors that they can bring about."""
    kind = "dispatch" if pmu in PMUS3 else "encode"
    seen = Counter(v["expect"]["ret"] for v in answers(pmu) if v["kind"] == kind)
    assert 0.35 * seen.total() < seen[0] < 0.8 * seen.total()
    errors = {"itanium2": {-2, -5, -9, -10, -11, -15, -16, -17, -18, -20, -22},
              "montecito": {-1, -2, -5, -9, -10, -11, -15, -16, -17, -18, -20, -21, -22},
              "itanium": {-2, -5, -9, -15, -16, -17, -18, -20, -22}, "gen_ia64": {-2, -5, -22},
              "glm": {-2, -4, -5, -6, -8, -9, -10, -12}, "perf": {-2, -4, -6, -8, -9, -10},
              "perf_raw": {-2, -4, -8, -9, -10},
              GENERIC4: {-2, -4, -8, -9, -10}, "ita": {-1, -2, -4, -8, -9, -10}}
    assert errors.get(pmu, errors["ita"]) <= set(seen), sorted(seen)


@pytest.mark.parametrize("pmu", [*PMUS4, "perf_raw"])
def test_calls_of_libpfm_4(pmu: str) -> None:
    calls = made(pmu)
    strings = [v for v in calls if v["kind"] == "encode"]
    assert {v["os"] for v in strings} == {"none", "perf_event", "perf_event_ext"}
    for key in ("size", "room", "attr", "find"):
        assert sum(key in v for v in strings) > 50, key
    assert len({json.dumps(v["env"]) for v in calls}) >= 6
    asked = [v for v in calls if v["kind"] == "info"]
    assert any("event" not in v for v in asked)
    assert len({v.get("event") for v in asked}) > (1 if pmu in ("perf_raw", GENERIC4) else 20)
    assert not any(_is_ambiguous(v) for v in strings)


def _is_ambiguous(vector: Vector) -> bool:
    """Whether another PMU of the library under test could have the name: without PMU, where none is forced."""
    env = vector["env"]
    assert isinstance(env, dict)
    text = str(vector["event"])
    return "::" not in text and "LIBPFM_FORCE_PMU" not in env and not set(text) & set(", \t\n")


@pytest.mark.parametrize("pmu", PMUS4)
def test_most_events_are_asked_for(pmu: str) -> None:
    """Names come from the library: each is used; of the many of Itanium, nearly."""
    texts = "\n".join(str(v["event"]).upper() for v in made(pmu, 5000) if v["kind"] == "encode")
    missing = [e.name for e in PMUS4[pmu].events if e.name.upper() not in texts]
    assert len(missing) <= 0.03 * len(PMUS4[pmu]) * (pmu in IA64), missing


@pytest.mark.parametrize("pmu", ["ita", "ita2", "mont"])
def test_thresholds_around_their_limit(pmu: str) -> None:
    """The largest threshold of an event, and the next one; of many events."""
    limits, beyond = ia64(pmu).limits, Counter[int]()
    for vector in made(pmu):
        event, _, attributes = str(vector.get("event", "")).upper().rpartition("::")[2].partition(":")
        value = re.search(r"THRES=(0X[0-9A-F]+|[1-9][0-9]*)(?![^:.])", attributes)
        if value and limits.get(event, {}).get("thres"):
            beyond[int(value[1], 0) - limits[event]["thres"]] += 1
    assert min(beyond[0], beyond[1]) >= 8, beyond


def test_unit_masks_of_montecito() -> None:
    """Alone, together, by the name for all, with values that they do not take, and where there are none."""
    texts = [str(v["event"]).upper() for v in made("mont") if v["kind"] == "encode"]
    sets = {frozenset(re.split("[:.]", text)) & {*"ISEM"} for text in texts}
    assert sets == {frozenset(names) for n in range(5) for names in combinations("ISEM", n)}
    for part in (":MESI", ":ALL", ":M=", ":0X", "ITA::", "ITA2::", "MONT::"):
        assert any(part in text for text in texts), part


@pytest.mark.parametrize("pmu", PMUS3)
def test_most_events_are_measured(pmu: str) -> None:
    texts = "\n".join(json.dumps(v) for v in made(pmu, 5000) if v["kind"] == "dispatch")
    missing = [e.name for e in PMUS3[pmu].events if f'"{e.name}"' not in texts]
    assert len(missing) < 0.02 * len(PMUS3[pmu].events), missing
