"""cmake --install, as C users have it: headers, libraries with their links, pkg-config, find_package."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from conftest import ROOT, clean_env, run
from native import CC, dynamic_entries
from pypfm.config import LIBRARIES

HERE = Path(__file__).parent
CMAKE = shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
PKG_CONFIG = shutil.which("pkg-config")
pytestmark = pytest.mark.skipif(CMAKE is None, reason="no cmake on this machine")

# One line of C for each library: it prints 1 if header and library are the ones meant.
PROGRAMS = {
    "pfm3": ("perfmon/pfmlib_itanium2.h", 'pfm_force_pmu(PFMLIB_ITANIUM2_PMU) == 0 && sizeof(pfmlib_ita2_input_param_t) == 384'),
    "pfm3-manual": ("perfmon/pfmlib_itanium2.h",
                    'pfm_force_pmu(PFMLIB_ITANIUM2_PMU) == 0 && sizeof(pfmlib_ita2_input_param_t) == 376'),
    "pfm4": ("perfmon/pfmlib_perf_event.h", "pfm_initialize() == PFM_SUCCESS"),
    "pmc": ("pmc.h", "pmc_get_num_counters() > 0"),
    "perfex": ("perfex.h", "read_counters(0, 0, 16, 0) == -1"),
}
LINKS = {
    "pfm3": ["libpfm.so", "libpfm.so.3", "libpfm.so.3.10.0"],
    "pfm3-manual": ["libpfm-manual.so", "libpfm-manual.so.3", "libpfm-manual.so.3.10.0"],
    "pfm4": ["libpfm.so", "libpfm.so.4", "libpfm.so.4.13.0"],
    "pmc": ["libpmc.so"], "perfex": ["libperfex.so"],
}


def cmake(*args: object, **env: str) -> str:
    assert CMAKE is not None
    done = run(CMAKE, *args, env=clean_env(**env), timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation that was moved after it was made."""
    work = tmp_path_factory.mktemp("install")
    cmake("-S", ROOT, "-B", work / "build", f"-DCMAKE_INSTALL_PREFIX={work / 'first'}", "-DPYPFM_TESTS=OFF",
          f"-DPython_EXECUTABLE={sys.executable}")
    cmake("--build", work / "build", "--parallel", 2)
    cmake("--install", work / "build")
    (work / "first").rename(work / "moved")
    return work / "moved"


def test_nothing_is_directly_in_include_or_lib(prefix: Path) -> None:
    """Debian's libpfm4 owns these names."""
    assert {p.name for p in prefix.iterdir()} == {"include", "lib", "libexec", "share"}
    assert [p.name for p in (prefix / "include").iterdir()] == ["pypfm"]
    assert {p.name for p in (prefix / "lib").iterdir()} == {"pypfm", "pkgconfig", "cmake"}
    assert {p.name for p in (prefix / "lib/pypfm").iterdir()} == set(LIBRARIES)


@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries_have_their_links(name: str, prefix: Path) -> None:
    directory = prefix / "lib/pypfm" / name
    assert sorted(p.name for p in directory.iterdir()) == LINKS[name]
    *links, real = LINKS[name]
    assert all((directory / link).is_symlink() and (directory / link).resolve().name == real for link in links)
    assert dynamic_entries(directory / real, "DT_SONAME") == [LIBRARIES[name].soname]


@pytest.mark.parametrize("name", [n for n, library in LIBRARIES.items() if not library.form_of])
def test_headers_are_those_of_the_package(name: str, prefix: Path) -> None:
    ours, theirs = prefix / "include/pypfm" / name, LIBRARIES[name].include_dir
    files = {p.relative_to(theirs): p.read_bytes() for p in theirs.rglob("*.h")}
    assert files
    assert {p.relative_to(ours): p.read_bytes() for p in ours.rglob("*.h")} == files


def source(name: str, directory: Path) -> Path:
    header, condition = PROGRAMS[name]
    path = directory / f"{name}.c"
    path.write_text(f"#include <stdio.h>\n#include <{header}>\nint main(void) {{ printf(\"%d\\n\", {condition}); }}\n")
    return path


def library_of(program: Path, name: str) -> str:
    """Where the loader finds the library of a program."""
    lines = run("ldd", program, env=clean_env(LD_LIBRARY_PATH="")).stdout.splitlines()
    return next(line.split()[2] for line in lines if line.split()[0] == LIBRARIES[name].soname)


@pytest.mark.skipif(PKG_CONFIG is None, reason="no pkg-config on this machine")
@pytest.mark.parametrize("name", LIBRARIES)
def test_pkg_config(name: str, prefix: Path, tmp_path: Path) -> None:
    asked = run(PKG_CONFIG, "--cflags", "--libs", f"pypfm-{name}",
                env=clean_env(PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig")))
    assert asked.returncode == 0, asked.stderr
    program = tmp_path / "program"
    compiled = run(CC, source(name, tmp_path), "-o", program, *asked.stdout.split())
    assert compiled.returncode == 0, compiled.stderr
    assert run(program).stdout == "1\n"
    assert Path(library_of(program, name)).resolve().is_relative_to(prefix)


def test_find_package(prefix: Path, tmp_path: Path) -> None:
    """A project with a program for each component."""
    for name in PROGRAMS:
        source(name, tmp_path)
    shutil.copy(HERE / "consumer.cmake", tmp_path / "CMakeLists.txt")
    cmake("-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    cmake("--build", tmp_path / "build")
    for name in PROGRAMS:
        program = tmp_path / "build" / f"{name}-program"
        assert run(program).stdout == "1\n", name
        assert Path(library_of(program, name)).resolve().is_relative_to(prefix)


def test_a_component_that_does_not_exist(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(consumer C)\nfind_package(pypfm REQUIRED COMPONENTS pfm5)\n")
    done = run(CMAKE, "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert done.returncode != 0
    assert "no component pfm5; there are pfm3, " in done.stderr
