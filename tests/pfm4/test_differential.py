"""Our libpfm.so.4 and Debian's, asked the same: random strings, states, every information query.

Each library answers in processes of its own.  PYPFM_SEED and PYPFM_STRINGS choose other strings.
"""

from __future__ import annotations

import os
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pfm4_vectors import OS
from pypfm.config import LIBRARIES
from pypfm.conform.random import pfm4
from pypfm.conform.random.strings import SETTINGS, Setting, event_string
from worker4 import DEBIAN, PMUS, Call, Session, ask

OURS = Path(os.environ.get("PYPFM_LIBPFM4", LIBRARIES["pfm4"].path))  # a library built with sanitizers, say
SEED = int(os.environ.get("PYPFM_SEED", "20240613"))
STRINGS = int(os.environ.get("PYPFM_STRINGS", "30000"))
SHOWN = int(os.environ.get("PYPFM_SHOWN", "6"))  # differences printed of one test
CORE, PRESENT = 1, 1  # PFM_PMU_TYPE_CORE; is_present among the flags
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DEBIAN.exists(), reason=f"no {DEBIAN} (Debian's libpfm4) on this machine"),
    pytest.mark.skipif(not PARANOID.exists(), reason=f"no {PARANOID}: perf would be inactive in both"),
]


def spots(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer with the bytes of its attr as {offset: 8 bytes}."""
    words = bytes.fromhex(answer.get("attr", ""))
    return answer | {f"attr+{i}": words[i:i + 8].hex() for i in range(0, len(words), 8)} | {"attr": None}


def show(call: Call, before: Session, our: Any, their: Any) -> str:
    """A difference; of two dicts only what differs in them."""
    state = [c for c in before if c[0] in ("env", "init", "terminate")]
    if isinstance(our, dict) and isinstance(their, dict):
        our, their = spots(our), spots(their)
        keys = [k for k in {**our, **their} if our.get(k) != their.get(k)]
        our, their = ({k: answer.get(k) for k in keys} for answer in (our, their))
    return f"{call}\n  after  {state}\n  ours   {our}\n  Debian {their}"[:2500]


@cache
def host_pmus() -> tuple[str, ...]:
    """Core PMUs of this host, which Debian's library knows and ours does not; perf's levels follow them."""
    infos = ask(DEBIAN, [[["init"], *(["pmu_info", number] for number in range(1024))]])[0][1:]
    return tuple(info["name"] for info in infos if info.get("type") == CORE and info["flags"] & PRESENT
                 and info["name"] not in PMUS)


def hidden(disabled: str) -> str:
    """LIBPFM_DISABLED_PMUS, with this host's core PMUs."""
    return ",".join([*([disabled] if disabled else []), *host_pmus()])


def compare(sessions: list[Session], **env: str) -> int:
    """Make the calls on both libraries; the number of answers, all of them equal."""
    if host_pmus():
        env["LIBPFM_DISABLED_PMUS"] = hidden(env.get("LIBPFM_DISABLED_PMUS", ""))
    ours, theirs = ask(OURS, sessions, **env), ask(DEBIAN, sessions, **env)
    count, different = 0, []
    for calls, our_answers, their_answers in zip(sessions, ours, theirs, strict=True):
        assert len(their_answers) == len(calls), f"Debian's library ended at {calls[len(their_answers) - 1]}"
        assert "crash" not in str(their_answers[-1]), f"Debian's library crashed at {calls[len(their_answers) - 1]}"
        assert len(our_answers) == len(calls), f"our library ended at {calls[len(our_answers) - 1]}"
        for n, (call, our, their) in enumerate(zip(calls, our_answers, their_answers, strict=True)):
            count += 1
            if our != their:
                different.append(show(call, calls[:n], our, their))
    assert not different, f"{env}: {len(different)} of {count} differ\n" + "\n".join(different[:SHOWN])
    return count


def their_host() -> str:
    """Why answers without a forced PMU may differ from ours on this host, or nothing."""
    calls = [["init"], ["pmu_info", PMUS["perf"]], ["event_info", PMUS["perf"] << 21, 1], ["pmu_info", PMUS["glm"]]]
    _, perf, cycles, glm = ask(DEBIAN, [calls], LIBPFM_DISABLED_PMUS=hidden(""))[0]
    if perf.get("nevents") != 82:
        return f"the host adds tracepoints or sysfs events to Debian's perf PMU: {perf}"
    if glm["flags"]:
        return "the host is a Goldmont"
    if cycles["nattrs"] != 5:
        return "the host has an active core PMU that LIBPFM_DISABLED_PMUS does not hide"
    return ""


@pytest.fixture(scope="module")
def plain_host() -> None:
    reason = their_host() if DEBIAN.exists() else "no Debian libpfm4"
    if reason:
        pytest.skip(reason)


# ---- strings ----------------------------------------------------------------------------

def options(rng: Random) -> dict[str, Any]:
    """How to call: what vectors can say, and what only the worker can: the bytes of structures, no string."""
    chosen: dict[str, Any] = pfm4.options(rng)
    chosen |= {"os": OS[chosen["os"]], "plm": chosen.pop("dfl_plm")}
    if rng.random() < 0.01:
        chosen["size"] = 4096
    if rng.random() < 0.05:
        chosen["tail"] = {rng.randint(40, 130): 1}
    if "attr" in chosen:
        chosen["fill"] = rng.choice([0, 0, 0xFF, 0x55])
    if chosen["os"] == 0:  # with a string, an array of one element is undefined in Debian's library
        chosen["fstr"] = chosen.get("room", 2) >= 2 and rng.random() < 0.7
    return chosen


def string_calls(rng: Random, setting: Setting, count: int) -> list[Call]:
    calls: list[Call] = [["init"]]
    for _ in range(count):
        text = event_string(rng, setting)
        calls.append(["encode", text, options(rng)])
        calls.append(["find", text])
        if rng.random() < 0.1:
            calls.append(["legacy", text, rng.choice([0, 8, 9, 32]), rng.choice([0, 1, 2, 4])])
        if rng.random() < 0.1:
            calls.append(["perf_legacy", text, rng.choice([0, 8, 9, 64]), {"attr": {"size": rng.choice([0, 64, 128])}}])
    return calls


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_random_strings(setting: Setting, plain_host: None) -> None:  # noqa: ARG001
    print(f"seed {SEED}")
    calls = string_calls(Random(f"{SEED} {setting.name}"), setting, STRINGS // len(SETTINGS))
    assert compare([calls], **setting.env) > 2 * (STRINGS // len(SETTINGS))


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_random_strings_are_of_all_kinds(setting: Setting) -> None:
    """The control: successes, and each error that strings can bring about, occur often."""
    calls = string_calls(Random(1), setting, 3000)
    answers = ask(OURS, [calls], **setting.env)[0]
    seen = [a["ret"] for call, a in zip(calls, answers, strict=True) if call[0] == "encode"]
    wanted = {0: 200, -2: 50, -4: 50, -8: 300, -9: 50, -10: 5}
    if setting.name.startswith(("glm", "inactive")):
        wanted |= {0: 500, -5: 50, -6: 10, -12: 5}
    for ret, times in wanted.items():
        assert seen.count(ret) >= times, (ret, {r: seen.count(r) for r in set(seen)})


# ---- combinations worth asking for each on its own -------------------------------------

RAW_STRINGS = [f"perf_raw::{event}{attributes}" for event in (
    "r0", "r1c4", "rfffffffffffffffe", "r-2", "r+1", "r\v1", "r0x", "R1") for attributes in (
    "", ":u", ":0x1", ":precise=1", ":h", ":k=0:u=0", ":hw_smpl", ":hw_smpl=0", ":hw_smpl=1:hw_smpl=1")] + [
    f"perf_raw::r1c4:{a}:{b}" for precise in range(5) for smpl in ("", "=0", "=1")
    for a, b in [(f"precise={precise}", f"hw_smpl{smpl}"), (f"hw_smpl{smpl}", f"precise={precise}")]]


@pytest.mark.parametrize("env", [{"LIBPFM_FORCE_PMU": "perf_raw"}, {"LIBPFM_FORCE_PMU": "perf_"},
                                 {"LIBPFM_FORCE_PMU": "glm", "LIBPFM_ENCODE_INACTIVE": ""}, {}], ids=str)
def test_perf_raw(env: dict[str, str], plain_host: None) -> None:  # noqa: ARG001
    presets = [{"attr": {"size": 128, "flags": precise_ip << 15}} for precise_ip in (0, 2)]
    calls: list[Call] = [["init"], *(["encode", text, {"os": layer, "plm": plm} | given] for text in RAW_STRINGS
                                     for layer in range(4) for plm in (0, 9, 25) for given in presets)]
    assert compare([calls], **env) > 1000


def test_every_umask_and_pair_of_umasks(plain_host: None) -> None:  # noqa: ARG001
    calls: list[Call] = [["init"]]
    for pmu in SETTINGS[1].pmus[1:3]:
        for event, masks in pmu.events.items():
            pairs = [(a, b) for a, b in product(masks, masks)]
            texts = [f"{pmu.name}::{event}", *(f"{pmu.name}::{event}:{':'.join(p)}" for p in [*zip(masks), *pairs])]
            calls += [["encode", text, {"os": layer}] for text in texts for layer in (0, 2)]
    assert compare([calls], LIBPFM_FORCE_PMU="glm", LIBPFM_ENCODE_INACTIVE="1") > 4000


# ---- initialisation, termination, initialisation again -----------------------------------

def environment(**given: str) -> dict[str, str | None]:
    names = ("FORCE_PMU", "ENCODE_INACTIVE", "DISABLED_PMUS")
    return {f"LIBPFM_{name}": given.get(name) for name in names}


def change(env: dict[str, str | None]) -> Call:
    """The call that sets an environment; where it names PMUs to disable, those of the host too."""
    disabled = env["LIBPFM_DISABLED_PMUS"]
    return ["env", env if disabled is None else env | {"LIBPFM_DISABLED_PMUS": hidden(disabled)}]


def begin() -> list[Call]:
    """The first calls: what is disabled once stays so, until others are."""
    return [["init"], ["terminate"]] if host_pmus() else []


ENVIRONMENTS = [
    environment(), environment(FORCE_PMU="glm"), environment(FORCE_PMU="perf"), environment(FORCE_PMU="perf_raw"),
    environment(FORCE_PMU="glmx"), environment(FORCE_PMU="GLM,foo", ENCODE_INACTIVE=""),
    environment(FORCE_PMU="PERF_", ENCODE_INACTIVE="0"), environment(ENCODE_INACTIVE="1"),
    environment(DISABLED_PMUS="glm"), environment(DISABLED_PMUS="perf"), environment(DISABLED_PMUS="raw,,x"),
    environment(DISABLED_PMUS=""), environment(DISABLED_PMUS=",lm", FORCE_PMU="glm"),
    environment(DISABLED_PMUS="PERF", ENCODE_INACTIVE="1"), environment(DISABLED_PMUS="glm,perf", FORCE_PMU="perf"),
]
PROBES: list[Call] = [
    *(["pmu_info", id_] for id_ in PMUS.values()),
    *(["event_info", id_ << 21, layer] for id_ in PMUS.values() for layer in range(3)),
    *(["attr_info", PMUS["perf"] << 21, a, 2] for a in (2, 10)),
    *(["next", id_ << 21] for id_ in PMUS.values()),
    *(["find", text] for text in ("glm::ICACHE:HIT", "perf::cycles", "perf_raw::r1c4")),
    *(["encode", text, {"os": layer, "plm": 25}] for text in (
        "glm::ICACHE:HIT", "perf::cycles", "perf::LLC-LOADS:u", "perf::cycles:h", "perf_raw::r1c4", "perf_raw::r1:h",
        "perf::page-faults", "glm::ICACHE:HIT:h") for layer in range(4)),
]
BEFORE_INIT: list[Call] = [c for c in PROBES if c[0] != "legacy"]


def states(environments: tuple[dict[str, str | None], ...]) -> Session:
    """The probes after each initialisation and after each termination."""
    calls: list[Call] = [*BEFORE_INIT, *begin()]
    for env in environments:
        calls += [change(env), ["init"], *PROBES, change(environment(ENCODE_INACTIVE="1")), ["init"], *PROBES[:3],
                  ["terminate"], ["terminate"], *BEFORE_INIT]
    return calls


@pytest.mark.long
def test_two_initialisations(plain_host: None) -> None:  # noqa: ARG001
    assert compare([states(pair) for pair in product(ENVIRONMENTS, ENVIRONMENTS)]) > 10_000


@pytest.mark.long
def test_many_initialisations(plain_host: None) -> None:  # noqa: ARG001
    rng = Random(SEED)
    print(f"seed {SEED}")
    chains = [tuple(rng.choice(ENVIRONMENTS) for _ in range(rng.randint(3, 6))) for _ in range(250)]
    assert compare([states(chain) for chain in chains]) > 10_000


@pytest.mark.parametrize("env", ENVIRONMENTS, ids=str)
def test_every_information_query(env: dict[str, str | None], plain_host: None) -> None:  # noqa: ARG001
    given = {k: v for k, v in env.items() if v is not None}
    calls: list[Call] = [["init"], *(["catalogue", name] for name in PMUS)]
    assert compare([calls], **given) == 4


def test_struct_sizes_of_information_queries(plain_host: None) -> None:  # noqa: ARG001
    event = PMUS["perf"] << 21
    queries: list[Call] = [["pmu_info", PMUS["perf"]], ["event_info", event, 2], ["attr_info", event, 0, 2]]
    sizes = [*range(140), 4095, 4096]
    tails: list[dict[int, int]] = [{}, {56: 1}, {64: 1}, {71: 1}, {72: 1}, {79: 1}, {100: 0x80}]
    calls = [[*query, {"size": size, "tail": tail}] for query, size, tail in product(queries, sizes, tails)]
    assert compare([[["init"], *calls]]) > 2000


def test_texts_of_errors() -> None:
    assert compare([[["strerror", code] for code in [*range(-40, 10), 2**31 - 1, -(2**31)]]]) == 52


def test_self_test_of_the_tables(tmp_path: Path, plain_host: None) -> None:  # noqa: ARG001
    """pfm_pmu_validate(): what is printed may be worded by us, apart from the lines of the encoder."""
    validate: list[Call] = [["validate", id_, str(tmp_path / "lines")] for id_ in (*PMUS.values(), 0, 516, 517, -1)]
    glm, inactive, perf = environment(FORCE_PMU="glm"), environment(ENCODE_INACTIVE="1"), environment(FORCE_PMU="perf")
    sessions: list[Session] = [[*validate, *begin(), change(env), ["init"], *validate, ["terminate"], *validate]
                               for env in (glm, inactive, perf, environment())]
    assert compare(sessions) > 80
