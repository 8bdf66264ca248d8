"""Random calls of libpfm 4, the same ones for the same seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.conform.random.source import source
from pypfm.conform.random.strings import GLM, IA64, PERF, RAW, Setting, event_string, good_string, ia64
from pypfm.conform.vectors import EVENT_SHIFT, PMU_IDS
from pypfm.perf.events import OS_LAYERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from pypfm.conform.model import Vector
    from pypfm.conform.random.source import Source
    from pypfm.conform.random.strings import Pmu

__all__ = ["PMUS", "options", "vectors"]

#: The PMUs for which calls are made.
PMUS = tuple(PMU_IDS)
_GENERIC = "gen_ia64"


def _events(pmu: str) -> Pmu:
    return ia64(pmu) if pmu in IA64 else {"glm": GLM, "perf": PERF, "perf_raw": RAW}[pmu]


def _environment(force: str | None = None, inactive: bool = False, disabled: str | None = None,
                 cpuid3: str | None = None) -> dict[str, str]:
    env = {"LIBPFM_FORCE_PMU": force, "LIBPFM_ENCODE_INACTIVE": "1" if inactive else None,
           "LIBPFM_DISABLED_PMUS": disabled, "LIBPFM_IA64_CPUID3": cpuid3}
    return {name: value for name, value in env.items() if value is not None}


# Registers of processors that are detected as a PMU; of gen_ia64 the kernel would have to describe the processor.
_CPUID3 = {"gen_ia64": None, "ita": "0x07000604", "ita2": "0x1f010504", "mont": "0x20000504"}

# Environments in which a PMU is active, ones in which only its full name works, ones in which nothing
# does; each with a weight.  A name without PMU is asked for only where a PMU is forced: elsewhere the
# library under test may have another PMU with it.
_ENVIRONMENTS: dict[str, list[tuple[dict[str, str], bool, int]]] = {
    "glm": [
        (_environment("glm"), True, 24), (_environment("glm", inactive=True), True, 3),
        (_environment("GLM,foo"), True, 2), (_environment(inactive=True), False, 6),
        (_environment("perf", inactive=True), True, 2), (_environment("glm", disabled="lm"), True, 1),
        (_environment(inactive=True, disabled="glm"), False, 1), (_environment("perf"), True, 1),
    ],
    "perf": [
        (_environment("perf"), True, 16), (_environment("PERF", inactive=True), True, 2),
        (_environment("glm", inactive=True), True, 6), (_environment(), False, 4),
        (_environment(inactive=True, disabled=","), False, 2), (_environment(disabled="perf,"), False, 1),
        (_environment("glm"), True, 1),
    ],
    "perf_raw": [
        (_environment("perf_raw"), True, 16), (_environment("glm", inactive=True), True, 6),
        (_environment(), False, 4), (_environment("perf_", inactive=True), True, 3),
        (_environment(disabled="raw,,x"), False, 1), (_environment("glm"), True, 1),
    ],
    **{pmu: [
        (_environment(pmu), True, 20), (_environment(pmu.upper(), inactive=True), True, 4),
        (_environment(inactive=True), False, 6), (_environment("perf", inactive=True), True, 1),
        (_environment(inactive=True, disabled=pmu), False, 1), (_environment(pmu, disabled=pmu[1:]), True, 1),
        (_environment("glm", inactive=True), True, 1), (_environment(cpuid3=_CPUID3[pmu]), False, 2),
        (_environment(cpuid3=_CPUID3["ita2" if pmu == "mont" else "mont"]), False, 1),
    ] for pmu in IA64},
}


_GOOD = 0.65  # share of the strings that are meant to be right


def options(rng: Random) -> Vector:
    """Choose how pfm_get_os_event_encoding() is called: layer, default levels, sizes, preset values."""
    layer = rng.choice(["none", "none", "perf_event", "perf_event_ext", "perf_event_ext"])
    chosen: Vector = {"os": layer, "dfl_plm": rng.choice([0, 1, 8, 9, 9, 9, 16, 24, 25, 31, 6])}
    if rng.random() < 0.02:
        chosen["dfl_plm"] = rng.choice([32, -1, 0x29, 1 << 30])
    if rng.random() < 0.1:
        chosen["size"] = rng.choice([0, 1, 31, 32, 33, 39, 40, 41, 48, 64, 128])
    if layer != "none":
        if rng.random() < 0.5:
            chosen["attr"] = _attr_fields(rng)
    elif rng.random() < 0.2:
        chosen["room"] = rng.choice([1, 1, 2, 3, 8])
    return chosen


def _attr_fields(rng: Random) -> Vector:
    """Choose fields of perf_event_attr to set beforehand; every reader of JSON keeps these numbers exactly."""
    fields: Vector = {"size": rng.choice([0, 4, 8, 40, 48, 63, 64, 72, 112, 120, 128, 136, 200])}
    for name in ("config", "config1", "config2", "sample_period", "sample_type"):
        if rng.random() < 0.3:
            fields[name] = rng.choice([0, 1, 1000, rng.getrandbits(53)])
    if rng.random() < 0.7:
        known = [1 << 2, 1 << 3, 1 << 3, 1 << 10, 3 << 15]  # pinned, exclusive, freq, precise_ip
        fields["flags"] = rng.choice([0, *known, *known, 1 << rng.randint(0, 52), rng.getrandbits(53)])
    return fields


def _encode(rng: Source, setting: Setting) -> Vector:
    how = options(rng)
    text = good_string(rng, setting, str(how["os"])) if rng.chance(_GOOD) else event_string(rng, setting)
    vector: Vector = {"kind": "encode", "env": {**setting.env}, "event": text, **how}
    if vector["os"] == "none" and rng.chance(0.3):
        vector["find"] = True
    return vector


def _info(rng: Source, pmu: str, env: dict[str, str]) -> Vector:
    """Make a query about the PMU, or about one of its events; a few are beyond the table."""
    if rng.chance(0.08):
        return {"kind": "info", "env": {**env}, "pmu": PMU_IDS[pmu]}
    count = 1 if pmu == RAW.name else len(_events(pmu).events)
    place = rng.randrange(count) if rng.chance(0.93) else rng.choice([count, count + 1, 0x1FFFFF])
    index = PMU_IDS[pmu] << EVENT_SHIFT | place
    if rng.chance(0.02):
        index = rng.choice([-1, place, 1023 << EVENT_SHIFT])
    return {"kind": "info", "env": {**env}, "event": index, "os": rng.choice([*OS_LAYERS])}


def vectors(pmu: str, count: int, seed: int) -> Iterator[Vector]:
    """Yield random calls without answers: event strings, and queries about events and PMUs.

    :param pmu: one of `PMUS`
    :param count: how many
    :param seed: which ones; the same seed gives the same calls on every machine
    :returns: vectors (see `pypfm.conform.model`) with ids, without ``expect``
    """
    # Of gen_ia64 there are calls of libpfm 3 as well.
    name = f"{pmu}-pfm4" if pmu == _GENERIC else pmu
    rng, rows = source(name, seed), _ENVIRONMENTS[pmu]
    settings = [Setting(pmu, env, (_events(pmu),), unprefixed) for env, unprefixed, _ in rows]
    weights = [weight for _, _, weight in rows]
    for n in range(count):
        setting = rng.choices(settings, weights)[0]
        vector = _info(rng, pmu, setting.env) if n % 10 == 9 else _encode(rng, setting)
        vector["id"] = f"random-{name}-{seed}-{n:05}"
        yield vector
