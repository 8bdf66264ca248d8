"""The guides: each block of code in them is run, or is part of a file that other tests run.

* a console block (``$`` commands with their output) is run line by line on a terminal of 80 columns, in a
  scratch directory that holds the files of docs/examples; ``...`` in it stands for anything;
* a Python session (``>>>``) is a doctest;
* ``literalinclude`` shows a file that a test runs;
* a table with the columns C and Python holds pieces of the examples.

Anything else that shows code is an error.  Console blocks of the READMEs and of the other pages of the site, and
Python sessions of these pages, are run as well, and these show no other code; the manual pages have tests of their own.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import ROOT, clean_env, run
from terminal import PYPFM, run_on_terminal
from test_examples import EXAMPLES, VARIABLES
from tools import needs, tool

pytestmark = pytest.mark.slow

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.rst"))
TESTED = (EXAMPLES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "tests" / "package" / "consumer.cmake", ROOT / "tests" / "perfex" / "golden", ROOT / "csrc")
PAGES = sorted(p for p in (ROOT / "docs").rglob("*.rst") if p not in GUIDES and "manual" not in p.parts)
WITHOUT_CODE = {"default-role", "glossary", "host-events", "index", "list-table", "note", "range-picture", "toctree"}
LONG = {"benchmarks_ci", "cache_misses", "conformance", "perfex"}


def cases(pages: Iterable[Path]) -> list[object]:
    """For parametrize."""
    return [pytest.param(p, id=str(p.relative_to(ROOT)), marks=[pytest.mark.long] * (p.stem in LONG)) for p in pages]



@dataclass(frozen=True)
class Directive:
    """A directive of reStructuredText, with what is indented under it."""

    line: int
    name: str
    argument: str
    body: str


def directives(text: str) -> Iterator[Directive]:
    """The directives of a text, also those inside others."""
    lines = text.split("\n")
    for n, line in enumerate(lines):
        found = re.match(r"((?:[-*] | )*)\.\. ([\w-]+):: *(.*)", line)
        if found is None:
            continue
        depth = len(found[1])
        body = []
        for below in lines[n + 1:]:
            if below.strip() and len(below) - len(below.lstrip()) <= depth:
                break
            body.append(below)
        yield Directive(n + 1, found[2], found[3], "\n".join(body))


def untested(text: str, directory: Path) -> list[str]:
    """What shows code that no test runs."""
    found = []
    for d in directives(text):
        included = (directory / d.argument).resolve() if d.name in ("literalinclude", "include") else None
        allowed = (d.name in WITHOUT_CODE or (d.name, d.argument) == ("code-block", "console")
                   or (included is not None and any(included.is_relative_to(place) for place in TESTED)))
        if not allowed:
            found.append(f"{d.line}: {d.name} {d.argument}")
    found += [f"{n}: a literal block" for n, line in enumerate(text.split("\n"), 1)
              if line.endswith("::") and not line.lstrip("-* ").startswith("..")]
    return found


def test_all_code_is_tested() -> None:
    assert {guide.name: found for guide in GUIDES if (found := untested(guide.read_text(encoding="utf-8"), guide.parent))} == {}


CODE = {"code", "code-block", "sourcecode", "literalinclude", "parsed-literal", "prompt"}


def test_other_pages_show_tested_code() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        shown = {d.line for d in directives(text) if d.name in CODE}
        found = untested(text, page.parent)
        assert [f for f in found if "literal block" in f or int(f.partition(":")[0]) in shown] == [], page


@pytest.mark.parametrize("text", [
    "Code::\n\n    print(1)\n", ".. code-block:: python\n\n   print(1)\n", "- .. code:: c\n\n     int i;\n",
    ".. literalinclude:: ../conf.py\n", ".. parsed-literal::\n\n   x\n", "::\n\n    x\n", ".. code-block::\n\n   x\n"])
def test_untested_code_is_found(text: str) -> None:
    assert len(untested(text, GUIDES[0].parent)) == 1


# ---- console blocks ------------------------------------------------------------------------------

def console_blocks(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return re.findall(r"^```console\n(.*?)^```", text, flags=re.S | re.M)
    return [re.sub(r"^(?: *:[\w-]+:.*\n)+", "", d.body) for d in directives(text)
            if (d.name, d.argument) == ("code-block", "console")]


# Programs of some blocks that README's list of packages does not have.
#: Programs without which what follows on a page has nothing to work on.
BEFORE = {"valgrind", "qemu-mips64", "mips64-linux-gnuabi64-gcc"}
OPTIONAL = ("gfortran", *sorted(BEFORE))


@dataclass
class Command:
    """A command with what it prints; ``> `` in front of its further lines."""

    command: str
    output: str = ""


def commands(block: str) -> Iterator[Command]:
    depth = min(len(line) - len(line.lstrip()) for line in block.split("\n") if line.strip())
    made: Command | None = None
    for line in block.strip("\n").split("\n"):
        shown = line[depth:].rstrip()
        if shown.startswith("$ "):
            if made is not None:
                yield made
            made = Command(shown[2:])
        elif made is not None and shown.startswith("> ") and not made.output:
            made.command += f"\n{shown[2:]}"
        else:
            assert made is not None, f"a console block begins with a command, not with {shown!r}"
            made.output += f"{shown}\n"
    assert made is not None
    yield made


def seen(text: str) -> str:
    """What is seen of a text: without lines that were erased, blanks at the end of lines, empty lines around."""
    text = re.sub(r".*\r\x1b\[K", "", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def mismatch(command: Command, printed: str, status: int = 0) -> str:
    """How the output differs from what is shown; nothing if it is the same."""
    want, got = (seen(text) for text in (command.output, printed))
    pieces = re.split(r"(?<!\.)\.\.\.(?!\.)", want)
    if want != "..." and re.fullmatch(".*".join(map(re.escape, pieces)), got, re.S):
        return ""
    return f"$ {command.command}\n--- shown\n{want}\n--- printed, with exit status {status}\n{got}"


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    directory = tmp_path / "scratch"
    shutil.copytree(EXAMPLES, directory)
    return directory


@pytest.fixture
def user(runtime_dir: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a user with pypfm's commands on the path."""
    env = {k: v for k, v in clean_env().items() if not k.startswith(VARIABLES)}
    return env | {"PATH": f"{PYPFM.parent}:{env['PATH']}", "TERM": "dumb", "LC_ALL": "C.UTF-8",
                  "XDG_RUNTIME_DIR": str(runtime_dir), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def left_for_git(scratch: Path) -> list[str]:
    """What the steps have made, and `git status` would show in a clone; nothing where this is none, or no git is there."""
    made = [str(path.relative_to(scratch)) for path in sorted(scratch.iterdir()) if not (EXAMPLES / path.name).exists()]
    if not made or not (ROOT / ".git").exists() or not tool("git"):
        return []
    ignored = run("git", "-C", ROOT, "check-ignore", "--", *(EXAMPLES / name for name in made)).stdout.split()
    return [name for name in made if str(EXAMPLES / name) not in ignored]


@pytest.mark.parametrize("page", cases(filter(console_blocks, (*GUIDES, *PAGES, ROOT / "README.md", EXAMPLES / "README.md"))))
def test_console_blocks(page: Path, scratch: Path, user: dict[str, str]) -> None:
    wrong, missing = [], set()
    for block in console_blocks(page):
        if missing & BEFORE:  # later blocks use what earlier ones have written
            break
        if absent := {name for name in OPTIONAL if re.search(rf"\b{name} ", block) and tool(name) is None}:
            missing |= absent
            continue
        shown = list(commands(block))
        status = 0
        for n, command in enumerate(shown):
            script = f"(exit {status})\n{command.command}"
            printed, status = run_on_terminal(80, ["bash", "-c", script], cwd=scratch, env=user)
            told = n + 1 < len(shown) and shown[n + 1].command == "echo $?"
            if "valgrind is not installed" in printed and tool("valgrind") is None:
                missing.add("valgrind")
                break
            if "qemu-mips64 is not installed" in printed and tool("qemu-mips64") is None:
                missing.add("qemu-mips64")
                break
            if found := mismatch(command, printed, status):
                wrong.append(found)
            elif status and not told:
                wrong.append(f"$ {command.command}\nexit status {status}, and no echo $? shows it\n{printed}")
    assert not wrong, "\n\n".join(wrong)
    assert left_for_git(scratch) == []
    if missing:
        needs(*missing)  # after all that could be run


def test_a_wrong_output_is_found() -> None:
    (command,) = commands("   $ echo 1 \\\n   > 2\n   1 2\n")
    assert command == Command("echo 1 \\\n2", "1 2\n")
    assert mismatch(command, "1 2\n") == ""
    assert mismatch(command, "1 3\n")
    assert mismatch(Command("true", "...\n"), "anything\n")  # says nothing
    assert mismatch(Command("true", "a ... c\n"), "a b c\n") == ""
    assert mismatch(Command("true", "a .... c\n"), "a b c\n")


# ---- Python sessions -----------------------------------------------------------------------------

@pytest.mark.parametrize("page", cases(p for p in (*GUIDES, *PAGES) if ">>>" in p.read_text(encoding="utf-8")))
def test_sessions(page: Path, scratch: Path, user: dict[str, str]) -> None:
    done = run(sys.executable, "-W", "error", "-m", "doctest", "-o", "ELLIPSIS", page, cwd=scratch, env=user)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


# ---- tables of idioms ----------------------------------------------------------------------------

def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def tables(text: str) -> Iterator[list[list[str]]]:
    """The cells of the list tables that have the columns C and Python, without their header."""
    for d in directives(text):
        if d.name == "list-table":
            rows = re.findall(r"^ *\* - (.*?)(?=^ *\* - |\Z)", d.body, re.S | re.M)
            header, *cells = [[cell.strip() for cell in re.split(r"^ +- ", row, flags=re.M)] for row in rows]
            if header == ["C", "Python"]:
                yield cells


@pytest.mark.parametrize("guide", [g for g in GUIDES if g.stem.startswith("port_")], ids=lambda p: p.stem)
def test_idioms_are_in_the_examples(guide: Path) -> None:
    (rows,) = tables(guide.read_text(encoding="utf-8"))
    sources = {suffix: squeezed("\n".join(p.read_text(encoding="utf-8") for p in EXAMPLES.glob(f"*{suffix}")))
               for suffix in (".c", ".py")}
    assert rows
    missing = [code for row in rows for cell, suffix in zip(row, (".c", ".py"), strict=True)
               for code in re.findall(r"``(.+?)``", cell, re.S) if squeezed(code) not in sources[suffix]]
    assert missing == []


def test_every_program_is_in_a_guide() -> None:
    text = "\n".join(guide.read_text(encoding="utf-8") for guide in GUIDES)
    assert {p.stem for p in EXAMPLES.glob("*.c") if not re.search(rf"\b{p.stem}\b", text)} == set()
