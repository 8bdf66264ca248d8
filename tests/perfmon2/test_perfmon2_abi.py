"""The headers of perfmon2: layouts, constants and prototypes, in every configuration and with every compiler.

The assertions come from tables (abi_perfmon2.py), and a compiler reads them with the installed headers.
"""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import pytest

from abi_perfmon2 import COMPAT_CALLS, CONFIGS, TYPES, TYPES_OLD, V2_CALLS, V3_CALLS, emit
from native import CC, CXX, PFM3, PFM3_MANUAL, attempt, build, exported
from pypfm.config import Library
from tools import needs

each_form = pytest.mark.parametrize("form", [PFM3, PFM3_MANUAL], ids=lambda form: form.name)
COUNTS = {"v3": 447, "v2old": 405, "ia64": 218, "smpl": 90}


@pytest.mark.parametrize(("name", "compiler"), [*((name, CC) for name in CONFIGS), ("v3", "clang")])
def test_assertions(name: str, compiler: str, tmp_path: Path) -> None:
    source, count = emit(name)
    assert count == COUNTS[name]
    program = tmp_path / "abi"
    build(needs(compiler), "-std=gnu11", "-w", *PFM3.cflags, "-x", "c", "-", "-o", program, "-c", source=source)
    build(CC, program, "-o", tmp_path / "run", *PFM3.libs)
    build(tmp_path / "run")


@pytest.mark.parametrize(("header", "old", "new", "name"), [
    ("perfmon_v2.h", "uint64_t reg_random_mask;", "uint32_t reg_random_mask;", "v3"),
    ("perfmon.h", "uint32_t msg_ovfl_tid;", "int32_t msg_ovfl_tid;", "v2old"),
    ("perfmon_compat.h", "PFM_RESTART 0x0a", "PFM_RESTART 0x0b", "ia64"),
    ("perfmon_default_smpl.h", "0x4d, 0x72", "0x4d, 0x73", "smpl"),
], ids=["size", "signedness", "constant", "uuid"])
def test_a_changed_header_is_noticed(header: str, old: str, new: str, name: str, tmp_path: Path) -> None:
    shutil.copytree(PFM3.include_dir, tmp_path / "include")
    path = tmp_path / "include" / "perfmon" / header
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    program = tmp_path / "abi"
    made = attempt(CC, "-std=gnu11", "-w", f"-I{tmp_path / 'include'}", "-x", "c", "-", "-o", program, *PFM3.libs,
                   source=emit(name)[0])
    assert made.returncode != 0 or attempt(program).returncode != 0


@pytest.mark.parametrize(("compiler", "standard", "flag"), [
    (CC, "c99", "-DPFMLIB_OLD_PFMV2"), (CC, "c11", "-D_FILE_OFFSET_BITS=64"), ("clang", "c99", "-O0"), (CXX, "c++11", "-O0"),
    (CXX, "c++11", "-DPFMLIB_OLD_PFMV2"), ("clang++", "c++17", "-D_FILE_OFFSET_BITS=64")])
def test_a_program_of_each_language(compiler: str, standard: str, flag: str) -> None:
    source = """
#include <perfmon/perfmon.h>
#include <perfmon/perfmon_dfl_smpl.h>
#include <perfmon/perfmon_default_smpl.h>
#include <perfmon/perfmon_model.h>
int main(void)
{
\tpfarg_ctx_t context = { 0, 0, { 0 } };
\tpfarg_setinfo_t info;
\tpfarg_msg_t message;

\tmessage.type = PFM_MSG_OVFL;
\tinfo.set_id = 0;
\tif (mmap(0, 4096, PROT_READ, MAP_SHARED, -1, 0) != MAP_FAILED)
\t\treturn 1;
\treturn pfm_create_context(&context, 0, 0, 0) >= 0 || pfm_getinfo_evtsets(-1, &info, 1) == 0 || message.type == 0;
}
"""
    language = "c++" if "++" in standard else "c"
    build(needs(compiler), f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", flag, *PFM3.cflags, "-x", language,
          "-", "-o", "/dev/null", *PFM3.libs, source=source)


def names_that_are_linked(tmp_path: Path, *flags: str) -> str:
    source = """
#include <perfmon/perfmon_dfl_smpl.h>
void *f(void) { pfm_create_context(0, 0, 0, 0); pfm_getinfo_evtsets(-1, 0, 0); return mmap(0, 1, 1, 1, -1, 0); }
"""
    build(CC, "-std=gnu11", *flags, f"-I{PFM3.include_dir}", "-x", "c", "-c", "-", "-o", tmp_path / "f.o", source=source)
    return build(needs("nm"), "-u", tmp_path / "f.o")


def test_what_each_configuration_links(tmp_path: Path) -> None:
    plain = names_that_are_linked(tmp_path).split()
    assert {"pfm_create_context", "pfm_getinfo_evtsets", "pfm_mmap"} <= set(plain)
    old = names_that_are_linked(tmp_path, "-DPFMLIB_OLD_PFMV2").split()
    assert {"pfm_create_context_v2old", "pfm_getinfo_evtsets_v2old", "pfm_mmap"} <= set(old)
    assert "pfm_create_context" not in old
    assert "pfm_mmap64" in names_that_are_linked(tmp_path, "-D_FILE_OFFSET_BITS=64").split()
    assert "mmap" in names_that_are_linked(tmp_path, "-DPFM_NO_MMAP_REDIRECT").split()
    assert "mmap" in names_that_are_linked(tmp_path, *PFM3.cflags).split()


@pytest.mark.parametrize(("header", "compiler", "language"), [
    *((header, CC, "c") for header in ("perfmon.h", "perfmon_dfl_smpl.h", "pfmlib.h")), ("perfmon.h", CXX, "c++")])
def test_perfmonctl_can_be_left_out(header: str, compiler: str, language: str) -> None:
    """As a configure script looks for what there is: PAPI's takes pfm_msg_t for the interface before perfmon2."""
    def refused(flags: list[str], *names: str) -> str:
        functions = "".join(f"int f{n}({name} *p);\nint f{n}({name} *p) {{ return p != 0; }}\n" for n, name in enumerate(names))
        return attempt(needs(compiler), *flags, *PFM3.cflags, "-x", language, "-fsyntax-only", "-",
                       source=f"#include <perfmon/{header}>\n#if defined(PFM_WRITE_PMCS) == {len(flags)}\n#error perfmonctl\n#endif\n{functions}").stderr

    assert not refused([], "pfm_msg_t", "pfarg_context_t", "pfarg_ctx_t", "pfarg_load_t")
    assert not refused(["-DPFM_NO_PERFMON_COMPAT"], "pfarg_ctx_t", "pfarg_load_t")
    errors = refused(["-DPFM_NO_PERFMON_COMPAT"], "pfm_msg_t", "pfarg_context_t")
    assert "pfm_msg_t" in errors
    assert "pfarg_context_t" in errors


def test_a_program_may_include_perfmonctl_itself() -> None:
    """As the sampling format of perfmonctl() does."""
    for header in ("perfmon_compat.h", "perfmon_default_smpl.h"):
        build(CC, "-DPFM_NO_PERFMON_COMPAT", *PFM3.cflags, "-x", "c", "-fsyntax-only", "-",
              source=f"#include <perfmon/perfmon.h>\n#include <perfmon/{header}>\nint f(pfm_msg_t *m) {{ return m->type + PFM_WRITE_PMCS; }}\n")


@each_form
def test_every_call_is_exported(form: Library) -> None:
    calls = {*V2_CALLS, *V3_CALLS, *COMPAT_CALLS}
    ours = {"pfm_mmap", "pfm_mmap64", "pfm_create_context_v2old", "pfm_getinfo_evtsets_v2old", "pfm_model_advance",
            "pfm_model_advance_code", "pfm_model_advance_task", "pfm_model_time", "pfm_model_time_task", "pfm_model_set_ip",
            "pfm_model_set_pmd"}
    assert len(calls) == 20
    assert calls | ours <= set(exported(form.path))


def test_version_2_is_included_by_perfmon_h() -> None:
    done = attempt(CC, *PFM3.cflags, "-x", "c", "-fsyntax-only", "-", source="#include <perfmon/perfmon_v2.h>\n")
    assert done.returncode != 0
    assert "include perfmon/perfmon.h" in done.stderr


def test_the_tables_agree_with_themselves() -> None:
    """ctypes lays the structures out as the tables say."""
    for types, names in ((TYPES, ("v3", "ia64", "smpl")), (TYPES_OLD, ("v2old",))):
        for name in names:
            for struct, (size, alignment, members) in CONFIGS[name]["structs"].items():
                assert (ctypes.sizeof(types[struct]), ctypes.alignment(types[struct])) == (size, alignment)
                assert [getattr(types[struct], m).offset for m, *_ in members] == [offset for *_, offset in members]
