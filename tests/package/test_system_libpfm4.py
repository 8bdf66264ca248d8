"""Old programs on the new library: clients of Debian's libpfm4 run on ours, and the reverse.

The binary interface is what is tested: one client, compiled against the headers of each
library, prints the same on both, and first of all which library it runs on.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import clean_env, run
from native import CC, PFM4, build, headers

HERE = Path(__file__).parent
SYSTEM_HEADER = Path("/usr/include/perfmon/pfmlib_perf_event.h")
SYSTEM_LIBRARIES = sorted(Path("/usr/lib").glob("*/libpfm.so.4"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SYSTEM_HEADER.is_file(), reason="no libpfm4-dev on this machine"),
    pytest.mark.skipif(not SYSTEM_LIBRARIES, reason="no libpfm4 on this machine"),
]


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The client, by whose headers and library it was built with; neither has a run path."""
    out = tmp_path_factory.mktemp("clients")
    flags = {"system": ["-lpfm"], "ours": [*PFM4.cflags, f"-L{PFM4.path.parent}", f"-l:{PFM4.soname}"]}
    for whose, words in flags.items():
        used = build(CC, "-M", *[w for w in words if w.startswith("-I")], HERE / "client4.c")
        assert (str(PFM4.include_dir) in used) == (whose == "ours")
        build(CC, "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", HERE / "client4.c", "-o", out / whose,
              *words, "-ldl")
    return {whose: out / whose for whose in flags}


def printed(client: Path, library: Path) -> list[str]:
    """What a client prints when it runs on a library, but for the path of that."""
    done = run(client, env=clean_env(LD_LIBRARY_PATH=str(library.parent), LIBPFM_FORCE_PMU="glm"))
    assert done.returncode == 0, done.stderr
    path, *rest = done.stdout.splitlines()
    assert Path(path).resolve() == library.resolve()
    return rest


def test_both_clients_print_the_same_on_both_libraries(clients: dict[str, Path]) -> None:
    libraries = {"system": SYSTEM_LIBRARIES[0], "ours": PFM4.path}
    answers = {(client, library): printed(clients[client], path)
               for client in clients for library, path in libraries.items()}
    first = answers["system", "system"]
    assert len(first) > 40
    assert any("0x3600040022" in line for line in first)
    for pair, answer in answers.items():
        assert answer == first, pair


@pytest.mark.parametrize("compiler", ["cc", "g++"])
def test_system_headers_compile_what_ours_do(compiler: str, tmp_path: Path) -> None:
    """Each installed header of ours exists in Debian's package, but for the one of the examples, and both compile alone."""
    names = set(headers(PFM4)) - {"perfmon/err.h"}
    assert len(names) == 3
    for header in names:
        source = f"#include <{header}>\nint main(void) {{ return 0; }}\n"
        for flags in ([], PFM4.cflags):
            build(compiler, *flags, "-x", "c++" if compiler == "g++" else "c", "-", "-o", tmp_path / "x", source=source)
