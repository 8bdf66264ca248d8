"""Shapes of calls that programs make, in C, Go and Rust: each prints the same on Debian's libpfm.so.4 and on ours.

Sizes that are 0, structures that are declared by hand, more PMUs than there are, strings that the program owns,
versions of perf_event_attr that are older and newer than the library's.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conftest import clean_env, run
from native import CC, PFM4, build
from pypfm import pfm4
from reference4 import DEBIAN, HEADER, NO_HEADER, NO_LIBRARY, SHAPES, environment, libraries, loaded, on
from tools import needs, tool

pytestmark = [pytest.mark.slow, pytest.mark.skipif(DEBIAN is None, reason=NO_LIBRARY)]
needs_header = pytest.mark.skipif(not HEADER.is_file(), reason=NO_HEADER)


def answers(program: Path, pmu: str) -> dict[str, list[str]]:
    """What a program prints on each library, which it is linked with."""
    found = {}
    for whose, library in libraries().items():
        assert loaded(program, environment(library, pmu)) == library.resolve()
        done = on(library, pmu, program)
        assert (done.returncode, done.stderr) == (0, "")
        found[whose] = done.stdout.splitlines()
    return found


@pytest.mark.parametrize("pmu", ["glm", "perf"])
@pytest.mark.parametrize("compiler", [CC, "clang"])
def test_c_with_dlopen(compiler: str, pmu: str, tmp_path: Path) -> None:
    program = tmp_path / "shapes"
    build(needs(compiler), "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", SHAPES / "shapes.c", "-o", program, "-ldl")
    found = {}
    for whose, library in libraries().items():
        done = on(library, pmu, program, library)
        assert (done.returncode, done.stderr) == (0, ""), whose
        found[whose] = done.stdout.splitlines()
    assert found["ours"] == found["Debian"]
    assert len(found["ours"]) > 300
    assert sum(line.endswith(": there") for line in found["ours"]) == 13
    own = [line for line in found["ours"] if line.startswith("raw ")]
    assert all(line.split(" own ")[1].split()[0] == "mine" for line in own)
    assert any("not written" in line for line in own)


def test_reserved_flags_are_zero() -> None:
    """Debian's library leaves what its stack held: shapes.c prints the two flags alone."""
    info = pfm4.pfm_pmu_info_t(reserved_bits=-1 & 0x3fffffff)
    assert pfm4.pfm_initialize() == pfm4.PFM_SUCCESS
    assert pfm4.pfm_get_pmu_info(pfm4.PFM_PMU_INTEL_GLM, info) == pfm4.PFM_SUCCESS
    assert info.reserved_bits == 0


@pytest.mark.needs("go")
@needs_header
@pytest.mark.parametrize("headers", ["Debian", "ours"])
def test_go(headers: str, tmp_path: Path) -> None:
    """Compiled with each header and library, run on both."""
    library = libraries()[headers]
    flags = [flag for flag in PFM4.cflags if headers == "ours"]
    source = Path(shutil.copy(SHAPES / "shapes.go", tmp_path))
    go = tool("go")
    built = run(go, "build", "-o", tmp_path / "shapes", source, cwd=tmp_path, timeout=600, env=clean_env(
        GO111MODULE="off", GOFLAGS="", GOPROXY="off", GOTOOLCHAIN="local", GOCACHE=str(tmp_path / "cache"), CGO_ENABLED="1",
        CGO_CFLAGS=" ".join(flags), CGO_LDFLAGS=f"-L{library.parent}"))
    assert built.returncode == 0, built.stderr
    found = answers(tmp_path / "shapes", "glm")
    assert found["ours"] == found["Debian"]
    assert len(found["ours"]) > 100
    assert any("glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT 64: 0" in line for line in found["ours"])


@pytest.mark.needs("rustc")
@pytest.mark.parametrize("linked", ["Debian", "ours"])
def test_rust(linked: str, tmp_path: Path) -> None:
    """Linked with each library, run on both."""
    library = libraries()[linked]
    directory = tmp_path / "lib"
    directory.mkdir()
    (directory / "libpfm.so").symlink_to(library)
    built = run(tool("rustc"), "--edition", "2021", "-D", "warnings", "-L", directory, "-o", tmp_path / "shapes",
                SHAPES / "shapes.rs", timeout=600)
    assert built.returncode == 0, built.stderr
    found = answers(tmp_path / "shapes", "glm")
    assert found["ours"] == found["Debian"]
    assert len(found["ours"]) > 100
    assert any("glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT 64: 0" in line for line in found["ours"])
