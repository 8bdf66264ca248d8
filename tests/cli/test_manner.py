"""One manner: every command and sub-command has the same options, words and exit statuses."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import clean_env
from fresh import fresh_command
from pypfm.cli import build_parser
from pypfm.cli.perfex import build_parser as perfex_parser
from pypfm.cli.pmc import build_parser as pmc_parser

BIN = Path(sys.executable).parent
# What prints no JSON with --json: shell code; vectors are JSON without it.
NO_JSON = {"completion", "vectors", "vectors export", "vectors record", "vectors schema"}
JSON = {"here": [], "pmus": [], "find": ["-p", "glm", "icache"], "events": ["-p", "glm"], "info": ["-p", "glm", "ICACHE"], "encode": ["-p", "glm", "ICACHE:ACCESSES"],
        "decode": ["-p", "itanium2", "PMC4=0x1228"], "layout": ["pfmlib_event_t"], "config": ["pfm3"]}
SEE = re.compile(r"\(see (pypfm|perfex)( \w+)* --help\)\n")


def walk(parser: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """A parser and those of its sub-commands."""
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield from walk(child, f"{path} {name}".strip())


PARSERS = dict(walk(build_parser()))
SUBCOMMANDS = [name for name in PARSERS if name]


def options(parser: argparse.ArgumentParser) -> set[str]:
    return {option for action in parser._actions for option in action.option_strings}


def command(words: str, *more: object, **env: str) -> subprocess.CompletedProcess[str]:
    name, *rest = words.split()
    return fresh_command(BIN / name, *rest, *more, env=clean_env(**env))


def test_every_subcommand_is_walked_over() -> None:
    assert {"here", "examples", "pmus", "find", "events", "info", "encode", "decode", "layout", "conform", "bench", "config", "completion"} < {*SUBCOMMANDS}


@pytest.mark.parametrize("name", PARSERS)
def test_the_options_that_all_have(name: str) -> None:
    found = options(PARSERS[name])
    assert {"-h", "--help", "--version"} <= found
    assert ("--json" in found) == (bool(name) and name not in NO_JSON)
    assert ("-p" in found) == ("--pmu" in found)
    assert all(re.fullmatch(r"--[a-z0-9-]+|-[a-zA-Z]", option) for option in found)


@pytest.mark.parametrize("parser", [perfex_parser(), pmc_parser()], ids=["perfex", "pmc"])
def test_the_historical_commands_have_them_too(parser: argparse.ArgumentParser) -> None:
    assert {"-h", "--help", "--version", "--json", "--pmu"} <= options(parser)


@pytest.mark.parametrize("name", ["", "encode", "vectors export"])
def test_version(name: str) -> None:
    done = command(f"pypfm {name} --version")
    assert (done.returncode, done.stdout, done.stderr) == (0, "pypfm 0.1.0\n", "")


@pytest.mark.parametrize("name", ["encode", "vectors export"])
def test_an_option_that_there_is_not(name: str) -> None:
    done = command(f"pypfm {name} --no-such-option")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"pypfm {name}: ")
    assert SEE.search(done.stderr)


@pytest.mark.parametrize("name", [name for name in SUBCOMMANDS if "--pmu" in options(PARSERS[name])])
def test_a_pmu_that_there_is_not(name: str) -> None:
    rest = [action.metavar for action in PARSERS[name]._actions if not action.option_strings and action.nargs in (None, "+")]
    done = command(f"pypfm {name} --pmu itanum2", *rest)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"pypfm {name}: argument -p/--pmu: invalid choice: 'itanum2' (choose from 'g")
    assert "; the nearest are itanium2, itanium, ita2 (see " in done.stderr
    assert SEE.search(done.stderr)


@pytest.mark.parametrize("name", ["", "vectors"])
def test_without_a_word_the_help_is_printed(name: str) -> None:
    """As pip does."""
    done, asked = command(f"pypfm {name}"), command(f"pypfm {name} --help")
    assert (done.returncode, done.stdout, done.stderr) == (0, asked.stdout, "")


def with_choices() -> Iterator[tuple[str, str, str]]:
    """Each argument that takes one of some words: command, the words up to it, and one that is wrong."""
    for name, parser in (*((f"pypfm {name}", p) for name, p in PARSERS.items()), ("perfex", perfex_parser()), ("pmc", pmc_parser())):
        for action in parser._actions:
            if action.choices is not None and not any(c.startswith("vectors") for c in action.choices if name != "pypfm"):
                choice = max(map(str, action.choices), key=len)
                if len(choice) > 2:  # nothing is near to 3m
                    yield name.strip(), (action.option_strings or [""])[-1], choice


@pytest.mark.parametrize(("name", "option", "choice"), [*with_choices()])
def test_the_nearest_of_some_words_is_said(name: str, option: str, choice: str) -> None:
    wrong = choice[:-1] + "_"
    done = command(f"{name} {option} {wrong}")
    assert (done.returncode, done.stdout) == (1 if name == "pmc" else 2, "")
    assert f"invalid choice: '{wrong}' (choose from " in done.stderr
    assert re.search(rf"; the nearest (is|are) .*{re.escape(choice)}", done.stderr)


@pytest.mark.parametrize("name", ["T5_EVENT0", "T5_EVENT1"])
def test_events_of_the_environment_are_wrong_usage_too(name: str) -> None:
    done = command("perfex true", **{name: "nothing"})
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"perfex: {name}: 'nothing' is not an event")
    conflict = command("perfex true", T5_EVENT0="3", T5_EVENT1="4")
    assert (conflict.returncode, "conflicting counters" in conflict.stderr) == (2, True)


@pytest.mark.parametrize(("name", "words"), JSON.items())
def test_json(name: str, words: list[str]) -> None:
    done = command(f"pypfm {name}", "--json", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)


def test_json_of_config_says_what_the_options_say() -> None:
    for static in ([], ["--static"]):
        found = json.loads(command("pypfm config pfm3 --json", *static).stdout)
        assert found["name"] == "pfm3"
        assert found["library"] == command("pypfm config --library pfm3", *static).stdout.strip()
        for kind in ("cflags", "libs"):
            assert " ".join(found[kind]) == command(f"pypfm config --{kind} pfm3", *static).stdout.strip()


@pytest.mark.parametrize("pmu", ["itanium2", "gen_ia64", "glm", "perf"])
@pytest.mark.parametrize("name", ["info", "encode"])
def test_a_missing_event_is_a_failure_that_says_how_to_search(name: str, pmu: str) -> None:
    done = command(f"pypfm {name} --pmu {pmu} NO_SUCH_EVENT")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "has no event 'NO_SUCH_EVENT'" in done.stderr
    [search] = re.findall(r"search: (pypfm .+?)'\*WORD\*'\)\n$", done.stderr)
    word = command(f"pypfm events -p {pmu}").stdout.split()[0][1:4]
    found = command(search, f"*{word}*")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout


def test_the_search_of_another_library_names_it() -> None:
    done = command("pypfm info --library=libpfm.so.4 -p skl NO_SUCH_EVENT")
    if "cannot be loaded" in done.stderr:
        pytest.skip("no libpfm.so.4 on this machine (Debian: libpfm4)")
    assert done.returncode == 1
    assert "(search: pypfm events -p skl --library=libpfm.so.4 '*WORD*')\n" in done.stderr


# ---- perfex, pmc ----------------------------------------------------------------------

@pytest.mark.parametrize("words", ["-e 32 true", "-e nonsense true", "-e 0 -e 1 true", "-e cycl true", "--pid x", "--pid 0", "--no-such",
                                   "-z", "", "-y --plot x.gif true", "--cache x --backend valgrind true",
                                   "--list -o x", "--calibrate --pid 1", "--merge -y a", "--compare -k a b", "--list -a",
                                   "--list -e 3", "--calibrate -c x -y", "--merge --verbose a", "-t -o x",
                                   "--compare --repeat 2 a b", "--list --annotate", "--merge --annotate a"])
def test_wrong_use_of_perfex_is_one_line_and_2(words: str, tmp_path: Path) -> None:
    done = command("perfex", *words.split(), HOME=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("perfex: ")
    assert SEE.search(done.stderr)


@pytest.mark.parametrize(("words", "env"), [("--pid 999999999", {}), ("--merge /nonexistent", {}),
                                            ("-y -c /nonexistent true", {}), ("--backend valgrind /nonexistent", {})])
def test_a_failure_of_perfex_is_one_line_and_1(words: str, env: dict[str, str]) -> None:
    done = command("perfex", *words.split(), **env)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "--help" not in done.stderr


@pytest.mark.parametrize("words", ["perfex --cpu r12000 --list", "perfex --pmu r12000 --list", "pmc -h --machine k7", "pmc -h --pmu k7"])
def test_pmu_means_what_cpu_and_machine_mean(words: str) -> None:
    done = command(words)
    assert done.returncode == 0
    assert done.stdout == command(words.replace("--pmu", "--cpu" if "perfex" in words else "--machine")).stdout
    assert ("R12000" in done.stdout or "r12000" in done.stdout) if "perfex" in words else "seg-load-all" in done.stdout


def test_wrong_use_of_pmc_is_1_as_netbsd_has_it() -> None:
    for words in ("", "--no-such", "-c", "-c nonsense true", "-h true"):
        done = command(f"pmc {words}")
        assert (done.returncode, done.stdout) == (1, "")
    assert "(pmc -h lists the events)\n" in command("pmc -c nonsense true").stderr


# ---- A+B ------------------------------------------------------------------------------

LATENCY = "OFFCORE_RESPONSE_0:DMND_DATA_RD:OUTSTANDING", "OFFCORE_RESPONSE_1:DMND_DATA_RD:ANY_RESPONSE"


def test_an_average_latency_is_two_events() -> None:
    """In the notation of libpfm_intel_glm(3)."""
    done = command("pypfm encode -p glm", "+".join(LATENCY))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == command("pypfm encode -p glm", *LATENCY).stdout
    assert len(json.loads(done.stdout)["events"]) == 2
    perf = command("pypfm encode --perf -p glm", "+".join(LATENCY))
    assert perf.stdout == command("pypfm encode --perf -p glm", *LATENCY).stdout != ""


def test_requests_of_an_average_latency_that_differ() -> None:
    done = command("pypfm encode -p glm", LATENCY[0] + "+" + LATENCY[1].replace("DMND_DATA_RD", "DMND_RFO"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
