"""Programs on Debian's libpfm.so.4 and on ours: where each is, and how a program is run on one of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from conftest import clean_env, run
from native import PFM4

HEADER = Path("/usr/include/perfmon/pfmlib_perf_event.h")
DEBIAN = next(iter(sorted(Path("/usr/lib").glob("*/libpfm.so.4"))), None)
SHAPES = Path(__file__).parent / "shapes"
NO_LIBRARY = "no libpfm.so.4 in /usr/lib (Debian: libpfm4)"
NO_HEADER = f"no {HEADER} (Debian: libpfm4-dev)"


def libraries() -> dict[str, Path]:
    """The libraries, by whose they are; Debian's has to be there."""
    assert DEBIAN is not None
    return {"Debian": DEBIAN, "ours": PFM4.path}


def environment(library: Path, pmu: str, **changes: object) -> dict[str, str]:
    """Where the loader finds that library, and a PMU is forced: this machine's own would be another for each."""
    return clean_env(LD_LIBRARY_PATH=str(library.parent), LIBPFM_FORCE_PMU=pmu, LC_ALL="C",
                     **{name: str(value) for name, value in changes.items()})


def loaded(program: Path, env: dict[str, str]) -> Path:
    """The libpfm that the loader gives a program."""
    lines = run(program, env=env | {"LD_TRACE_LOADED_OBJECTS": "1"}).stdout.splitlines()
    [path] = [line.split()[2] for line in lines if line.split()[0].startswith("libpfm.so")]
    return Path(path).resolve()


def on(library: Path, pmu: str, *command: object, **changes: object) -> subprocess.CompletedProcess[str]:
    """Run a program on a library."""
    return run(*command, env=environment(library, pmu, **changes), timeout=120)
