"""What is shipped: the source archive, the wheel made of it, and the wheel on every Python of this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT, clean_env, once, run
from pypfm.config import LIBRARIES
from tools import needs

pytestmark = pytest.mark.slow

MODULES = ["pfm3", "pfm3_manual", "pfm4", "pmc", "libperfex"]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the source archive of the committed files, and the wheel that is built of it."""
    needs("git")

    def build(work: Path) -> None:
        # The committed files and nothing else: what lies about in a working tree is not shipped.
        done = run("git", "clone", "-q", ROOT, work / "tree")
        if done.returncode:
            pytest.skip(f"the sources are no git repository: {done.stderr.strip()}")
        done = run(sys.executable, "-m", "build", "--outdir", work, cwd=work / "tree", timeout=900)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    return once(tmp_path_factory, "archives", build)


@pytest.fixture(scope="module")
def sdist(archives: Path) -> set[str]:
    """Names in the source archive, without its top directory."""
    [path] = archives.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames() if not name.endswith("/")}


@pytest.fixture(scope="module")
def wheel(archives: Path) -> Path:
    [path] = archives.glob("*.whl")
    return path


def test_the_source_archive_has_all_committed_files(archives: Path, sdist: set[str]) -> None:
    committed = set(run("git", "ls-files", cwd=archives / "tree").stdout.split())
    assert {name for name in committed - sdist if not name.startswith(".")} == set()
    assert sdist - committed == {"PKG-INFO"}


def public_headers() -> list[Path]:
    """Those of the libraries; csrc/bindings has stubs of the system's."""
    return [header for header in (ROOT / "csrc").glob("*/include/**/*.h") if "bindings" not in header.parts]


def test_the_wheel_has_everything(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert wheel.name.endswith(".whl")
    assert "-cp310-abi3-" in wheel.name
    wanted = {f"pypfm/{path.relative_to(ROOT / 'pypfm').as_posix()}" for path in (ROOT / "pypfm").rglob("*")
              if path.is_file() and "__pycache__" not in path.parts}
    wanted |= {f"pypfm/_c/{module}{end}" for module in MODULES for end in (".abi3.so", ".pyi", "_api.py")}
    wanted |= {f"pypfm/lib/{library.name}/{library.soname}" for library in LIBRARIES.values()}
    wanted |= {f"pypfm/include/{header.relative_to(ROOT / 'csrc').as_posix().replace('/include/', '/')}"
               for header in public_headers()}
    wanted |= {"pypfm/perfex/tables/perfex_valgrind.csv", "pypfm/perfex/tables/perfex_qemu.csv",
               "pypfm/perfex/tables/perfex_qemu_host.csv", "pypfm/conform/functions.csv"}
    wanted |= {f"pypfm/perfex/{kind}/{path.name}" for kind in ("tool", "plugin") for path in (ROOT / "csrc/perfex" / kind).iterdir()}
    wanted |= {f"pypfm/examples.d/{name}" for name in run("git", "ls-files", cwd=wheel.parent / "tree/docs/examples").stdout.split()}
    wanted |= {"pypfm/libexec/pfmtime", "pypfm/libexec/perfex-calibrate"}
    assert wanted - names == set()


def test_each_library_is_in_the_wheel_once(wheel: Path) -> None:
    """What -l finds is no copy but a line that names the library to the linker."""
    with zipfile.ZipFile(wheel) as archive:
        for library in LIBRARIES.values():
            text = archive.read(f"pypfm/lib/{library.name}/{library.soname.rpartition('.')[0]}").decode()
            assert text == f"INPUT({library.soname})\n"


def test_the_wheel_has_nothing_private(wheel: Path) -> None:
    """No sources in C but those of the valgrind tool, of qemu's plugin and of the examples, no private header, no test."""
    names = [name for name in zipfile.ZipFile(wheel).namelist()
             if not name.startswith(("pypfm/perfex/tool/", "pypfm/perfex/plugin/", "pypfm/examples.d/"))]
    public = {header.name for header in public_headers()}
    odd = [name for name in names if name.endswith((".c", ".o", ".in", ".map", ".cmake", ".txt"))
           or (name.endswith(".h") and Path(name).name not in public)
           or name.split("/")[0] in {"tests", "docs", "csrc", ".ci"}]
    assert [name for name in odd if ".dist-info/" not in name] == []
    tops = {name.split("/")[0] for name in names}
    assert {re.sub(r"-\d+(\.\d+)*", "", top) for top in tops} <= {"pypfm", "pypfm.dist-info", "pypfm.data"}


def test_extensions_keep_to_the_limited_api(wheel: Path, tmp_path: Path) -> None:
    """Not the wheel as it is: abi3audit takes the linker scripts for libraries."""
    with zipfile.ZipFile(wheel) as archive:
        files = [archive.extract(name, tmp_path) for name in archive.namelist() if name.endswith(".abi3.so")]
    assert len(files) == len(MODULES)
    done = run(sys.executable, "-m", "abi3audit", "--strict", "--report", *files)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("abi3.so") >= len(MODULES)


def interpreters() -> list[str]:
    """Every Python from 3.10 on that this machine has, those of pyenv too."""
    directories = [*map(Path, os.environ.get("PATH", "").split(":")), Path("/usr/bin"), Path("/usr/local/bin"),
                   *Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin")]
    found = {}
    for path in (path for directory in directories for path in directory.glob("python3.*")):
        match = re.fullmatch(r"python3\.(\d+)t?", path.name)
        # Of pyenv, what its shims start.
        if match and int(match[1]) >= 10 and path.parent.name != "shims":
            found.setdefault(path.resolve(), str(path))
    return sorted(found.values()) or [sys.executable]


# What the C build puts into the package, as a copy has it; prints what is missing.
FILES = """
import pypfm
from pypfm.config import LIBRARIES, built
assert len(pypfm.__path__) == 1
paths = [p for library in LIBRARIES.values() for p in (library.path, library.include_dir)]
paths += [built(name) for name in ("examples.d", "perfex/tables", "libexec/pfmtime", "libexec/perfex-calibrate")]
print([str(path) for path in paths if not path.exists() or not str(path).startswith(pypfm.__path__[0])])
"""


@pytest.mark.long
def test_the_wheel_on_every_interpreter(wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tried, good = [], 0
    for python in interpreters():
        venv = tmp_path / Path(python).name
        made = run(python, "-m", "venv", venv)
        if made.returncode:
            tried.append(f"not {python}: it has no venv")
            continue
        done = run(venv / "bin/pip", "install", "-q", wheel, timeout=600)
        assert done.returncode == 0, f"{python}: {done.stderr}"
        done = run(venv / "bin/pypfm", "encode", "-p", "itanium2", "CPU_CYCLES", "--json", cwd=tmp_path,
                   env=clean_env())
        assert done.returncode == 0, f"{python}: {done.stderr}"
        assert '"0x1228"' in done.stdout or "0x0000000000001228" in done.stdout
        library = run(venv / "bin/pypfm", "config", "--library", "pfm4", cwd=tmp_path).stdout.strip()
        done = run(venv / "bin/pypfm", "conform", library, cwd=tmp_path, env=clean_env())
        assert done.returncode == 0, f"{python}: {done.stdout}{done.stderr}"
        done = run(venv / "bin/python", "-c", FILES, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
        version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        tried.append(f"{python} ({version})")
        good += 1
    with capsys.disabled():
        print(f"\nthe wheel was tried on: {', '.join(tried)}")
    assert good > 0


def test_what_is_installed_is_removed(wheel: Path, tmp_path: Path) -> None:
    """pip knows all files: nothing is left behind."""
    venv = tmp_path / "venv"
    assert run(sys.executable, "-m", "venv", "--without-pip", venv).returncode == 0
    pip = (sys.executable, "-m", "pip", "--python", venv / "bin/python")
    before = {p for p in venv.rglob("*") if "__pycache__" not in p.parts}
    assert run(*pip, "install", "-q", "--no-deps", wheel).returncode == 0
    assert run(*pip, "uninstall", "-q", "-y", "pypfm").returncode == 0
    left = {p for p in venv.rglob("*") if "__pycache__" not in p.parts} - before
    assert {p for p in left if p.is_file()} == set()
