"""Members and out-parameters of another width, without debug information: poison around them shows it."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from broken import DISPATCH, renamed, with_code
from native import CC, PFM3, PFM4, build, build_library
from pypfm.config import LIBRARIES
from pypfm.conform import runner
from pypfm.conform.model import Vector
from pypfm.conform.vectors import recorded
from tools import first

pytestmark = pytest.mark.slow

# Function, type of its last argument, and a member: only its lower half is written.
HALVES = {
    "nevents": ("pfm_get_pmu_info", "int pmu", "pmu", "pfm_pmu_info_t", "nevents"),
    "num_cntrs": ("pfm_get_pmu_info", "int pmu", "pmu", "pfm_pmu_info_t", "num_cntrs"),
    "nattrs": ("pfm_get_event_info", "int event, int os", "event, os", "pfm_event_info_t", "nattrs"),
    "idx": ("pfm_get_event_attr_info", "int event, int n, int os", "event, n, os", "pfm_event_attr_info_t", "idx"),
}


@cache
def some(api: str) -> list[Vector]:
    """Every tenth recorded call, and all queries of libpfm 4."""
    vectors = recorded(api)
    return [v for i, v in enumerate(vectors) if i % 10 == 0 or v["kind"] in ("info", "call")]


def test_a_wide_member_of_a_request(tmp_path: Path) -> None:
    """There is padding after num_masks, so that everything else stays at its place."""
    library = LIBRARIES["pfm3"]
    shutil.copytree(library.include_dir, tmp_path / "include")
    path = tmp_path / "include" / "perfmon" / "pfmlib.h"
    text = path.read_text()
    assert text.count("unsigned int num_masks;") == 1
    path.write_text(text.replace("unsigned int num_masks;", "unsigned long num_masks;"))
    built = build_library(library, tmp_path, f"-I{tmp_path / 'include'}", "-D_Static_assert(...)=", "-w")
    report = runner.run(str(built), "pfm3", vectors=some("pfm3"), jobs=2)
    assert report.status == 4
    assert {f.function for f in report.findings} >= {"pfm_dispatch_events", "pfm_get_full_event_name"}


@pytest.mark.parametrize("member", HALVES)
def test_half_a_member_of_an_answer(member: str, tmp_path: Path) -> None:
    function, parameters, names, ctype, field = HALVES[member]
    shim = tmp_path / "shim.c"
    shim.write_text(f"#include <perfmon/pfmlib.h>\n#undef {function}\nint real_function({parameters}, {ctype} *);\n"
                    f"int shimmed({parameters}, {ctype} *info) __asm__(\"{function}\");\n"
                    f"int shimmed({parameters}, {ctype} *info)\n{{\n\tunsigned short upper = ((unsigned short *)&info->{field})[1];\n"
                    f"\tint ret = real_function({names}, info);\n\n\t((unsigned short *)&info->{field})[1] = upper;\n\treturn ret;\n}}\n")
    plain = tmp_path / "plain.o"
    build(CC, "-c", "-fPIC", "-fno-strict-aliasing", *PFM4.cflags, shim, "-o", plain)
    library = build_library(PFM4, tmp_path, sources=[*renamed(PFM4, tmp_path, function), plain])
    calls = [v for v in recorded("pfm4") if v["kind"] == "info"]
    fields = {d.field.rpartition(".")[2] for f in runner.run(str(library), "pfm4", vectors=calls).findings for d in f.differences}
    assert field in fields


@pytest.mark.parametrize("width", first(["unsigned char", "unsigned short", "unsigned long"]))
@pytest.mark.parametrize("function", ["pfm_get_num_events", "pfm_get_num_counters", "pfm_get_hw_counter_width"])
def test_an_out_parameter(function: str, width: str, tmp_path: Path) -> None:
    calls = [v for v in recorded("pfm3") if v.get("call") == function and v["expect"]["ret"] == 0]
    assert calls
    shimmed = with_shim(tmp_path, function, width)
    report = runner.run(str(shimmed), "pfm3", vectors=calls)
    assert len(report.findings) == len(calls)
    field = "overrun" if width == "unsigned long" else "value"
    assert {d.field for f in report.findings for d in f.differences} == {field}


def with_shim(directory: Path, function: str, width: str) -> Path:
    """libpfm 3 with a function that writes its answer in another width."""
    shim = directory / "shim.c"
    shim.write_text(f"extern int real_function(unsigned *);\nint {function}(void *);\nint {function}(void *value)\n"
                    f"{{\n\tunsigned right = 0;\n\tint ret = real_function(&right);\n\n"
                    f"\tif (!ret)\n\t\t*({width} *)value = ({width})right;\n\treturn ret;\n}}\n#define {function} real_function\n")
    plain = directory / "plain.o"
    build(CC, "-c", "-fPIC", shim, "-o", plain)
    return build_library(PFM3, directory, sources=[*renamed(PFM3, directory, function), plain])


def test_an_input_that_is_changed(tmp_path: Path) -> None:
    library = with_code(DISPATCH, tmp_path, "((pfmlib_input_param_t *)in)->pfp_dfl_plm ^= 1;")
    calls = [v for v in recorded("pfm3") if v["kind"] == "dispatch" and v["expect"]["ret"] == 0][:50]
    report = runner.run(str(library), "pfm3", vectors=calls)
    assert "input changed" in {d.field for f in report.findings for d in f.differences}
