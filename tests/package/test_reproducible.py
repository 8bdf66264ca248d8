"""The same source gives the same bytes: built twice, in other directories, at other times, by other users' settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import tools
from conftest import ROOT, clean_env, run

pytestmark = [pytest.mark.needs("git"), pytest.mark.long]

EPOCH = "1700000000"
#: Two places and moments: directory, umask, environment, time of the files.
SURROUNDINGS = [
    ("first", 0o022, {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1", "USER": "a", "HOME": "/"}, 1_300_000_000),
    ("the second/of them", 0o077, {"LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "2", "USER": "b"}, 1_600_000_000)]


def content(directory: Path) -> dict[str, bytes]:
    """Every file, links as where they go, by its name in the directory."""
    files = {path.relative_to(directory).as_posix(): path for path in directory.rglob("*")}
    return {name: os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            for name, path in files.items() if path.is_symlink() or path.is_file()}


def made_twice(tmp_path: Path, *commands: list[str], **settings: str) -> list[dict[str, bytes]]:
    """What commands leave in the directory "made" beside a clone, in the two surroundings."""
    made = []
    for name, mask, env, time in SURROUNDINGS:
        work = tmp_path / name
        done = run("git", "clone", "-q", ROOT, work / "tree", umask=mask)
        if done.returncode:
            pytest.skip(f"the sources are no git repository: {done.stderr.strip()}")
        for path in (work / "tree").rglob("*"):
            if ".git" not in path.parts:
                os.utime(path, (time, time))
        for command in commands:
            done = run(*command, cwd=work / "tree", umask=mask, timeout=900,
                       env=clean_env(**env, **settings, PATH=tools.PATH))
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        made.append(content(work / "made"))
    return made


def differences(made: list[dict[str, bytes]]) -> list[str]:
    first, second = made
    return [name for name in sorted(first.keys() | second.keys()) if first.get(name) != second.get(name)]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_c_libraries(compiler: str, tmp_path: Path) -> None:
    """With debug information, which knows where the sources were; programs, tables and the CMake package, too."""
    tools.needs("cmake", "ninja", compiler)
    made = made_twice(tmp_path,
                      ["cmake", "--preset", "release", f"-DCMAKE_C_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                       f"-DPython_EXECUTABLE={sys.executable}"],
                      ["cmake", "--build", "--preset", "release", "--parallel", "2"], ["cmake", "--install", "build/release"],
                      DESTDIR="../made")
    assert differences(made) == []
    libraries = [name for name in made[0] if name.endswith((".a", ".so"))]
    assert len(libraries) == 10
    for name, data in made[0].items():
        assert str(tmp_path).encode() not in data, name


def test_the_source_archive_and_the_wheel(tmp_path: Path) -> None:
    """SOURCE_DATE_EPOCH is the date of their members; the wheel is made of the source archive."""
    made = made_twice(tmp_path, [sys.executable, "-m", "build", "--outdir", "../made"], SOURCE_DATE_EPOCH=EPOCH)
    assert differences(made) == []
    assert sorted(Path(name).suffix for name in made[0]) == [".gz", ".whl"]
