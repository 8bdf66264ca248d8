"""perfex as its user types it: options, mistakes, streams, exit status."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import without_capabilities
from perfex_runs import PERFEX, TABLE, compile_c, counted, counts, environment, perfex, refused
from tools import needs

USAGE = "(see perfex --help)\n"


# ---- mistakes -----------------------------------------------------------------------

@pytest.mark.parametrize(("words", "message"), [
    (["-mp", "-s"], "-mp and -s exclude each other " + USAGE),
    (["-mp", "-p", "10"], "-mp and -p exclude each other " + USAGE),
    (["-s", "-p", "10"], "-s and -p exclude each other " + USAGE),
    (["-c", "/dev/null"], "-c needs -y " + USAGE),
    (["--plot", "x.svg"], "--plot needs -y " + USAGE),
    (["-o", ""], "-o: the name of the file is empty " + USAGE),
    (["-o", "/no\nsuch/file"], "/no\\nsuch/file: No such file or directory"),
    (["--writebacks", "-e", "25"], "there is no option '--writebacks' " + USAGE),
    (["--json", "--csv"], "--json and --csv exclude each other " + USAGE),
    (["-e", "0", "-e", "16", "-e", "3"], "3 events of -e; at most two are counted, and with --events any number, in a simulation " + USAGE),
    (["--events", "1,2", "-e", "3"], "--events and -e exclude each other " + USAGE),
    (["--events", "1,2", "-a"], "--events and -a exclude each other " + USAGE),
    (["--events", "1,,2", "--backend", "valgrind"], "--events: '' is not an event"),
    (["--events", "1,2", "--backend", "perf"], "--events is an option of the valgrind backend"),
    (["-e", "0", "-e", "15"], "conflicting counters: events 0 and 15 are both counted on counter 0"),
    (["-e", "21", "-e", "21"], "conflicting counters: events 21 and 21 are both counted on counter 1"),
    (["-e", "32"], "-e: '32' is not an event; events are numbers from 0 to 31"),
    (["-e", "cycls"], "-e: 'cycls' is not an event; near it: cycles (0), cycles-1 (16); perfex --list shows all " + USAGE),
    (["-e", "L2"], "-e: 'L2' may be any of L2-writebacks (7), L2-ECC-errors (8), L2I-misses (10), L2I-way-mispredicts (11),"
                   " L2D-misses (26), L2D-way-mispredicts (27) " + USAGE),
    (["-e", "tlb", "-e", "L1D-misses"], "conflicting counters: events 23 and 25 are both counted on counter 1"),
    (["-e", "MHT"], "-e: 'MHT' is not an event; perfex --list shows the events " + USAGE),
    (["-e", "-"], "-e: '-' is not an event; events are numbers from 0 to 31, or names (perfex --list) " + USAGE),
    (["-e", "\u0661"], "is not an event"),
    (["-p", "0"], "argument -p: '0' is not a number above 0"),
    (["-p", "\u0665"], "argument -p: '\u0665' is not a number above 0"),
    (["--clock", "-5"], "argument --clock: '-5' is not a number above 0"),
    (["--cpu", "r4000"], "argument --cpu/--pmu: invalid choice: 'r4000'"),
    (["--l2", "3m"], "argument --l2: invalid choice: '3m'"),
    (["-e", "cycles", "-e", "graduated instructions"], "events 0 and 15 are both counted on counter 0 (0 to 15 on counter 0, 16"
     " to 31 on counter 1; cycles-1 (16) is event 0 there; graduated-instructions-1 (17) is event 15 there); a simulation counts any together:"
     " --events cycles,graduated-instructions " + USAGE),
    (["--verbose=1"], "ignored explicit argument '1'"),
    (["--verb"], "there is no option '--verb'"),
    (["-verbose"], "there is no option '-verbose'"),
    (["--backnd", "perf"], "there is no option '--backnd'; the nearest is --backend " + USAGE),
    (["-version"], "there is no option '-version'; the nearest is --version"),
    (["-z"], "there is no option '-z' " + USAGE),
    (["-m"], "there is no option '-m'"),
    (["-mpx"], "there is no option '-mpx'"),
    (["-o", "/nonexistent/out"], "/nonexistent/out: No such file or directory"),
    (["-o", "/"], "/: Is a directory"),
    (["-y", "-c", "/nonexistent"], "/nonexistent: No such file or directory"),
    (["-y", "--plot", "x.gif"], "--plot x.gif: the name has to end in .svg or .png"),
    (["-y", "--plot", "/nonexistent/x.svg"], "--plot /nonexistent/x.svg: /nonexistent is not a directory"),
    (["--perf-table", "/nonexistent"], "/nonexistent: No such file or directory"),
    (["--backend", "valgrind", "--perf-table", "x"], "--perf-table is an option of the perf backend"),
    (["--backend", "perf", "--l2", "4m"], "--l2 is an option of the valgrind backend"),
    (["--backend", "perf", "--threads", "fine"], "--threads is an option of the valgrind backend, and excludes --backend perf " + USAGE),
    (["--threads", "fine"], "--threads is an option of the valgrind backend, and excludes --perf-table " + USAGE),
    (["--events", "1,2"], "--events is an option of the valgrind backend, and excludes --perf-table " + USAGE),
    (["--backend", "auto", "--pid", "1", "--l2", "8m"], "--l2 is an option of the valgrind backend, and excludes --pid " + USAGE),
    (["--backend", "auto", "--pid", "1", "--annotate"], "--annotate needs the simulation, and excludes --pid; "),
    (["-o", "x", "-o", "y"], "-o 'x' and -o 'y': one file is written: leave out one of them " + USAGE),
    (["--annotate-to", "x.html", "--annotate-to", "y.folded"], "--annotate-to 'x.html' and --annotate-to 'y.folded': one file is"
     " written: leave out one of them " + USAGE),
    (["--plot", "x.svg", "--plot", "x.png"], "--plot 'x.svg' and --plot 'x.png': one file is written: leave out one of them " + USAGE),
    (["--events", "1", "--events", "2,3"], "--events '1' and --events '2,3': write one list, with commas between " + USAGE),
    (["--pid", "1", "--pid", "2"], "--pid '1' and --pid '2': write one list, with commas between " + USAGE),
    (["--backend", "valgrind", "--cache", "L1=32k,8,64:L1=16k,4,64"], "--cache: 'L1=16k,4,64': L1D and L1I a second"
     " time; each is given once, and L1 is L1I and L1D; "),
    (["--backend", "valgrind", "--cache", "L1D=32k,8,64:L1=16k,4,64"], "'L1=16k,4,64': L1D a second time; "),
    (["--backend", "valgrind", "--cache", "TLB=64,4k:TLB=32,4k"], "--cache: 'TLB=32,4k': TLB a second time; "),
    (["--backend", "valgrind", "--cache", "L2=1m,16,64", "--l2", "8m"], "--l2 and --cache 'L2=1m,16,64' exclude each other, as both say"
     " what the secondary cache is: leave out --l2 " + USAGE),
    (["--backend", "valgrind", "--cache", "host", "--l2", "8m"], "--l2 and --cache 'host' exclude each other"),
])
def test_mistakes_end_perfex_before_the_command_is_started(words: list[str], message: str, perf_table: Path,
                                                           tmp_path: Path) -> None:
    given = [] if "--perf-table" in words or "--backend" in words else ["--perf-table", perf_table]
    assert message in refused(*given, *words, "touch", tmp_path / "ran")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("words", [[], ["-a"], ["-e", "3"], ["--"], ["-mp", "-y"]])
def test_no_command(words: list[str]) -> None:
    assert refused(*words) == "perfex: no command " + USAGE


@pytest.mark.parametrize(("words", "option"), [
    (["-a"], "-a"), (["-e", "3"], "-e"), (["-mp"], "-mp"), (["--json"], "--json"), (["--cache", "host"], "--cache"), (["-y", "--plot", "x.svg"], "--plot"),
])
def test_a_cost_table_alone(words: list[str], option: str) -> None:
    assert refused("-t", *words) == f"perfex: -t without a command has no use for {option} " + USAGE


def test_of_two_equal_options_the_last_counts(perf_table: Path, tmp_path: Path) -> None:
    """An alias of a shell may have the first; the same file twice is one file."""
    out = str(tmp_path / "out")
    done = perfex("--perf-table", "/nonexistent", "--perf-table", perf_table, "--cpu", "r12000", "--cpu", "r10000", "-o", out, "-o", out, "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out").read_text().startswith("perfex: r10000 events, counted by perf")


@pytest.mark.parametrize("words", [["-e"], ["-o"], ["-p"], ["--cpu"], ["-ye"]])
def test_an_option_without_its_value(words: list[str]) -> None:
    assert "expected one argument" in refused(*words)


@pytest.mark.parametrize(("command", "message"), [
    ("nosuchprogram", "'nosuchprogram': No such file or directory"),
    ("/tmp", "'/tmp': Permission denied"),
    ("/etc/passwd", "'/etc/passwd': Permission denied"),
    ("", "'': No such file or directory"),
    ("two\nlines", "'two\\nlines': No such file or directory"),
])
def test_a_command_that_cannot_be_executed(command: str, message: str, perf_table: Path) -> None:
    assert message in refused("--perf-table", perf_table, command)


# ---- options --------------------------------------------------------------------------

def test_options_end_at_the_command(perf_table: Path) -> None:
    done = perfex("--perf-table", perf_table, "-e", "25", "echo", "-e", "-mp", "-a", "--json", "--", "-z")
    assert (done.returncode, done.stdout) == (0, "-mp -a --json -- -z\n")
    assert done.stderr.startswith("perfex: r10000 events, counted by perf\n")


def test_two_dashes_end_the_options(perf_table: Path) -> None:
    assert perfex("--perf-table", perf_table, "--", "echo", "--").stdout == "--\n"


def test_letters_in_one_word(perf_table: Path) -> None:
    data = counted("--perf-table", perf_table, "-yke", "25", "true")
    assert set(counts(data)) == {25, 0}
    assert data["events"][0]["seconds"]


def test_the_line_of_the_manual(perf_table: Path, tmp_path: Path) -> None:
    """% perfex -e 26 -e 10 bar < bar.in > bar.out"""
    (tmp_path / "bar.in").write_text("in\n")
    bar = tmp_path / "bar"
    bar.write_text("#!/bin/sh\ncat\necho err >&2\n")
    bar.chmod(0o755)
    line = f"{PERFEX} --perf-table {perf_table} -e 26 -e 10 ./bar < bar.in > bar.out"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "bar.out").read_text() == "in\n"
    first, second, *rest = done.stderr.splitlines()
    assert first == "err"
    assert second.startswith("perfex: r10000 events, counted by perf")
    rows = [line for line in rest if line[:3].strip().isdigit()]
    assert [row.partition("..")[0] for row in rows] == [
        " 26 Secondary (L2) data cache misses", " 10 Secondary (L2) instruction cache misses"]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "environ", "expected"), [
    ([], {}, [0]),
    (["-e", "25"], {}, [25, 0]),
    (["-e", "0"], {}, [0, 16]),
    (["-e", "25", "-e", "10"], {}, [25, 10]),
    ([], {"T5_EVENT0": "10"}, [10, 16]),
    ([], {"T5_EVENT1": "25"}, [25, 0]),
    ([], {"T5_EVENT0": "25", "T5_EVENT1": "10"}, [25, 10]),
    ([], {"T5_EVENT0": "", "T5_EVENT1": ""}, [0]),
    (["-e", "26"], {"T5_EVENT0": "10", "T5_EVENT1": "junk"}, [26, 0]),
    (["-a", "-e", "0", "-e", "15"], {"T5_EVENT0": "junk"}, list(range(32))),
    (["-a", "-e", "99", "-e", "x", "-e", "1"], {}, list(range(32))),
    (["--cpu", "r12000", "-e", "10"], {}, [10, 16]),
    (["--cpu", "r12000", "-e", "26"], {}, [26, 0]),
    (["--cpu", "r10000-3"], {"T5_EVENT0": "26"}, [26, 0]),
])
def test_which_events_are_counted(words: list[str], environ: dict[str, str], expected: list[int], perf_table: Path) -> None:
    data = counted("--perf-table", perf_table, *words, "true", env=environment(**environ))
    assert [e["event"] for e in data["events"]] == expected


@pytest.mark.parametrize(("environ", "message"), [
    ({"T5_EVENT0": "32"}, "T5_EVENT0: '32' is not an event"),
    ({"T5_EVENT1": "x"}, "T5_EVENT1: 'x' is not an event"),
    ({"T5_EVENT0": "3", "T5_EVENT1": "4"}, "conflicting counters: events 3 and 4"),
])
def test_wrong_events_in_the_environment(environ: dict[str, str], message: str, perf_table: Path) -> None:
    assert message in refused("--perf-table", perf_table, "true", env=environment(**environ))


def test_exception_level_is_said_to_be_missing(perf_table: Path) -> None:
    assert "-x: exception level is not available on Linux" in counted("--perf-table", perf_table, "-x", "true")["notes"]


def test_mixed_gives_no_estimates_without_costs(perf_table: Path, tmp_path: Path) -> None:
    data = counted("--perf-table", perf_table, "-T", "-y", "true")
    assert [e["seconds"] for e in data["events"]] == [None]
    assert any(n.startswith("-T: no estimates") for n in data["notes"])
    (tmp_path / "costs").write_text("0 clks 1 1 2\n")
    data = counted("--perf-table", perf_table, "-T", "-y", "-c", tmp_path / "costs", "true")
    assert data["events"][0]["seconds"]["maximum"] == 2 * data["events"][0]["seconds"]["typical"]


def test_a_machine_with_cpus_of_two_kinds(perf_table: Path, tmp_path: Path) -> None:
    """In a mount namespace of its own, sysfs shows two PMUs that count some of the CPUs each."""
    for kind in ("cpu_atom", "cpu_core"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "cpus").write_text("0\n")
    inside = ["unshare", "-m", "sh", "-c", f'mount --bind {tmp_path} /sys/bus/event_source/devices && exec "$@"', "sh"]
    if subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespace may be made here (unshare -m)")
    base = [*inside, PERFEX, "--perf-table", perf_table]
    done = subprocess.run([*base, "true"], capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stderr) == (
        1, "perfex: CPUs of several kinds (cpu_atom, cpu_core); -T if the command stays on one of them\n")
    done = subprocess.run([*base, "-T", "true"], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr


def test_kernel_level_needs_permission(perf_table: Path) -> None:
    paranoid = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    if paranoid < 2:
        pytest.skip(f"perf_event_paranoid is {paranoid}: everybody may count the kernel")
    command = [*without_capabilities(), PERFEX, "--perf-table", perf_table]
    if subprocess.run([*command[:-3], "true"] if len(command) > 3 else ["true"], capture_output=True).returncode:
        pytest.skip("capabilities cannot be given up here (setpriv)")
    done = subprocess.run([*command, "-k", "true"], capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stderr) == (
        1, "perfex: perf: task-clock: not permitted; see /proc/sys/kernel/perf_event_paranoid\n")
    for mode in ([], ["-mp"], ["-mp", "-a", "-y"], ["-s"]):
        done = subprocess.run([*command, *mode, "true"], capture_output=True, text=True, env=environment())
        assert done.returncode == 0, done.stderr


# ---- the command ------------------------------------------------------------------------

def test_the_command_runs_once(perf_table: Path, tmp_path: Path) -> None:
    perfex("--perf-table", perf_table, "-a", "-y", "sh", "-c", f"echo ran >> {tmp_path / 'log'}")
    assert (tmp_path / "log").read_text() == "ran\n"


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 255", 255), ("kill -KILL $$", 137)])
def test_the_exit_status_is_the_commands(script: str, status: int, perf_table: Path) -> None:
    assert counted("--perf-table", perf_table, "sh", "-c", script, status=status)["status"] == status


def test_a_program_that_dies_is_counted(perf_table: Path, tmp_path: Path) -> None:
    program = compile_c(tmp_path, "dies", "int main(void) { touch(1000); *(volatile int *)8 = 1; return 0; }")
    data = counted("--perf-table", perf_table, "-e", "25", program, status=139)
    assert 1000 < counts(data)[25] < 1500


def test_the_command_has_the_default_actions_of_signals(perf_table: Path) -> None:
    """Python ignores SIGPIPE, and perfex SIGINT, while a command runs; it does not."""
    script = "grep -E 'Sig(Ign|Blk)' /proc/self/status"
    plain = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=environment(),
                           preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
    for mode in ([], ["-s"], ["-mp"]):
        assert perfex("--perf-table", perf_table, *mode, "sh", "-c", script).stdout == plain.stdout, mode


def test_a_command_of_any_bytes(perf_table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    weird = os.fsencode(PERFEX), b"--perf-table", os.fsencode(perf_table), b"-o", os.fsencode(out), b"printf", b"%s", b"\xff\n\x1b[31m\xe2\x82\xac"
    done = subprocess.run(weird, capture_output=True, env=environment(PYTHONUTF8="1"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\xff\n\x1b[31m\xe2\x82\xac", b"")
    assert out.read_text().splitlines()[1] == "command: printf %s '\\udcff\\n\\x1b[31m\u20ac'"


@pytest.mark.parametrize(("send", "number"), [(os.kill, signal.SIGTERM), (os.killpg, signal.SIGINT)])
def test_a_signal_that_ends_the_run_leaves_the_report(send: Callable[[int, int], None], number: signal.Signals,
                                                      perf_table: Path) -> None:
    """One that is passed on, and one that the terminal sends to both."""
    process = subprocess.Popen([PERFEX, "--perf-table", perf_table, "sh", "-c", "echo ready; exec sleep 60"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
                               start_new_session=True)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)  # sh becomes sleep
    send(process.pid, number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert "  0 Cycles" in errors


# ---- where the report goes ----------------------------------------------------------------

def test_a_file_for_the_report(perf_table: Path, tmp_path: Path) -> None:
    done = perfex("--perf-table", perf_table, "-o", "out", "sh", "-c", "echo o; echo e >&2", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("o\n", "e\n")
    assert (tmp_path / "out").read_text().startswith("perfex: r10000 events, counted by perf")


def test_closed_streams(perf_table: Path, tmp_path: Path) -> None:
    script = f"{PERFEX} --perf-table {perf_table} sh -c 'echo hello >&3' 3>{tmp_path / 'three'} 0<&- 1>&- 2>&-"
    assert subprocess.run(["sh", "-c", script], env=environment()).returncode == 0
    assert (tmp_path / "three").read_text() == "hello\n"
    done = subprocess.run(["sh", "-c", f"{PERFEX} --perf-table {perf_table} echo hello 2>&-"], capture_output=True, text=True,
                          env=environment())
    assert (done.returncode, done.stdout) == (0, "hello\n")


@pytest.mark.parametrize(("where", "message"), [
    (">&-", "perfex: standard output is closed\n"), ("> /dev/full", "perfex: standard output: No space left on device\n"),
    ("| true", ""),
])
def test_a_cost_table_that_cannot_be_printed(where: str, message: str) -> None:
    done = subprocess.run(["sh", "-c", f"{PERFEX} -t {where}"], capture_output=True, text=True, env=environment())
    assert (done.stdout, done.stderr) == ("", message)


def test_a_report_that_cannot_be_written(perf_table: Path) -> None:
    done = perfex("--perf-table", perf_table, "-o", "/dev/full", "sh", "-c", "exit 5")
    assert (done.returncode, done.stderr) == (
        5, "perfex: the report could not be written: No space left on device\n")
    assert perfex("--perf-table", perf_table, "-o", "/dev/full", "true").returncode == 1


def test_samples_that_cannot_be_written_do_not_stop_the_command(perf_table: Path, tmp_path: Path) -> None:
    script = f"kill -USR1 $PPID; sleep 0.3; touch {tmp_path / 'done'}; exit 5"
    done = perfex("--perf-table", perf_table, "-p", "20", "-o", "/dev/full", "sh", "-c", script)
    assert (tmp_path / "done").exists()
    assert (done.returncode, done.stderr) == (
        5, "perfex: the report could not be written: No space left on device\n")


def test_nobody_reads_the_report(perf_table: Path, tmp_path: Path) -> None:
    """The status is the command's, or 1 where that is 0, as the report is lost."""
    for script, status in (("sleep 0.2; exit 5", 5), ("sleep 0.2", 1)):
        line = f"({PERFEX} --perf-table {perf_table} sh -c '{script}'; echo $? > {tmp_path / 'status'}) 2>&1 | true"
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=environment())
        assert (done.stdout, done.stderr) == ("", "")
        assert (tmp_path / "status").read_text() == f"{status}\n"


@pytest.mark.parametrize("variable", ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"])
def test_files_named_by_rank(variable: str, perf_table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert perfex("--perf-table", perf_table, "-o", out, "true", env=environment(**{variable: "12"})).returncode == 0
    assert [p.name for p in tmp_path.iterdir()] == ["out.12"]
    assert "rank: 12\n" in (tmp_path / "out.12").read_text()


@pytest.mark.slow
def test_plots(perf_table: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="no matplotlib (extra plot)")
    for name, start in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG")):
        done = perfex("--perf-table", perf_table, "-y", "-e", "25", "--plot", tmp_path / name, "true")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name).read_bytes().startswith(start)
    assert "<svg" in (tmp_path / "a.svg").read_text()


def test_plot_without_matplotlib(perf_table: Path, tmp_path: Path) -> None:
    hidden = ("import sys; sys.modules['matplotlib'] = None; sys.argv[0] = 'perfex'\n"
              "from pypfm.cli.perfex import main; sys.exit(main())")
    done = subprocess.run([str(PERFEX.with_name("python")), "-c", hidden, "--perf-table", perf_table, "-y", "--plot",
                           tmp_path / "x.svg", "touch", tmp_path / "ran"], capture_output=True, text=True,
                          cwd=tmp_path, env=environment())
    assert (done.returncode, done.stderr) == (1, "perfex: --plot needs matplotlib: pip install 'pypfm[plot]'\n")
    assert list(tmp_path.iterdir()) == []


def test_help() -> None:
    done = perfex("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for option in ("-mp", "--perf-table", "--cache", "--merge"):
        assert option in done.stdout


# ---- dispositions of signals, files that are kept ------------------------------------------------

@pytest.mark.parametrize("tool", [["perfex", "--perf-table", "TABLE"], ["pmc", "-c", "page-faults"]])
def test_sigchld_ignored_on_entry(tool: list[str], perf_table: Path) -> None:
    """The status is had all the same, and the command has what perfex has inherited."""
    name, *options = (str(perf_table) if word == "TABLE" else word for word in tool)
    code = "import signal; print(signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN); raise SystemExit(7)"
    command = [str(PERFEX.with_name(name)), *options, str(PERFEX.with_name("python")), "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(),
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert done.returncode == 7, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith("True\n")


PASSED_ON = ["HUP", "TERM", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "ABRT", "IO", "PWR", "XCPU", "RTMIN", "RTMAX"]


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["perfex", "pmc"])
def test_signals_are_the_commands(tool: str, perf_table: Path) -> None:
    """perfex does not end before the command, which handles them."""
    numbers = [getattr(signal, f"SIG{name}") for name in PASSED_ON]
    options = ["--perf-table", perf_table] if tool == "perfex" else ["-c", "page-faults"]
    code = (f"import signal, time\nnumbers, came = {[*map(int, numbers)]}, []\nfor number in numbers:\n"
            "    signal.signal(number, lambda number, _: came.append(number))\nprint('ready', flush=True)\n"
            "while len(came) < len(numbers): time.sleep(0.05)\nprint(*sorted(came))\nraise SystemExit(5)")
    process = subprocess.Popen([PERFEX.with_name(tool), *options, PERFEX.with_name("python"), "-c", code], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), start_new_session=True)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    for number in numbers:
        process.send_signal(number)
    try:
        assert process.communicate(timeout=30)[0].splitlines()[0] == " ".join(map(str, sorted(map(int, numbers))))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 5


def test_a_signal_that_is_held_back_on_entry_is_so_in_the_command(perf_table: Path) -> None:
    for mode in ([], ["-s"]):
        done = subprocess.run([PERFEX, "--perf-table", perf_table, *mode, "grep", "SigBlk", "/proc/self/status"],
                              capture_output=True, text=True, env=environment(),
                              preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]))
        assert int(done.stdout.split()[1], 16) == 1 << (signal.SIGUSR1 - 1)


def test_the_last_report_stays_where_nothing_is_run(perf_table: Path, tmp_path: Path) -> None:
    """A mistyped command, a wrong option: what is in the file is the user's."""
    out = tmp_path / "out"
    for words in (["nosuchprogram"], ["-e", "99", "true"], ["--backend", "valgrind", "nosuchprogram"]):
        out.write_text("the last one\n")
        table = [] if "--backend" in words else ["--perf-table", perf_table]
        refused(*table, "-o", out, *words)
        assert out.read_text() == "the last one\n"
        out.unlink()
        refused(*table, "-o", out, *words)
        assert list(tmp_path.iterdir()) == []


def test_the_report_takes_the_place_of_the_last_one(perf_table: Path, tmp_path: Path) -> None:
    """When it is complete; through a symbolic link, with the permissions that the file had."""
    out, link = tmp_path / "out", tmp_path / "link"
    out.write_text("the last one\n")
    out.chmod(0o640)
    link.symlink_to(out)
    done = perfex("--perf-table", perf_table, "-o", link, "cat", out)
    assert (done.returncode, done.stdout) == (0, "the last one\n")
    assert out.read_text().startswith("perfex: r10000 events, counted by perf")
    assert (link.is_symlink(), out.stat().st_mode & 0o777) == (True, 0o640)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "out"]


def test_the_report_on_standard_output_does_not_replace_what_the_command_wrote(perf_table: Path, tmp_path: Path) -> None:
    script = f"{PERFEX} --perf-table {perf_table} -o /dev/stdout echo hello > {tmp_path / 'out'}"
    assert subprocess.run(["sh", "-c", script], env=environment()).returncode == 0
    assert (tmp_path / "out").read_text().startswith("hello\nperfex: r10000 events, counted by perf")


def test_a_fifo_for_the_report(perf_table: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(["cat", tmp_path / "fifo"], stdout=subprocess.PIPE, text=True) as reader:
        done = perfex("--perf-table", perf_table, "-o", tmp_path / "fifo", "true")
        if done.returncode:
            reader.kill()  # nobody has written, so that it would wait for ever
        assert done.returncode == 0, done.stderr
        assert reader.communicate(timeout=30)[0].startswith("perfex: r10000 events, counted by perf")


def test_ctrl_z_and_fg(tmp_path: Path) -> None:
    """Job control stops perfex and its command together, and lets both go on; valgrind's commands ignore Ctrl-Z."""
    shell = needs("bash")
    table, words = tmp_path / "table", tmp_path / "words"
    table.write_text(TABLE)
    ours, theirs = pty.openpty()
    process = subprocess.Popen([shell, "--norc", "--noprofile", "-i"], stdin=theirs, stdout=theirs, stderr=theirs,
                               start_new_session=True, env=environment(PS1="$ ", TERM="dumb"), cwd=tmp_path,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))  # noqa: PLW1509 - no threads here
    os.close(theirs)
    command = "sh -c 'echo $$ > words; until test -e end; do sleep 0.05; done; exit 3'"
    try:
        os.write(ours, f"{PERFEX} --backend perf --perf-table {table} -e 25 -o report {command}; echo $? > status\n".encode())
        _soon(lambda: words.exists() and words.read_text().endswith("\n"))
        pid = int(words.read_text())
        parent = int(_stat(pid)[1])
        os.write(ours, b"\x1a")
        _soon(lambda: _stat(pid)[0] == _stat(parent)[0] == "T")
        os.write(ours, b"fg; echo $? > status\n")
        _soon(lambda: "T" not in (_stat(pid)[0], _stat(parent)[0]))
        (tmp_path / "end").touch()
        _soon(lambda: (tmp_path / "status").exists() and (tmp_path / "status").read_text() == "3\n")
    finally:
        process.kill()
        os.close(ours)
        process.wait()
    assert "not available" not in (tmp_path / "report").read_text()


def _stat(pid: int) -> list[str]:
    """State and parent of a process."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]


def _soon(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
