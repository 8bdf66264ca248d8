"""A child that is forked while other threads load modules, read tables and compute comes to its end.

PYPFM_FORKS says how many children are forked; .ci/full asks for more.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from conftest import run_python

PROGRAM = Path(__file__).with_name("forks.py")
FORKS = int(os.environ.get("PYPFM_FORKS", "108"))
QUIET = "ignore::DeprecationWarning"  # from Python 3.12 on, fork() in a process of several threads warns


def test_children_of_a_process_whose_threads_compute_for_the_first_time() -> None:
    done = run_python(PROGRAM.read_text(), FORKS // 6, PYTHONWARNINGS=QUIET)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"forks": FORKS // 6 * 6, "hung": {}}


def test_a_thread_that_does_not_end_loading_delays_a_fork_only(tmp_path: Path) -> None:
    """What it loads may wait for the thread that forks: that one goes on after some seconds."""
    (tmp_path / "stuck.py").write_text("import __main__\n__main__.reached.set()\n__main__.go.wait()\n")
    done = run_python("""
import os, sys, threading, time
import pypfm
pypfm.__path__.append(sys.argv[1])
pypfm._LONGEST_WAIT = 0.2
reached, go = threading.Event(), threading.Event()
thread = threading.Thread(target=__import__, args=["pypfm.stuck"])
thread.start()
reached.wait()
begin = time.monotonic()
pid = os.fork()
if not pid:
    os._exit(0)
print(0.2 <= time.monotonic() - begin < 5, os.waitpid(pid, 0)[1])
go.set()
thread.join()
""", tmp_path, PYTHONWARNINGS=QUIET)
    assert (done.stdout, done.stderr) == ("True 0\n", "")


def test_a_thread_that_looks_for_a_file_and_goes_on_with_a_module_of_the_package(tmp_path: Path) -> None:
    """fork() itself waits for the lock of the import system, and lets the thread go on meanwhile."""
    (tmp_path / "late.py").write_text("import time\ntime.sleep(0.3)\n")
    done = run_python("""
import _imp, os, signal, sys, threading, time
import pypfm
pypfm.__path__.append(sys.argv[1])
reached = threading.Event()
def load():
    _imp.acquire_lock()
    reached.set()
    time.sleep(0.1)
    _imp.release_lock()
    import pypfm.late
thread = threading.Thread(target=load)
thread.start()
reached.wait()
pid = os.fork()
if not pid:
    signal.alarm(3)
    import pypfm.late
    os._exit(0)
print(os.waitpid(pid, 0)[1])
thread.join()
""", tmp_path, PYTHONWARNINGS=QUIET)
    assert (done.stdout, done.stderr) == ("0\n", "")
