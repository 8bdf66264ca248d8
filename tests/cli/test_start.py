"""How the commands start and end: Ctrl-C at any moment, an output that cannot be written, -h and --version."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import clean_env, files_of_ours, run, run_python
from tools import first

BIN = Path(sys.executable).parent
COMMANDS = ["pypfm", "pmc", "perfex"]


# ---- Ctrl-C ---------------------------------------------------------------------------

# Interrupts itself at the n-th import after the commands' first line.
INTERRUPT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
left = int(sys.argv[1])
def hook(event, args):
    global left
    if event == "import" and begun:
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGINT)
begun = False
sys.addaudithook(hook)
import pypfm.__main__
begun = True
command = sys.argv[2]
sys.argv[:] = [command, *sys.argv[3:]]
sys.exit(getattr(pypfm.__main__, command)())
"""


@pytest.mark.parametrize("words", [["pypfm", "events", "-p", "itanium2"], ["perfex", "--help"]])
def test_an_interrupt_at_any_import_is_silent(words: list[str]) -> None:
    ended = 0
    for n in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 1000):
        done = run_python(INTERRUPT, n, *words)
        if done.returncode == 0:  # it imports fewer
            break
        ended += 1
        assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", ""), n
    assert ended > 5
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("words", first([["pypfm", "events", "-p", "itanium2"], ["perfex", "--help"]]))
def test_an_interrupt_at_any_time(words: list[str]) -> None:
    """What is printed before our first line is of the interpreter's start: of site, or of the import that leads to us."""
    died = 0
    for step in range(0, 200, 8):
        process = subprocess.Popen(["env", "--default-signal=INT", BIN / words[0], *words[1:]], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=clean_env())
        time.sleep(step / 1000)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        assert files_of_ours(stderr) == [], stderr
        died += process.returncode == -signal.SIGINT
        assert process.returncode in (0, -signal.SIGINT) or "KeyboardInterrupt" in stderr, stderr
    assert died


def test_an_ignored_interrupt_stays_ignored() -> None:
    """As of `nohup pypfm ... &`."""
    done = run("sh", "-c", f"trap '' INT; {sys.executable} -c 'import signal, pypfm.__main__;"
                           " print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)'")
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_library_leaves_interrupts_alone() -> None:
    done = run_python("import signal, pypfm, pypfm.cli, pypfm.cli.pmc, pypfm.cli.perfex\n"
                      "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)")
    assert done.stdout == "True\n"


def test_nothing_is_imported_before_interrupts_are_restored() -> None:
    # -S: as without what site packages bring; an editable installation has two directories.
    done = run(sys.executable, "-S", "-c", "import importlib.machinery, importlib.util, os, sys; before = {*sys.modules}\n"
               "spec = importlib.util.spec_from_file_location('pypfm', sys.argv[1],"
               " submodule_search_locations=[*map(os.path.dirname, sys.argv[1:2]), *sys.argv[2:]])\n"
               "sys.modules['pypfm'] = module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)\n"
               "import pypfm.__main__; print(*sorted({*sys.modules} - before))",
               sys.modules["pypfm"].__file__ or "", *sys.modules["pypfm"].__path__)
    assert done.stdout.split() == ["pypfm", "pypfm.__main__"], done.stderr


# ---- -h, --help, --version --------------------------------------------------------------

@pytest.mark.parametrize("command", COMMANDS)
def test_version_and_help(command: str) -> None:
    """Of the programs themselves; test_width.py has all sub-commands."""
    done = run(BIN / command, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{command} 0.1.0\n", "")
    for option in ("--help", "-h") if command != "pmc" else ("--help",):
        done = run(BIN / command, option)
        assert (done.returncode, done.stdout[:7], done.stderr) == (0, "usage: ", "")


def test_the_command_of_perfex_keeps_its_own_h() -> None:
    done = run(BIN / "perfex", "--backend", "perf", "-e", "nonsense", "ls", "-h")
    assert done.returncode == 2
    assert "usage:" not in done.stdout


# ---- where the output goes --------------------------------------------------------------

# argparse's, and the commands' own.
OUTPUTS = ["pypfm vectors export --help", "perfex --version", "pypfm events -p perf", "pypfm encode -p itanium2 CPU_CYCLES", "pmc -h"]


@pytest.mark.parametrize(("words", "unbuffered"), [*((words, "") for words in OUTPUTS), *((words, "1") for words in OUTPUTS[1:3])])
@pytest.mark.slow
def test_a_full_disk_is_one_line_and_status_1(words: str, unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = run(BIN / words.split()[0], *words.split()[1:], capture_output=False, stdout=full, stderr=subprocess.PIPE,
                   env=clean_env(PYTHONUNBUFFERED=unbuffered))
    assert done.returncode == 1
    assert re.fullmatch(r"(pypfm|pmc|perfex)( \w+)?: standard output: No space left on device\n", done.stderr)


@pytest.mark.parametrize("words", OUTPUTS)
@pytest.mark.slow
def test_a_closed_output_is_one_line_and_status_1(words: str) -> None:
    done = run("sh", "-c", f"exec {BIN}/{words} >&-")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"(pypfm|pmc|perfex)( \w+)?: standard output is closed\n", done.stderr)


@pytest.mark.parametrize("words", OUTPUTS)
@pytest.mark.slow
def test_a_reader_that_has_gone_ends_a_command_as_any_filter(words: str) -> None:
    reader, writer = subprocess.Popen(["true"], stdin=subprocess.PIPE), None
    reader.wait()
    writer = reader.stdin
    done = run(BIN / words.split()[0], *words.split()[1:], capture_output=False, stdout=writer, stderr=subprocess.PIPE)
    assert writer is not None
    writer.close()
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


@pytest.mark.slow
@pytest.mark.parametrize("words", ["pypfm frob", "pypfm encode -p itanium2 CPU_CYCLE", "pmc -c nonsense true", "perfex"])
@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_a_mistake_that_nobody_is_told_keeps_its_status(words: str, where: str) -> None:
    told = run(BIN / words.split()[0], *words.split()[1:])
    done = run("sh", "-c", f"exec {BIN}/{words} {where}")
    assert (done.returncode, done.stdout, done.stderr) == (told.returncode, "", "")
    assert told.returncode in (1, 2)


def test_an_encoding_without_the_characters() -> None:
    """A picture has lines that ASCII does not have."""
    done = run(BIN / "pypfm", "--version", env=clean_env(PYTHONIOENCODING="ascii"))
    assert done.returncode == 0
    done = run_python("import sys\nfrom pypfm.cli._program import to_the_end\n"
                      "sys.exit(to_the_end('x', lambda: print('\\u2502') or 0))", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout, done.stderr) == (0, "\\u2502\n", "")


def test_what_is_no_matter_of_the_output_is_not_said_to_be() -> None:
    done = run_python("import errno, sys\nfrom pypfm.cli._program import to_the_end\n"
                      "def fail(): raise OSError(errno.EMFILE, 'Too many open files')\n"
                      "sys.exit(to_the_end('x', fail))")
    assert (done.returncode, done.stderr) == (1, "x: Too many open files\n")
