"""cmake --install, as C users have it: headers, libraries with their links, pkg-config, find_package."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

import tools
from conftest import ROOT, clean_env, run
from native import CC, dynamic_entries
from pypfm.config import LIBRARIES
from tools import needs, needs_flags

HERE = Path(__file__).parent
NINJA = {"CMAKE_GENERATOR": "Ninja", "PATH": tools.PATH}
pytestmark = [pytest.mark.needs("cmake", "ninja"), pytest.mark.slow]

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
    "pmc": ["libpmc.so", "libpmc.so.1", "libpmc.so.1.0.0"],
    "perfex": ["libperfex.so", "libperfex.so.1", "libperfex.so.1.0.0"],
}


def cmake(*args: object, **env: str) -> str:
    done = run(needs("cmake"), *args, env=clean_env(**NINJA, **env), timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build directory."""
    work = tmp_path_factory.mktemp("install")
    cmake("-S", ROOT, "-B", work / "build", f"-DCMAKE_INSTALL_PREFIX={work / 'first'}", "-DPYPFM_TESTS=OFF",
          "-DPYPFM_MAN_SUFFIX=pypfm",
          f"-DPython_EXECUTABLE={sys.executable}")
    cmake("--build", work / "build", "--parallel", 2)
    return work / "build"


@pytest.fixture(scope="module")
def prefix(built: Path) -> Path:
    """An installation that was moved after it was made."""
    cmake("--install", built)
    moved = built.with_name("moved")
    built.with_name("first").rename(moved)
    return moved


@pytest.mark.long
def test_each_file_is_compiled_once(built: Path) -> None:
    """But for what knows the two forms of libpfm 3's structures."""
    commands = json.loads((built / "compile_commands.json").read_text())
    runs = Counter(Path(command["file"]) for command in commands)
    assert {p.relative_to(ROOT).as_posix() for p, n in runs.items() if n > 1} == {"csrc/pfm3/abi.c", "csrc/bench/pfm3.c"}
    assert set(runs) >= set((ROOT / "csrc/pmc").glob("*.c"))


def test_nothing_is_directly_in_include_or_lib(prefix: Path) -> None:
    """Debian's libpfm4 owns these names."""
    assert {p.name for p in prefix.iterdir()} == {"include", "lib", "libexec", "share"}
    assert [p.name for p in (prefix / "include").iterdir()] == ["pypfm"]
    assert {p.name for p in (prefix / "lib").iterdir()} == {"pypfm", "pkgconfig", "cmake"}
    assert {p.name for p in (prefix / "lib/pypfm").iterdir()} == set(LIBRARIES)


@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries_have_their_links(name: str, prefix: Path) -> None:
    directory = prefix / "lib/pypfm" / name
    assert sorted(p.name for p in directory.iterdir()) == sorted([*LINKS[name], LIBRARIES[name].archive.name])
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


def pkg_config(name: str, libraries: Path, *options: str) -> list[str]:
    """What pkg-config says of an installation's library."""
    asked = run(needs("pkg-config"), *options, "--cflags", "--libs", f"pypfm-{name}", env=clean_env(PKG_CONFIG_PATH=str(libraries / "pkgconfig")))
    assert asked.returncode == 0, asked.stderr
    return shlex.split(asked.stdout)


def compiled(code: Path, program: Path, *words: str) -> Path:
    done = run(CC, code, "-o", program, *words)
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("name", LIBRARIES)
def test_pkg_config(name: str, prefix: Path, tmp_path: Path) -> None:
    """For the shared library and for the static one."""
    program = compiled(source(name, tmp_path), tmp_path / "program", *pkg_config(name, prefix / "lib"))
    assert run(program).stdout == "1\n"
    assert Path(library_of(program, name)).resolve().is_relative_to(prefix)
    static = pkg_config(name, prefix / "lib", "--static")
    assert ("-pthread" in static) == bool(LIBRARIES[name].needs)
    needs_flags(CC, "-static")
    assert run(compiled(tmp_path / f"{name}.c", tmp_path / "static", "-static", *static)).stdout == "1\n"


def test_find_package(prefix: Path, tmp_path: Path) -> None:
    """A project with a program for each component."""
    for name in PROGRAMS:
        source(name, tmp_path)
    shutil.copy(HERE / "consumer.cmake", tmp_path / "CMakeLists.txt")
    cmake("-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    cmake("--build", tmp_path / "build")
    cmake("--install", tmp_path / "build", "--prefix", tmp_path / "usr")
    for name in PROGRAMS:
        program = tmp_path / "build" / f"{name}-program"
        assert run(program).stdout == "1\n", name
        assert Path(library_of(program, name)).resolve().is_relative_to(prefix)
        assert Path(library_of(tmp_path / "usr/bin" / program.name, name)).resolve().is_relative_to(prefix)
        static = tmp_path / "build" / f"{name}-static-program"
        assert run(static).stdout == "1\n", name
        assert LIBRARIES[name].soname not in dynamic_entries(static, "DT_NEEDED")


SAMPLES = ROOT / "docs" / "examples" / "perfmon_samples.c"  # maps a buffer from a context's descriptor
MODEL = {"LIBPFM_FORCE_PMU": "3", "LIBPFM_PERFMON": "model,rate=1000000"}


@pytest.mark.parametrize("name", ["pfm3", "pfm3-manual"])
def test_pkg_config_redirects_mmap(name: str, prefix: Path, tmp_path: Path) -> None:
    words = pkg_config(name, prefix / "lib")
    ours = [word for word in [*LIBRARIES[name].cflags, *LIBRARIES[name].libs] if "MMAP" in word or "wrap" in word]
    assert [word for word in words if "MMAP" in word or "wrap" in word] == ours
    assert len(ours) == 3
    program = compiled(SAMPLES, tmp_path / "program", "-D_FILE_OFFSET_BITS=64", *words)
    assert run(program, env=clean_env(**MODEL)).stdout.startswith("3 buffers")


def test_find_package_redirects_mmap(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(samples C)\nfind_package(pypfm REQUIRED)\n" + "".join(
        f"add_executable({name} {SAMPLES})\ntarget_link_libraries({name} pypfm::{name})\n" for name in ("pfm3", "pfm3-static")))
    cmake("-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_C_FLAGS=-D_FILE_OFFSET_BITS=64")
    cmake("--build", tmp_path / "build")
    for name in ("pfm3", "pfm3-static"):
        assert run(tmp_path / "build" / name, env=clean_env(**MODEL)).stdout.startswith("3 buffers"), name


@pytest.mark.long
@pytest.mark.needs("make", "pkg-config")
def test_make_without_python(built: Path, tmp_path: Path) -> None:
    """With the tables of another build; in directories with blanks, and where a distribution wants them."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("cmake", CC, "ld", "as", "ar", "ranlib", "objcopy", "make", "sh"):
        (programs / name).symlink_to(needs(name))
    work, env = tmp_path / "a b", clean_env(PATH=str(programs))
    for args in (["-G", "Unix Makefiles", "-S", ROOT, "-B", work / "build", "-DPYPFM_TESTS=OFF", f"-DCMAKE_C_COMPILER={programs / CC}",
                  "--install-prefix", "/opt/a b", "-DCMAKE_INSTALL_LIBDIR=lib64", f"-DPYPFM_TABLES={built / 'tables'}",
                  "-DCMAKE_DISABLE_FIND_PACKAGE_Python=ON"],
                 ["--build", work / "build", "--parallel", 2], ["--install", work / "build"]):
        done = run(programs / "cmake", *args, env=env | {"DESTDIR": str(work)}, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
    installed = work / "opt/a b"
    assert {p.name for p in (installed / "lib64/pypfm").iterdir()} == set(LIBRARIES)
    program = compiled(source("pfm4", tmp_path), tmp_path / "program", *pkg_config("pfm4", installed / "lib64"))
    assert run(program).stdout == "1\n"


@pytest.mark.long
@pytest.mark.needs("clang")
@pytest.mark.parametrize(("compiler", "settings"), [
    ("gcc", ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O2 -flto=auto"]),
    ("clang", ["-DCMAKE_UNITY_BUILD=ON"]),
    ("gcc", ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON"]),
    ("clang", ["-DCMAKE_C_FLAGS=-flto=thin"])])
def test_flags_of_distributions(compiler: str, settings: list[str], built: Path, tmp_path: Path) -> None:
    """Whatever CFLAGS have: the static library is of machine code, with all that the shared one exports."""
    cmake("-S", ROOT, "-B", tmp_path, "-DPYPFM_TESTS=OFF", f"-DPYPFM_TABLES={built / 'tables'}", f"-DCMAKE_C_COMPILER={needs(compiler)}",
          *settings)
    cmake("--build", tmp_path, "--parallel", 2, "--target", "pmc", "pmc_static")
    directory = tmp_path / "csrc/pmc"
    exported, linked = (
        {line.split()[-1].partition("@")[0] for line in run("nm", *words).stdout.splitlines() if " T " in line}
        for words in (["-D", "--defined-only", directory / "libpmc.so"], ["-g", directory / "pmc/libpmc.a"]))
    assert "pmc_get_num_counters" in exported
    assert linked == exported


def test_no_python_and_no_tables(tmp_path: Path) -> None:
    done = run(needs("cmake"), "-S", ROOT, "-B", tmp_path, "-DCMAKE_DISABLE_FIND_PACKAGE_Python=ON", env=clean_env(**NINJA))
    assert done.returncode != 0
    assert "-DPYPFM_TABLES=DIR builds" in done.stderr
    done = run(needs("cmake"), "-S", ROOT, "-B", tmp_path / "empty", f"-DPYPFM_TABLES={tmp_path}", "-DPYPFM_TESTS=OFF",
               env=clean_env(**NINJA))
    assert done.returncode != 0
    assert "another build of this version has it in its directory tables" in " ".join(done.stderr.split())


def test_as_a_part_of_another_project(tmp_path: Path) -> None:
    """add_subdirectory() has the same targets; the project's own settings stay, and nothing of pypfm is installed."""
    source("pmc", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(f"""\
cmake_minimum_required(VERSION 3.25)
project(whole C)
add_subdirectory("{ROOT}" pypfm EXCLUDE_FROM_ALL)
foreach(library pmc pmc-static)
  add_executable(program-${{library}} pmc.c)
  target_link_libraries(program-${{library}} PRIVATE pypfm::${{library}})
endforeach()
install(TARGETS program-pmc)
""")
    cmake("-S", tmp_path, "-B", tmp_path / "build", f"-DPython_EXECUTABLE={sys.executable}")
    cmake("--build", tmp_path / "build", "--parallel", 2)
    cmake("--install", tmp_path / "build", "--prefix", tmp_path / "prefix")
    for library in ("pmc", "pmc-static"):
        assert run(tmp_path / "build" / f"program-{library}").stdout == "1\n"
    assert [p.name for p in (tmp_path / "prefix").rglob("*") if p.is_file()] == ["program-pmc"]
    assert "CMAKE_BUILD_TYPE:STRING=\n" in (tmp_path / "build/CMakeCache.txt").read_text()


def test_the_presets() -> None:
    """cmake reads them."""
    listed = cmake("-S", ROOT, "--list-presets=all")
    assert all(f"Available {kind} presets:" in listed for kind in ("configure", "build", "test", "package", "workflow"))


@pytest.mark.parametrize(("wanted", "said"), [
    ("0.1.9", "pypfm-config.cmake, version: 0.1.0"), ("0.0.9", "pypfm-config.cmake, version: 0.1.0"),
    ("COMPONENTS pfm5", "no component pfm5; there are pfm3, ")])
def test_find_package_refuses_what_is_not_installed(wanted: str, said: str, prefix: Path, tmp_path: Path) -> None:
    """A newer version, one that is too old to be compatible, a component."""
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(consumer C)\nfind_package(pypfm {wanted} REQUIRED)\n")
    done = run(needs("cmake"), "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", env=clean_env(**NINJA))
    assert done.returncode != 0
    assert said in done.stderr


# ---- uninstall, cpack -----------------------------------------------------------------

def files(directory: Path) -> set[str]:
    return {p.relative_to(directory).as_posix() for p in directory.rglob("*") if p.is_symlink() or not p.is_dir()}


@pytest.fixture(scope="module")
def packages(built: Path, prefix: Path) -> dict[str, Path]:
    """What cpack makes, unpacked: the archive, and each package by its component."""
    assert prefix.is_dir()  # installed before: cpack overwrites cmake's list of what was
    done = run(needs("cpack"), "-G", f"TGZ{';DEB' if tools.tool('dpkg-deb') else ''}", cwd=built, env=clean_env(**NINJA))
    assert done.returncode == 0, done.stdout + done.stderr
    found = {}
    for package in [*built.glob("*.tar.gz"), *built.glob("*.deb")]:
        name = package.name.partition("_")[0] if package.suffix == ".deb" else "archive"
        found[name] = built / name
        unpack = ["tar", "-xzf", package, "-C"] if name == "archive" else ["dpkg-deb", "-x", package]
        found[name].mkdir()
        assert run(*unpack, found[name]).returncode == 0
    return found


def test_the_archive_is_what_is_installed(packages: dict[str, Path], prefix: Path) -> None:
    [top] = packages["archive"].iterdir()
    assert top.name.startswith("pypfm-0.1.0-Linux-")
    assert files(top) == files(prefix)


@pytest.mark.needs("dpkg-deb")
def test_each_file_is_in_one_package(packages: dict[str, Path], prefix: Path) -> None:
    parts = {name: files(directory / "usr") for name, directory in packages.items() if name != "archive"}
    licences = {name: f"share/doc/{name}/copyright" for name in parts}
    assert all((packages[name] / "usr" / path).read_bytes() == (ROOT / "LICENSE").read_bytes() for name, path in licences.items())
    assert sorted(parts) == ["pypfm-commands", "pypfm-development", "pypfm-libraries", "pypfm-manual"]
    assert sum(map(len, parts.values())) == len(set().union(*parts.values())) == len(files(prefix))
    for name, path in licences.items():
        parts[name].remove(path)
    assert parts["pypfm-libraries"] == {f"lib/pypfm/{name}/{file}" for name, found in LINKS.items() for file in found[1:]}
    assert {path.partition("/")[0] for path in parts["pypfm-development"]} == {"include", "lib"}
    assert {path.partition("/")[0] for path in parts["pypfm-commands"]} == {"libexec"}
    assert all(path.startswith("share/man/") and path.endswith("pypfm") for path in parts["pypfm-manual"])


@pytest.mark.needs("dpkg-deb")
def test_nothing_is_in_the_way_of_debian_s_libpfm4(packages: dict[str, Path]) -> None:
    listed = run("dpkg", "-L", "libpfm4", "libpfm4-dev")
    if listed.returncode:
        pytest.skip("libpfm4 and libpfm4-dev are not installed (Debian)")
    theirs = {line.removesuffix(".gz") for line in listed.stdout.splitlines() if not Path(line).is_dir()}
    assert "/usr/share/man/man3/pfm_initialize.3" in theirs
    ours = {f"/{path}" for name, directory in packages.items() if name != "archive" for path in files(directory)}
    assert "/usr/share/man/man3/pfm_initialize.3pypfm" in ours
    assert ours & theirs == set()


def test_uninstall(built: Path, packages: dict[str, Path], tmp_path: Path) -> None:
    """Also after cpack; with DESTDIR and one component only; a second time it says that there is nothing."""
    assert packages
    cmake("--install", built, "--component", "development", DESTDIR=str(tmp_path))
    cmake("--install", built, "--prefix", tmp_path / "whole")
    (tmp_path / "whole/include/pypfm/theirs.h").touch()
    assert len(files(tmp_path)) > 100
    cmake("--build", built, "--target", "uninstall")
    assert files(tmp_path) == {"whole/include/pypfm/theirs.h"}
    assert not list(tmp_path.rglob("lib/pypfm"))
    done = run(needs("cmake"), "--build", built, "--target", "uninstall", env=clean_env(**NINJA))
    assert done.returncode != 0
    assert "nothing was installed" in " ".join((done.stdout + done.stderr).split())
