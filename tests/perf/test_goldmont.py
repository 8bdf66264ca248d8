"""The Pythonic layer of libpfm 4: events, encode() and its checks, errors, latency mode, counting."""

from __future__ import annotations

import errno
import mmap
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import VECTORS, run_python
from pfm4_vectors import read
from pypfm import (
    CountingError,
    EventNotFoundError,
    Goldmont,
    InvalidValueError,
    Perf,
    Pfm4Error,
    PfmError,
    PromiseError,
    perf,
)
from pypfm.common.counting import Count, PerfEvent

GLM, PERF = Goldmont(), Perf()
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


# ---- the recorded encodings ------------------------------------------------------------

def expressible() -> list[dict[str, Any]]:
    """Vectors in which glm alone is active, as it is here, without sizes or presets of C structures."""
    return [v for v in read(str(VECTORS / "pfm4_encode.jsonl.bz2"))
            if v["env"] in ({"LIBPFM_FORCE_PMU": "glm"}, {"LIBPFM_FORCE_PMU": "GLM,foo"})
            and not {"size", "room", "attr"} & set(v)]


def answer(vector: dict[str, Any], encoding: perf.Encoding) -> dict[str, Any]:
    got: dict[str, Any] = {"ret": 0, "fstr": encoding.string}
    if vector["os"] == "none":
        return got | {"codes": [hex(c) for c in encoding.codes]}
    attr = encoding.attr
    return got | {"type": attr["type"], "config": hex(attr["config"]), "config1": hex(attr.get("config1", 0)),
                  "sample_period": attr.get("sample_period", attr.get("sample_freq", 0)), "cpu": encoding.cpu}


def test_recorded_encodings(capsys: pytest.CaptureFixture[str]) -> None:
    vectors, different = expressible(), []
    for vector in vectors:
        try:
            got = answer(vector, GLM.encode(vector["event"], plm=vector["dfl_plm"], os=vector["os"], check="reference"))
        except Pfm4Error as error:
            got = {"ret": error.code}
        if got != {k: vector["expect"][k] for k in got} or vector["expect"]["ret"] != got["ret"]:
            different.append((vector["event"], vector["expect"], got))
    with capsys.disabled():
        print(f"\nGoldmont.encode: {len(vectors)} of the recorded vectors can be expressed", end=" ")
    assert len(vectors) > 1000
    assert different[:3] == []


# ---- events -----------------------------------------------------------------------------

def test_events_are_objects() -> None:
    event = GLM["icache"]
    assert (event.name, event.code, event.index, event.alias_of) == ("ICACHE", 0x80, 0, None)
    assert [(u.name, u.code) for u in event.umasks] == [("HIT", 1), ("MISSES", 2), ("ACCESSES", 3)]
    assert GLM["BRANCH_INSTRUCTIONS_RETIRED"].alias_of == "BR_INST_RETIRED:ALL_BRANCHES"
    offcore = {u.name: u for u in GLM["OFFCORE_RESPONSE_1"].umasks}
    assert offcore["STRM_ST"].members == ("FULL_STRM_ST", "PARTIAL_STRM_ST")
    assert offcore["ANY_RESPONSE"].is_default
    assert GLM["MEM_UOPS_RETIRED"].is_precise


def test_pmus_are_collections() -> None:
    assert (len(GLM), len(PERF)) == (34, 82)
    assert [e.index for e in PERF.values()] == list(range(82))
    assert "baclears" in GLM
    assert "\udcff" not in GLM
    assert [e.name for e in PERF.find("llc-*")] == ["LLC-LOADS", "LLC-LOAD-MISSES", "LLC-STORES", "LLC-STORE-MISSES",
                                                    "LLC-PREFETCHES", "LLC-PREFETCH-MISSES"]
    assert [m.name for m in GLM.modifiers("BACLEARS")] == ["k", "u", "e", "i", "c"]
    assert "precise" in [m.name for m in GLM.modifiers("LD_BLOCKS", "perf_event_ext")]


@pytest.mark.parametrize("pmu", [GLM, PERF])
def test_descriptions(pmu: Goldmont | Perf) -> None:
    texts = [e.description for e in pmu.values()]
    assert len(set(texts)) == len(texts)
    for event in pmu.values():
        own = event.description.partition(": ")[2] if event.alias_of else event.description
        assert event.name.lower() not in own.lower().split(), event.name
        for text in [event.description, *(u.description for u in event.umasks)]:
            assert text.isascii(), event.name
            assert text == text.strip(), event.name
            assert not text.endswith("."), event.name
            assert len(text.split()) >= 2, event.name
        assert len({u.description for u in event.umasks}) == len(event.umasks), event.name


# ---- encoding --------------------------------------------------------------------------------

def test_codes_fields_and_spelling() -> None:
    encoding = GLM.encode("glm::BACLEARS:RETURN:k=1:u=0:c=4:e")
    assert encoding.codes == (0x45608E6,)
    assert encoding.fields == {"event": 0xE6, "umask": 8, "usr": 0, "os": 1, "edge": 1, "pc": 0, "int": 1, "any": 0,
                               "en": 1, "inv": 0, "cmask": 4}
    assert encoding.string == "glm::BACLEARS:RETURN:k=1:u=0:e=1:i=0:c=4"
    assert encoding.perf == "cpu/event=0xe6,umask=0x8,edge,cmask=0x4/k"
    assert encoding.attr["config"] == 0x40408E6
    assert encoding.attr["exclude_user"] == 1


def test_the_offcore_register_by_its_bits() -> None:
    encoding = GLM.encode("OFFCORE_RESPONSE_0:DMND_DATA_RD:PF_RFO:L2_HIT:L2_MISS_HITM_OTHER_CORE")
    assert encoding.offcore is not None
    assert (encoding.offcore.requests, encoding.offcore.suppliers, encoding.offcore.snoops) == (
        ("DMND_DATA_RD", "PF_RFO"), ("L2_HIT",), ("L2_MISS_HITM_OTHER_CORE",))
    assert encoding.perf == f"cpu/event=0xb7,umask=0x1,offcore_rsp={encoding.codes[1]:#x}/u"
    raw = GLM.encode("OFFCORE_RESPONSE_1:0x200000001").offcore
    assert raw is not None
    assert raw.other | sum(u.code for u in GLM["OFFCORE_RESPONSE_1"].umasks if not u.members and u.code & raw.value) \
        == raw.value


def test_interfaces() -> None:
    ext = GLM.encode("LD_BLOCKS:4K_ALIAS:precise=2:u", os="perf_event_ext")
    assert ext.string == "glm::LD_BLOCKS:4K_ALIAS:e=0:i=0:c=0:u=1:k=0:precise=2:excl=0:mg=0:mh=1"
    assert ext.attr["precise_ip"] == 2
    assert ext.perf.endswith("/upp")
    assert ext.codes == (0x510403,)  # the levels are those of perf_event
    assert GLM.encode("BACLEARS:cpu=3", os="perf_event_ext").cpu == 3
    assert PERF.encode("cycles:k:h").string.startswith("perf::PERF_COUNT_HW_CPU_CYCLES:u=0:k=1:h=1:")


@pytest.mark.parametrize(("event", "spelling"), [
    ("task-clock", "task-clock:u"), ("PERF_COUNT_HW_CPU_CYCLES:k", "cycles:k"), ("LLC-STORES", "llc-stores:u"),
    ("PERF_COUNT_HW_CACHE_L1D", "l1-dcache-load-misses:u"), ("cycles:precise=2", "cycles:upp"),
])
def test_perf_spelling(event: str, spelling: str) -> None:
    assert PERF.encode(event).perf == spelling


@pytest.mark.parametrize(("event", "reference", "corrected"), [
    ("CPU_CLK_UNHALTED", 0x510000, 0x51003C), ("CPU_CLK_UNHALTED:CORE_P", 0x510000, 0x51003C),
    ("CPU_CLK_UNHALTED:REF", 0x510100, 0x51013C), ("CPU_CLK_UNHALTED:CORE", 0x510200, 0x510200),
    ("CPU_CLK_UNHALTED:REF_TSC", 0x510300, 0x510300), ("UNHALTED_CORE_CYCLES", 0x51003C, 0x51003C),
])
def test_known_defects_are_corrected_on_request(event: str, reference: int, corrected: int) -> None:
    assert GLM.encode(event).codes == (reference,)
    mended = Goldmont(corrected=True).encode(event)
    assert mended.codes == (corrected,)
    assert mended.attr["config"] & 0xFFFF == corrected & 0xFFFF


# ---- checks and errors --------------------------------------------------------------------

def test_edge_without_counter_mask_breaks_the_manual() -> None:
    with pytest.raises(PromiseError, match="counter mask"):
        GLM.encode("BACLEARS:e")
    assert GLM.encode("BACLEARS:e", check="reference").codes == (0x5501E6,)
    assert GLM.encode("BACLEARS:e:c=1").fields["edge"] == 1
    assert GLM.encode("BACLEARS:e=0").fields["edge"] == 0


FAILURES = [
    ("ICACH", "PFM_ERR_NOTFOUND", "ICACH", "the nearest is ICACHE"),
    ("skl::ICACHE", "PFM_ERR_NOTFOUND", "skl", "is not glm"),
    ("ICACHE:HITS:u", "PFM_ERR_ATTR", "HITS", "HIT, MISSES, ACCESSES"),
    ("ICACHE:HIT:q", "PFM_ERR_ATTR", "q", "modifiers: k, u, e, i, c"),
    ("ICACHE:HIT=1", "PFM_ERR_ATTR", "HIT=1", "unit masks"),
    ("ICACHE:0x100", "PFM_ERR_ATTR", "0x100", "unit masks"),
    ("ICACHE", "PFM_ERR_UMASK", "ICACHE", "HIT, MISSES, ACCESSES"),
    ("ICACHE:HIT:MISSES", "PFM_ERR_FEATCOMB", "HIT", "only one unit mask"),
    ("ICACHE:HIT:c=256", "PFM_ERR_ATTR_VAL", "c=256", "0 to 255"),
    ("ICACHE:HIT:u=1:u=0", "PFM_ERR_ATTR_SET", "u=0", "one value"),
    ("ICACHE:HIT,BACLEARS", "PFM_ERR_INVAL", "ICACHE:HIT,BACLEARS", "one event"),
    ("ICACHE:HIT\0", "PFM_ERR_INVAL", "ICACHE:HIT\0", "NUL"),
    ("ICACHE" + ":HIT" * 70, "PFM_ERR_TOOMANY", "ICACHE" + ":HIT" * 70, "at most 64"),
    ("OFFCORE_RESPONSE_0:ANY_REQUEST:WB", "PFM_ERR_FEATCOMB", "ANY_REQUEST", "stand for all"),
    ("OFFCORE_RESPONSE_1:OUTSTANDING", "PFM_ERR_ATTR", "OUTSTANDING", "25 unit masks (pypfm info -p glm OFFCORE_RESPONSE_1)"),
    ("OFFCORE_RESPONSE_1:DMND_DATA_RX", "PFM_ERR_ATTR", "DMND_DATA_RX", "the nearest are DMND_DATA_RD"),
    ("OFFCORE_RESPONSE_0:WB:OUTSTANDING:L2_HIT", "PFM_ERR_FEATCOMB", "OUTSTANDING", "no response"),
]


@pytest.mark.parametrize(("event", "name", "token", "text"), FAILURES)
def test_a_failure_names_the_token_and_what_is_allowed(event: str, name: str, token: str, text: str) -> None:
    with pytest.raises(Pfm4Error) as caught:
        GLM.encode(event)
    error = caught.value
    assert (error.name, error.token) == (name, token)
    assert text in str(error)
    assert "\n" not in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.code, again.token, str(again)) == (type(error), error.code, error.token, str(error))


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="manual"):
        GLM.encode("BACLEARS", check="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="none, perf_event"):
        GLM.encode("BACLEARS", os="windows")  # type: ignore[arg-type]
    with pytest.raises(Pfm4Error, match="bits 0 to 4"):
        GLM.encode("BACLEARS", plm=0x20)
    with pytest.raises(ValueError, match="expected kernel"):
        GLM.encode("BACLEARS", plm="root")


# ---- average latency ---------------------------------------------------------------------------

def test_average_latency_of_the_manual() -> None:
    pair = GLM.parse_average_latency(
        "OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING+OFFCORE_RESPONSE_1:DMND_DATA_RD:ANY_RESPONSE", plm=9)
    assert (pair.outstanding.codes, pair.requests.codes) == ((0x5301B7, 0x4000000001), (0x5302B7, 0x10001))
    assert pair.cycles(1200, 10) == 120.0
    whole = GLM.parse_average_latency(
        "OFFCORE_RESPONSE_0:ANY_REQUEST:OUTSTANDING+OFFCORE_RESPONSE_1:ANY_REQUEST:ANY_RESPONSE", plm=9)
    assert whole == GLM.average_latency(plm=9)
    assert (whole.outstanding.codes, whole.requests.codes) == ((0x5301B7, 0x4000008000), (0x5302B7, 0x18000))


@pytest.mark.parametrize(("text", "message"), [
    ("OFFCORE_RESPONSE_0:WB:OUTSTANDING+OFFCORE_RESPONSE_1:SW_PF:ANY_RESPONSE", "differ"),
    ("OFFCORE_RESPONSE_0:WB:L2_HIT:OUTSTANDING+OFFCORE_RESPONSE_1:WB:ANY_RESPONSE", "not a request"),
    ("OFFCORE_RESPONSE_0:WB:OUTSTANDING+OFFCORE_RESPONSE_1:WB:L2_HIT:ANY_RESPONSE", "not a request"),
    ("OFFCORE_RESPONSE_0:WB+OFFCORE_RESPONSE_1:WB:ANY_RESPONSE", "OFFCORE_RESPONSE_0 needs OUTSTANDING, once"),
    ("OFFCORE_RESPONSE_0:WB:OUTSTANDING+OFFCORE_RESPONSE_1:WB", "OFFCORE_RESPONSE_1 needs ANY_RESPONSE, once"),
    ("OFFCORE_RESPONSE_0:WB:OUTSTANDING", "expected"),
    ("OFFCORE_RESPONSE_1:WB:OUTSTANDING+OFFCORE_RESPONSE_0:WB:ANY_RESPONSE", "expected"),
    ("OFFCORE_RESPONSE_0:WB:OUTSTANDING+OFFCORE_RESPONSE_1:WB:ANY_RESPONSE+ICACHE:HIT", "expected"),
    ("", "expected"),
])
def test_pairs_that_are_none(text: str, message: str) -> None:
    with pytest.raises(Pfm4Error, match=message):
        GLM.parse_average_latency(text)


def test_requests_in_another_order_are_the_same() -> None:
    pair = GLM.parse_average_latency(
        "OFFCORE_RESPONSE_0:WB:SW_PF:OUTSTANDING+OFFCORE_RESPONSE_1:ANY_RESPONSE:SW_PF:WB")
    assert pair.outstanding.codes[1] & 0xFFFFFFFF == pair.requests.codes[1] & ~0x10000


# ---- independence, counting -----------------------------------------------------------------

def test_it_needs_no_environment_and_leaves_the_mirror_alone() -> None:
    code = """
from pypfm import Goldmont, Perf, pfm4
assert Goldmont().encode("ICACHE:HIT").codes == (0x510180,)
assert pfm4.pfm_find_event("perf::cycles") == pfm4.PFM_ERR_NOINIT
pfm4.pfm_initialize()
Perf().encode("cycles")
assert pfm4.pfm_find_event("glm::ICACHE:HIT") == pfm4.PFM_ERR_NOTFOUND
print("same")
"""
    done = run_python(code, LIBPFM_FORCE_PMU="perf", LIBPFM_DISABLED_PMUS="glm")
    assert (done.stdout, done.stderr) == ("same\n", "")


def test_threads() -> None:
    wrong: list[str] = []

    def work(cmask: int) -> None:
        for _ in range(200):
            if GLM.encode(f"BACLEARS:c={cmask}").fields["cmask"] != cmask:
                wrong.append(str(cmask))
            if PERF.encode("page-faults").attr["config"] != 2:
                wrong.append("perf")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


needs_perf_events = pytest.mark.skipif(not PARANOID.exists(), reason="this kernel has no perf_event interface")


@needs_perf_events
def test_software_events_are_counted_by_the_kernel() -> None:
    called = []

    def touch_new_pages() -> None:
        with mmap.mmap(-1, 16 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
            for start in range(0, len(pages), mmap.PAGESIZE):
                pages[start] = 1
        called.append(16)

    try:
        clock = PERF.count("task-clock", lambda: called.append(sum(range(200_000))))
        faults = PERF.count("page-faults", touch_new_pages)
    except CountingError as error:
        pytest.skip(f"the kernel refuses: {error}")
    assert len(called) == 2
    assert clock > 100_000  # nanoseconds
    assert faults > 0


@needs_perf_events
@pytest.mark.parametrize("event", ["context-switches", "cpu-migrations:u"])
def test_what_happens_in_kernel_mode_only(event: str) -> None:
    """The kernel opens it, and counts 0 forever."""
    with pytest.raises(CountingError, match="happens in kernel mode only, which is excluded; with modifier k") as caught:
        PERF.count(event, lambda: time.sleep(0.001))
    assert caught.value.errno == errno.EOPNOTSUPP
    try:
        assert PERF.count("context-switches", lambda: time.sleep(0.001), plm="kernel") > 0
    except CountingError as error:
        pytest.skip(f"the kernel refuses: {error}")


@needs_perf_events
def test_the_processor_of_the_string_is_the_one_that_counts() -> None:
    with pytest.raises(CountingError) as caught:
        PERF.count("task-clock:cpu=100000", lambda: None)
    assert caught.value.errno in (errno.ENODEV, errno.EINVAL, errno.EACCES, errno.EPERM)


@needs_perf_events
def test_a_refusal_of_the_kernel_has_a_reason() -> None:
    with pytest.raises(CountingError) as caught:
        GLM.count("OFFCORE_RESPONSE_0:DMND_DATA_RD", lambda: None)
    assert caught.value.errno in (errno.ENOENT, errno.EACCES, errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP)
    assert isinstance(caught.value, PfmError)
    assert "OFFCORE_RESPONSE_0" in str(caught.value)


@needs_perf_events
def test_a_counter_that_others_have_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events of the kernel always have a counter, and a virtual machine has no others: what is read is made up."""
    monkeypatch.setattr(PerfEvent, "read", lambda _: Count(0, 1000, 0))
    with pytest.raises(CountingError, match="the counter was never scheduled") as caught:
        PERF.count("page-faults", lambda: None)
    assert caught.value.errno == errno.EBUSY


@needs_perf_events
def test_a_counter_that_others_have_for_a_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PerfEvent, "read", lambda _: Count(100, 1000, 400))
    try:
        assert PERF.count("page-faults", lambda: None) == 250
    except CountingError as error:
        pytest.skip(f"the kernel refuses: {error}")


def test_wrong_types_are_named() -> None:
    with pytest.raises(TypeError, match="event string: expected str or Event, not NoneType"):
        GLM.encode([None])
    with pytest.raises(EventNotFoundError, match="has no event 3; events have names"):
        GLM[3]
    with pytest.raises(TypeError, match="pattern: expected str"):
        PERF.find(None)


@pytest.mark.parametrize("pattern", ["[" * 1001, "*a" * 5_000_000, "[!" * 5_000_000])
def test_a_pattern_of_megabytes_is_refused(pattern: str) -> None:
    """It would take fnmatch minutes."""
    with pytest.raises(InvalidValueError, match="at most 1000 are possible"):
        GLM.find(pattern)
    assert GLM.find("[" * 1000) == []


def test_objects_say_what_they_are() -> None:
    assert repr(GLM) == "<Goldmont: 34 events>"
    assert str(GLM["ICACHE"]) == "ICACHE"
