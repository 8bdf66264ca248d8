"""The table of checks, through C, through the mirror, and through the state functions under Python's objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import CHECKS, NO_MACHINE, OPERATIONS, Check, expand
from conftest import TESTS
from native import PMC, build_program
from pypfm import pmc
from workers import KINDS, workers

pytestmark = pytest.mark.usefixtures("runtime_dir")


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_program(PMC, TESTS / "c" / "pmc_script.c", tmp_path_factory.mktemp("script") / "script", libs=PMC.libs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_check(kind: str, check: Check, script: Path) -> None:
    calls = [*check.before, check.call, *(call for call, _ in check.after)]
    expected = [*(["0 -"] * len(check.before)), check.answer, *(answer for _, answer in check.after)]
    others = any(call.startswith("other:") for call in calls)
    with workers(kind, script, check.machine, 2 if others else 1) as processes:
        answers = [processes[call.startswith("other:")](expand(call.removeprefix("other:"))) for call in calls]
    assert list(zip(calls, answers, strict=True)) == list(zip(calls, expected, strict=True))


@pytest.mark.parametrize("kind", ["C", "mirror"])
@pytest.mark.parametrize("machine", ["pentium", "XSCALE", "xscale "])
def test_no_such_machine(kind: str, machine: str, script: Path) -> None:
    with workers(kind, script, machine) as [process]:
        assert [process(expand(call)) for call in NO_MACHINE] == ["-1 ENXIO"] * len(NO_MACHINE)


@pytest.mark.parametrize("kind", ["C", "mirror"])
def test_an_empty_name_is_linux(kind: str, script: Path) -> None:
    with workers(kind, script, "") as [process]:
        assert process(expand("TYPE -1 int")) == f"0 - {pmc.PMC_CLASS_LINUX}"


def test_operations_are_the_header_s() -> None:
    names = {"TYPE": "CPUCTR_TYPE", "VALUE": "COUNTER_VALUE", "ACCUMULATED": "ACCUMULATED_COUNTER_VALUE"}
    for name, (function, number) in OPERATIONS.items():
        prefix = "PMC_OP_" if function == "control" else "PMC_INFO_"
        assert getattr(pmc, prefix + names.get(name, name)) == number


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", ["START 1", "PROFSTART 2 cfg:0xb:10"])
def test_a_killed_process_uses_no_counter(kind: str, call: str, script: Path) -> None:
    """The kernel releases the lock, whatever the process could do about it."""
    with workers(kind, script, "xscale", 2) as [one, other]:
        assert other(expand("CONFIGURE 1 cfg:0xb:0")) == "0 -"
        assert other(expand(call)) == "0 -"
        counter = call.split()[1]
        assert one(expand(f"PROFSTART {counter} cfg:0xb:10")) == "-1 EBUSY"
        other.kill()
        assert one(expand(f"PROFSTART {counter} cfg:0xb:10")) == "0 -"
