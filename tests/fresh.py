"""Python code and the package's commands in forks of a process that has only imported the package: nothing of it was called yet.

A fraction of the time of a process of their own, for tests that need the C libraries' state and environment to themselves.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from conftest import TESTS, clean_env, run

# A child leaves the loop, so that it ends as any program does.
SERVER = """
import gc, importlib, json, os, signal, sys
sys.path[:1] = json.loads(sys.argv[1])
for module in sys.argv[2:]:
    importlib.import_module(module)
gc.freeze()
requests = os.fdopen(os.dup(0))  # sys.stdin is the child's
for line in requests:
    code, sys.argv, environment, directory, *files = json.loads(line)
    if not (child := os.fork()):
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
requests.close()
signal.alarm(300)
os.chdir(directory)
for descriptor, name in enumerate(files):
    os.dup2(os.open(name, os.O_RDWR | os.O_NOCTTY), descriptor)
os.environ.clear()
os.environ.update(environment)
sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(":"))
exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
"""
LIBRARIES = ("pypfm.pfm3", "pypfm.pfm3_manual", "pypfm.pfm4")
#: What the commands import when they are run, except for matplotlib and the kit: these are imported in the fork.
COMMANDS = (*(f"pypfm.cli.{name}" for name in ("common", "decode", "draw", "encode", "events", "find", "info", "layout", "pmus", "pmc", "values")),
            *(f"pypfm.cli.perfex.{name}" for name in ("places", "several")),
            *(f"pypfm.perfex.{name}" for name in ("annotate", "calibration", "compare", "costs", "listing", "merge", "reading", "report")),
            "pypfm.perfex.backends.perf", "pypfm.perfex.backends.valgrind.backend", "csv", "pypfm.decoding", "pypfm.ia64", "pypfm.netbsd", "pypfm.perf", "pypfm.perf.foreign")
#: Variables that Python, the dynamic linker and the C library read when a program starts.
READ_AT_THE_START = ("PYTHON", "LD_", "LC_", "LANG", "GLIBC", "MALLOC")


@cache
def _server(path: tuple[str, ...], modules: tuple[str, ...]) -> subprocess.Popen[str]:
    """The process that forks, with directories to import from and what it has imported; it ends with this one."""
    server = subprocess.Popen([sys.executable, "-c", SERVER, json.dumps(path), *modules], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True, cwd=TESTS, env=clean_env())
    atexit.register(server.__exit__, None, None, None)  # closes its standard input, and waits
    return server


def _forked(server: subprocess.Popen[str], code: str, argv: list[str], *request: object) -> int:
    """Run code in a fork; its exit status.  The request: environment, directory, files that become descriptors 0, 1 and 2."""
    assert server.stdin is not None
    assert server.stdout is not None
    print(json.dumps([code, argv, *request]), file=server.stdin, flush=True)
    return int(server.stdout.readline())


def fresh_python(code: str, *args: object, path: tuple[Path, ...] = (TESTS,), modules: tuple[str, ...] = LIBRARIES,
                 **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python code, with changes to the environment; as run_python(), except for what happens at the start of Python.

    :param path: directories to import from
    :param modules: what is imported before the fork
    """
    with tempfile.TemporaryDirectory() as directory:
        out, err = Path(directory, "out"), Path(directory, "err")
        out.touch()
        err.touch()
        status = _forked(_server(tuple(map(str, path)), modules), code, ["-c", *map(str, args)], clean_env(**env), str(TESTS),
                         os.devnull, str(out), str(err))
        return subprocess.CompletedProcess(["python", "-c", code], status, out.read_text(), err.read_text())


def fresh_command(path: Path, *args: object, env: dict[str, str] | None = None, cwd: Path = TESTS, text: str = "",
                  terminal: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of the package: pypfm, perfex or pmc; as run(), except for what happens at the start of Python.

    An environment that changes how Python starts takes a process of its own, as run() does.

    :param text: its standard input, which is a file
    :param terminal: the file name of a terminal that gets what it prints
    """
    env = clean_env() if env is None else env
    if any(name.startswith(READ_AT_THE_START) for name, _ in env.items() ^ clean_env().items()):
        assert terminal is None
        return run(path, *args, env=env, cwd=cwd, input=text)
    with tempfile.TemporaryDirectory() as directory:
        files = [Path(directory, name) for name in ("in", "out", "err")]
        for file in files:
            file.touch()
        files[0].write_text(text)
        argv = [str(path), *map(str, args)]
        status = _forked(_server((str(path.parent),), COMMANDS), f"import sys\nfrom pypfm.__main__ import {path.name}\nsys.exit({path.name}())",
                         argv, env, str(cwd), str(files[0]), *([terminal] * 2 if terminal else map(str, files[1:])))
        return subprocess.CompletedProcess(argv, status, files[1].read_text(), files[2].read_text())
