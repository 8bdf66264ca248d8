"""Programs that others wrote, on Debian's libpfm.so.4 and on ours: they print the same, but for the descriptions of events.

A library that is loaded before libpfm, shapes/recorder.c, writes down what a program asks and is answered: this is
compared where the machine has no such counters, too.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import run
from native import CC, CXX, PFM4, build
from reference4 import DEBIAN, HEADER, NO_HEADER, NO_LIBRARY, SHAPES, environment, libraries, loaded, on
from tools import needs, tool

pytestmark = [pytest.mark.slow, pytest.mark.skipif(DEBIAN is None, reason=NO_LIBRARY)]
needs_header = pytest.mark.skipif(not HEADER.is_file(), reason=NO_HEADER)
EXAMPLES = Path("/usr/share/doc/libpfm4-dev/examples")
PMDA = Path("/usr/lib/pcp/pmdas/perfevent/pmdaperfevent")
PCP_CONF = Path("/etc/pcp.conf")


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("recorder") / "recorder.so"
    build(CC, "-shared", "-fPIC", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *PFM4.cflags,
          SHAPES / "recorder.c", "-o", out)
    return out


def recorded(recorder: Path, directory: Path, pmu: str, *command: object, status: int | None = 0, **options: object,
             ) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What a program prints on each library, and what it asked and was answered; the library is the one that is meant."""
    printed, calls = {}, {}
    for whose, library in libraries().items():
        log = directory / f"{whose}.calls"
        log.unlink(missing_ok=True)
        env = environment(library, pmu, LD_PRELOAD=recorder, RECORDED_CALLS=log)
        done = run(*command, env=env | options.get("env", {}), input=options.get("input"), timeout=120)  # type: ignore[operator]
        assert status is None or done.returncode == status, done.stderr
        printed[whose] = (done.stdout + done.stderr).splitlines()
        first, *calls[whose] = log.read_text().splitlines()
        assert Path(first.removeprefix("library ")).resolve() == library.resolve()
    return printed, calls


# ---- PAPI -----------------------------------------------------------------------------------------

# Lines of descriptions, as papi_native_avail, papi_avail -e and papi_xml_event_info have them.
DESCRIPTION = re.compile(r"\| {10,}|Description: |.* desc=\"")
PAPI = [
    ("papi_component_avail -d", "perf"), ("papi_native_avail", "glm"), ("papi_native_avail", "perf"), ("papi_native_avail -e glm::ICACHE:NONE", "glm"),
    ("papi_avail -e glm::ICACHE:HIT", "glm"), ("papi_decode", "glm"), ("papi_event_chooser NATIVE glm::ICACHE:HIT", "glm"),
    ("papi_event_chooser PRESET PAPI_TOT_CYC", "glm"), ("papi_command_line glm::ICACHE:HIT", "glm"), ("papi_xml_event_info", "glm"),
    ("papi_hardware_avail", "glm"),
]


def without_descriptions(lines: list[str]) -> list[str]:
    names = [re.sub(r' desc=".*"', "", line) if " desc=" in line else line for line in lines]
    return [line for line in names if not DESCRIPTION.match(line)]


@pytest.mark.parametrize(("command", "pmu"), PAPI)
def test_papi(command: str, pmu: str, recorder: Path, tmp_path: Path) -> None:
    name, *arguments = command.split()
    printed, calls = recorded(recorder, tmp_path, pmu, needs(name), *arguments, status=None)
    assert calls["ours"] == calls["Debian"]
    assert without_descriptions(printed["ours"]) == without_descriptions(printed["Debian"])
    assert len(printed["ours"]) > 5
    if pmu == "glm" and command == "papi_native_avail":
        assert sum(line.startswith("event ") for line in calls["ours"]) > 1000
        assert sum("| glm" in line or re.match(r"\| [A-Z]", line) is not None for line in printed["ours"]) > 30


# ---- llvm-exegesis ----------------------------------------------------------------------------------

@pytest.mark.parametrize(("mode", "processor", "pmu"), [
    ("uops", "goldmont", "glm"), ("uops", "skylake", "glm"), ("uops", "znver3", "glm"), ("latency", "skylake", "perf")])
def test_llvm_exegesis(mode: str, processor: str, pmu: str, recorder: Path, tmp_path: Path) -> None:
    """It encodes the events that LLVM's model of a processor names, and opens them, which few machines let it."""
    program = tool("llvm-exegesis") or next(map(str, sorted(Path("/usr/lib").glob("llvm-*/bin/llvm-exegesis"))), None)
    if program is None:
        pytest.skip("no llvm-exegesis on this machine (Debian: llvm)")
    printed, calls = recorded(recorder, tmp_path, pmu, program, f"-mode={mode}", "-opcode-name=ADD64rr", f"-mcpu={processor}",
                              status=None)
    assert calls["ours"] == calls["Debian"]
    assert any(line.startswith("encode ") for line in calls["ours"])
    if (mode, processor, pmu) == ("uops", "goldmont", "glm"):
        assert any(line.startswith("encode uops_retired:any, levels 8, os 1: 0 0400000000000000 c2") for line in calls["ours"])
    kept = {whose: [line for line in lines if "llvm-exegesis error" in line] for whose, lines in printed.items()}
    assert kept["ours"] == kept["Debian"]


# ---- Performance Co-Pilot ----------------------------------------------------------------------------------

CONFIG = """[glm]

ICACHE:HIT
BACLEARS:RETURN

[perf]

PERF_COUNT_SW_PAGE_FAULTS
PERF_COUNT_SW_CONTEXT_SWITCHES
"""
NAMESPACE = """root {
    perfevent
}
perfevent {
    version 127:0:0
    active 127:0:1
    hwcounters 127:*:*
    derived 127:*:*
}
"""
COMMANDS = """open pipe {pmda} -d 127 -l {log} -U {user}
wait 1
children perfevent
children perfevent.hwcounters
children perfevent.hwcounters.perf
fetch perfevent.version perfevent.active
quit
"""
# Addresses, processes and times.
CHANGING = re.compile(r"0x[0-9a-f]{6,}|\(\d+\)|\d\d:\d\d:\d\d|-l \S+ ")


def pcp_files(directory: Path) -> Path:
    """A configuration of its own: the agent looks for its files where it says."""
    (directory / "perfevent").mkdir()
    (directory / "perfevent/perfevent.conf").write_text(CONFIG)
    (directory / "root").write_text(NAMESPACE)
    text = re.sub(r"^PCP_PMDAS_DIR=.*$", f"PCP_PMDAS_DIR={directory}", PCP_CONF.read_text(), flags=re.M)
    (directory / "pcp.conf").write_text(text)
    return directory / "pcp.conf"


@pytest.mark.needs("dbpmda")
@pytest.mark.skipif(not PMDA.is_file(), reason=f"no {PMDA} (Debian: pcp)")
def test_pcp_s_agent(recorder: Path, tmp_path: Path) -> None:
    """Under dbpmda, which asks it as pmcd does."""
    import getpass

    conf = pcp_files(tmp_path)
    commands = COMMANDS.format(pmda=PMDA, log=tmp_path / "log", user=getpass.getuser())
    printed, calls = recorded(recorder, tmp_path, "glm", tool("dbpmda"), "-n", tmp_path / "root", "-i", input=commands,
                              env={"PCP_CONF": str(conf)}, status=None)
    assert calls["ours"] == calls["Debian"]
    assert sum(line.startswith("event ") for line in calls["ours"]) > 30
    assert any(line.startswith("encode ") for line in calls["ours"])
    shown = {whose: [CHANGING.sub("", line) for line in lines] for whose, lines in printed.items()}
    assert shown["ours"] == shown["Debian"]


# ---- libpfm's own examples, and the shapes of programs that sample ---------------------------------------------

@needs_header
@pytest.mark.parametrize("headers", ["Debian", "ours"])
@pytest.mark.parametrize(("name", "commands"), [
    ("check_events", ["glm::ICACHE:HIT glm::BACLEARS:RETURN:u", "glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT"]),
    ("showevtinfo", ["", "-L ^glm::", "-E ^glm::", "-M ^glm::", "-l OFFCORE"])], ids=lambda value: value if isinstance(value, str) else "")
def test_libpfm_s_examples(name: str, commands: list[str], headers: str, tmp_path: Path) -> None:
    """Debian has their text, but not the header that they include: ours, next to either's others."""
    program = example(name, headers, tmp_path)
    for library in libraries().values():
        assert loaded(program, environment(library, "glm")) == library.resolve()
    for arguments in commands:
        answers = {}
        for whose, library in libraries().items():
            done = on(library, "glm", program, *arguments.split())
            assert (done.returncode, done.stderr) == (0, ""), (whose, arguments)
            answers[whose] = facts(done.stdout)
        assert answers["ours"] == answers["Debian"], arguments
        assert any("glm" in line for line in answers["ours"])


@needs_header
def test_libpfm_s_example_with_events_of_one_code_and_of_two(tmp_path: Path) -> None:
    """Debian's library frees what is not its own there, and ends: docs/deviations."""
    events = ["glm::ICACHE:HIT", "glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT"]
    done = on(PFM4.path, "glm", example("check_events", "Debian", tmp_path), *events)
    assert done.returncode == 0
    assert [line.split(" : ")[1] for line in done.stdout.splitlines() if line.startswith("Codes")] == [
        "0x530180", "0x5301b7 0x3600040022"]


def example(name: str, headers: str, directory: Path) -> Path:
    """An example, compiled with the headers and the library of either."""
    source = EXAMPLES / f"{name}.c"
    if not source.is_file():
        pytest.skip(f"no {source} (dpkg can be told to leave documentation out)")
    (directory / "perfmon").mkdir()
    (directory / "perfmon/err.h").symlink_to(PFM4.include_dir / "perfmon/err.h")
    flags = PFM4.cflags if headers == "ours" else [f"-I{directory}"]
    library = libraries()[headers]
    build(CC, "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Werror", *flags, source, "-o", directory / name,
          f"-L{library.parent}", f"-l:{library.name}")
    return directory / name


def facts(output: str) -> list[str]:
    """Lines without descriptions, and without the list of PMUs that a library knows, and how many they are."""
    lines = re.sub(r"^\t\[\d+, (?!glm).*\n|^Total events: .*\n|^Desc .*\n", "", output, flags=re.M).splitlines()
    return [re.sub(r"^(Modif[^\[]*\[[^\]]*\]|Umask[^\[]*(?:\[[^\]]*\] : )+).*", r"\1", line) for line in lines]


@needs_header
@pytest.mark.parametrize(("compiler", "language", "headers"), [
    (CC, "c", "Debian"), (CC, "c", "ours"), ("clang", "c", "ours"), (CXX, "c++", "ours"), ("clang++", "c++", "ours")])
def test_samples(compiler: str, language: str, headers: str, tmp_path: Path) -> None:
    """Branches, sources of data, the ring buffer: compiled with each header, run on both libraries."""
    (tmp_path / "perfmon").mkdir()
    (tmp_path / "perfmon/err.h").symlink_to(PFM4.include_dir / "perfmon/err.h")
    flags = PFM4.cflags if headers == "ours" else [f"-I{tmp_path}"]
    build(needs(compiler), "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *flags, "-x", language, SHAPES / "sampling.c",
          "-x", "none", "-o", tmp_path / "sampling", f"-L{libraries()[headers].parent}", f"-l:{PFM4.soname}")
    answers = {whose: on(library, "perf", tmp_path / "sampling") for whose, library in libraries().items()}
    assert answers["ours"].stdout == answers["Debian"].stdout
    lines = answers["ours"].stdout.splitlines()
    assert lines[0] == "type 9 size 88 user exact ip 401000"
    assert "source op 2 lvl 42 snoop 10 lock 2 tlb 24 remote 1 hops 3: load hit L3 HITM walk" in lines
    assert lines[-1] == "samples" or lines[-1].startswith("this machine does not sample: ")
