"""perfex.run(): a command that a program or a notebook runs and counts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from conftest import ROOT, clean_env, refused, run, run_python
from native import CC, build
from perfex_runs import PERFEX
from pypfm import InvalidTypeError, InvalidValueError, perfex
from pypfm.perfex.model import PerfexError
from tools import needs

pytestmark = pytest.mark.usefixtures("valgrind")
CACHE = "L1=32k,8,64:L2=1m,16,64"


@pytest.fixture(scope="module")
def valgrind() -> str:
    return needs("valgrind")


@pytest.fixture(scope="module")
def particles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("particles") / "particles"
    build(CC, "-g", "-O2", "-fno-inline", ROOT / "docs/examples/particles.c", "-o", program)
    return program


def test_the_line_with_the_misses(particles: Path, capfd: pytest.CaptureFixture[str]) -> None:
    report = perfex.run([particles], events=["L2D-misses", 18], cache=CACHE)
    assert capfd.readouterr() == ("29998.5\n", "")
    assert (report.outcome.status, report.outcome.backend) == (0, "valgrind")
    assert report.annotation is not None
    worst = report.annotation.lines[0]
    assert (Path(worst.file).name, worst.line, worst.own.events) == ("particles.c", 17, (1000000, 2000000))
    shown = BeautifulSoup(report._repr_html_(), "html.parser")
    assert shown.caption is not None
    assert shown.caption.text.startswith("lines by event 26 (L2D-misses): 1 of ")
    heads, first = ([cell.text for cell in row.find_all(["th", "td"])] for row in shown.find_all("tr")[:2])
    assert heads == ["L2D-misses", "share", "seconds", "graduated-loads", "line", "source"]
    assert (first[0], first[3], first[4]) == ("1000000", "2000000", "particles.c:17")
    assert "p[i].x += p[i]" in first[5]
    assert "lines by event 26 (L2D-misses)" in str(report)


@pytest.mark.long
def test_all_events_and_what_subprocess_has(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words").write_text("here\n")
    with (tmp_path / "words").open("rb") as words:
        report = perfex.run(["sh", "-c", "cat; echo $NAME; ls; exit 3"], cwd=tmp_path, stdin=words,
                            env=clean_env(NAME="value"))
    assert capfd.readouterr().out == "here\nvalue\nwords\n"
    assert report.outcome.status == 3
    assert len(report.outcome.measurements) == 32
    assert "lines by estimated cycles" in report._repr_html_()
    perfex.run(["cat"])  # has nothing to read


@pytest.mark.long
def test_in_a_thread_and_with_a_descriptor_that_is_open(tmp_path: Path) -> None:
    """As in a notebook, whose kernel has threads; the command does not get the pipes of the process that counts."""
    found: list[Any] = []
    command = ["sh", "-c", "ls -l /proc/self/fd | grep -c pipe: > pipes"]
    thread = threading.Thread(target=lambda: found.append(perfex.run(command, events=[0], cwd=tmp_path)))
    thread.start()
    thread.join()
    assert found[0].outcome.status == 0
    pipes = (tmp_path / "pipes").read_text()
    run(PERFEX, "--backend", "valgrind", "--events", "0", *command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=False)
    assert pipes == (tmp_path / "pipes").read_text()


@pytest.mark.slow
def test_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    """As a notebook's: it is sent to the kernel's process alone."""
    program = ("from pypfm import perfex\ntry:\n    perfex.run(['sh', '-c', 'echo begun; exec sleep 1000'], events=[0])\n"
               "except KeyboardInterrupt:\n    print('interrupted')\n")
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=clean_env(), cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    begun = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted\n"  # at the end of all that have this output
    assert process.returncode == 0
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(("command", "options", "error", "said"), [
    ("ls -l", {}, InvalidTypeError, r"command: expected a list of words, such as \['ls', '-l'\], not 'ls -l'"),
    (["ls", 5], {}, InvalidTypeError, "word of the command: expected str or PathLike, not int"),
    (5, {}, InvalidTypeError, "command: "),
    ([], {}, PerfexError, "no command is given"),
    (["/no/such"], {}, PerfexError, "'/no/such': no such file"),
    (["ls", "a\0"], {}, PerfexError, "a zero byte in the command"),
    (["ls"], {"events": ["nonsense"]}, InvalidValueError, "events: 'nonsense' is not an event"),
    (["ls"], {"events": []}, InvalidValueError, "events: there is none"),
    (["ls"], {"events": [1.5]}, InvalidTypeError, "events: expected int"),
    (["ls"], {"cpu": "r4000"}, InvalidValueError, "cpu='r4000': expected one of r10000"),
    (["ls"], {"backend": "x"}, InvalidValueError, "backend='x': expected one of auto, perf, valgrind"),
    (["ls"], {"cache": "zzz"}, InvalidValueError, "'zzz' is none"),
    (["ls"], {"cwd": "/nowhere"}, PerfexError, "/nowhere: No such file or directory"),
    (["ls"], {"env": {"PATH": "/nowhere"}}, PerfexError, "valgrind is not installed"),
])
def test_mistakes(command: Any, options: dict[str, Any], error: type[Exception], said: str) -> None:
    with refused(error, said):
        perfex.run(command, **options)


def test_a_process_that_is_killed_is_an_error() -> None:
    """The command kills its parent's parent, which would have had the report."""
    done = run_python("from pypfm import perfex\ntry:\n"
                      "    perfex.run(['sh', '-c', 'kill -9 $PPID'], events=[0])\n"
                      "except perfex.running.PerfexError as error:\n    print(error)\n")
    assert done.stdout == "the process that was to run 'sh' was ended by SIGKILL\n", done.stderr
