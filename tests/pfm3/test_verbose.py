"""What the library prints: a line for each register if verbose, and what is said in any case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import REPLAY, TESTS
from fresh import fresh_python

PATH = ":".join(map(str, (TESTS / "pfm3", REPLAY)))
START_UP = [r"sycall base -?\d+", r"major version \d+", r"minor version \d+"]


def printed(code: str, **env: str) -> tuple[list[str], list[str]]:
    """Lines on stdout and on stderr of a process that makes a request."""
    source = f"from types import SimpleNamespace\nfrom dispatching import *\nimport pypfm.pfm3 as P\nassert P.pfm_initialize() == 0\n{code}"
    done = fresh_python(source, PYTHONPATH=PATH, **env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr.splitlines()


def registers(code: str, pmu: str) -> list[str]:
    """The lines of a request, without those of the start-up."""
    out, err = printed(f"a = {code}\nassert a.ret == 0, a.ret", LIBPFM_VERBOSE="1", LIBPFM_FORCE_PMU=pmu)
    assert out == []
    return err[4:]


# ---- start-up ---------------------------------------------------------------------------

@pytest.mark.parametrize(("pmu", "name"), [
    ("1", "IA-64"), ("2", "itanium"), ("3", "itanium2"), ("4", "dual-core Itanium 2")])
def test_start_up_lines(pmu: str, name: str) -> None:
    out, err = printed("", LIBPFM_VERBOSE="1", LIBPFM_FORCE_PMU=pmu)
    assert out == []
    assert len(err) == 4
    for pattern, line in zip(START_UP, err, strict=False):
        assert re.fullmatch(pattern, line)
    assert err[3] == f"PMU forced to {name}"


def test_start_up_lines_of_a_detected_pmu() -> None:
    _, err = printed("", LIBPFM_VERBOSE="1", LIBPFM_IA64_CPUID3="0x20000704")
    assert [bool(re.fullmatch(p, line)) for p, line in zip(START_UP, err, strict=True)] == [True] * 3


CHOICE = ("LIBPFM_FORCE_PMU selects a PMU on any host:"
          " montecito (4) itanium2 (3) itanium (2) gen_ia64 (1)")


@pytest.mark.parametrize(("env", "why"), [
    ({}, "this host is no IA-64, and LIBPFM_IA64_CPUID3 does not stand for one"),
    ({"LIBPFM_IA64_CPUID3": "itanium2"}, "LIBPFM_IA64_CPUID3=itanium2 is no number, CPUID register 3 of an IA-64 processor"),
    ({"LIBPFM_IA64_CPUID3": "0x1fz"}, "LIBPFM_IA64_CPUID3=0x1fz is no number, CPUID register 3 of an IA-64 processor"),
    *(({"LIBPFM_FORCE_PMU": value}, f"LIBPFM_FORCE_PMU={value} is none of libpfm 3")
      for value in ("itanium3", "glm", "", "99", "-2")),
])
@pytest.mark.parametrize("to_stdout", [False, True])
def test_where_nothing_is_found(env: dict[str, str], why: str, to_stdout: bool) -> None:
    """What was looked for, and which variable chooses; the reference says nothing."""
    code = "import sys\nimport pypfm.pfm3 as P\nsys.exit(P.pfm_initialize() != P.PFMLIB_ERR_NOTSUPP)"
    silent = fresh_python(code, **env)
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")
    where = {"LIBPFM_DEBUG_STDOUT": "1"} if to_stdout else {}
    done = fresh_python(code, LIBPFM_VERBOSE="1", **env, **where)
    text, other = (done.stdout, done.stderr) if to_stdout else (done.stderr, done.stdout)
    assert (done.returncode, other) == (0, "")
    assert text.splitlines()[3:] == [f"no PMU: {why}", CHOICE]


# ---- one line for each register -----------------------------------------------------------

def test_itanium() -> None:
    """PMC12 is shown as the settings make it, although its value is 12."""
    code = """ITANIUM.dispatch(
        "LOADS_RETIRED", flags=1, counters=[{"flags": 1, "thres": 1}], irange=ranges((0x1000, 0x1040)),
        drange=ranges((0x10000, 0x20000)), iear={"ear_used": 1, "ear_mode": 1, "ear_umask": 4, "ear_ism": 2},
        dear={"ear_used": 1, "ear_umask": 3}, pmc8={"opcm_used": 1, "pmc_val": 3 << 62 | 5 << 33 | 3 << 3},
        btb={"btb_used": 1, "btb_tar": 1, "btb_tac": 2, "btb_bac": 3, "btb_tm": 7, "btb_ppm": 2})"""
    assert registers(code, "2") == [
        "[PMC4(pmc4)=0x106c68 thres=1 es=0x6c plm=8 umask=0x0 pm=1 ism=0x0 oi=1] LOADS_RETIRED",
        "[PMD4(pmd4)]",
        "[PMC10(pmc10)=0x20400c8 tlb=Yes plm=8 pm=1 ism=0x2 umask=0x4]",
        "[PMD0(pmd0)]",
        "[PMD1(pmd1)",
        "[PMC11(pmc11)=0x30048 tlb=No plm=8 pm=1 ism=0x0 umask=0x3 pt=0]",
        "[PMD2(pmd2)]",
        "[PMD3(pmd3)",
        "PMD17(pmd17)",
        "[PMC8(pmc8)=0xc000000a00000018 m=1 i=1 f=0 b=0 match=0x5 mask=0x3]",
        "[PMC12(pmc12)=0xa3c8 plm=8 pm=1 tar=1 tm=3 ptm=0 ppm=2 bpt=0 bac=1]",
        *[f"[PMD{n}(pmd{n})]" for n in range(8, 17)],
        "[0x1000-0x1040): 1 register pair(s)",
        "start offset: -0x0 end_offset: +0x0",
        "brp0:  db0: 0x0000000000001000 db1: plm=0x8 mask=0x00ffffffffffffc0 end=0x000000000000103f",
        "[PMC13(pmc13)=0x0 ta=0]",
        "[0x10000-0x20000): 1 register pair(s)",
        "start offset: -0x0 end_offset: +0x0",
        "brp0:  db0: 0x0000000000010000 db1: plm=0x8 mask=0x00ffffffffff0000 end=0x000000000001ffff",
        "[PMC11(pmc11)=0x8 tlb=No plm=8 pm=0 ism=0x0 umask=0x0 pt=0]",
    ]


def test_generic_pmu_and_a_register_number_that_is_too_large(tmp_path: Path) -> None:
    code = """inp, out = P.pfmlib_input_param_t(pfp_dfl_plm=8, pfp_event_count=1), P.pfmlib_output_param_t()
assert P.pfm_dispatch_events(inp, None, out, None) == 0"""
    out, err = printed(code, LIBPFM_VERBOSE="1", LIBPFM_FORCE_PMU="1")
    assert out == []
    assert err[4:] == ["[PMC4(pmc4)=0x1228,es=0x12,plm=8 pm=0] CPU_CYCLES", "[PMD4(pmd4)]"]
    pal = tmp_path / "perfmon_info"
    pal.write_text("Implemented PMC : 0-512 \n")
    done = fresh_python("import pypfm.pfm3 as P\nprint(P.pfm_initialize())", LIBPFM_IA64_PAL=str(pal),
                      LIBPFM_IA64_CPUID3="0")
    assert (done.stdout, done.stderr) == ("-1\n", "register 512: numbers are below 512\n")


# ---- what is shown is what the registers hold -------------------------------------------------

@pytest.mark.parametrize(("pmu", "code", "lines"), [
    ("1", "SimpleNamespace(ret=P.pfm_dispatch_events(request([{'event': 'CPU_CYCLES', 'plm': 0x18}]), None,"
     " P.pfmlib_output_param_t(), None))", ["[PMC4(pmc4)=0x1228,es=0x12,plm=8 pm=0] CPU_CYCLES"]),
    ("2", "ITANIUM.dispatch(dear={'ear_used': 1, 'ear_plm': 0x13, 'ear_ism': 7, 'ear_umask': 0x1f5})",
     ["[PMC11(pmc11)=0x13050003 tlb=No plm=3 pm=0 ism=0x3 umask=0x5 pt=1]"]),
    ("3", "ITANIUM2.dispatch(iear={'ear_used': 1, 'ear_plm': 0x13, 'ear_ism': 7, 'ear_umask': 0x1f5})",
     ["[PMC10(pmc10)=0xfea3 ctb=cache plm=3 pm=0 ism=0x3 umask=0xf5]"]),
    ("3", "ITANIUM2.dispatch(iear={'ear_used': 1, 'ear_mode': 1, 'ear_umask': 0x1f5})",
     ["[PMC10(pmc10)=0xea8 ctb=tlb plm=8 pm=0 ism=0x0 umask=0x75]"]),
    ("4", "MONTECITO.dispatch(dear={'ear_used': 1, 'ear_plm': 0x13, 'ear_umask': 0x1f5})",
     ["[PMC40(pmc40)=0x2050003 mode=L1D plm=3 pm=0 ism=0x2 umask=0x5]"]),
])
def test_values_wider_than_their_fields_are_shown_cut(pmu: str, code: str, lines: list[str]) -> None:
    assert [line for line in registers(code, pmu) if "PMD" not in line and "PMC15" not in line] == lines


@pytest.mark.parametrize(("pmu", "code", "pmc"), [
    ("2", 'ITANIUM.dispatch("IA64_INST_RETIRED", irange=ranges((0x1000, 0x1040)), unavail=[13])', 13),
    ("2", 'ITANIUM.dispatch("IA64_INST_RETIRED", pmc9={"opcm_used": 1}, unavail=[9])', 9),
    ("3", 'ITANIUM2.dispatch("IA64_INST_RETIRED", irange=ranges((0x1000, 0x1040)), unavail=[14])', 14),
    ("3", 'ITANIUM2.dispatch("LOADS_RETIRED", drange=ranges((0x1000, 0x1040)), unavail=[13])', 13),
    ("3", 'ITANIUM2.dispatch("IA64_INST_RETIRED", pmc8={"opcm_used": 1}, unavail=[8])', 8),
    ("3", 'ITANIUM2.dispatch("IA64_INST_RETIRED", pmc9={"opcm_used": 1}, unavail=[9])', 9),
    ("3", 'ITANIUM2.dispatch("CPU_CYCLES", btb={}, unavail=[15])', 15),
    ("3", 'ITANIUM2.dispatch("BRANCH_EVENT", unavail=[12])', 12),
    ("4", 'MONTECITO.dispatch("IA64_INST_RETIRED", irange=ranges((0x1000, 0x1040)), unavail=[38])', 38),
    ("4", 'MONTECITO.dispatch("LOADS_RETIRED", drange=ranges((0x1000, 0x1040)), unavail=[41])', 41),
    ("4", 'MONTECITO.dispatch("IA64_INST_RETIRED", opcm1={"opcm_used": 1}, unavail=[32])', 32),
    ("4", 'MONTECITO.dispatch("IA64_INST_RETIRED", opcm1={"opcm_used": 1}, unavail=[33])', 33),
    ("4", 'MONTECITO.dispatch("IA64_INST_RETIRED", opcm2={"opcm_used": 1}, unavail=[34])', 34),
    ("4", 'MONTECITO.dispatch("IA64_INST_RETIRED", opcm2={"opcm_used": 1}, unavail=[35])', 35),
])
def test_a_register_that_must_not_be_used_is_not_shown(pmu: str, code: str, pmc: int) -> None:
    _, err = printed(f"assert {code}.ret == P.PFMLIB_ERR_NOASSIGN", LIBPFM_VERBOSE="1", LIBPFM_FORCE_PMU=pmu)
    assert [line for line in err if line.startswith("[PMC")]  # the counter
    pair = {33: 32, 35: 34}.get(pmc, pmc)
    assert not [line for line in err if f"PMC{pmc}(" in line or f"PMC{pair}(" in line]


@pytest.mark.parametrize(("model", "pmu", "inverted"), [
    ("ITANIUM", "2", ""), ("ITANIUM2", "3", ", inversed"), ("MONTECITO", "4", ", inversed")])
def test_inversion_of_data_ranges_is_shown_although_nothing_is_inverted(model: str, pmu: str, inverted: str) -> None:
    """Itanium reads no flags, neither of data nor of code ranges."""
    code = f'{model}.dispatch("LOADS_RETIRED", drange=ranges((0x10000, 0x20000), flags=%d))'
    shown, plain = registers(code % 1, pmu), registers(code % 2, pmu)
    assert f"[0x10000-0x20000): 1 register pair(s){inverted}" in shown
    assert [line.removesuffix(", inversed") for line in shown] == plain


def test_debugging_prints_nothing() -> None:
    code = """ITANIUM2.dispatch("IA64_INST_RETIRED", irange=ranges((0x1000, 0x1040)), iear={"ear_used": 1})
assert P.pfm_set_options(P.pfmlib_options_t(pfm_debug=1)) == 0
assert ITANIUM2.dispatch("IA64_INST_RETIRED").ret == 0"""
    assert printed(code, LIBPFM_DEBUG="1", LIBPFM_FORCE_PMU="3") == ([], [])
    assert printed(code, LIBPFM_DEBUG="1", LIBPFM_DEBUG_STDOUT="", LIBPFM_FORCE_PMU="3") == ([], [])
    assert printed(code, LIBPFM_FORCE_PMU="3") == ([], [])


# ---- ranges ---------------------------------------------------------------------------------

TOO_BIG = "(0x10, 0x8000000000000020), flags=2"


@pytest.mark.parametrize(("pmu", "call"), [
    ("3", f'ITANIUM2.dispatch("NOPS_RETIRED", irange=ranges({TOO_BIG}))'),
    ("4", f'MONTECITO.dispatch("L2I_PREFETCHES", irange=ranges({TOO_BIG}))')])
def test_too_big_range_is_reported_without_verbosity(pmu: str, call: str) -> None:
    """On stdout, verbose or not."""
    code = f"assert {call}.ret == P.PFMLIB_ERR_IRRTOOBIG"
    assert printed(code, LIBPFM_FORCE_PMU=pmu) == (["range: [0x10-0x8000000000000020] too big"], [])
    out, _ = printed(code, LIBPFM_FORCE_PMU=pmu, LIBPFM_VERBOSE="1")
    assert out == ["range: [0x10-0x8000000000000020] too big"]
