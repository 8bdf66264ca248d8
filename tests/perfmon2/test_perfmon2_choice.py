"""What LIBPFM_PERFMON chooses: calls of a process that has nothing else set than that and the PMU."""

from __future__ import annotations

import pytest

from conftest import run_python

#: Returns of create, load, and of a function of the model, or the errno's names.
CALLS = """
import errno, os, threading
from pypfm import pfm3
def outcome(call, *args):
    if (ret := call(*args)) >= 0:
        return ret
    return errno.errorcode[pfm3.ffi.errno]
fd = outcome(pfm3.pfm_create_context, pfm3.pfarg_ctx_t(), None, None, 0)
print("create", "a descriptor" if isinstance(fd, int) else fd)
if isinstance(fd, int):
    pfm3.pfm_write_pmcs(fd, pfm3.pfarg_pmc_t(reg_num=4, reg_value=0x1228), 1)
    print("load", outcome(pfm3.pfm_load_context, fd, pfm3.pfarg_load_t(load_pid=threading.get_native_id())))
print("model", outcome(pfm3.pfm_model_set_ip, 1))
"""
#: Where there are hardware counters, 0; where perf is forbidden, EPERM.
HOST = {"0", "ENODEV", "EPERM"}


def printed(code: str = CALLS, **env: str) -> list[str]:
    """The lines about perfmon in verbose mode, which are on stderr."""
    ran = run_python(code, LIBPFM_VERBOSE="1", LIBPFM_FORCE_PMU="3", **env)
    assert ran.returncode == 0, ran.stderr
    return [line for line in ran.stderr.splitlines() if line.startswith("perfmon")]


@pytest.mark.parametrize(("value", "line"), [
    ("model", "counts come from a model (LIBPFM_PERFMON=model)"),
    ("model,np,rate=5", "counts come from a model (LIBPFM_PERFMON=model,rate=5,np)"),
    ("off", "LIBPFM_PERFMON=off counts nothing"),
    ("modell", "LIBPFM_PERFMON=modell is not auto, host, raw, model or off, with options ,np and (of a model) ,rate=N"),
    ("host,rate=5", "LIBPFM_PERFMON=host,rate=5 is not auto, host, raw, model or off, with options ,np and (of a model) ,rate=N"),
])
def test_the_source_of_counts_is_named_once(value: str, line: str) -> None:
    assert printed(CALLS + CALLS, LIBPFM_PERFMON=value) == ["perfmon: " + line]


NO_COUNTERS = "LIBPFM_PERFMON=model,rate=1000000 needs no counters"
NOTHING = "perfmon: nothing is counted with LIBPFM_PERFMON="


@pytest.mark.parametrize("value", ["auto", "host,np", "raw"])
def test_a_load_without_a_back_end_names_the_variable(value: str) -> None:
    """Where there are counters, it says that they count."""
    name = value.replace("auto", "host")
    why = {"ENODEV": "this is no IA-64 processor with counters" if value == "raw" else "this machine has no such counters",
           "EPERM": "perf_event_open(2) is not permitted, see /proc/sys/kernel/perf_event_paranoid"}
    expected = {error: f"{NOTHING}{name}: {text}; {NO_COUNTERS}" for error, text in why.items()}
    expected["0"] = f"perfmon: counts come from this machine's counters (LIBPFM_PERFMON={name})"
    load = outcomes(LIBPFM_FORCE_PMU="3", LIBPFM_PERFMON=value)["load"]
    assert printed(LIBPFM_PERFMON=value) == [expected[load]]


def test_a_load_of_what_the_back_end_cannot_count() -> None:
    code = CALLS.replace("0x1228", "0x3001")
    assert printed(code, LIBPFM_PERFMON="host") == [f"{NOTHING}host: nothing here counts what a register asks for; {NO_COUNTERS}"]


def test_options_of_the_program_ask_for_the_line() -> None:
    code = "from pypfm import pfm3\npfm3.pfm_initialize()\npfm3.pfm_set_options(pfm3.pfmlib_options_t(pfm_verbose=1))\n" + CALLS
    ran = run_python(code, LIBPFM_PERFMON="model", LIBPFM_FORCE_PMU="3")
    assert ran.stderr == "perfmon: counts come from a model (LIBPFM_PERFMON=model)\n"
    to_stdout = run_python(CALLS, LIBPFM_PERFMON="model", LIBPFM_FORCE_PMU="3", LIBPFM_VERBOSE="1", LIBPFM_DEBUG_STDOUT="1")
    assert (to_stdout.stderr, to_stdout.stdout.count("counts come from a model")) == ("", 1)


def outcomes(**env: str) -> dict[str, str]:
    ran = run_python(CALLS, **env)
    assert (ran.returncode, ran.stderr) == (0, "")
    return dict(line.split(" ", 1) for line in ran.stdout.splitlines())


@pytest.mark.parametrize("value", [None, "", "host,np", "auto"])
def test_counters_of_this_machine(value: str | None) -> None:
    found = outcomes(LIBPFM_FORCE_PMU="3", **({} if value is None else {"LIBPFM_PERFMON": value}))
    assert found["create"] == "a descriptor"
    assert found["load"] in HOST
    assert found["model"] == "ENXIO"


@pytest.mark.parametrize("value", ["model", "model,np,rate=1"])
def test_model(value: str) -> None:
    assert outcomes(LIBPFM_FORCE_PMU="3", LIBPFM_PERFMON=value) == {"create": "a descriptor", "load": "0", "model": "0"}


@pytest.mark.parametrize(("env", "found"), [
    ({"LIBPFM_FORCE_PMU": "ita2"}, "a descriptor"), ({"LIBPFM_FORCE_PMU": "Montecito"}, "a descriptor"),
    ({"LIBPFM_FORCE_PMU": "glm"}, "ENOSYS"), ({"LIBPFM_FORCE_PMU": "-1"}, "ENOSYS"),
    ({"LIBPFM_FORCE_PMU": "-1", "LIBPFM_IA64_CPUID3": "0x1f010504"}, "a descriptor")])
def test_whose_registers_without_an_initialisation(env: dict[str, str], found: str) -> None:
    assert outcomes(LIBPFM_PERFMON="model", **env)["create"] == found


def test_off() -> None:
    assert outcomes(LIBPFM_FORCE_PMU="3", LIBPFM_PERFMON="off") == {"create": "ENOSYS", "model": "ENXIO"}


@pytest.mark.parametrize("value", [None, "model", "nonsense"])
def test_no_itanium(value: str | None) -> None:
    env = {} if value is None else {"LIBPFM_PERFMON": value}
    assert outcomes(**env) == {"create": "EINVAL" if value == "nonsense" else "ENOSYS", "model": "ENXIO"}


@pytest.mark.parametrize("value", ["nonsense", "modell", "model,", "model,rate", "model,ratio=5", "model,rate=", "model,rate=0",
                                   "model,rate=-1", "model,rate=x", "model,rate=5x", "model,rate=4294967296",
                                   "model,rate=99999999999999999999", "host,rate=5", "model;np", "off,no", ",np,x"])
def test_what_cannot_be_read(value: str) -> None:
    assert outcomes(LIBPFM_FORCE_PMU="3", LIBPFM_PERFMON=value) == {"create": "EINVAL", "model": "ENXIO"}
