"""PMUs of other libraries as objects: our own library once more, Debian's, and damaged ones."""

from __future__ import annotations

import ctypes
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from conftest import refused, run_python
from foreign_library import debian, library
from native import PFM4
from pypfm import pfm4
from pypfm.decoding import decode
from pypfm.errors import (
    CountingError,
    InvalidTypeError,
    InvalidValueError,
    LibraryError,
    Pfm4Error,
    Pfm4EventNotFoundError,
)
from pypfm.perf import Pmu
from pypfm.perf.foreign import foreign_pmus

OWN = ("gen_ia64", "ita", "ita2", "mont", "glm", "perf")
LAYERS = {"none": 0, "perf_event": 1, "perf_event_ext": 2}


@pytest.mark.parametrize("name", OWN)
def test_our_own_library_by_its_file_says_what_it_says_without(name: str) -> None:
    """Everything but what only our tables know: kinds of unit masks, which event is an offcore one, raw codes of perf."""
    ours, theirs = Pmu(name), Pmu(name, library=PFM4.path)
    assert list(theirs) == list(ours)
    assert (theirs.model_name, theirs.counters) == (ours.model_name, ours.counters)
    for event in ours:
        mine, other = ours[event], theirs[event]
        assert [(u.name, u.code, u.description) for u in other.umasks] == [
            (u.name, u.code, u.description) for u in mine.umasks]
        if name != "perf":  # whose C functions describe an event by its name, and no default, as the reference does
            assert (other.description, other.alias_of) == (mine.description, mine.alias_of)
            assert [u.is_default for u in other.umasks] == [u.is_default for u in mine.umasks]
        for os_, layer in LAYERS.items():
            assert theirs.modifiers(event, layer) == ours.modifiers(event, os_)  # type: ignore[arg-type] # a name
            for text in (event, *(f"{event}:{u.name}" for u in mine.umasks)):
                (ret, a), (other_ret, b) = ours._made(text, layer, 8), theirs._made(text, layer, 8)
                assert ret == other_ret
                if a is not None and b is not None:
                    assert (a.event, a.string, a.cpu) == (b.event, b.string, b.cpu)
                    if layer:  # of raw codes the other library is not asked for it
                        assert bytes(pfm4.ffi.buffer(a.attr)) == bytes(pfm4.ffi.buffer(b.attr))
                    assert layer or a.codes == b.codes


def test_an_object_of_debian_s() -> None:
    skl = Pmu("SKL", library=debian())
    assert (skl.name, skl.library, len(skl)) == ("skl", str(debian()), 84)
    assert repr(skl) == f"<Pmu skl of {debian()}: 84 events>"
    assert [e.name for e in skl.find("inst_*")] == ["INST_RETIRED"]
    assert skl["inst_retired"].umasks[0].name == "ANY_P"
    made = skl.encode("INST_RETIRED:ANY_P:c=2:u")
    assert made.codes == (0x25100C0,)
    assert made.attr == {"type": 4, "size": 128, "config": 0x20000C0, "exclude_kernel": 1, "exclude_guest": 1}
    assert made.perf == "r20000c0:u"
    two = skl.encode("OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE", plm="user,kernel")
    assert (two.codes, two.offcore) == ((0x5301B7, 0x10001), None)
    assert two.perf == "cpu/config=0x1b7,config1=0x10001/uk"


def test_equality_pickles_and_hashes() -> None:
    skl, by_name = Pmu("skl", library=debian()), Pmu("skl", library="libpfm.so.4")
    for other in (pickle.loads(pickle.dumps(skl)), Pmu("skl", library=Path(debian()))):
        assert (other, hash(other), other.library) == (skl, hash(skl), skl.library)
    assert repr(by_name) == "<Pmu skl of libpfm.so.4: 84 events>"
    assert pickle.loads(pickle.dumps(by_name)) == by_name
    assert skl != Pmu("skx", library=debian())
    assert Pmu("glm", library=debian()) != Pmu("glm")


def test_a_pmu_that_ours_has_too_is_that_of_the_library() -> None:
    """Debian's libpfm 4 reports descriptions of its own."""
    assert Pmu("glm", library=debian()).library is not None
    assert [e.name for e in Pmu("glm", library=debian()).events] == [e.name for e in Pmu("glm").events]
    assert "mont" not in {p.name for p in foreign_pmus(debian())[1]}
    with pytest.raises(InvalidValueError, match="PMU 'mont'"):
        Pmu("mont", library=debian())


def test_a_path_is_that_of_another_directory_too(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(debian())
    monkeypatch.chdir(path.parent)
    assert Pmu("skl", library=f"./{path.name}").library == str(path)


def test_names_that_are_near() -> None:
    with pytest.raises(InvalidValueError, match=r"PMU 'sky': .* knows \d+, not this one; the nearest are sk"):
        Pmu("sky", library=debian())
    with pytest.raises(InvalidTypeError, match="PMU: expected str"):
        Pmu(3, library=debian())  # type: ignore[arg-type] # which is the test
    with pytest.raises(InvalidValueError, match="not this one"):
        Pmu("skl\0", library=debian())


def test_the_environment_stays_and_does_not_matter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LIBPFM_FORCE_PMU", "glm")
    before = dict(os.environ)
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_char_p
    path = library(tmp_path)
    assert Pmu("toy", library=path).model_name == "a toy"  # initialised with other variables
    assert dict(os.environ) == before
    assert libc.getenv(b"LIBPFM_FORCE_PMU") == b"glm"
    assert libc.getenv(b"LIBPFM_ENCODE_INACTIVE") is None


def test_the_program_s_own_use_of_a_library_is_left_alone(tmp_path: Path) -> None:
    """It is initialised for itself; objects have a copy."""
    path = library(tmp_path)
    theirs: Any = pfm4.load(path)
    assert theirs.pfm_initialize() == 0
    assert Pmu("toy", library=path).model_name == "a toy"
    info = theirs.pfm_pmu_info_t()
    assert theirs.pfm_get_pmu_info(3, info) == 0
    assert info.desc == "a toy with another environment"


def test_where_the_system_allows_no_copy_the_library_itself_is_used(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "memfd_create", refuse)
    path = library(tmp_path)
    assert Pmu("toy", library=path).model_name == "a toy"
    info = pfm4.load(path).pfm_pmu_info_t()
    assert pfm4.load(path).pfm_get_pmu_info(3, info) == 0
    assert info.desc == "a toy"


def test_descriptors_that_are_used_again() -> None:
    """A copy is loaded by a descriptor; a program that closes all of them, as daemons do, gets the number again."""
    program = f"""
import os
from pypfm.perf import Pmu
before = len(os.listdir("/proc/self/fd"))
assert len(Pmu("skl", library={str(debian())!r})) == 84
assert len(os.listdir("/proc/self/fd")) == before
os.closerange(3, 256)
assert len(Pmu("mont", library={str(PFM4.path)!r})) == 637
"""
    done = run_python(program)
    assert done.returncode == 0, done.stderr


def test_threads_share_one_library(tmp_path: Path) -> None:
    path, found = library(tmp_path), []
    threads = [threading.Thread(target=lambda: found.append(Pmu("toy", library=path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 8
    assert len(foreign_pmus(path)[1]) == 1


# ---- libraries that differ ------------------------------------------------------------------


@pytest.mark.parametrize("defines", [(), ("OLDER",), ("LACKS",)], ids=["plain", "older", "lacks"])
def test_a_toy(defines: tuple[str, ...], tmp_path: Path) -> None:
    """Also with smaller structures, of which a library takes no larger ones."""
    path = library(tmp_path, *defines)
    toy = Pmu("toy", library=path)
    assert list(toy) == ["CYCLES", "OTHER"]
    assert [u.name for u in toy["CYCLES"].umasks] == ["ALL"]
    assert [m.name for m in toy.modifiers("CYCLES")] == ["c"]
    made = toy.encode("CYCLES:c=3")
    assert (made.codes, made.attr, made.perf) == ((0x300000006,), None, None)
    (match,) = decode("toy", {"code": 0xC00000006}, library=path).candidates[:1]
    assert (match.event, match.request) == ("CYCLES", "toy::CYCLES:c=12")
    with pytest.raises(Pfm4Error, match="the running kernel has no PMU toy"):
        toy.count("CYCLES", lambda: None)


def test_a_pmu_with_a_number_beyond_our_header(tmp_path: Path) -> None:
    path = library(tmp_path, "PMU_ID=5000", "MOST=5001")
    assert [p.name for p in foreign_pmus(path)[1]] == ["toy"]


def test_names_that_are_no_utf_8(tmp_path: Path) -> None:
    path = library(tmp_path, 'PMU_NAME="t\\377y"', 'EVENT_NAME="C\\376"')
    toy = Pmu("t\udcffy", library=path)
    assert (toy.name, list(toy)) == ("t\udcffy", ["C\udcfe", "OTHER"])
    assert toy.encode("C\udcfe").string == "t\udcffy::C\udcfe"
    assert pickle.loads(pickle.dumps(toy)) == toy


def test_damaged_libraries(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match=r"pfm_initialize\(\) returns -1: not supported"):
        Pmu("toy", library=library(tmp_path / "a", "FAILS"))
    with pytest.raises(LibraryError, match="the list of the events of toy has no end"):
        Pmu("toy", library=library(tmp_path / "b", "ENDLESS"))
    with pytest.raises(LibraryError, match="does not name event 0x7 of toy"):
        Pmu("toy", library=library(tmp_path / "c", "EVENT_NAME=0"))
    assert foreign_pmus(library(tmp_path / "d", "PMU_NAME=0"))[1] == []
    many = Pmu("toy", library=library(tmp_path / "e", "ATTRIBUTES=2147483647"))
    with pytest.raises(LibraryError, match="event 'CYCLES' of toy is said to have 2147483647 unit masks and modifiers"):
        _ = many["CYCLES"]


# ---- strings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "error", "said"), [
    ("NOTHING", Pfm4EventNotFoundError, "skl has no event 'NOTHING'"),
    ("INST_RETIRE", Pfm4EventNotFoundError, "the nearest are INST_RETIRED"),
    ("glm::INST_RETIRED", Pfm4EventNotFoundError, "PMU 'glm' is not skl"),
    ("INST_RETIRED:OF_ALL", Pfm4Error, "INST_RETIRED: 'OF_ALL': invalid event attribute: unit masks: ANY_P"),
    ("INST_RETIRED:c=300", Pfm4Error, "INST_RETIRED: 'c=300': invalid event attribute value"),
    ("INST_RETIRED:c=1:c=2", Pfm4Error, "INST_RETIRED: 'c=2': attribute value already set"),
    ("a\0b", "PFM_ERR_INVAL", "an event string cannot hold a NUL"),
    ("", Pfm4EventNotFoundError, "skl has no event ''"),
    ("A" * 1_000_000, Pfm4EventNotFoundError, r"skl has no event 'A+\.\.\.'"),
    ("A:" * 500_000, Pfm4EventNotFoundError, "skl has no event 'A'"),
    ("INST_RETIRED:" + "x:" * 500_000, Pfm4Error, "INST_RETIRED: "),
    ("\udcff", Pfm4EventNotFoundError, "skl has no event"),
])
def test_strings_that_are_refused(text: str, error: type[Exception] | str, said: str) -> None:
    with refused(error, said) as raised:
        Pmu("skl", library=debian()).encode(text)
    assert len(str(raised.value)) < 600


def test_a_pmu_outside_the_cores() -> None:
    """This host has none of 2012's servers, presumably."""
    box = Pmu("snbep_unc_ha", library=debian())
    assert box.encode("UNC_H_CLOCKTICKS").codes == (0,)
    if box.encode("UNC_H_CLOCKTICKS").attr is not None:
        pytest.skip("this machine has the PMU snbep_unc_ha")
    for call in (lambda: box.encode("UNC_H_CLOCKTICKS", os="perf_event"), lambda: box.count("UNC_H_CLOCKTICKS", list)):
        with pytest.raises(Pfm4Error, match="the running kernel has no PMU snbep_unc_ha"):
            call()


def test_events_of_the_kernel_are_counted() -> None:
    perf = Pmu("perf", library=debian())
    made = perf.encode("PAGE-FAULTS", os="perf_event")
    assert (made.event, made.perf) == ("PERF_COUNT_SW_PAGE_FAULTS", "page-faults:u")
    try:
        assert perf.count("PERF_COUNT_SW_TASK_CLOCK:u", lambda: sum(range(100_000))) > 0
    except CountingError as error:
        pytest.skip(f"no counting here: {error}")
