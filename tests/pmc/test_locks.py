"""Where the locks are that tell which counters are in use, whose they are, and what happens without a place for them."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import pypfm
from checks import expand
from conftest import TESTS, coded
from native import PMC, build_program
from workers import Worker

pytestmark = pytest.mark.usefixtures("runtime_dir")

FALLBACK = Path(f"/tmp/pypfm-pmc-{os.geteuid()}")  # without XDG_RUNTIME_DIR and /run/user
OF_USER = Path(f"/run/user/{os.geteuid()}")
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
no_run_user = pytest.mark.skipif(OF_USER.exists(), reason=f"{OF_USER} is there")


def profiles(machine: pypfm.Machine) -> None:
    with machine.profile("dcache-miss", 10, 1):
        pass


def counts_but_does_not_profile(machine: pypfm.Machine) -> None:
    with pypfm.Counter("dcache-miss", machine=machine, number=2) as counter:
        machine.advance("dcache-miss", 3)
    assert counter.value == 3
    with pytest.raises(pypfm.CounterError, check=coded(errno.ENODEV)), machine.profile("dcache-miss", 10, 1):
        pass


def test_the_directory_and_its_files(runtime_dir: Path) -> None:
    with pypfm.Counter("dcache-miss", machine=pypfm.Machine("xscale"), number=2):
        directory = runtime_dir / "pypfm-pmc"
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert {p.name: stat.S_IMODE(p.stat().st_mode) for p in directory.iterdir()} == {"xscale-2": 0o600}
    assert os.listdir(runtime_dir) == ["pypfm-pmc"]


def test_the_mask_of_the_process_is_of_no_effect(runtime_dir: Path) -> None:
    before = os.umask(0)
    try:
        profiles(pypfm.Machine("xscale"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((runtime_dir / "pypfm-pmc").stat().st_mode) == 0o700
    assert stat.S_IMODE((runtime_dir / "pypfm-pmc" / "xscale-1").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_directory_that_others_may_use(runtime_dir: Path, mode: int) -> None:
    (runtime_dir / "pypfm-pmc").mkdir()
    (runtime_dir / "pypfm-pmc").chmod(mode)
    counts_but_does_not_profile(pypfm.Machine("xscale"))


def test_no_directory(runtime_dir: Path) -> None:
    (runtime_dir / "pypfm-pmc").write_text("in the way")
    counts_but_does_not_profile(pypfm.Machine("xscale"))


def test_a_symbolic_link_for_the_directory(runtime_dir: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    (runtime_dir / "pypfm-pmc").symlink_to(target)
    counts_but_does_not_profile(pypfm.Machine("xscale"))
    assert not list(target.iterdir())


def test_a_symbolic_link_for_a_file(runtime_dir: Path, tmp_path: Path) -> None:
    (runtime_dir / "pypfm-pmc").mkdir(mode=0o700)
    for counter in (1, 2):
        (runtime_dir / "pypfm-pmc" / f"xscale-{counter}").symlink_to(tmp_path / "elsewhere")
    counts_but_does_not_profile(pypfm.Machine("xscale"))
    assert not (tmp_path / "elsewhere").exists()


@needs_root
def test_a_directory_of_another_user(runtime_dir: Path) -> None:
    (runtime_dir / "pypfm-pmc").mkdir(mode=0o700)
    os.chown(runtime_dir / "pypfm-pmc", NOBODY, NOBODY)
    counts_but_does_not_profile(pypfm.Machine("xscale"))
    assert not list((runtime_dir / "pypfm-pmc").iterdir())


@contextmanager
def fallback() -> Iterator[None]:
    """The directory in /tmp is used, and taken away if it was not there."""
    there = FALLBACK.exists()
    profiles(pypfm.Machine("xscale"))
    assert stat.S_IMODE(FALLBACK.stat().st_mode) == 0o700
    yield
    if not there:
        for path in FALLBACK.iterdir():
            path.unlink()
        FALLBACK.rmdir()


@no_run_user
@pytest.mark.parametrize("value", [None, "", "relative", "/no/such/directory", "/dev/null", "/" + 5000 * "x"])
def test_no_runtime_directory(value: str | None, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if value is None:
        monkeypatch.delenv("XDG_RUNTIME_DIR")
    else:
        monkeypatch.setenv("XDG_RUNTIME_DIR", value)
    with fallback():
        assert not list(runtime_dir.iterdir())


@needs_root
@no_run_user
def test_the_runtime_directory_of_another_user(runtime_dir: Path) -> None:
    """As after su: nothing of ours is left in it that its owner could not use."""
    os.chown(runtime_dir, NOBODY, NOBODY)
    with fallback():
        assert not list(runtime_dir.iterdir())


@needs_root
def test_no_permission(runtime_dir: Path, tmp_path: Path) -> None:
    """A runtime directory of the user's own that he cannot write; root could, so another user tries."""
    shutil.copy(PMC.path, tmp_path)  # where that user can read it, too
    script = build_program(PMC, TESTS / "c" / "pmc_script.c", tmp_path / "script",
                           libs=[f"-L{tmp_path}", f"-l:{PMC.soname}", f"-Wl,-rpath,{tmp_path}"])
    os.chown(runtime_dir, NOBODY, NOBODY)
    runtime_dir.chmod(0o500)
    for path in [script, *tmp_path.parents]:
        if path.stat().st_uid == 0 and path != Path("/tmp") and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o055)
    tmp_path.chmod(0o755)
    process = Worker(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", str(script)], "xscale")
    calls = ["CONFIGURE 1 cfg:0xb:0", "START 1", "advance 0xb 5", "VALUE 1 uint64", "PROFSTART 2 cfg:0xb:1"]
    answers = [process(expand(call)) for call in calls]
    process.close()
    assert answers == ["0 -", "0 -", "0 -", "0 - 5", "-1 ENODEV"]


def test_another_process_s_questions_refuse_nobody(tmp_path: Path) -> None:
    """CONFIGURE asks whether a counter is profiling, PROFSTART of a wrong event whether it runs; neither is a use of it."""
    script = build_program(PMC, TESTS / "c" / "pmc_script.c", tmp_path / "script", libs=PMC.libs)
    one, other = (Worker([str(script)], "xscale") for _ in range(2))
    asks = [expand("CONFIGURE 1 cfg:0xb:0"), expand("PROFSTART 1 cfg:0x99:1")] * 200
    other.send(asks)
    uses = [expand(call) for call in ("CONFIGURE 1 cfg:0xb:0", "START 1", "STOP 1", "PROFSTART 2 cfg:0xb:1", "PROFSTOP 2")]
    assert [one(call) for _ in range(100) for call in uses] == ["0 -"] * 500
    assert {other.answer() for _ in asks} <= {"0 -", "-1 ENODEV", "-1 EBUSY"}
    one.close()
    other.close()


def test_machines_and_counters_have_locks_of_their_own() -> None:
    xscale, i686 = pypfm.Machine("xscale"), pypfm.Machine("i686")
    with pypfm.Counter("mem-refs", machine=i686, number=1), xscale.profile("dcache-miss", 5, 1), \
         pypfm.Counter("dcache-miss", machine=xscale, number=2):
        pass


def test_two_objects_of_one_machine_are_two_users() -> None:
    one, other = pypfm.Machine("xscale"), pypfm.Machine("xscale")
    with pypfm.Counter("dcache-miss", machine=one, number=1):
        with pytest.raises(pypfm.CounterError, check=coded(errno.EBUSY)), other.profile("dcache-miss", 5, 1):
            pass
        with pypfm.Counter("dcache-miss", machine=other, number=1):
            pass
    with other.profile("dcache-miss", 5, 1), pytest.raises(pypfm.CounterError, check=coded(errno.EBUSY)):
        pypfm.Counter("dcache-miss", machine=one, number=1)
