"""The command pmc, as its user runs it: the list, real commands under it, exit status, mistakes, signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pypfm._c.pfm4 import lib

import pypfm
from conftest import TESTS, clean_env, run, run_python, without_capabilities
from fresh import fresh_command
from pypfm import CountingError, UnknownKeyError
from pypfm.cli.pmc import counted_by
from pypfm.common.counting import PerfEvent
from pypfm.common.launch import Command
from pypfm.netbsd.counter import MACHINES
from valid import validate

pytestmark = pytest.mark.usefixtures("runtime_dir")

PMC = Path(sys.executable).with_name("pmc")
SOURCE = "pmc: counted by this machine's kernel (linux)\n"
LINE = re.compile(r"([a-z-]+): user (\d+) kernel (\d+|not available)\n")
TOUCH = ("import mmap\nm = mmap.mmap(-1, 4096 * 4000, mmap.MAP_PRIVATE)\n"
         "m.madvise(mmap.MADV_NOHUGEPAGE)\nfor i in range(4000): m[4096 * i] = 1\n")


def pmc(*args: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return fresh_command(PMC, *args, **options) if options.keys() <= {"env", "cwd"} else run(PMC, *args, **options)


@pytest.fixture(scope="module")
def counting() -> None:
    """Where this host counts no page faults, the reason is the command's own."""
    done = pmc("-c", "page-faults", "true")
    if done.returncode == 4:
        pytest.skip(done.stderr.strip())


# ---- -h -----------------------------------------------------------------------------------------------

HEADING = "Supported performance counter events:"


@pytest.mark.parametrize("machine", MACHINES)
def test_list(machine: str) -> None:
    """Two names a row, each right-aligned in 37 columns; an odd last one after a tab."""
    done = pmc("-h", "--machine", machine)
    heading, *rows = done.stdout.splitlines()
    names = list(pypfm.Machine(machine))
    assert (done.returncode, done.stderr, heading) == (0, "", HEADING)
    assert [name for row in rows for name in row.split()] == names
    whole = rows[:len(names) // 2]
    assert all(len(row) == 79 and row[:4].isspace() and row[41] == " " and row[40] != " " for row in whole)
    assert [len(row) for row in rows[len(whole):]] == [38] * (len(names) % 2)
    assert all(row.startswith("\t") for row in rows[len(whole):])


def test_the_first_rows_as_netbsd_printed_them() -> None:
    assert pmc("-h", "--machine", "i586").stdout.splitlines()[:3] == [
        HEADING,
        "                            tlb-data-miss                          tlb-ins-miss",
        "                         l1cache-ins-miss                     l1cache-data-miss"]


def test_linux_is_the_default() -> None:
    assert pmc("-h").stdout == pmc("-h", "--machine", "linux").stdout


def test_list_as_json() -> None:
    data = json.loads(pmc("-h", "--machine", "i686", "--json").stdout)
    validate(data, "pmc_list")
    assert data["machine"] == "i686"
    assert data["events"] == [event.to_json() for event in pypfm.Machine("i686").values()]
    assert data["events"][0] == {"id": 0x43, "name": "mem-refs", "counters": [0, 1],
                                 "description": pypfm.Machine("i686")["mem-refs"].description}


def test_clear() -> None:
    done = pmc("-C")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---- -c -----------------------------------------------------------------------------------------------

@pytest.mark.usefixtures("counting")
def test_counts_a_known_load() -> None:
    done = pmc("-c", "page-faults", sys.executable, "-c", TOUCH)
    match = LINE.fullmatch(done.stdout)
    assert match
    assert match[1] == "page-faults"
    assert int(match[2]) >= 4000
    assert (done.returncode, done.stderr) == (0, SOURCE)


@pytest.mark.usefixtures("counting")
def test_counts_children_of_the_command() -> None:
    done = pmc("-c", "page-faults", "sh", "-c", '"$0" -c "$1" & wait', sys.executable, TOUCH)
    match = LINE.fullmatch(done.stdout)
    assert match
    assert int(match[2]) >= 4000


@pytest.mark.usefixtures("counting")
def test_the_command_has_standard_input_and_output() -> None:
    done = pmc("-c", "page-faults", "tr", "a-z", "A-Z", input="standard input\n")
    first, last = done.stdout.splitlines(keepends=True)
    assert first == "STANDARD INPUT\n"
    assert LINE.fullmatch(last)


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize(("command", "status"), [
    (["true"], 0), (["false"], 1), (["sh", "-c", "exit 77"], 77), (["sh", "-c", "kill -TERM $$"], 128 + 15),
    (["sh", "-c", "kill -KILL $$"], 128 + 9), (["--", "false"], 1), (["sh", "-c", "exit 3", "-C", "--json", "-h"], 3)])
def test_the_commands_status(command: list[str], status: int) -> None:
    done = pmc("-c", "page-faults", *command)
    assert done.returncode == status
    assert LINE.fullmatch(done.stdout)
    assert done.stderr == SOURCE


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize("args", [["-c", "page-faults", "--json", "false"], ["--json", "-c", "page-faults", "false"],
                                  ["--machine", "linux", "--json", "-c", "page-faults", "--", "false"]])
def test_json(args: list[str]) -> None:
    done = pmc(*args)
    data = json.loads(done.stdout)
    validate(data, "pmc_count")
    assert (data["machine"], data["source"], data["event"]) == ("linux", "this machine's kernel", "page-faults")
    assert done.stderr == ""
    assert data["user"] > 0
    assert (data["unit"], data["total"]) == ("events", data["user"] + data["kernel"] if data["kernel"] is not None else None)
    assert done.returncode == 1


@pytest.mark.usefixtures("counting")
def test_the_command_may_have_signals_as_by_default() -> None:
    """Python ignores SIGPIPE; a command of a user's expects it."""
    done = pmc("-c", "page-faults", "sh", "-c", "yes | head -n 1; grep SigIgn /proc/self/status")
    assert done.stderr == SOURCE
    ignored = int(done.stdout.splitlines()[1].split()[1], 16)
    assert not ignored & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1))


# ---- modes ------------------------------------------------------------------------------------------------

# Much in user mode (faults of its own), much in kernel mode (faults of read(), switches), both by known amounts.
WORK = """
import mmap, os, time
m = mmap.mmap(-1, 4096 * 3000, mmap.MAP_PRIVATE)
m.madvise(mmap.MADV_NOHUGEPAGE)
for i in range(2000): m[4096 * i] = 1
os.readv(os.open("/dev/zero", os.O_RDONLY), [memoryview(m)[4096 * 2000:]])
for i in range(30): time.sleep(0.0005)
os.urandom(5_000_000)
cpus = os.sched_getaffinity(0)
for i in range(20):
    for cpu in cpus: os.sched_setaffinity(0, {cpu})
"""


def measured(event: str) -> tuple[int, int, int]:
    """What the kernel itself counts of the work: in user mode, in kernel mode, in both at once."""
    kind, config = pypfm.Machine().perf_event(event)
    command = Command([sys.executable, "-c", WORK])
    try:
        events = [PerfEvent({"type": kind, "config": config, "inherit": 1, "enable_on_exec": 1, "exclude_hv": 1,
                             "exclude_user": user, "exclude_kernel": kernel}, command.pid, event)
                  for user, kernel in ((0, 1), (1, 0), (0, 0))]
    except CountingError as error:
        command.cancel()
        pytest.skip(str(error))
    command.run()
    user, kernel, both = [e.read().value for e in events]
    for e in events:
        e.close()
    return user, kernel, both


SOFTWARE = {name for name in pypfm.Machine() if pypfm.Machine().perf_event(name)[0] == lib.PERF_TYPE_SOFTWARE}
TOGETHER, IN_THE_KERNEL = {"cpu-clock", "task-clock"}, {"context-switches", "cpu-migrations", "cgroup-switches"}
# Nothing that a test can do brings them about on this kind of machine, so that their split is read off the kernel's source.
NEVER = {"major-faults", "alignment-faults", "emulation-faults"}


def test_every_software_event_is_of_one_kind() -> None:
    assert (TOGETHER | IN_THE_KERNEL | NEVER | {"page-faults", "minor-faults"}) == SOFTWARE


def test_the_source_of_every_event() -> None:
    machine = pypfm.Machine()
    assert {event: counted_by(machine, event) for event in machine} == {
        event: f"this machine's {'kernel' if event in SOFTWARE else 'hardware counters'}" for event in machine}


@pytest.mark.slow
@pytest.mark.parametrize("event", sorted(SOFTWARE - NEVER - {"cgroup-switches"}))
def test_which_events_the_kernel_splits_by_mode(event: str) -> None:
    """Measured here, and what pmc makes of it."""
    user, kernel, both = measured(event)
    shown = json.loads(pmc("--json", "-c", event, sys.executable, "-c", WORK).stdout)
    if event in TOGETHER:  # the clocks are read one after another
        assert min(user, kernel) > 0.9 * both
        assert (shown["user"], shown["kernel"], shown["unit"]) == (None, None, "ns")
        assert shown["total"] > 1_000_000
    elif event in IN_THE_KERNEL:
        if event == "cpu-migrations" and len(os.sched_getaffinity(0)) == 1:
            pytest.skip("one processor: nothing migrates")
        assert (user, kernel) == (0, both)
        assert kernel >= 20
        assert (shown["user"], shown["kernel"] == shown["total"], shown["unit"]) == (None, True, "events")
        assert shown["kernel"] >= 20
    else:
        assert user + kernel == both
        assert min(user, kernel) >= 1000
        assert shown["user"] >= 2000
        assert shown["kernel"] >= 1000
        assert shown["user"] + shown["kernel"] == shown["total"]


@pytest.mark.usefixtures("counting")
def test_a_clock_is_one_number_with_its_unit() -> None:
    done = pmc("-c", "task-clock", "true")
    assert re.fullmatch(r"task-clock: [1-9]\d* ns in user and kernel mode together\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, SOURCE)
    confined = run(*without_capabilities(), PMC, "-c", "task-clock", "false")
    assert re.fullmatch(r"task-clock: [1-9]\d* ns in .*\n", confined.stdout)
    assert (confined.returncode, confined.stderr) == (1, SOURCE)


@pytest.mark.usefixtures("counting")
def test_what_happens_in_the_kernel_only() -> None:
    done = pmc("-c", "context-switches", "sleep", "0.01")
    assert re.fullmatch(r"context-switches: kernel [1-9]\d* \(it happens in kernel mode only\)\n", done.stdout)
    confined = run(*without_capabilities(), PMC, "-c", "context-switches", "echo", "never")
    if confined.returncode == 0:
        pytest.skip("everybody may count the kernel here (perf_event_paranoid)")
    assert (confined.returncode, confined.stdout, confined.stderr) == (
        5, "", "pmc: context-switches, kernel mode: not permitted; see /proc/sys/kernel/perf_event_paranoid\n")


# ---- PMC_MACHINE ------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("args", "name"), [("-h", "pentium"), ("-h", "Linux"), ("-C", " "), ("-c page-faults true", "linux,xscale")])
def test_a_machine_that_is_none(args: str, name: str) -> None:
    done = pmc(*args.split(), env=clean_env(PMC_MACHINE=name))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"pmc: PMC_MACHINE: no machine {name!r}; machines are linux, xscale, i586, i686, k7\n"
    with pytest.raises(UnknownKeyError, match="machines are linux, xscale, i586, i686, k7"):
        pypfm.Machine(name)


def test_the_machine_of_the_environment() -> None:
    env = clean_env(PMC_MACHINE="k7")
    assert pmc("-h", env=env).stdout == pmc("-h", "--machine", "k7").stdout
    assert pmc("-h", "--machine", "i586", env=env).stdout == pmc("-h", "--machine", "i586").stdout
    assert pmc("-h", env=clean_env(PMC_MACHINE="")).stdout == pmc("-h", "--machine", "linux").stdout


# ---- what is wrong ----------------------------------------------------------------------------------------

USAGE = ["", "-c", "-c page-faults", "-c page-faults --json", "-c page-faults --", "-c no-such-event true",
         "-c page-fault true", "-c PAGE-FAULTS true", "-h -C", "-hC", "-C ls", "-h ls", "-c page-faults -h",
         "-c page-faults --no-such-option true", "-h --machine pentium", "ls", "-x", "--machine xscale"]


@pytest.mark.parametrize("args", USAGE)
def test_usage(args: str) -> None:
    done = pmc(*args.split())
    assert (done.returncode, done.stdout) == (1, "")
    message, *usage = done.stderr.splitlines()
    assert message.startswith("pmc: ")
    assert [line.split()[:-1] for line in usage] == [
        ["usage:", "pmc", "-h", "[--machine", "MACHINE]"], ["pmc"], ["pmc", "-c", "EVENT", "[--json]", "COMMAND", "[OPTION"]]


def test_an_unknown_event_names_the_nearest() -> None:
    assert "the nearest are page-faults" in pmc("-c", "page-fault", "true").stderr


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.stderr.startswith("pmc: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_model_runs_no_command() -> None:
    done = pmc("--machine", "xscale", "-c", next(iter(pypfm.Machine("xscale"))), "touch", "/dev/null")
    assert (done.returncode, done.stdout) == (3, "")
    assert "xscale is a model" in one_line(done)


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize(("command", "reason"), [
    ("/no/such/command", "No such file or directory"), ("no-such-command", "No such file or directory"), ("", "No such file"),
    (str(TESTS), "Permission denied")])
def test_a_command_that_cannot_be_run(command: str, reason: str) -> None:
    done = pmc("-c", "page-faults", command)
    assert (done.returncode, done.stdout) == (6, "")
    assert reason in one_line(done)


@pytest.mark.usefixtures("counting")
def test_a_counter_that_is_not_there(tmp_path: Path) -> None:
    """The command is not run: it would have made the file."""
    events = [e for e in ("clock", "instruction-executed", "node-miss-prefetch") if run(PMC, "-c", e, "true").returncode == 4]
    if not events:
        pytest.skip("this host has every counter")
    done = pmc("-c", events[0], "touch", tmp_path / "made")
    assert (done.returncode, done.stdout) == (4, "")
    assert events[0] in one_line(done)
    assert not (tmp_path / "made").exists()


def test_no_process() -> None:
    done = run("sh", "-c", f"ulimit -n 6; exec {PMC} -c page-faults true")
    assert done.returncode in (4, 5)
    assert "Too many open files" in one_line(done)


@pytest.mark.usefixtures("counting")
def test_no_counter_of_kernel_mode() -> None:
    """There is a descriptor for the first counter, and none for the second; the command is not run."""
    done = run_python("""
import os, resource, sys
from pypfm.common.launch import Command
from pypfm.cli import pmc
class Limited(Command):
    def __init__(self, *args):
        super().__init__(*args)
        limit = len(os.listdir("/proc/self/fd"))  # the directory's own is free again
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
pmc.Command = Limited
sys.exit(pmc.main(["-c", "page-faults", "echo", "never"]))
""")
    assert (done.returncode, done.stdout) == (5, "")
    assert "page-faults, kernel mode: " in one_line(done)


@pytest.mark.usefixtures("counting")
def test_kernel_mode_that_is_forbidden() -> None:
    done = run(*without_capabilities(), PMC, "-c", "page-faults", "true")
    found = LINE.fullmatch(done.stdout)
    assert found
    if found[3] != "not available":
        pytest.skip("everybody may count the kernel here (perf_event_paranoid)")
    assert (done.returncode, done.stderr) == (
        0, "pmc: kernel mode: not permitted; see /proc/sys/kernel/perf_event_paranoid\n" + SOURCE)
    shown = run(*without_capabilities(), PMC, "-c", "page-faults", "--json", "true")
    assert json.loads(shown.stdout)["kernel"] is None


@pytest.mark.usefixtures("counting")
def test_a_counter_that_is_closed_meanwhile() -> None:
    done = run_python("""
import os, sys
from pypfm.common.launch import Command
from pypfm.cli import pmc
class Closing(Command):
    def run(self):
        status = super().run()
        os.closerange(3, 100)
        return status
pmc.Command = Closing
sys.exit(pmc.main(["-c", "page-faults", "true"]))
""")
    assert (done.returncode, done.stdout) == (7, "")
    assert "the descriptor of the counter is closed" in one_line(done)


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize(("redirection", "message"), [
    (">&-", "pmc: standard output is closed\n"), (">/dev/full", "pmc: standard output: No space left on device\n")])
def test_no_place_for_output(redirection: str, message: str) -> None:
    done = run("sh", "-c", f"{PMC} -c page-faults true {redirection}")
    assert (done.returncode, done.stderr) == (1, message)


def test_a_reader_that_goes_away_is_no_error() -> None:
    done = run("sh", "-c", f"{PMC} -h --json | head -n 1")
    assert (done.stdout, done.stderr) == ("{\n", "")


# ---- signals -----------------------------------------------------------------------------------------------

@pytest.mark.usefixtures("counting")
def test_an_interrupt_is_the_commands(runtime_dir: Path) -> None:
    """Ctrl-C goes to the foreground process group: pmc waits for the command, and leaves nothing behind."""
    process = subprocess.Popen([PMC, "-c", "page-faults", "sh", "-c", "echo $$; exec sleep 1000"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=clean_env(), start_new_session=True)
    assert process.stdout
    command = int(process.stdout.readline())
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate()
    assert LINE.fullmatch(stdout)
    assert (process.returncode, stderr) == (128 + signal.SIGINT, SOURCE)
    assert not Path(f"/proc/{command}").exists()
    assert not [p for p in runtime_dir.rglob("*") if p.is_file()]


@pytest.mark.usefixtures("counting")
def test_a_killed_pmc_leaves_no_counter() -> None:
    """The counters are its descriptors; the command goes on, uncounted."""
    process = subprocess.Popen([PMC, "-c", "page-faults", "sh", "-c", "echo started; read line; echo still here"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_env())
    assert process.stdout
    assert process.stdout.readline() == "started\n"
    process.kill()
    assert process.wait() == -signal.SIGKILL
    stdout, stderr = process.communicate("go on\n")
    assert (stdout, stderr) == ("still here\n", "")


@pytest.mark.usefixtures("counting")
def test_a_signal_to_end_is_the_commands() -> None:
    process = subprocess.Popen([PMC, "-c", "page-faults", "sh", "-c", "echo started; read line"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_env())
    assert process.stdout
    assert process.stdout.readline() == "started\n"
    process.terminate()
    status = process.wait()  # before its input is closed, at which the command would end by itself
    stdout, stderr = process.communicate()
    assert LINE.fullmatch(stdout), (stdout, stderr)
    assert (status, stderr) == (128 + signal.SIGTERM, SOURCE)


INTERRUPT = """
import os, signal, sys
from pypfm.__main__ import pmc
def interrupt(frame, event, _):
    if event == "call" and frame.f_code.co_name == "_attach":
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)
sys.argv[:] = ["pmc", "-c", "page-faults", "sh", "-c", "echo never"]
sys.setprofile(interrupt)
sys.exit(pmc())
"""


@pytest.mark.usefixtures("counting")
def test_an_interrupt_before_the_command_runs() -> None:
    done = run(sys.executable, "-c", INTERRUPT)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
