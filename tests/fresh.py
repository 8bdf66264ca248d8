"""Python code in a process in which nothing of the package has been called yet: a fork of one that has only imported it.

A fraction of the time of run_python(), for tests that need the C libraries' state and environment to themselves.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from conftest import TESTS, clean_env

# A child leaves the loop, so that it ends as any program does.
SERVER = """
import gc, json, os, signal, sys
import pypfm.pfm3, pypfm.pfm3_manual, pypfm.pfm4
gc.freeze()
for line in sys.stdin:
    code, arguments, environment, *files = json.loads(line)
    if not (child := os.fork()):
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
signal.alarm(300)
for descriptor, name in enumerate((os.devnull, *files)):
    os.dup2(os.open(name, os.O_RDWR), descriptor)
os.environ.clear()
os.environ.update(environment)
sys.argv[1:] = arguments
sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(":"))
exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
"""


@cache
def _server() -> subprocess.Popen[str]:
    """Ends when its standard input does: with pytest."""
    return subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            cwd=TESTS, env=clean_env())


def fresh_python(code: str, *args: object, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python code, with changes to the environment; as run_python(), except for what happens at the start of Python."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as directory:
        out, err = Path(directory, "out"), Path(directory, "err")
        out.touch()
        err.touch()
        print(json.dumps([code, [str(a) for a in args], clean_env(**env), str(out), str(err)]), file=server.stdin, flush=True)
        status = int(server.stdout.readline())
        return subprocess.CompletedProcess(["python", "-c", code], status, out.read_text(), err.read_text())
