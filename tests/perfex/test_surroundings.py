"""What perfex finds around it and cannot use: it says what, and leaves nothing."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from elftools.elf.elffile import ELFFile

from native import CC, build
from pypfm.perfex import calibration, host
from pypfm.perfex.backends import kept
from pypfm.perfex.backends.qemu import program, symbols
from pypfm.perfex.backends.simulation import command, counts, run
from pypfm.perfex.backends.valgrind import tool
from pypfm.perfex.benchmarks import stored
from pypfm.perfex.c_call import read_limited
from pypfm.perfex.model import PerfexError, Request
from pypfm.perfex.output import Output, save
from pypfm.perfex.profile import UNKNOWN, Function, Place, Profile

if TYPE_CHECKING:
    from collections.abc import Callable


def _fails(code: int) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise OSError(code, os.strerror(code))
    return fail


# ---- its files ------------------------------------------------------------------------------------

def test_a_file_in_a_directory_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no file can be made beside it, one that exists is written itself."""
    out = tmp_path / "out"
    monkeypatch.setattr(tempfile, "mkstemp", _fails(errno.EROFS))
    with pytest.raises(OSError, match="Read-only"):
        save(out, "text")
    assert not out.exists()
    out.write_text("the last one, which is longer")
    save(out, "text")
    assert out.read_text() == "text"


def test_a_file_that_cannot_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").write_text("the last one")
    monkeypatch.setattr(os, "replace", _fails(errno.EPERM))
    with pytest.raises(OSError, match="not permitted"):
        save(tmp_path / "out", "text")
    with pytest.raises(PerfexError, match="out: Operation not permitted"):
        stored.keep(tmp_path / "out", "text")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("out", "the last one")]


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_a_descriptor_by_its_name(name: str, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w+") as file:
        file.write("before\n")
        file.flush()
        out = Output(Path(name.format(file.fileno())))
        out.write("text\n")
        out.close()
    assert (tmp_path / "out").read_text() == "before\ntext\n"


@pytest.mark.parametrize(("data", "why"), [
    (b'{"a": ' + b" " * (2 << 20) + b"1}", "larger than 2097152 bytes"),
    (b'{"a": "' + b" " * (1 << 20) + b'\xff"}', "byte 0xff is not UTF-8 text"),
])
def test_a_report_that_is_too_large_or_no_text(data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "made.json").write_bytes(data)
    with pytest.raises(PerfexError, match=f"made.json: {why}"):
        read_limited(tmp_path / "made.json", 2 << 20)


def test_a_baseline_that_is_a_directory(tmp_path: Path) -> None:
    (tmp_path / "main.json").mkdir()
    with pytest.raises(PerfexError, match=r"main\.json: is a directory"):
        stored.expect_room(tmp_path / "main.json")


# ---- its directories ------------------------------------------------------------------------------

def test_no_directory_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/proc/self")
    with pytest.raises(PerfexError, match=r"^'?/proc/self'?: .*; the simulation needs a directory for temporary files \(TMPDIR"):
        command.check_directory()
    monkeypatch.setattr(tempfile, "mkdtemp", _fails(errno.ENOSPC))
    with pytest.raises(PerfexError, match=r"^no directory for temporary files: No space left on device \(TMPDIR\)"), command.temporary_directory():
        pass


def test_too_small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (4096, 4096))
    with pytest.raises(PerfexError, match=r"^a file may have 4096 bytes only \(ulimit -f\)"):
        run.check_place(Request(("true",)))


def test_what_is_built_and_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(PerfexError, match=r"'.*': No space left on device; the thing is built there \(XDG_CACHE_HOME\)"):
        kept.kept("things", "the thing", "one", _fails(errno.ENOSPC))
    assert not [*tmp_path.rglob("new-*")]
    assert kept.compiled([str(tmp_path)]).startswith(f"{tmp_path}: ")


def _made(place: Path) -> None:
    (place / "tool").write_text("whole")
    (place / "library").symlink_to("/usr/lib")


def _fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize(("file", "damage"), [
    ("tool", Path.unlink), ("library", Path.unlink), ("complete", Path.unlink), ("tool", lambda path: os.truncate(path, 3)),
    ("complete", lambda path: os.truncate(path, 0)), ("complete", lambda path: os.truncate(path, 1 << 40)),
    ("tool", _fifo), ("complete", _fifo), ("", lambda path: path.rename(path.with_name("other"))),
])
def test_what_is_kept_and_was_damaged(file: str, damage: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is built anew, and once only."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = kept.kept("things", "the thing", "one", _made)
    assert kept.kept("things", "the thing", "one", _fails(errno.EIO)) == made
    damage(made / file)
    assert not kept.is_kept("things", "the thing", "one")
    assert kept.kept("things", "the thing", "one", _made) == made
    assert (made / "tool").read_text() == "whole"
    assert kept.is_kept("things", "the thing", "one")


@pytest.mark.parametrize(("make", "why"), [(os.mkfifo, "is not a file"), (os.mkdir, "Is a directory")])
def test_a_lock_that_is_none(make: Callable[[Path], object], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (place := tmp_path / "pypfm" / "things").mkdir(mode=0o700, parents=True)
    make(place / "lock")
    with pytest.raises(PerfexError, match=rf"'.*': {why}; the thing is built there"):
        kept.kept("things", "the thing", "one", _made)


def test_no_place_to_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tempfile, "mkdtemp", _fails(errno.ENOSPC))
    with pytest.raises(PerfexError, match="No space left on device; the thing is built there"):
        kept.kept("things", "the thing", "one", _made)


def test_costs_of_the_host_that_are_no_file(tmp_path: Path) -> None:
    path = calibration.place({"XDG_CACHE_HOME": str(tmp_path)}, host.model())
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(PerfexError, match=r"json: is not a file; perfex --calibrate makes it anew"):
        calibration.load({"XDG_CACHE_HOME": str(tmp_path)})


# ---- its programs ---------------------------------------------------------------------------------

def _script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_programs_that_do_not_run(tmp_path: Path) -> None:
    with pytest.raises(PerfexError, match=r"^qemu does not run: 'not today'"):
        program.version(_script(tmp_path / "qemu", "echo not today >&2; exit 1"))
    with pytest.raises(PerfexError, match=r"^absent does not run: "):
        program.version(str(tmp_path / "absent"))
    with pytest.raises(PerfexError, match=r"^valgrind -d does not say where its tools are: 'not today'"):
        tool.own_directory(_script(tmp_path / "valgrind", "echo not today >&2"))


def test_a_valgrind_that_cannot_say_where_its_tools_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PerfexError, match=r"^valgrind does not run: .*absent"):
        tool.own_directory(str(tmp_path / "absent"))

    def wait(*_: object, **__: object) -> NoReturn:
        raise subprocess.TimeoutExpired("valgrind", 60)
    monkeypatch.setattr(subprocess, "run", wait)
    with pytest.raises(PerfexError, match=r"^valgrind does not run: .*timed out after 60 seconds"):
        tool.own_directory(str(tmp_path / "slow"))


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that writes half a file and fails for programs of the bits in the file "fails"."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "valgrind").mkdir()
    path = _script(tmp_path / "cc", f"""\
while test "$1" != -o; do shift; done
echo half >"$2"
case $2 in *-$(cat {tmp_path}/fails)) echo "error: File too large" >&2; exit 1; esac
echo whole >>"$2"
""")
    made = SimpleNamespace(compiler=path, headers=tmp_path, address="0", missing=lambda _: "", archives=lambda _: [])
    for name, value in (("_machine", "x86_64"), ("version", "1.0"), ("find", "valgrind"), ("_parts", made)):
        monkeypatch.setattr(tool, name, lambda value=value: value)
    monkeypatch.setattr(tool, "own_directory", lambda _: tmp_path / "valgrind")


@pytest.mark.usefixtures("compiler")
def test_a_tool_that_was_built_in_part(tmp_path: Path) -> None:
    """It is not kept, and built when nothing prevents that any more."""
    (tmp_path / "fails").write_text("amd64-linux")
    with pytest.raises(PerfexError, match=r"could not be built for programs of 64 bits \(error: File too large\): Debian"):
        tool.directory()
    assert [path.name for path in (tmp_path / "cache/pypfm/valgrind").iterdir()] == ["lock"]
    (tmp_path / "fails").write_text("none")
    assert (tool.directory() / "r10k-amd64-linux").read_text() == "half\nwhole\n"


@pytest.mark.usefixtures("compiler")
def test_a_tool_for_64_bits_only(tmp_path: Path) -> None:
    """Programs of 32 bits are refused, until what was missing is there."""
    (tmp_path / "fails").write_text("x86-linux")
    assert {path.name for path in tool.directory().iterdir()} == {"complete", "r10k-amd64-linux", "x86-linux.failed"}
    for _ in range(2):
        with pytest.raises(PerfexError, match=r"for programs of 32 bits \(error: File too large\): .* gcc-multilib"):
            tool.directory(32)
    (tmp_path / "fails").write_text("none")
    assert (tool.directory(32) / "r10k-x86-linux").read_text() == "half\nwhole\n"


@pytest.mark.usefixtures("compiler")
def test_a_reason_that_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fails").write_text("x86-linux")
    _fifo(tool.directory() / "x86-linux.failed")
    with pytest.raises(PerfexError, match="File too large"):
        tool.directory(32)
    _fifo(tmp_path / "x86-linux.failed")
    monkeypatch.setattr(tool, "kept", lambda *_: tmp_path)
    with pytest.raises(PerfexError, match="reason unknown"):
        tool.directory(32)


# ---- the command's program -------------------------------------------------------------------------

def _name_of(path: Path, offset: int = 0) -> str:
    """The function that is at an offset of a program."""
    place = Place(Function(UNKNOWN, UNKNOWN, UNKNOWN), UNKNOWN, offset, 0)
    symbols.name(Profile(("I1mr",), {place: [1]}), (), [counts.Object(0, 1 << 40, 0, str(path))], into := Profile())
    return next(iter(into.code)).function.name


def test_a_program_that_is_no_file_any_more(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "program")
    for path in (tmp_path / "program", tmp_path, tmp_path / "absent", tmp_path / "\0"):
        assert _name_of(path) == UNKNOWN


@pytest.mark.parametrize("error", [AssertionError, AttributeError, OverflowError, MemoryError, ZeroDivisionError])
def test_a_program_that_pyelftools_stumbles_over(error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(_: object) -> NoReturn:
        raise error
    (tmp_path / "program").touch()
    monkeypatch.setattr(symbols, "ELFFile", stumble)
    assert _name_of(tmp_path / "program") == UNKNOWN


@pytest.mark.slow
@pytest.mark.needs("gcc")
def test_a_program_that_is_damaged(tmp_path: Path) -> None:
    """Any byte of its debug information may be wrong."""
    build(CC, "-g", "-x", "c", "-", "-o", tmp_path / "program", source="int main(void) { return 0; }")
    data = (tmp_path / "program").read_bytes()
    with (tmp_path / "program").open("rb") as stream:
        elf: Any = ELFFile(stream)
        begins = [elf.get_section_by_name(name)["sh_offset"] for name in (".debug_info", ".debug_line")]
        main = elf.get_section_by_name(".symtab").get_symbol_by_name("main")[0]["st_value"]
        offset = next(elf.address_offsets(main))
    assert _name_of(tmp_path / "program", offset) == "main"
    found = set()
    for at in (begin + i for begin in begins for i in range(64)):
        (path := tmp_path / str(at)).write_bytes(data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:])
        found.add(_name_of(path, offset))
    assert found == {UNKNOWN, "main"}
