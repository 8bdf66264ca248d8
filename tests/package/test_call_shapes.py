"""Shapes of calls that programs make, in C and in Go: each prints the same on Debian's libpfm.so.4 and on ours.

Sizes that are 0, structures that are declared by hand, more PMUs than there are, strings that the program owns,
versions of perf_event_attr that are older and newer than the library's.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import clean_env, run
from native import CC, PFM4, build
from pypfm import pfm4
from reference4 import DEBIAN, HEADER, NO_HEADER, NO_LIBRARY, SHAPES, environment, libraries, loaded, on
from tools import tool

pytestmark = [pytest.mark.slow, pytest.mark.skipif(DEBIAN is None, reason=NO_LIBRARY)]
needs_header = pytest.mark.skipif(not HEADER.is_file(), reason=NO_HEADER)


def test_c_with_dlopen(tmp_path: Path) -> None:
    program = tmp_path / "shapes"
    build(CC, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", SHAPES / "shapes.c", "-o", program, "-ldl")
    for pmu in ("glm", "perf"):
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
def test_go(tmp_path: Path) -> None:
    """Compiled with each header and library, run on both: all print the same."""
    go, printed = tool("go"), []
    for whose, built_with in libraries().items():
        program = tmp_path / whose
        flags = PFM4.cflags if whose == "ours" else []
        built = run(go, "build", "-o", program, SHAPES / "shapes.go", cwd=tmp_path, timeout=600, env=clean_env(
            GO111MODULE="off", GOFLAGS="", GOPROXY="off", GOTOOLCHAIN="local", GOCACHE=str(tmp_path / "cache"), CGO_ENABLED="1",
            CGO_CFLAGS=" ".join(flags), CGO_LDFLAGS=f"-L{built_with.parent}"))
        assert built.returncode == 0, built.stderr
        for library in libraries().values():
            assert loaded(program, environment(library, "glm")) == library.resolve()
            done = on(library, "glm", program)
            assert (done.returncode, done.stderr) == (0, "")
            printed.append(done.stdout)
    assert set(printed) == {printed[0]}
    assert "glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT: 0" in printed[0]
