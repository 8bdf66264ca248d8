"""The manual pages: docs/man is what docs/manual gives, nothing is left out, man(1) shows them without warnings."""

from __future__ import annotations

import argparse
import csv
import importlib.metadata
import re
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

import pytest
import sphinx

from conftest import ROOT, clean_env, once, run
from header_names import HeaderNames
from native import CC, build
from pypfm.cli import build_parser as pypfm_parser
from pypfm.cli.perfex import build_parser as perfex_parser
from pypfm.cli.pmc import build_parser as pmc_parser
from pypfm.config import LIBRARIES
from pypfm.layout import describe, types
from tools import needs

pytestmark = pytest.mark.slow

MAN = ROOT / "docs" / "man"
SOURCES = ROOT / "docs" / "manual"
COMMAND = "sphinx-build -W -n -E -d build/manual -b man docs/manual docs/man"

FILES = sorted(path.relative_to(MAN).as_posix() for path in MAN.rglob("*") if path.is_file())
ALIASES = {name: match[1] for name in FILES
           if (match := re.fullmatch(r"\.so (\S+)\n", (MAN / name).read_text(encoding="utf-8")))}
PAGES = [name for name in FILES if name not in ALIASES]
VERSION_SCRIPTS = {"pfm3": "libpfm3.map", "pfm4": "libpfm4.map", "pmc": "libpmc.map", "perfex": "libperfex.map"}
# Inline functions that have no page of ours.
ELSEWHERE = {"perf_event_open": "perf_event_open(2) of Linux"}


# ---- rendering --------------------------------------------------------------------

def groff(path: Path, columns: int) -> subprocess.CompletedProcess[str]:
    needs("groff")
    return run("groff", "-Kutf8", "-t", "-man", "-ww", "-Tutf8", "-P-cbou", f"-rLL={columns}n", path)


@cache
def rendered(page: str, columns: int) -> tuple[str, ...]:
    """The lines of a page; they never have a warning."""
    done = groff(MAN / page, columns)
    assert (done.returncode, done.stderr) == (0, "")
    return tuple(done.stdout.splitlines())


def text(page: str) -> str:
    """All words of a page, one blank between them."""
    return " ".join(" ".join(rendered(page, 200)).split())


def everything() -> str:
    return " ".join(map(text, PAGES))


def system_calls() -> set[str]:
    """Functions that are calls of a kernel, and have pages in section 2: NetBSD's, and those of Linux with perfmon2."""
    headers = (LIBRARIES["pfm3"].include_dir / "perfmon" / name for name in ("perfmon.h", "perfmon_v2.h", "perfmon_compat.h"))
    declared = re.findall(r"^extern int (\w+)\(", "".join(h.read_text(encoding="utf-8") for h in headers), re.MULTILINE)
    return {"pmc_control", "pmc_get_info", *declared}


def page_of(function: str) -> str:
    """The page about a function, which may be under another name."""
    number = "2" if function in system_calls() else "3"
    name = f"man{number}/{function}.{number}"
    return ALIASES.get(name, name)


def section(page: str, title: str) -> str:
    """The lines of one section."""
    lines = rendered(page, 200)
    start = lines.index(title)
    end = next((i for i in range(start + 1, len(lines)) if lines[i][:1].strip()), len(lines))
    return "\n".join(lines[start + 1:end])


def man(*arguments: object) -> subprocess.CompletedProcess[str]:
    needs("man")
    return run("man", "--warnings", "-E", "UTF-8", *arguments, env=clean_env(MANWIDTH="80", MANPAGER="cat"))


# ---- what is committed is what the sources give -----------------------------------

@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages made anew; warnings are errors."""
    def build(directory: Path) -> None:
        program, *words = COMMAND.replace("build/manual", f"{directory}/doctrees").split()
        done = run(Path(sys.executable).with_name(program), *words[:-1], directory / "man", cwd=ROOT)
        assert (done.returncode, done.stderr) == (0, "")

    return once(tmp_path_factory, "manual", build) / "man"


def test_committed_pages_are_those_of_the_sources(made: Path) -> None:
    again = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    assert again == FILES, f"run: {COMMAND}"
    different = [name for name in FILES if (made / name).read_bytes() != (MAN / name).read_bytes()]
    assert different == [], f"run: {COMMAND}"


def test_the_command_is_the_one_that_is_documented() -> None:
    for document in ("docs/manual/conf.py", "docs/conf.py", "CONTRIBUTING.md"):
        assert COMMAND in (ROOT / document).read_text(encoding="utf-8"), document


def test_nothing_in_a_page_depends_on_time_or_place() -> None:
    for name in PAGES:
        page = (MAN / name).read_text(encoding="utf-8")
        assert re.search(r'^\.TH "\S+" "\d" "" "pypfm" "[A-Z][\w ]+"$', page, re.MULTILINE), name
        for word in (str(ROOT), "/tmp/", sphinx.__version__, importlib.metadata.version("docutils")):
            assert word not in page, (name, word)


# ---- form -------------------------------------------------------------------------

@pytest.mark.parametrize("page", PAGES)
def test_no_warnings_and_no_line_is_too_long(page: str) -> None:
    """On a narrow terminal, declarations and examples may be cut: lines that are the same at any width."""
    literal = {line.strip() for line in rendered(page, 200)}
    narrow = rendered(page, 60)
    assert [line for line in narrow if len(line) > 80 or (len(line) > 60 and line.strip() not in literal)] == []


def test_the_name_lines_are_found_by_apropos() -> None:
    needs("lexgrog")
    for page in PAGES:
        done = run("lexgrog", MAN / page)
        assert done.returncode == 0, done.stdout
        names = re.findall(r': "(\S+) - ', done.stdout)
        here = Path(page)
        assert names[0] == here.name.rsplit(".", 1)[0]
        assert {f"{here.parent}/{name}{here.suffix}" for name in names[1:]} == {a for a, to in ALIASES.items() if to == page}


def test_an_alias_leads_to_a_page_of_its_section() -> None:
    assert [alias for alias, page in ALIASES.items() if page not in PAGES or Path(alias).parent != Path(page).parent] == []


def test_pages_that_are_named_exist() -> None:
    system = {"execve(2)", "perf_event_open(2)", "open(2)", "read(2)", "write(2)", "profil(3)", "time(1)", "valgrind(1)", "clone(2)",
              "dlclose(3)", "dup(2)", "fork(2)", "poll(2)", "select(2)", "fcntl(2)", "mmap(2)", "ptrace(2)"}
    ours = {f"{Path(name).stem}({Path(name).suffix[1:]})" for name in FILES}
    for page in PAGES:
        source = (SOURCES / f"{Path(page).name}.rst").read_text(encoding="utf-8")
        named = set(re.findall(r":manpage:`(.*?)`", source))
        named |= set(re.findall(r"[A-Za-z_][\w.]*\([1-8]\)", section(page, "SEE ALSO")))
        assert named, page
        assert named - ours - system == set(), page


# ---- what is covered --------------------------------------------------------------

@pytest.mark.parametrize("library", VERSION_SCRIPTS)
def test_every_function_has_a_page(library: str) -> None:
    script = (ROOT / "csrc" / library / VERSION_SCRIPTS[library]).read_text(encoding="utf-8")
    exported = set(re.findall(r"^\t(\w+);$", script, re.MULTILINE))
    inline = HeaderNames(LIBRARIES[library], {}, []).inline_functions - set(ELSEWHERE)
    assert exported
    for function in exported | inline:
        page = page_of(function)
        assert page in PAGES, function
        assert f" {function}(" in re.sub(r"[*\n]", " ", section(page, "SYNOPSIS")), function
        described = [line for line in rendered(page, 200) if re.match(rf" +{function}\([\w, ]*\)$", line)]
        assert described or library == "pmc", function


@pytest.mark.parametrize("library", VERSION_SCRIPTS)
def test_every_parameter_is_described(library: str) -> None:
    headers = (ROOT / "csrc" / library / "include").rglob("*.h")
    comments = re.findall(r"/\*\*\n((?: \*.*\n)+?) \*/\n(?:extern|static inline)\s[^;{]*?\b(\w+)\(",
                          "".join(path.read_text(encoding="utf-8") for path in headers))
    assert comments
    for comment, function in comments:
        if function in (*ELSEWHERE, "pmc_control", "pmc_get_info"):
            continue
        lines = [line.strip() for line in rendered(page_of(function), 200)]
        for parameter in re.findall(r":param (\w+):", comment):
            assert any(line.split(" ")[0] == parameter for line in lines), (function, parameter)


@pytest.mark.parametrize(("library", "codes"), [("pfm3", r"PFMLIB_ERR_\w+"), ("pfm4", r"PFM_ERR_\w+")])
def test_every_return_code_is_on_the_page_about_them(library: str, codes: str) -> None:
    header = (LIBRARIES[library].include_dir / "perfmon" / "pfmlib.h").read_text(encoding="utf-8")
    found = re.findall(rf'\bX\(({codes}), +"(.*)"\)', header)
    assert len(found) == header.count("#define " + codes[:codes.index("\\")])
    page = text(page_of("pfm_strerror"))
    for code, message in found:
        number = re.search(rf"#define {code} +\((-\d+)\)", header)
        assert number
        assert f"{code} ({number[1]}) {message}" in page, code


@pytest.mark.parametrize("library", ["pfm3", "pfm4"])
def test_the_codes_that_a_function_returns_are_among_the_errors_of_its_page(library: str) -> None:
    header = "".join(path.read_text(encoding="utf-8") for path in LIBRARIES[library].include_dir.rglob("*.h"))
    comments = re.findall(r"/\*\*\n((?: \*.*\n)+?) \*/\nextern [^;]*?\b(pfm_\w+)\(", header)
    assert comments
    for comment, function in comments:
        words = text(page_of(function))
        for code in re.findall(r"PFM(?:LIB)?_ERR_[A-Z_]+\b(?!\*)", comment.partition(":return:")[2]):
            assert f"{code} (-" in words, (function, code)


PERFMON2 = ["perfmonctl", "pfm_create", "pfm_create_context", "pfm_create_evtsets", "pfm_load_context", "pfm_start", "pfm_write_pmcs"]


def test_the_calls_of_perfmon2_are_in_section_2() -> None:
    """20 calls, two of them under a second name as well, each found by its name and only there."""
    named = system_calls() - {"pmc_control", "pmc_get_info"}
    assert len(named) == 22
    assert {page_of(name) for name in named} == {f"man2/{page}.2" for page in PERFMON2}
    assert {name for name in named if f"man3/{name}.3" in FILES} == set()


@pytest.mark.parametrize("page", PERFMON2)
def test_every_errno_of_perfmon2_is_among_the_errors(page: str) -> None:
    """Those that the header names for the page's calls, and those of the page's list of checks."""
    headers = "".join((LIBRARIES["pfm3"].include_dir / "perfmon" / name).read_text(encoding="utf-8")
                      for name in ("perfmon.h", "perfmon_v2.h", "perfmon_compat.h"))
    comments = re.findall(r"/\*\*\n((?: \*.*\n)+?) \*/\nextern int (\w+)\(", headers)
    said = " ".join(comment for comment, function in comments if page_of(function) == f"man2/{page}.2")
    lines = rendered(f"man2/{page}.2", 200)
    [checks] = [line for line in lines if re.fullmatch(r"CHECKS\b.*", line)]
    named = set(re.findall(r"\bE[A-Z0-9]{3,}\b", said + section(f"man2/{page}.2", checks)))
    listed = set(re.findall(r"\bE[A-Z0-9]{3,}\b", section(f"man2/{page}.2", "ERRORS")))
    assert len(named) >= 5
    assert named - listed == set()
    assert "ENOSYS" in listed


@pytest.mark.parametrize(("library", "page"), [("pmc", "man2/pmc_control.2"), ("pmc", "man3/libpmc.3"),
                                               ("perfex", "man3/libperfex.3")])
def test_every_errno_is_among_the_errors(library: str, page: str) -> None:
    header = {"man2/pmc_control.2": "sys/pmc.h", "man3/libpmc.3": "pmc.h", "man3/libperfex.3": "perfex.h"}[page]
    comments = (LIBRARIES[library].include_dir / header).read_text(encoding="utf-8")
    named = set(re.findall(r"\b(E[A-Z]{3,})\b", comments)) - {"ERRORS"}
    assert named
    listed = set(re.findall(r"\bE[A-Z]+\b", section(page, "ERRORS")))
    assert named - listed == set()


@pytest.mark.parametrize("library", VERSION_SCRIPTS)
def test_every_structure_and_its_members(library: str) -> None:
    """The unions of registers are named only, and Linux has its own page about its structures."""
    words = everything()
    for name in types(library):
        if name.startswith(("struct perf_", "union perf_")):
            continue
        if name.endswith(("_pmc_reg_t", "_pmd_reg_t")):
            assert re.search(rf"\b{name}\b", words), name
            continue
        declared = re.search(rf"(?:typedef (?:struct|union)|{name}) {{ ([^{{}}]|{{[^{{}}]*}})*? }}(?: {name})?;", words)
        assert declared, name
        for member in describe(name, library=library).members:
            if member.name:
                assert re.search(rf"\b{member.name}\b", declared[0]), (name, member.name)


def options(parser: argparse.ArgumentParser) -> set[str]:
    return {option for action in parser._actions for option in action.option_strings}


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                found |= {one.prog: one} | commands(one)
    return found


@pytest.mark.parametrize(("parser", "page"), [(pypfm_parser(), "man1/pypfm.1"), (perfex_parser(), "man1/perfex.1"),
                                              (pmc_parser(), "man1/pmc.1")], ids=["pypfm", "perfex", "pmc"])
def test_every_option_of_a_program(parser: argparse.ArgumentParser, page: str) -> None:
    listed = re.findall(r"(?<![\w-])--?\w[\w-]*", section(page, "OPTIONS"))
    assert options(parser) - set(listed) == set()


def test_a_page_names_no_other_options_of_its_program() -> None:
    """Nor other forms of the command line."""
    parser = perfex_parser()
    words = text("man1/perfex.1")
    assert set(re.findall(r"(?<![\w-])--\w[\w-]*", words)) - options(parser) == set()
    in_page, in_help = (set(re.findall(r"perfex (--?\w+)", t)) for t in (section("man1/perfex.1", "SYNOPSIS"), parser.format_usage()))
    assert in_page == in_help


def test_every_command_of_pypfm_with_its_options_and_arguments() -> None:
    page = section("man1/pypfm.1", "COMMANDS")
    found = commands(pypfm_parser())
    assert "pypfm vectors record" in found
    parts = dict(re.findall(r"^   (pypfm [\w ]+)\n((?:(?!   pypfm ).*\n?)*)", page, re.MULTILINE))
    assert list(parts) == list(found)
    for name, parser in found.items():
        listed = set(re.findall(r"(?<![\w-])--?\w[\w-]*", parts[name]))
        assert options(parser) - {"-h", "--help"} - listed == set(), name
        for action in parser._actions:
            if not action.option_strings and isinstance(action.metavar, str):
                assert action.metavar in parts[name], (name, action.metavar)


def test_every_exit_status_of_pmc() -> None:
    source = (ROOT / "pypfm" / "cli" / "pmc.py").read_text(encoding="utf-8")
    statuses = re.search(r"^_EXIT_USAGE, .* = ([\d, ]+)$", source, re.MULTILINE)
    assert statuses
    listed = re.findall(r"^ {7}(\d)\b", section("man1/pmc.1", "EXIT STATUS"), re.MULTILINE)
    assert sorted(listed) == ["0", *statuses[1].split(", ")]


def test_every_variable_of_the_environment() -> None:
    words = everything()
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "csrc").rglob("*.c")]
    named = set(re.findall(r'\b(?:environment|perfex_environment|read_digit)\("(\w+)"', "".join(sources)))
    assert {"LIBPFM_FORCE_PMU", "PMC_MACHINE", "PERFEX_COSTS"} <= named
    for variable in named | {"T5_EVENT0", "T5_EVENT1", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}:
        assert re.search(rf"\b{variable}\b", words), variable


def test_every_event_of_perfex() -> None:
    words = text("man5/r10k_counters.5")
    with (ROOT / "csrc" / "tables" / "perfex_events.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 66
    for row in rows:
        assert f" {row['index']} {row['name']} {row['description']}" in words, row


# ---- examples ---------------------------------------------------------------------

def blocks(page: str) -> list[str]:
    """The C code of a source that is more than an include line."""
    source = (SOURCES / f"{page}.rst").read_text(encoding="utf-8")
    found = re.findall(r"^\.\. code-block:: c\n\n((?:   .*\n|\n)+)", source, re.MULTILINE)
    return [block for block in found if ";" in block]


SNIPPETS = {"pfm_find_event.3": "pfm3", "pfm_regmask_set.3": "pfm3", "pfm_get_perf_event_encoding.3": "pfm4",
            "pfm_get_event_info.3": "pfm4"}
PROGRAMS = {"pfm_dispatch_events.3": "pfm3", "libpfm_montecito.3": "pfm3", "pfm_get_os_event_encoding.3": "pfm4", "libpmc.3": "pmc",
            "libperfex.3": "perfex"}


def test_no_example_is_left_out() -> None:
    assert {path.stem for path in SOURCES.glob("*.rst") if blocks(path.stem)} == {*SNIPPETS, *PROGRAMS}


@pytest.mark.parametrize("page", sorted(path.stem for path in SOURCES.glob("*.[23].rst")))
def test_how_a_program_is_run_stands_beside_how_it_is_compiled(page: str) -> None:
    """On a host that is no Itanium it needs a PMU, and what counts."""
    text = (SOURCES / f"{page}.rst").read_text(encoding="utf-8")
    for library, then in re.findall(r"^   cc prog\.c \$\(pypfm config --cflags --libs (pfm[34])\)\n   (.*)", text, re.MULTILINE):
        assert then.startswith(f"LIBPFM_FORCE_PMU={'itanium2' if library == 'pfm3' else 'glm'} ")
        assert ("LIBPFM_PERFMON=model" in then) == ("perfmon/perfmon" in text)
    for block in blocks(page):
        library = {**SNIPPETS, **PROGRAMS}[page]
        of_processor = "encoding(" in block and "perf::" not in block  # which the host may not have
        if library == "pfm3" or (library == "pfm4" and of_processor):
            assert "LIBPFM_FORCE_PMU=" in block or "pfm_force_pmu(" in block


@pytest.mark.parametrize("page", SNIPPETS)
def test_parts_of_programs_compile(page: str) -> None:
    library = LIBRARIES[SNIPPETS[page]]
    header = "perfmon/pfmlib_perf_event.h" if library.name == "pfm4" else "perfmon/pfmlib.h"
    source = "#include <stdio.h>\n#include <{}>\nunsigned int event;\nvoid part(void)\n{{\n{}}}\n"
    for block in blocks(page):
        build(CC, "-Wall", "-Werror", "-Wno-unused-but-set-variable", "-Wno-unused-variable", "-D_GNU_SOURCE",
              *library.cflags, "-c", "-x", "c", "-", "-o", "/dev/null", source=source.format(header, block))


@pytest.mark.parametrize("page", PROGRAMS)
def test_programs_compile_and_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    library = LIBRARIES[PROGRAMS[page]]
    [source] = blocks(page)
    build(CC, "-Wall", "-Wextra", "-Werror", *library.cflags, "-x", "c", "-", "-o", tmp_path / "prog", *library.libs,
          source=source)
    said = re.search(r"prints ``(.*)``", (SOURCES / f"{page}.rst").read_text(encoding="utf-8"))
    if said:
        done = run(tmp_path / "prog", env=clean_env(LIBPFM_FORCE_PMU="glm"))
        assert (done.returncode, done.stdout) == (0, f"{said[1]}\n")


def test_the_cost_table_of_the_example_is_one(tmp_path: Path) -> None:
    source = (SOURCES / "perfex.costs.5.rst").read_text(encoding="utf-8")
    block = re.search(r"^\.\. code-block:: text\n\n((?:   .*\n|\n)+)", source, re.MULTILINE)
    assert block
    (tmp_path / "costs").write_text(block[1], encoding="utf-8")
    done = run(Path(sys.executable).with_name("perfex"), "-t", "-y", "-c", tmp_path / "costs")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^ 26 nsec +450 +160 +900 ", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("page", ["libpfm_intel_glm", "libpfm_ia64"])
@pytest.mark.parametrize("mark", ["Valid", "Refused"])
def test_event_strings(page: str, mark: str) -> None:
    source = (SOURCES / f"{page}.3.rst").read_text(encoding="utf-8")
    block = re.search(rf"^{mark}:\n\n\.\. code-block:: text\n\n((?:   .*\n)+)", source, re.MULTILINE)
    assert block
    for string in block[1].split():
        pmu = string.partition("::")[0] if "::" in string else "glm"
        if pmu == "gen_ia64":  # on the command line that is libpfm 3's
            done = run(sys.executable, "-c", f"from pypfm.perf import Pmu; Pmu({pmu!r}).encode({string!r})")
        else:
            done = run(Path(sys.executable).with_name("pypfm"), "encode", "-p", pmu, "--check", "reference", string)
        assert done.returncode == (0 if mark == "Valid" else 1), (string, done.stderr)


# ---- installed --------------------------------------------------------------------

def test_all_pages_are_installed() -> None:
    root = Path(sysconfig.get_path("data")) / "share" / "man"
    files = {Path(str(file.locate())).resolve() for file in importlib.metadata.files("pypfm") or ()}
    for name in FILES:
        assert (root / name).resolve() in files, name
        assert (root / name).read_bytes() == (MAN / name).read_bytes(), name


@pytest.mark.parametrize(("words", "title"), [
    (["pypfm"], "PYPFM(1)"), (["2", "pmc_get_info"], "PMC_CONTROL(2)"), (["2", "pfm_read_pmds"], "PFM_WRITE_PMCS(2)"),
    (["pfm_get_event_info"], "PFM_GET_EVENT_INFO(3)"), (["5", "perfex.costs"], "PERFEX.COSTS(5)")])
def test_installed_pages_are_found(words: list[str], title: str) -> None:
    """Aliases, too; without warnings."""
    done = man("-M", Path(sysconfig.get_path("data")) / "share" / "man", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(title)
