"""The link lines of old build systems: -lpfm, libpfm.a by its name, -static, and a library that contains it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import clean_env, run
from native import CC, CXX, LINKERS_NAMES, attempt, build, csrc, dynamic_entries, exported
from pypfm.config import LIBRARIES, Library
from test_cmake_package import source
from tools import needs, needs_flags, tool

pytestmark = pytest.mark.slow

EVERY = [pytest.param(library, id=name) for name, library in LIBRARIES.items()]


def program(library: Library, directory: Path, compiler: str, *arguments: object) -> Path:
    build(compiler, *library.cflags, source(library.name, directory), "-o", directory / "prog", *arguments)
    return directory / "prog"


def check(path: Path, **env: str) -> None:
    done = run(path, env=clean_env(**env))
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def name_of(library: Library) -> str:
    """What stands after -l."""
    return library.soname.partition(".so")[0].removeprefix("lib")


def others(*compilers: str) -> list[object]:
    """The library that needs most, with other compilers and linkers."""
    linkers = [f"{CC} -fuse-ld={name}" for name in ("gold", "lld", "mold") if tool(f"ld.{name}")]
    return [pytest.param(LIBRARIES["pfm3"], one, id=one) for one in (*compilers, *linkers)]


each_library = [pytest.param(library, CC, id=name) for name, library in LIBRARIES.items()]


@pytest.mark.parametrize(("library", "linker"), [*each_library, *others(CXX, "clang", "clang++")])
def test_dash_l(library: Library, linker: str, tmp_path: Path) -> None:
    """The program needs the library by the name that the loader knows."""
    compiler, *options = linker.split()
    directory = library.path.parent
    for words in ([f"-L{directory}", f"-l{name_of(library)}"], [directory / f"lib{name_of(library)}.so"]):
        path = program(library, tmp_path, needs(compiler), *options, *words)
        assert library.soname in dynamic_entries(path, "DT_NEEDED")
        check(path, LD_LIBRARY_PATH=str(directory))


@pytest.mark.parametrize(("library", "compiler"), [*each_library, *others(CXX)])
def test_the_archive_by_its_name(library: Library, compiler: str, tmp_path: Path) -> None:
    """As PAPI's makefiles have it: $(PFM_ROOT)/libpfm.a."""
    compiler, *options = compiler.split()
    path = program(library, tmp_path, needs(compiler), *options, *library.static_libs)
    assert library.soname not in dynamic_entries(path, "DT_NEEDED")
    check(path)


@pytest.mark.parametrize("library", EVERY)
def test_everything_static(library: Library, tmp_path: Path) -> None:
    needs_flags(CC, "-static")
    words = [f"-L{library.path.parent}", f"-l{name_of(library)}", *library.needs]
    check(program(library, tmp_path, CC, "-static", *words))


def api(library: Library) -> set[str]:
    """The names of the version script."""
    [script] = csrc(library).glob("*.map")
    return set(re.findall(r"^\t(\w+);", script.read_text(), flags=re.M)) | LINKERS_NAMES.get(csrc(library).name, set())


@pytest.mark.parametrize("library", EVERY)
def test_the_archive_has_the_names_of_the_api_and_no_others(library: Library) -> None:
    defined = {line.split()[-1] for line in build("nm", "-g", "--defined-only", library.archive).splitlines()
               if len(line.split()) == 3}
    assert defined == api(library) == set(exported(library.path))


@pytest.mark.parametrize("library", EVERY)
def test_names_of_our_own_do_not_meet_the_program_s(library: Library, tmp_path: Path) -> None:
    """A program may have functions that are called as ours are inside, and those of the archive keep to their own."""
    local = {line.split()[-1] for line in build("nm", "--defined-only", library.archive).splitlines()
             if len(line.split()) == 3 and line.split()[1] in "tdbr"}
    names = sorted(name for name in local if re.fullmatch(r"[a-z]\w+", name) and name not in api(library))
    assert len(names) > 10
    theirs = tmp_path / "theirs.c"
    theirs.write_text("#include <stdlib.h>\n" + "".join(
        f"void *{name}(void) {{ abort(); }}\n" for name in names if name not in {"main", "abort"}))
    path = program(library, tmp_path, CC, "-fno-builtin", "-w", theirs, *library.static_libs)
    check(path)


@pytest.mark.parametrize("library", EVERY)
def test_a_library_that_contains_the_archive(library: Library, tmp_path: Path) -> None:
    """libpapi.so has libpfm.a inside, and a program of PAPI's calls its functions."""
    whole = ["-Wl,--whole-archive", library.archive, "-Wl,--no-whole-archive"]
    build(CC, "-shared", "-fPIC", "-x", "c", "/dev/null", "-x", "none", *whole, *library.needs,
          "-o", tmp_path / "libpapi.so")
    path = program(library, tmp_path, CC, f"-L{tmp_path}", "-lpapi", f"-Wl,-rpath,{tmp_path}")
    assert dynamic_entries(path, "DT_NEEDED")[0] == "libpapi.so"
    check(path)


def test_both_libpfm_in_one_program_clash(tmp_path: Path) -> None:
    """As the originals do, and at link time: a call never reaches the wrong one in silence."""
    both = [LIBRARIES["pfm3"].archive, LIBRARIES["pfm4"].archive]
    whole = ["-Wl,--whole-archive", *both, "-Wl,--no-whole-archive"]
    done = attempt(CC, "-x", "c", "-", "-x", "none", *whole, "-o", tmp_path / "x", source="int main(void) { return 0; }\n")
    assert done.returncode != 0
    assert "multiple definition of" in done.stderr
    assert "pfm_initialize" in done.stderr
