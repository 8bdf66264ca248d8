"""The valgrind tool is built once, in a place of the user's own; what is missing for it is said in one line."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from perfex_runs import PERFEX, environment
from pypfm.perfex.backends.valgrind import tool
from pypfm.perfex.backends.valgrind.backend import ValgrindBackend
from pypfm.perfex.model import PerfexError, Request
from tools import needs

pytestmark = [pytest.mark.slow, pytest.mark.needs("valgrind", "gcc")]

BUILD = "from pypfm.perfex.backends.valgrind import tool; print(tool.directory())"


@pytest.mark.long
def test_several_at_once_build_it_once(tmp_path: Path) -> None:
    env = environment(XDG_CACHE_HOME=str(tmp_path))
    started = [subprocess.Popen([sys.executable, "-c", BUILD], text=True, stdout=subprocess.PIPE, env=env, cwd=tmp_path) for _ in range(4)]
    found = {process.communicate()[0] for process in started}
    assert len(found) == 1
    place = Path(found.pop().strip())
    assert [path.name for path in place.parent.iterdir() if path.is_dir()] == [place.name]
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert place.name.startswith(f"{tool.version()}-")
    assert os.access(place / f"r10k-{tool.platforms()[0].name}", os.X_OK)
    assert (place / "default.supp").exists()


@pytest.mark.long
def test_it_is_built_anew_if_it_would_be_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = tool.directory()
    assert tool.directory() == first
    monkeypatch.setattr(tool, "COMPILE", (*tool.COMPILE, "-DANOTHER"))
    assert tool.directory() != first
    (first / "complete").unlink()  # a build that was killed
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tool.directory() == first
    assert (first / "complete").exists()


def said(path: Path, **changes: str) -> str:
    """What perfex says in place of running a command."""
    done = subprocess.run([PERFEX, "--backend", "valgrind", "touch", path / "ran"], capture_output=True, text=True, check=False,
                          env=environment(**changes))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert not (path / "ran").exists()
    return done.stderr


def test_a_place_that_others_can_write(tmp_path: Path) -> None:
    (place := tmp_path / "pypfm" / "valgrind").mkdir(parents=True)
    place.chmod(0o777)
    assert "others can write there" in said(tmp_path, XDG_CACHE_HOME=str(tmp_path))


def test_a_place_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "Not a directory; valgrind's tool r10k is built there (XDG_CACHE_HOME)" in said(
        tmp_path, XDG_CACHE_HOME=str(tmp_path / "file"))


def only(directory: Path, *names: str) -> str:
    """A directory for PATH with these programs."""
    directory.mkdir()
    for name in names:
        (directory / name).write_text(f"#!/bin/sh\nexec {needs(name)} \"$@\"\n")
        (directory / name).chmod(0o755)
    return str(directory)


def test_no_compiler(tmp_path: Path) -> None:
    message = said(tmp_path, XDG_CACHE_HOME=str(tmp_path), PATH=only(tmp_path / "bin", "valgrind", "touch"))
    assert "no C compiler (cc, gcc or clang)" in message
    assert "Debian, Ubuntu: apt-get install gcc valgrind; Fedora: dnf install gcc valgrind-devel; Arch: pacman -S gcc valgrind" in message


def test_a_compiler_that_fails(tmp_path: Path) -> None:
    path = only(tmp_path / "bin", "valgrind", "touch", "sh")
    (cc := tmp_path / "bin" / "cc").write_text("#!/bin/sh\necho 'x.c:1:1: error: no such thing' >&2; exit 1\n")
    cc.chmod(0o755)
    message = said(tmp_path, XDG_CACHE_HOME=str(tmp_path), PATH=path)
    assert "could not be built for programs of 64 bits (x.c:1:1: error: no such thing): Debian, Ubuntu: apt-get install" in message


def test_the_libraries_of_another_version(tmp_path: Path) -> None:
    """What says where they are is of the valgrind that is run."""
    wrapper = tmp_path / "valgrind"
    wrapper.write_text(f"#!/bin/sh\ntest \"$1\" = --version && echo valgrind-3.99.0 && exit\nexec {needs('valgrind')} \"$@\"\n")
    wrapper.chmod(0o755)
    message = said(tmp_path, XDG_CACHE_HOME=str(tmp_path), PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert "no valgrind.pc of valgrind 3.99.0, which says where its libraries are: Debian" in message


@pytest.mark.long
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", ["", "-D_FORTIFY_SOURCE=2 -fstack-protector-strong -fcf-protection -fstack-clash-protection", "-O0", "-O3 -flto"])
def test_compilers_and_what_distributions_tell_them(compiler: str, flags: str, tmp_path: Path) -> None:
    path = only(tmp_path / "bin", "valgrind", "true", "sh", "ld", "as")
    (cc := tmp_path / "bin" / "cc").write_text(f"#!/bin/sh\nexec {needs(compiler)} {flags} \"$@\"\n")
    cc.chmod(0o755)
    done = subprocess.run([PERFEX, "--backend", "valgrind", "-e", "15", "--json", "true"], capture_output=True, text=True, check=False,
                          env=environment(XDG_CACHE_HOME=str(tmp_path), PATH=f"{path}:{os.environ['PATH']}"))
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "pypfm")


def test_a_valgrind_that_fails_is_not_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its message is there, and the status is not the command's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "source").mkdir()
    for path in tool.sources():
        text = path.read_text()
        if path.name == "main.c":
            text = text.replace("finish(Int code)\n{", "finish(Int code)\n{\n	tl_assert(header == NULL);")
        (tmp_path / "source" / path.name).write_text(text)
    monkeypatch.setattr(tool, "sources", lambda: sorted((tmp_path / "source").iterdir()))
    outcome = ValgrindBackend().run(Request(("true",), events=(15,)))
    assert (outcome.status, outcome.measurements[0].count) == (126, None)
    assert "valgrind has failed: " in outcome.notes[0]
    assert "Assertion" in outcome.notes[0]


def test_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "_machine", lambda: "riscv64")
    with pytest.raises(PerfexError, match="is made for x86-64 and AArch64, not for riscv64"):
        tool.platforms()
