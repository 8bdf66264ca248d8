"""The table of checks, in C; some of each kind also through the mirror, and through the state functions under Python's objects.

pmc_control() and pmc_get_info() are the state functions on the state of the process, and the mirror calls them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import CHECKS, NO_MACHINE, OPERATIONS, expand
from conftest import TESTS
from native import PMC, build_program
from pypfm import pmc
from workers import workers

pytestmark = pytest.mark.usefixtures("runtime_dir")


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_program(PMC, TESTS / "c" / "pmc_script.c", tmp_path_factory.mktemp("script") / "script", libs=PMC.libs)


#: Each operation, argument, error, and what Python has of its own: steps of an advance, signals.
IN_PYTHON = ["start-running", "stop-running", "configure-bad-pointer", "configure-running", "configure-no-event", "profstart",
             "profstart-running-elsewhere", "profstop-profiling", "control-unknown", "info-zero", "ncounters", "type-cycle-counter",
             "value-never-configured", "value-null", "accumulated-not-own-counts", "advance-no-event"]


@pytest.mark.parametrize(("name", "kind"), [
    *((name, "C") for name in CHECKS), *((name, kind) for name in IN_PYTHON for kind in ("mirror", "state"))])
def test_check(name: str, kind: str, script: Path) -> None:
    check = CHECKS[name]
    calls = [*check.before, check.call, *(call for call, _ in check.after)]
    expected = [*(["0 -"] * len(check.before)), check.answer, *(answer for _, answer in check.after)]
    others = any(call.startswith("other:") for call in calls)
    with workers(kind, script, check.machine, 2 if others else 1) as processes:
        answers = [processes[call.startswith("other:")](expand(call.removeprefix("other:"))) for call in calls]
    assert list(zip(calls, answers, strict=True)) == list(zip(calls, expected, strict=True))


@pytest.mark.parametrize(("machine", "kind"), [("pentium", "C"), ("XSCALE", "C"), ("xscale ", "mirror")])
def test_no_such_machine(machine: str, kind: str, script: Path) -> None:
    with workers(kind, script, machine) as [process]:
        assert [process(expand(call)) for call in NO_MACHINE] == ["-1 ENXIO"] * len(NO_MACHINE)


def test_an_empty_name_is_linux(script: Path) -> None:
    with workers("C", script, "") as [process]:
        assert process(expand("TYPE -1 int")) == f"0 - {pmc.PMC_CLASS_LINUX}"


def test_operations_are_the_header_s() -> None:
    names = {"TYPE": "CPUCTR_TYPE", "VALUE": "COUNTER_VALUE", "ACCUMULATED": "ACCUMULATED_COUNTER_VALUE"}
    for name, (function, number) in OPERATIONS.items():
        prefix = "PMC_OP_" if function == "control" else "PMC_INFO_"
        assert getattr(pmc, prefix + names.get(name, name)) == number


@pytest.mark.parametrize("call", ["START 1", "PROFSTART 2 cfg:0xb:10"])
def test_a_killed_process_uses_no_counter(call: str, script: Path) -> None:
    """The kernel releases the lock, whatever the process could do about it."""
    with workers("C", script, "xscale", 2) as [one, other]:
        assert other(expand("CONFIGURE 1 cfg:0xb:0")) == "0 -"
        assert other(expand(call)) == "0 -"
        counter = call.split()[1]
        assert one(expand(f"PROFSTART {counter} cfg:0xb:10")) == "-1 EBUSY"
        other.kill()
        assert one(expand(f"PROFSTART {counter} cfg:0xb:10")) == "0 -"
