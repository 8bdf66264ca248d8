"""What all tests share: where things are, and running programs in processes of their own."""

from __future__ import annotations

import fcntl
import gc
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
# The tests are about the installed package, which may be a copy of the source tree.
sys.path[:] = [p for p in sys.path if Path(p).resolve() != ROOT]

import pypfm  # noqa: E402 - the installed package, once sys.path says so
from pypfm.config import LIBRARIES  # noqa: E402
from tools import needs  # noqa: E402

VECTORS = Path(pypfm.__file__).parent / "vectors"  # installed with the package
REPLAY = TESTS / "replay"


def clean_env(**changes: str) -> dict[str, str]:
    """This process's environment without the libraries' variables and what changes Python's output, plus changes."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("LIBPFM_") and k != "PYTHONUNBUFFERED"}
    return env | changes


def run(*command: object, env: dict[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program; its output as text, no exception for its exit status."""
    options = {"cwd": TESTS, "capture_output": True, "text": True, "timeout": 300, **options}
    return subprocess.run([str(c) for c in command], env=clean_env() if env is None else env, **options)


def run_python(code: str, *args: object, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, with changes to the environment."""
    return run(sys.executable, "-c", code, *args, env=clean_env(**env))


def files_of_ours(stderr: str) -> list[str]:
    """The files of the package in a traceback; until interrupts are restored, Ctrl-C is one, of site or the script."""
    packages = {Path(directory) for directory in pypfm.__path__}  # an editable installation has two
    return [name for name in re.findall(r'File "(.+?)", line [1-9]', stderr) if packages & {*Path(name).parents}
            and Path(name) not in {package / "__init__.py" for package in packages}]


def coded(code: int | str) -> Callable[[BaseException], bool]:
    """For the check of pytest.raises(): an error with this errno, or with a C code whose name is, or begins so."""
    def check(error: BaseException) -> bool:
        found = getattr(error, "errno", None) if isinstance(code, int) else str(getattr(error, "name", ""))[:len(code)]
        return found == code
    return check


def refused(error: type[BaseException] | int | str, match: str) -> pytest.RaisesExc[BaseException]:
    """pytest.raises() for tables: an exception class, or what `coded` takes."""
    if isinstance(error, (int, str)):
        return pytest.RaisesExc(pypfm.PfmError, match=match, check=coded(error))
    return pytest.RaisesExc(error, match=match)


# No test fails because the machine has other work to do, and none by chance: a change meets the examples that its
# predecessor met.  `.ci/full` tries others, with the profile "random".
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", settings.get_profile("random"), derandomize=True)
# A failure is enough: no smaller one is looked for.
settings.register_profile("mutation", settings.get_profile("random"), phases=[Phase.explicit, Phase.generate], database=None)
settings.load_profile("fixed")

# What this process calls at random loads no counters; programs of tests/perfmon2 choose what counts.
os.environ.setdefault("LIBPFM_PERFMON", "off")

# What a process compiles, the next one finds: hundreds are started.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing that is collected becomes garbage: tests that look for some need not look there."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def default_signals() -> None:
    """Start the tests' programs with the default actions of signals, whoever starts pytest: ``nohup``, ``&`` in a script.

    A program inherits what is ignored and what is blocked, but not a handler.  So what is ignored gets a handler
    that does nothing: pytest itself goes on to ignore it.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:  # subprocess restores these
        if signal.getsignal(number) is signal.SIG_IGN:
            with suppress(OSError):  # valgrind keeps one for itself
                signal.signal(number, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


default_signals()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        needs(*mark.args)


def without_capabilities() -> list[str]:
    """A command line that takes the right to count the kernel away; empty where there is none to take."""
    return [] if os.geteuid() else ["setpriv", "--bounding-set=-perfmon,-sys_admin,-ipc_lock", "--inh-caps=-all"]


@pytest.fixture(scope="session")
def libpfm3() -> Path:
    """The installed libpfm.so.3."""
    return LIBRARIES["pfm3"].path


@pytest.fixture(scope="session")
def pfm3_include() -> Path:
    """The directory of the installed headers of libpfm 3."""
    return LIBRARIES["pfm3"].include_dir


@pytest.fixture
def runtime_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime directory of this test's own, so that its counters' locks meet no other test's."""
    directory = tmp_path / "runtime"
    directory.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    monkeypatch.delenv("PMC_MACHINE", raising=False)
    return directory


@pytest.fixture(scope="session")
def perf_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For perfex: a map of events that every kernel can count."""
    from perfex_runs import TABLE

    path = tmp_path_factory.mktemp("perfex") / "table.csv"
    path.write_text(TABLE, encoding="ascii")
    return path


@pytest.fixture(scope="session")
def toucher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that touches as many pages as its argument says."""
    from perfex_runs import compile_c

    return compile_c(tmp_path_factory.mktemp("touch"), "touch",
                     "int main(int n, char **v) { if (n > 1) touch(strtoul(v[1], 0, 10)); return 0; }")


def once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], object]) -> Path:
    """A directory that one of pytest's workers fills, and all use; what fails for one fails for all."""
    base = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent  # that of all workers
    directory, done = base / name, base / f"{name}-done"
    with (base / f"{name}-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            directory.mkdir(exist_ok=True)
            try:
                fill(directory)
            except AssertionError as error:
                done.write_text(str(error) or "failed")
            else:
                done.touch()
    if problem := done.read_text():
        pytest.fail(f"{name}: {problem}", pytrace=False)
    return directory


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the documentation as HTML; warnings are errors."""
    def build(html: Path) -> None:
        # Not from the source tree, which has no extension modules.
        built = run(sys.executable, "-m", "sphinx", "-W", "-n", "-q", "-T", ROOT / "docs", html, cwd=html.parent, timeout=1200)
        assert built.returncode == 0, built.stderr or built.stdout

    return once(tmp_path_factory, "site", build)


@pytest.fixture(autouse=True)
def _signal_mask() -> Generator[None, None, None]:
    """A test that runs a command in this process may leave signals blocked, which later commands would inherit."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
