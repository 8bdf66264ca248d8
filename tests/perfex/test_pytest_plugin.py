"""pytest --perfex: benchmarks that are counted, in real runs of pytest."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import jsonschema
import pytest

from conftest import ROOT, clean_env, run
from pypfm import pytest_perfex, schemas
from pypfm.perfex import events
from pypfm.perfex.benchmarks import session, table
from pypfm.perfex.benchmarks.gate import Gate
from pypfm.perfex.benchmarks.names import Names
from pypfm.perfex.changes import Change
from pypfm.perfex.profile import UNKNOWN, Function, Place, Profile
from pypfm.perfex.spread import Spread
from tools import needs

pytestmark = [pytest.mark.slow, pytest.mark.needs("valgrind")]

INSTRUCTIONS, STORES = 15, 19
TESTS = """
import json, pytest

DATA = {"a": [1, 2, 3, {"x": "y" * 50}] * 50}

class Point:
    def __init__(self, x): self.x = x
    def moved(self, by): return Point(self.x + by)

def walk():
    point = Point(0)
    for step in range(ROUNDS): point = point.moved(step)
    return point.x

def test_dumps(benchmark):
    assert json.loads(benchmark(json.dumps, DATA)) == DATA

def test_class_heavy(benchmark):
    assert benchmark(walk) == sum(range(ROUNDS))

@pytest.mark.benchmark(group="marked")
def test_marked(tmp_path):
    assert tmp_path.exists() and sum(range(1000)) == 499500

@pytest.mark.parametrize("n", [100, 1000])
def test_sorted(benchmark, n):
    assert benchmark(sorted, range(n, 0, -1)) == list(range(1, n + 1))

def test_block(perfex):
    for _ in range(12):
        with perfex("loop"):
            for i in range(1000): pass
        with perfex("empty"):
            pass

def test_pedantic(benchmark):
    after = []
    assert benchmark.pedantic(lambda n: n + 1, setup=lambda: ((1,), {}), teardown=after.append, rounds=4) == 2
    assert len(after) in (1, 4)

def test_dict(benchmark):
    assert len(benchmark(lambda: {str(i): i for i in range(300)})) == 300

def test_other():
    assert sys.argv
""".replace("sys.argv", "__import__('sys').argv[1:] != []")
UNCOUNTED = """
import pytest, unittest
def test_raises(benchmark):
    with pytest.raises(ValueError): benchmark(int, "x")
def test_block(perfex):
    with pytest.raises(ValueError), perfex("block"): int("x")
def test_unused(benchmark): pass
class TestCase(unittest.TestCase):
    @pytest.mark.benchmark
    def test_method(self): pass
"""


def of(place: Path, *options: object, command: tuple[object, ...] = (), **changes: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a directory; this process may be xdist's worker."""
    env = {name: value for name, value in clean_env().items() if not name.startswith("PYTEST_")} | changes
    return run(*(command or (sys.executable, "-m", "pytest")), "-p", "no:cacheprovider", *options, cwd=place, env=env)


def counted(path: Path) -> dict[str, dict[int, Any]]:
    """The counts of a file, by the last part of the name and event; it has the form that its schema says."""
    data = json.loads(path.read_text())
    jsonschema.validate(data, schemas.load("perfex_benchmarks"))
    for one in data["benchmarks"]:
        jsonschema.validate(one["report"], schemas.load("perfex"))
    return {re.sub(r"^.*?::", "", one["name"]): {row["event"]: row["count"] for row in one["report"]["events"]}
            for one in data["benchmarks"]}


def written(place: Path, rounds: int = 1000, text: str = TESTS) -> Path:
    place.mkdir(exist_ok=True)
    (place / "test_it.py").write_text(text.replace("ROUNDS", str(rounds)))
    return place


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("benchmarks") / "project")


def refused(place: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> str:
    """With what the plugin refuses to run, in this process; that it is one line of pytest's: `test_a_refusal_is_one_line`."""
    monkeypatch.chdir(place)
    with pytest.raises(pytest.UsageError) as said:
        pytest_perfex.pytest_cmdline_main(config(*options))
    return str(said.value)


def config(*options: str) -> pytest.Config:
    """What pytest makes of options, without a change of this process."""
    return pytest.Config.fromdictargs({}, ["-s", "--assert=plain", "-p", "no:cacheprovider", *options])


@pytest.fixture(scope="module")
def first(project: Path) -> subprocess.CompletedProcess[str]:
    done = of(project, "--perfex", "--perfex-save", "../first.json", "--perfex-json=../same.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project / "../first.json").read_text() == (project / "../same.json").read_text()
    return done


# ---- what is counted ---------------------------------------------------------------------------------------

def test_benchmarks_without_a_change(project: Path, first: subprocess.CompletedProcess[str]) -> None:
    """Those of the fixture, of the mark and of the block; others are left out.  Groups have a table each."""
    assert "8 passed, 1 deselected" in first.stdout
    names = {"test_dumps", "test_class_heavy", "test_marked", "test_sorted[100]", "test_sorted[1000]", "test_block::loop",
             "test_block::empty", "test_pedantic", "test_dict"}
    found = counted(project / "../first.json")
    assert {*found} == names
    tables = re.findall(r"^perfex: (\d+ benchmarks? .*)$", first.stdout, re.MULTILINE)
    assert tables[:2] == ["8 benchmarks of test_it.py", "1 benchmark of test_it.py, group marked"]
    rows = re.findall(r"^(\S+) +([\d,]+)  .* ~\d+ to \d+$", first.stdout, re.MULTILINE)
    assert {name: int(text.replace(",", "")) for name, text in rows} == {
        name: found[name][INSTRUCTIONS] for name in names}
    of_first = [int(text.replace(",", "")) for name, text in rows if name != "test_marked"]
    assert of_first == sorted(of_first)


@pytest.mark.long
def test_what_passes_without_a_count(tmp_path: Path) -> None:
    """It is named: nothing else would tell that it is missing."""
    (tmp_path / "test_uncounted.py").write_text(UNCOUNTED)
    done = of(tmp_path, "--perfex")
    assert re.findall(r"^perfex: test_uncounted.py::(\S+): not counted: ", done.stdout, re.MULTILINE) == [
        "test_raises", "test_block", "test_unused", "TestCase::test_method"]


@pytest.mark.long
def test_sorted_and_grouped(project: Path) -> None:
    """As asked for; the help says what can be."""
    done = of(project, "--perfex", "-k", "sorted or heavy", "--perfex-sort", "name", "--perfex-group-by", "func")
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(perfex: .*|test_\S+) ", done.stdout.replace("test_it.py .", ""), re.MULTILINE) == [
        "perfex: 1 benchmark of test_it.py, func", "test_class_heavy", "perfex: 2 benchmarks of test_it.py, func",
        "test_sorted[1000]", "test_sorted[100]"]
    said = " ".join(of(project, "--help").stdout.split())
    assert f"sort the table by {', '.join(table.SORTS)} (default" in said
    assert f"a table for each {', '.join(table.GROUPS)} (default" in said
    assert "invalid choice" in of(project, "--perfex", "--perfex-sort", "much").stderr


@pytest.mark.usefixtures("first")
def test_counts_are_of_the_round_alone(project: Path) -> None:
    """An empty block has nothing; ten times the work ten times the instructions; what was warm misses next to nothing."""
    found = counted(project / "../first.json")
    assert found["test_block::empty"][INSTRUCTIONS] < 200
    assert 8 < found["test_sorted[1000]"][INSTRUCTIONS] / found["test_sorted[100]"][INSTRUCTIONS] < 12
    assert 20_000 < found["test_block::loop"][INSTRUCTIONS] < 400_000
    assert found["test_marked"][26] < 100
    assert found["test_pedantic"][INSTRUCTIONS] < 3000


@pytest.mark.long
@pytest.mark.usefixtures("first")
def test_the_same_again(project: Path) -> None:
    """Whatever hash seed, locale and environment are: within a thousandth; json.dumps, which looks up addresses, 2 %."""
    done = of(project, "--perfex", "--perfex-json", "../again.json", PYTHONHASHSEED="7", LC_ALL="C", SOME="x" * 5000)
    assert done.returncode == 0, done.stderr
    before, again = counted(project / "../first.json"), counted(project / "../again.json")
    for name, counts in before.items():
        part = 50 if name == "test_dumps" else 1000
        assert abs(again[name][INSTRUCTIONS] - counts[INSTRUCTIONS]) <= max(counts[INSTRUCTIONS] / part, 5), name


@pytest.mark.long
@pytest.mark.usefixtures("first")
def test_without_pytest_benchmark(project: Path) -> None:
    """With --perfex the same is counted; without, each benchmark is called once."""
    done = of(project, "--perfex", "-p", "no:benchmark", "--perfex-json", "without.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {*counted(project / "without.json")} == {*counted(project / "../first.json")}
    plain = of(project, "-p", "no:benchmark", "--strict-markers")
    assert plain.returncode == 0, plain.stdout
    assert "9 passed" in plain.stdout


@pytest.mark.long
def test_beside_pytest_benchmark(project: Path) -> None:
    """Without --perfex it measures times as ever, and its options may stand beside --perfex."""
    done = of(project, "--benchmark-max-time=0.001", "--benchmark-min-rounds=1")
    assert done.returncode == 0, done.stdout
    assert " benchmark: 6 tests " in done.stdout
    assert "9 passed" in done.stdout
    done = of(project, "--perfex", "--benchmark-only", "--benchmark-disable", "-k", "sorted")
    assert done.returncode == 0, done.stdout
    assert "2 benchmarks of test_it.py" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("as_module", [False, True])
def test_the_directory_in_the_path(tmp_path: Path, as_module: bool) -> None:
    """It is there for python -m pytest, and not for the program pytest."""
    place = written(tmp_path / "project", text="import os, sys\ndef test_path(benchmark):\n    benchmark(len, '')\n"
                    f"    assert (os.getcwd() in sys.path) == {as_module}\n")
    command = () if as_module else (Path(sys.executable).with_name("pytest"),)
    done = of(place, "--perfex", "--import-mode=importlib", command=command)
    assert done.returncode == 0, done.stdout


def test_what_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")  # no valgrind
    for option in ("--collect-only", "--help", "--markers", "--fixtures"):
        assert pytest_perfex.pytest_cmdline_main(config("--perfex", option)) is None, option


def test_nothing_is_imported_without_the_option(project: Path) -> None:
    """Of pypfm but the package itself and the plugin, and of what they need."""
    code = ("import sys, pytest; pytest.main(['-q', '-k', 'other']);"
            "print(sorted(name for name in sys.modules if name.partition('.')[0] == 'pypfm'))")
    done = of(project, command=(sys.executable, "-c", code))
    assert done.stdout.splitlines()[-1] == "['pypfm', 'pypfm.pytest_perfex']"


def test_options_that_are_shown_exist(project: Path) -> None:
    known = {*re.findall(r"--perfex[\w-]*", of(project, "--perfex", "--help").stdout)}
    for page in ("docs/guides/benchmarks_ci.rst", "docs/examples/benchmarks.yml", ".ci/benchmarks"):
        shown = {*re.findall(r"--perfex[\w-]*", (ROOT / page).read_text(encoding="utf-8"))}
        assert {"--perfex", "--perfex-save", "--perfex-compare", "--perfex-fail-above"} <= shown <= known, page
        assert shown == known or not page.endswith(".rst"), page


# ---- baselines ---------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.usefixtures("first")
def test_more_instructions_fail(project: Path) -> None:
    """A tenth more of the work of one test; it says which one, and what it does more.

    Another benchmark is new before the others: what it leaves in the pools of Python's allocator is nothing that these see.
    """
    written(project, 1100, "def test_new(benchmark): benchmark(sorted, [3, 1, 2])\n" + TESTS)
    try:
        done = of(project, "--perfex", "--perfex-compare=../first.json", "--perfex-fail-above=5", "--perfex-json=more.json")
    finally:
        written(project)
    assert done.returncode == 1
    [line] = re.findall(r"^test_it.py::(\S+): \+(\S+) % instructions, more than 5 %; where:$", done.stdout, re.MULTILINE)
    assert line[0] == "test_class_heavy"
    assert 9 < float(line[1]) < 11
    places = re.findall(r"^ +\+([\d,]+)  (\S+) \(\S+\)$", done.stdout, re.MULTILINE)
    assert places
    assert int(places[0][0].replace(",", "")) >= 100
    data = json.loads((project / "more.json").read_text())
    changes = {one["name"].partition("::")[2]: row["change"] for one in data["benchmarks"]
               for row in one["report"]["events"] if row["event"] == INSTRUCTIONS}
    assert changes.pop("test_class_heavy")["verdict"] == "differs"
    assert changes.pop("test_new", None) is None
    for name, change in changes.items():  # json.dumps looks up addresses, and others a file, or memory that malloc(3) has
        part = 0.02 if name in ("test_dumps", "test_marked", "test_sorted[100]") else 0.01
        assert abs(change["change"]) <= max(change["baseline"] * part, 20), (name, change)
    assert len(changes) == 8


@pytest.mark.parametrize(("before", "after", "fails"), [(50, 54, False), (50, 70, False), (50, 71, True), (100_000, 100_999, False),
                                                       (100_000, 101_001, True), (100_000, 90_000, False), (0, 10, False), (0, 21, True)])
def test_a_few_instructions_are_not_more(before: int, after: int, fails: bool) -> None:
    """A block that does nothing had 50 instructions in one session, and 54 in the next."""
    change = Change(events.table("r10000")[INSTRUCTIONS], Spread.same(before, 1), Spread.same(after, 1), verdict="differs")
    one = SimpleNamespace(name="test_a", report=SimpleNamespace(comparison=SimpleNamespace(change=lambda _event: change)))
    assert Gate("main", (cast(Any, one),), {}, 1.0).failed() == [one] * fails


@pytest.mark.long
@pytest.mark.usefixtures("first")
def test_new_and_missing_benchmarks(project: Path) -> None:
    (project / "test_more.py").write_text("def test_more(benchmark): benchmark(len, '')\n")
    try:
        done = of(project, "--perfex", "--perfex-compare", "../first.json", "--perfex-fail-above", "2%", "-k", "more or dumps")
    finally:
        (project / "test_more.py").unlink()
    assert done.returncode == 0, done.stdout
    assert "perfex: compared with ../first.json" in done.stdout
    assert "more than" not in done.stdout
    assert "new: test_more.py::test_more\n" in done.stdout
    assert "not counted this time: test_it.py::test_class_heavy\n" in done.stdout


@pytest.mark.long
def test_layouts(project: Path) -> None:
    """A session for each, of which the first prints; counts are those of all."""
    done = of(project, "--perfex", "--perfex-layouts", "3", "-k", "sorted or heavy", "--perfex-json", "layouts.json")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("3 passed") == 1
    for one in json.loads((project / "layouts.json").read_text())["benchmarks"]:
        assert one["report"]["repeats"]["counted"] == 3
        rows = {row["event"]: row["runs"] for row in one["report"]["events"]}
        assert rows[INSTRUCTIONS]["maximum"] - rows[INSTRUCTIONS]["minimum"] <= 0.01 * rows[INSTRUCTIONS]["mean"]
        assert len({*rows[25]["counts"]}) > 1  # misses depend on it
        said = f"from {rows[INSTRUCTIONS]['minimum']:,} to {rows[INSTRUCTIONS]['maximum']:,} instructions in 3 layouts"
        assert (said in " ".join(done.stdout.split())) == (rows[INSTRUCTIONS]["minimum"] < rows[INSTRUCTIONS]["maximum"])


@pytest.mark.long
@pytest.mark.usefixtures("first")
def test_other_caches(project: Path) -> None:
    done = of(project, "--perfex", "--perfex-cache", "L1=1k,1,64:L2=64k,1,64", "-k", "dumps", "--perfex-json", "small.json")
    assert done.returncode == 0, done.stderr
    small, large = counted(project / "small.json"), counted(project / "../first.json")
    assert small["test_dumps"][25] > 3 * large["test_dumps"][25]


@pytest.mark.parametrize(("member", "value", "said"), [
    ("Python", "3.9.0", "its Python: 3.9.0; here: .*make the baseline anew"),
    ("valgrind", "3.1", r"its valgrind: 3\.1; here: "),
    ("processor", "riscv64", "its processor: riscv64; here: "),
    ("pypfm", "0.0.1", "its pypfm: 0.0.1; here: "),
    ("caches", "none", "its caches: none; here: .*give the same --perfex-cache"),
    ("functions of Python", "named", "its functions of Python: named; here: not named; .*give --perfex-functions to both"),
    ("warm-up", "3", "its warm-up: 3; here: 10; .*give the same --perfex-warmup"),
])
@pytest.mark.usefixtures("first")
def test_a_baseline_of_something_else(project: Path, member: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before anything is counted."""
    data = json.loads((project / "../first.json").read_text())
    data["counted_with"][member] = value
    (project / "other.json").write_text(json.dumps(data))
    message = refused(project, monkeypatch, "--perfex", "--perfex-compare", "./other.json")
    assert re.fullmatch(rf"--perfex: \./other\.json: {said}.*", message)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": "perfex benchmarks 2"}', "\x00", '{"format": []}',
                                     '{"format": "perfex benchmarks 1", "counted_with": [], "benchmarks": 1}',
                                     '{"format": "perfex benchmarks 1", "counted_with": {}, "benchmarks": {}}',
                                     '{"format": "perfex benchmarks 1", "counted_with": {}, "benchmarks": [{"name": 1}]}', "[" * 100_000])
def test_a_file_that_is_no_baseline(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "none.json").write_text(content)
    message = refused(tmp_path, monkeypatch, "--perfex", "--perfex-compare", "./none.json")
    assert re.fullmatch(r"--perfex: \S*none\.json: .*", message)


# ---- what is refused, and what goes wrong ------------------------------------------------------------------

@pytest.mark.parametrize(("options", "said"), [
    (["--perfex", "-n", "2"], "--perfex and -n exclude each other"),
    (["--perfex-compare", "x"], "--perfex-compare needs --perfex"),
    (["--perfex", "--perfex-fail-above", "2%"], "--perfex-fail-above needs --perfex-compare"),
    (["--perfex", "--perfex-compare", "x", "--perfex-fail-above", "much"], "--perfex-fail-above 'much': it is a number of percent"),
    (["--perfex", "--perfex-compare", "nobody"], "nobody.json: no such baseline: --perfex-save nobody makes it"),
    (["--perfex", "--perfex-layouts", "0"], "--perfex-layouts '0': it is a number from 1 to 100"),
    (["--perfex", "--perfex-warmup", "few"], "--perfex-warmup 'few': it is a number from 0 to"),
    (["--perfex", "--perfex-cache", "big"], "--perfex-cache: 'big' is none; "),
    (["--perfex", "--perfex-compare", "x", "--perfex-fail-above="], "--perfex-fail-above '': it is a number of percent"),
    (["--perfex", "--perfex-save", ""], "'' is not a name of a baseline"),
    (["--perfex", "--perfex-save", "/proc/x"], "/proc/x: "),
    (["--perfex", "--perfex-save", "./"], "'./' is not a name of a baseline"),
    (["--perfex", "--perfex-json", ""], "--perfex-json '': it is the name of a file"),
    (["--perfex", "--perfex-json", "/nowhere/x"], "/nowhere/x: No such file"),
    pytest.param(["--perfex", "--perfex-functions"], "--perfex-functions needs Python 3.12 or later", marks=pytest.mark.skipif(
        sys.version_info >= (3, 12), reason=f"Python {sys.version.split()[0]} names its functions")),
])
def test_refused(options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, before anything is counted."""
    message = refused(tmp_path, monkeypatch, *options)
    assert message.startswith("--perfex")
    assert said in message
    assert "\n" not in message


@pytest.mark.parametrize("plan", [None, "", "[]", "{}", '{"nobody": 1}'])
def test_a_session_that_is_none(plan: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable was exported, or has stayed."""
    if plan is not None:
        (tmp_path / "plan.json").write_text(plan)
    monkeypatch.setenv("PYPFM_PERFEX_SESSION", str(tmp_path))
    message = refused(tmp_path, monkeypatch, "--perfex")
    assert message == "PYPFM_PERFEX_SESSION is set, and names no session of pytest --perfex: unset it"


@pytest.mark.parametrize("counts", ["[]", "[Infinity]"])
@pytest.mark.usefixtures("first")
def test_a_damaged_baseline(project: Path, counts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (project / "../first.json").read_text()
    (project / "none.json").write_text(re.sub(r'"counts": \[[^]]*\]', f'"counts": {counts}', text))
    assert refused(project, monkeypatch, "--perfex", "--perfex-compare", "./none.json").startswith(
        "--perfex: none.json: not a file of --perfex-save, or damaged: make the baseline anew")


def test_nothing_was_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """By a session that finds no benchmark: the status is pytest's; and a file without room for that is an error."""
    monkeypatch.setattr(session, "collect", lambda *_: None)
    monkeypatch.setattr(session, "run", lambda _plan, place, *_, **_more: session.Run(place, 5, ()))
    monkeypatch.chdir(tmp_path)
    assert pytest_perfex.pytest_cmdline_main(config("--perfex")) == 5
    assert "perfex: no benchmark was counted" in capsys.readouterr().out
    message = refused(tmp_path, monkeypatch, "--perfex", "--perfex-json", "/dev/full")
    assert message == "--perfex: --perfex-json: No space left on device"


def test_a_refusal_is_one_line(project: Path, tmp_path: Path) -> None:
    """Here that valgrind is missing."""
    (tmp_path / "cc").symlink_to(needs("cc"))
    done = of(project, "--perfex", PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("ERROR: --perfex: valgrind is not installed; it is in the package valgrind")
    assert len(done.stderr.strip().splitlines()) == 1


BAD = """
import os, subprocess, threading, pytest

def test_raises(benchmark): benchmark(lambda: 1 / 0)

def test_threads(benchmark):
    def work():
        threads = [threading.Thread(target=sum, args=(range(1000),)) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    benchmark(work)

def test_forks(benchmark):
    def work():
        pid = os.fork()
        if not pid: os._exit(0)
        os.waitpid(pid, 0)
    benchmark(work)

def test_starts_a_program(benchmark): benchmark(subprocess.run, ["true"])

def test_returns(benchmark, perfex):
    benchmark(os.fork)
    with perfex("block"): os.fork()

def test_once_more(benchmark):
    benchmark(len, [])
    with open("done", "a") as stream: stream.write("once")

async def later(): pass

def test_coroutine(benchmark): benchmark(later)

@pytest.mark.benchmark
async def test_async(): pass

def test_twice(benchmark): benchmark(len, []); benchmark(len, [])

def test_weave(benchmark): benchmark.weave(len)

def test_once(benchmark): benchmark.pedantic(len, args=([],))

def test_good(benchmark): assert benchmark(sum, [3, 4]) == 7
"""


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    place = written(tmp_path_factory.mktemp("bad") / "project", text=BAD)
    done = of(place, "--perfex", "--perfex-save", "bad")
    # A forked process that returns does no other rounds, of which each would double the processes, and no other tests.
    assert (place / "done").read_text() == "once"
    return done


@pytest.mark.long
def test_what_fails(bad: subprocess.CompletedProcess[str]) -> None:
    """Each says why; the others are counted; nothing is kept."""
    assert bad.returncode == 1
    failed = dict(re.findall(r"^FAILED test_it.py::test_(\w+) - (.*)$", bad.stdout, re.MULTILINE))
    assert {*failed} == {"raises", "coroutine", "async", "twice", "weave"}
    assert "ZeroDivisionError" in failed["raises"]
    assert "later returns a coroutine, which nobody awaits: count a function that runs it to its end" in bad.stdout
    assert "the fixture benchmark counts one call in a test, and this is the second" in bad.stdout
    assert "benchmark.weave() is not counted under --perfex" in bad.stdout
    assert re.search(r"^test_good +\d", bad.stdout, re.MULTILINE)
    assert "not all tests passed" in bad.stderr
    assert "pypfm/perfex" not in bad.stdout  # nobody's traceback


@pytest.mark.long
def test_what_wobbles(bad: subprocess.CompletedProcess[str]) -> None:
    said = " ".join(bad.stdout.split())
    assert "test_threads: threads that it made: 3; all are counted" in said
    assert re.search("test_forks, test_starts_a_program, test_returns\\S*, test_returns\\S*: processes that it made: 1;"
                     " what they do is not counted", said)
    assert "test_once: the first round was counted" in said


@pytest.mark.long
@pytest.mark.parametrize(("code", "said", "status"), [
    ("os._exit(0)", "it ended the process", 1), ("os.kill(os.getpid(), 9)", "ended by SIGKILL", 137),
    ("os.execv('/bin/true', ['true'])", "it ended the process", 1)])
def test_a_benchmark_that_ends_the_process(tmp_path: Path, code: str, said: str, status: int) -> None:
    """What came before it is counted."""
    text = f"import os\ndef test_a(benchmark): benchmark(len, [])\ndef test_b(benchmark): benchmark(lambda: {code})\n"
    done = of(written(tmp_path / "project", text=text), "--perfex")
    assert done.returncode == status
    assert done.stderr == f"perfex: test_it.py::test_b: {said}; what is after it was not counted\n"
    assert re.search(r"^test_a +\d", done.stdout, re.MULTILINE)


@pytest.mark.long
@pytest.mark.parametrize(("code", "said"), [
    ("os.unlink(at + '/rounds.jsonl'); os.mkfifo(at + '/rounds.jsonl')", "rounds.jsonl: is not a file; something else has written to it"),
    ("shutil.rmtree(at)", "the directory of counts is gone, or empty: something has removed it")], ids=["fifo", "gone"])
def test_tests_that_damage_the_session(tmp_path: Path, code: str, said: str) -> None:
    """One line says what is damaged; all else is in `test_sessions`."""
    text = ("import os, shutil\ndef test_a(benchmark):\n    benchmark(len, [])\n    at = os.environ['PYTEST_DEBUG_TEMPROOT']\n"
            f"    {code}\n")
    done = of(written(tmp_path / "project", text=text), "--perfex")
    assert (done.returncode, done.stderr.count("\n")) == (4, 2), done.stderr  # a line that is empty
    assert re.search(f"^ERROR: --perfex: .*{said}$", done.stderr, re.MULTILINE)


@pytest.mark.long
def test_ended_by_who_started_it(tmp_path: Path) -> None:
    """A signal for pytest ends the program under valgrind, too; nothing is left."""
    place = written(tmp_path / "project", text="import time\ndef test_it(benchmark):\n    open('runs', 'w')\n    time.sleep(300)\n")
    (left := tmp_path / "tmp").mkdir()
    env = {name: value for name, value in clean_env().items() if not name.startswith("PYTEST_")} | {"TMPDIR": str(left)}
    process = subprocess.Popen([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--perfex"], cwd=place, env=env,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (place / "runs").exists():
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert "ended by SIGTERM" in process.communicate(timeout=60)[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert not [*left.glob("perfex-*")]


@pytest.mark.long
def test_variables_that_pass(tmp_path: Path) -> None:
    """Those that are named, and no others."""
    place = written(tmp_path / "project", text="import os\ndef test_it(benchmark):\n"
                    "    benchmark(len, [])\n    assert (os.environ.get('ONE'), os.environ.get('TWO')) == ('1', None)\n")
    (place / "pytest.ini").write_text("[pytest]\nperfex_env = ONE\n")
    done = of(place, "--perfex", ONE="1", TWO="2")
    assert done.returncode == 0, done.stdout


# ---- how long it takes -------------------------------------------------------------------------------------

def seconds(place: Path, *command: object) -> float:
    """Processor time of a run of pytest."""
    before = os.times()
    done = of(place, "-q", command=command)
    assert done.returncode == 0, done.stdout + done.stderr
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


PYTHON = (sys.executable, "-m", "pytest")


@pytest.mark.long
def test_what_is_not_counted_costs_what_valgrind_costs(tmp_path: Path) -> None:
    """What is done around a benchmark, beside the same under --tool=none."""
    few, many = (written(tmp_path / f"project{n}", n, """import json
def test_it(benchmark):
    assert sum(len(json.dumps(list(range(i % 50)))) for i in range(ROUNDS)) > 0
    benchmark(len, [])
""") for n in (100, 60000))
    none = ("valgrind", "-q", "--tool=none", *PYTHON, "--benchmark-disable")
    seconds(few, *PYTHON, "--perfex")  # the tool is built
    assert any(seconds(many, *PYTHON, "--perfex") - seconds(few, *PYTHON, "--perfex")
               < 1.15 * (seconds(many, *none) - seconds(few, *none)) for _ in range(3))


@pytest.mark.long
def test_a_million_instructions_take_less_than_a_second(tmp_path: Path) -> None:
    """With its rounds, and the functions and lines that are looked up for it."""
    text = """import pytest
@pytest.mark.parametrize("n", range(COUNT))
def test_it(benchmark, n): benchmark(lambda: [i for i in range(7000)])
"""
    one, more = (written(tmp_path / f"project{n}", text=text.replace("COUNT", str(n))) for n in (1, 9))
    done = of(one, "--perfex", "--perfex-json", "counts.json")
    assert done.returncode == 0, done.stderr
    [counts] = counted(one / "counts.json").values()
    assert 1_000_000 < counts[INSTRUCTIONS] < 2_000_000
    assert any(seconds(more, *PYTHON, "--perfex") - seconds(one, *PYTHON, "--perfex") < 8 for _ in range(3))


# ---- functions of Python -----------------------------------------------------------------------------------


@pytest.mark.skipif(sys.version_info < (3, 12), reason=f"Python {sys.version.split()[0]} does not name its functions: 3.12 does")
def test_functions_of_python(project: Path) -> None:
    """They have what they call in their counts; their calls cost more, so that others are no baseline."""
    done = of(project, "--perfex", "--perfex-functions", "-k", "heavy", "--perfex-json", "../functions.json")
    assert done.returncode == 0, done.stderr
    [one] = json.loads((project / "../functions.json").read_text())["benchmarks"]
    rows = {row["name"]: row for row in one["report"]["annotation"]["functions"] if row["object"] == "Python"}
    assert {"walk", "Point.moved", "Point.__init__"} <= {*rows}
    walk, moved, made = (rows[name]["inclusive"]["counts"][0] for name in ("walk", "Point.moved", "Point.__init__"))
    assert walk > moved > made > 0
    assert rows["Point.moved"]["calls"] == 1000


def test_names_of_a_map() -> None:
    """Addresses in it get its names, others none; functions of a program stay."""
    text = "1000 10 py::Point.moved:/home/me/a file.py\n1010 20 py::walk:/home/me/b.py\n"
    program = Function("/bin/program", "main.c", "main")
    functions = {address: Function(UNKNOWN, UNKNOWN, hex(address)) for address in (0xfff, 0x1000, 0x100f, 0x1010, 0x1030)}
    profile = Profile(("Ir",), {Place(f, UNKNOWN, a, 0): [a] for a, f in functions.items()}, {(program, functions[0x1000]): [1, 7]},
                      {program: [1, 5], functions[0x1010]: [2, 6], functions[0xfff]: [1, 1]})
    found = Names(text).named(profile)
    moved, walk = Function("Python", "/home/me/a file.py", "Point.moved"), Function("Python", "/home/me/b.py", "walk")
    nobody = Function(UNKNOWN, UNKNOWN, UNKNOWN)
    assert [place.function for place in found.code] == [nobody, moved, moved, walk, nobody]
    assert (found.calls, found.inclusive) == ({(program, moved): [1, 7]}, {program: [1, 5], walk: [2, 6]})
    assert {place.function for place in Names("").named(profile).code} == {nobody}
