"""The second form of libpfm 3: structures as the manual pages print them.

test_replay.py and test_mirror_vectors.py ask it all recorded dispatch calls; here is what is its own.
"""

from __future__ import annotations

import inspect
import itertools
import random
import re
from typing import Any

import pytest

from conftest import run, run_python
from native import CC, PFM3, PFM3_MANUAL, attempt, build
from pypfm import layout, pfm3, pfm3_manual
from pypfm._c.structures import Structure, Union
from terminal import PYPFM

# Member and offset, as libpfm_itanium2(3) and libpfm_montecito(3), SYNOPSIS, list them.
MANUAL = {
    "pfmlib_mont_etb_t": (16, {
        "etb_used": 0, "etb_plm": 4, "etb_ds": 8, "etb_tm": 9, "etb_ptm": 10, "etb_ppm": 11, "etb_brt": 12}),
    "pfmlib_mont_input_param_t": (456, {
        "pfp_mont_counters": 0, "pfp_mont_flags": 96, "pfp_mont_opcm1": 104, "pfp_mont_opcm2": 128,
        "pfp_mont_iear": 152, "pfp_mont_dear": 176, "pfp_mont_ipear": 200, "pfp_mont_etb": 212,
        "pfp_mont_drange": 232, "pfp_mont_irange": 344}),
    "pfmlib_mont_output_param_t": (656, {"pfp_mont_drange": 0, "pfp_mont_irange": 328}),
    "pfmlib_ita2_input_param_t": (376, {
        "pfp_ita2_counters": 0, "pfp_ita2_flags": 48, "pfp_ita2_pmc8": 56, "pfp_ita2_pmc9": 72,
        "pfp_ita2_iear": 88, "pfp_ita2_dear": 112, "pfp_ita2_btb": 136, "pfp_ita2_drange": 152,
        "pfp_ita2_irange": 264}),
    "pfmlib_ita2_output_param_t": (656, {"pfp_ita2_drange": 0, "pfp_ita2_irange": 328}),
}


@pytest.mark.parametrize("name", MANUAL)
def test_layout(name: str) -> None:
    ffi = pfm3_manual.ffi
    assert (ffi.sizeof(name), {f: m.offset for f, m in ffi.typeof(name).fields}) == MANUAL[name]


def test_the_header_leads_from_a_member_that_there_is_not_to_the_form_that_has_it() -> None:
    """Who greps for etb_ds, of which the compiler says that there is no such member, finds the flags."""
    program = "#include <perfmon/pfmlib_montecito.h>\nint main(void) { pfmlib_mont_etb_t etb = { .etb_ds = 1 }; return !etb.etb_ds; }\n"
    check = [CC, "-x", "c", "-fsyntax-only", "-"]
    refused = attempt(*check, *PFM3.cflags, source=program)
    assert refused.returncode != 0
    assert "etb_ds" in refused.stderr
    header = (PFM3.include_dir / "perfmon/pfmlib_montecito.h").read_text()
    found = {words for line in header.splitlines() if "etb_ds" in line for words in re.findall(r"pypfm (config [\w -]+)\)", line)}
    assert found == {"config --cflags --libs pfm3-manual"}
    flags = run(PYPFM, *found.pop().replace("--libs ", "").split()).stdout.split()
    build(*check, *flags, source=program)


def test_all_other_types_are_the_same() -> None:
    header, manual = (
        {name: mirror.ffi.sizeof(name) for name in mirror.__all__
         if isinstance(getattr(mirror, name), type) and issubclass(getattr(mirror, name), (Structure, Union))}
        for mirror in (pfm3, pfm3_manual))
    assert len(header) > 20
    assert {name for name in header if header[name] != manual[name]} | {"pfmlib_mont_input_param_t"} == set(MANUAL)


def etb_registers(**settings: int) -> list[tuple[int, int]]:
    assert pfm3_manual.pfm_force_pmu(pfm3_manual.PFMLIB_MONTECITO_PMU) == 0
    inp, out = pfm3_manual.pfmlib_input_param_t(pfp_dfl_plm=8), pfm3_manual.pfmlib_output_param_t()
    model = pfm3_manual.pfmlib_mont_input_param_t(
        pfp_mont_etb=pfm3_manual.pfmlib_mont_etb_t(**{f"etb_{name}": value for name, value in settings.items()}))
    assert pfm3_manual.pfm_dispatch_events(inp, model, out, None) == 0
    return [(r.reg_num, r.reg_value) for r in list(out.pfp_pmcs)[:out.pfp_pmc_count]]


def test_etb_ds_is_ignored() -> None:
    for tm, ptm in itertools.product(range(4), range(4)):
        expected = etb_registers(used=1, tm=tm, ptm=ptm)
        assert [num for num, _ in expected] == [39]
        for ds in (1, 255):
            assert etb_registers(used=1, ds=ds, tm=tm, ptm=ptm) == expected
    assert etb_registers(used=1, tm=1) != etb_registers(used=1, tm=2)


def test_a_structure_of_the_other_form_is_refused() -> None:
    assert pfm3_manual.pfm_force_pmu(pfm3_manual.PFMLIB_MONTECITO_PMU) == 0
    inp, out = pfm3_manual.pfmlib_input_param_t(), pfm3_manual.pfmlib_output_param_t()
    with pytest.raises(TypeError, match="wants pfmlib_mont_input_param_t, not that of the library's other form"):
        pfm3_manual.pfm_dispatch_events(inp, pfm3.pfmlib_mont_input_param_t(), out, None)
    assert pfm3_manual.pfm_dispatch_events(pfm3.pfmlib_input_param_t(pfp_dfl_plm=8), None, out, None) == 0


def test_types_that_are_the_same_in_both_forms_are_one_class() -> None:
    apart = {name for name in layout.types("pfm3") if getattr(pfm3, name.rpartition(" ")[2]) is not getattr(
        pfm3_manual, name.rpartition(" ")[2])}
    assert apart == set(MANUAL)
    assert pfm3_manual.pfmlib_mont_etb_t is not pfm3.pfmlib_mont_etb_t


# ---- every function, in both forms -----------------------------------------------------

FUNCTIONS = [name for name in pfm3.__all__ if inspect.isfunction(getattr(pfm3, name))
             and name not in {"byref", "create_string_buffer", "pointer", "smpl_entries"}]
NUMBERS = (-1, 0, 1, 3, 4, 8, 9, 15, 17, 63, 179, 182, 190, 474, 475, 700, 1 << 31)
STRINGS = (None, "", "CPU_CYCLES", "cpu_cycles", "NOPS_RETIRED", "DATA_EAR_ALAT", "0xb7", "183", "CPU_CYCLES:X", "é")


def argument(mirror: Any, kind: str, rng: random.Random, shown: list[Any]) -> Any:
    """An argument of a C type; what the function may change goes to `shown`."""
    if kind == "char *":
        text = mirror.create_string_buffer(64)
        shown.append(lambda: text.raw)
        return text
    if kind == "char * *":
        cell = mirror.c_char_p()
        shown.append(lambda: cell.value)
        return cell
    if "(*)" in kind:
        lines: list[tuple[Any, ...]] = []
        shown.append(lambda: lines)
        return lambda *words: lines.append(words)
    if kind in {"void *", "struct pfarg_start *"} or not rng.randrange(20):
        return None if kind.endswith("*") else 0
    if not kind.endswith("*"):
        return rng.choice(NUMBERS)
    pointer = mirror.ffi.new(kind)
    memory = mirror.ffi.buffer(pointer, min(m.ffi.sizeof(m.ffi.typeof(kind).item) for m in (pfm3, pfm3_manual)))
    for at in range(0, min(len(memory), 96), 4):
        memory[at] = rng.choice((b"\0", b"\1", b"\3", b"\x0f"))
    shown.append(lambda: bytes(memory))
    return pointer


def outcome(mirror: Any, name: str, seed: str) -> tuple[Any, ...]:
    """What a function returns, and all that it leaves behind; the same seed, the same arguments."""
    rng, shown = random.Random(seed), []  # type: random.Random, list[Any]
    types = [t.cname for t in mirror.ffi.typeof(getattr(mirror.lib, name)).args]
    parameters = list(inspect.signature(getattr(mirror, name)).parameters.values())[:len(types)]  # others are optional
    words = [rng.choice(STRINGS) if "String" in str(parameter.annotation) else argument(mirror, kind, rng, shown)
             for parameter, kind in zip(parameters, types, strict=True)]
    try:
        ret = getattr(mirror, name)(*words)
    except (OverflowError, ValueError) as error:  # a number that C has no room for
        ret = str(error)
    return ret, [now() for now in shown]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_forms_answer_alike(name: str) -> None:
    answers = set()
    of_an_event = [t.cname for t in pfm3.ffi.typeof(getattr(pfm3.lib, name)).args] == ["unsigned int"]
    rounds = 640 if of_an_event else 40  # it may be true of one event only
    for pmu, number in itertools.product(("ITANIUM2", "MONTECITO", "ITANIUM", "GEN_IA64"), range(rounds)):
        kind = getattr(pfm3, f"PFMLIB_{pmu}_PMU")
        for mirror in (pfm3, pfm3_manual):
            assert mirror.pfm_force_pmu(kind) == 0
        header, manual = (getattr(mirror, name)(number) if of_an_event else outcome(mirror, name, f"{name} {number}")
                          for mirror in (pfm3, pfm3_manual))
        assert header == manual
        answers.add(repr(header))
    for mirror in (pfm3, pfm3_manual):
        mirror.pfm_set_options(mirror.pfmlib_options_t())
    # What needs a kernel or has no arguments has one answer; no event of Montecito counts for all threads.
    assert len(answers) > 1 or name in {"pfm_stop", "pfm_self_start", "pfm_self_stop", "pfm_initialize", "pfm_start",
                                   "pfm_mont_support_all"}


def test_the_two_forms_have_states_of_their_own() -> None:
    done = run_python(
        "from pypfm import pfm3, pfm3_manual\n"
        "kind = pfm3.c_int()\n"
        "assert pfm3.pfm_force_pmu(pfm3.PFMLIB_ITANIUM2_PMU) == 0\n"
        "print(pfm3_manual.pfm_get_pmu_type(kind) == pfm3.PFMLIB_ERR_NOINIT)\n"
        "assert pfm3_manual.pfm_force_pmu(pfm3.PFMLIB_MONTECITO_PMU) == 0\n"
        "pfm3.pfm_get_pmu_type(kind), print(kind.value)\n"
        "pfm3_manual.pfm_get_pmu_type(kind), print(kind.value)\n")
    assert done.stdout.split() == ["True", "3", "4"], done.stderr


def test_config() -> None:
    done = run_python("import sys; from pypfm.cli import main; sys.exit(main(['config', '--cflags', '--library',"
                      " 'pfm3-manual']))")
    assert done.stdout.split() == [str(PFM3_MANUAL.path), f"-I{PFM3.include_dir}", "-DPFMLIB_MANUAL_LAYOUT",
                                   "-DPFM_NO_MMAP_REDIRECT="]
