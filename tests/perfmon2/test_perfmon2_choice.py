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


def outcomes(**env: str) -> dict[str, str]:
    ran = run_python(CALLS, **env)
    assert (ran.returncode, ran.stderr) == (0, "")
    return dict(line.split(" ", 1) for line in ran.stdout.splitlines())


@pytest.mark.parametrize("value", [None, "", "auto", "host", "host,np", "auto,np"])
def test_counters_of_this_machine(value: str | None) -> None:
    found = outcomes(LIBPFM_FORCE_PMU="3", **({} if value is None else {"LIBPFM_PERFMON": value}))
    assert found["create"] == "a descriptor"
    assert found["load"] in HOST
    assert found["model"] == "ENXIO"


def test_counters_of_an_itanium() -> None:
    """On another processor, as on that of every test so far, its codes mean something else."""
    assert outcomes(LIBPFM_FORCE_PMU="3", LIBPFM_PERFMON="raw")["load"] in HOST


@pytest.mark.parametrize("value", ["model", "model,rate=5", "model,np,rate=1"])
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


@pytest.mark.parametrize("value", [None, "auto", "host", "model", "nonsense"])
def test_no_itanium(value: str | None) -> None:
    env = {} if value is None else {"LIBPFM_PERFMON": value}
    assert outcomes(**env) == {"create": "EINVAL" if value == "nonsense" else "ENOSYS", "model": "ENXIO"}


@pytest.mark.parametrize("value", ["nonsense", "modell", "model,", "model,rate", "model,rate=", "model,rate=0", "model,rate=-1",
                                   "model,rate=99999999999", "host,rate=5", "model;np", "off,no", ",np,x"])
def test_what_cannot_be_read(value: str) -> None:
    assert outcomes(LIBPFM_FORCE_PMU="3", LIBPFM_PERFMON=value) == {"create": "EINVAL", "model": "ENXIO"}
