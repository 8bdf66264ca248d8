"""The C and the Python reference: everything public is in objects.inv.

What is public comes from the compiler's preprocessor, the exported symbols, cffi and __all__, not from
the documentation.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from _cffi_backend import CType
from sphinx.util.inventory import InventoryFile

import pypfm
from conftest import run
from header_names import HeaderNames
from native import LINKERS_NAMES, exported
from pypfm.config import LIBRARIES

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
C_LIBRARIES = [name for name, library in LIBRARIES.items() if not library.form_of]
TYPES = ("c:struct", "c:union", "c:enum", "c:type")
every_library = pytest.mark.parametrize("name", C_LIBRARIES)


# What is inside them is reached through the package, which has the names for users; commands have pages of their own.
CLOSED = ("pypfm.bench.", "pypfm.cli.", "pypfm.common", "pypfm.conform.checks", "pypfm.conform.functions", "pypfm.conform.random",
          "pypfm.conform.report.", "pypfm.conform.worker", "pypfm.ia64.", "pypfm.layout.", "pypfm.netbsd.", "pypfm.perf.",
          "pypfm.perfex.backends.", "pypfm.perfex.benchmarks", "pypfm.perfex.opening", "pypfm.perfex.output", "pypfm.perfex.regions",
          "pypfm.perfex.running", "pypfm.pytest_perfex")  # the last: options, in a guide


def public_modules() -> list[str]:
    """Modules without an underscore, and not inside a package that is closed."""
    names = ["pypfm", *(m.name for m in walk_packages(pypfm.__path__, "pypfm."))]
    return [n for n in names if not any(part.startswith("_") for part in n.split(".")) and not n.startswith(CLOSED)]


PUBLIC = public_modules()


@pytest.fixture(scope="module")
def inventory(site: Path) -> dict[str, set[str]]:
    """Names by kind: c:function ..."""
    with (site / "objects.inv").open("rb") as stream:
        loaded = InventoryFile.load(stream, "", lambda base, path: base + path)
    return {kind: set(found) for kind, found in loaded.items()}


def missing(inventory: dict[str, set[str]], library: str, names: Iterable[str], *kinds: str) -> list[str]:
    """Those of a C library's names that are not documented."""
    known = set().union(*(inventory.get(kind, set()) for kind in kinds))
    return sorted(name for name in names if f"{library}.{name}" not in known)


def defined_macros(api: HeaderNames) -> set[str]:
    """Macros that the library's own headers define on this machine, but for include guards."""
    found, ours = set(), False
    for line in api.preprocess(api.headers, "-dD").splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            ours = marker.group(1).startswith(str(api.library.include_dir))
        elif ours and (match := re.match(r"#define (\w+)(\(.*?\))?(?: (.*))?$", line)) and (match[2] or match[3]):
            found.add(match[1])
    return found


@every_library
def test_functions(inventory: dict[str, set[str]], name: str) -> None:
    api = HeaderNames(LIBRARIES[name], {}, [])
    functions = set(exported(LIBRARIES[name].path)) | api.extern_functions | api.inline_functions
    assert set(exported(LIBRARIES[name].path)) <= functions
    assert missing(inventory, name, functions - LINKERS_NAMES.get(name, set()), "c:function") == []


@every_library
def test_types(inventory: dict[str, set[str]], name: str) -> None:
    api = HeaderNames(LIBRARIES[name], {}, [])
    types = api.typedefs | api.struct_tags | set(re.findall(r"\benum\s+(\w+)\s*{", api.preprocessed))
    assert types or name == "perfex"
    assert missing(inventory, name, types, *TYPES) == []


@every_library
def test_constants_and_macros(inventory: dict[str, set[str]], name: str) -> None:
    api = HeaderNames(LIBRARIES[name], {}, [])
    macros = defined_macros(api)
    assert len(macros | api.enumerators) > 10 or name == "perfex"
    assert missing(inventory, name, macros, "c:macro") == []
    assert missing(inventory, name, api.enumerators, "c:enumerator") == []


def members(ctype: CType, path: str) -> Iterator[str]:
    """Members of a structure, and of those members that are structures without a tag."""
    for name, field in ctype.fields or ():
        inner = f"{path}.{name}" if name else path
        if name:
            yield inner
        if field.type.kind in ("struct", "union") and "$" in field.type.cname:
            yield from members(field.type, inner)


@every_library
def test_members(inventory: dict[str, set[str]], name: str) -> None:
    """Members of structures, as cffi knows them."""
    ffi = import_module(f"pypfm._c.{LIBRARIES[name].module}").ffi
    api = HeaderNames(LIBRARIES[name], {}, [])
    types = {ffi.typeof(t) for t in api.typedefs - api.incomplete_types}
    types |= {ffi.typeof(f"struct {t}") for t in api.struct_tags}
    # An unnamed member has a made-up name in the inventory.
    known = {re.sub(r"\.@\w+", "", n) for kind in ("c:member", "c:struct", "c:union") for n in inventory.get(kind, ())}
    named = [m for t in types if t.kind in ("struct", "union")
             for m in members(t, f"{name}.{t.cname.removeprefix('struct ')}")]
    assert named or name == "perfex"
    assert [m for m in named if m not in known] == []


def test_a_wrong_name_is_missing(inventory: dict[str, set[str]]) -> None:
    assert missing(inventory, "pfm3", ["pfm_initialise", "pfm_initialize"], "c:function") == ["pfm_initialise"]
    assert missing(inventory, "pfm3", ["pfm_get_perf_event_encoding"], "c:function") == ["pfm_get_perf_event_encoding"]
    assert undocumented(inventory, {"pypfm.Itanium2": pypfm.Itanium2, "pypfm.Itanium3": 3}) == ["pypfm.Itanium3"]


def undocumented(inventory: dict[str, set[str]], names: dict[str, object]) -> list[str]:
    """Public names that are in objects.inv neither themselves nor as the class or function that they are."""
    known = set().union(*(found for kind, found in inventory.items() if kind.startswith("py:")))
    homes: dict[int, set[str]] = {}
    for full, value in public_names().items():
        homes.setdefault(id(value), set()).add(full)
    return [full for full, value in names.items() if full not in known and not (
        (inspect.isclass(value) or inspect.isfunction(value))
        and known & (homes.get(id(value), set()) | {f"{value.__module__}.{value.__qualname__}"}))]


def public_names() -> dict[str, object]:
    modules = [import_module(name) for name in PUBLIC]
    return {f"{m.__name__}.{name}": getattr(m, name) for m in modules for name in getattr(m, "__all__", dir(m))}


@pytest.mark.parametrize("module", PUBLIC)
def test_python_names(inventory: dict[str, set[str]], module: str) -> None:
    assert module in inventory["py:module"]
    prefix = f"{module}."
    own = {full: value for full, value in public_names().items() if full.rpartition(".")[0] + "." == prefix}
    assert own
    assert undocumented(inventory, own) == []


@pytest.mark.parametrize("module", ["pfm3", "pfm3_manual", "pfm4", "pmc", "libperfex"])
def test_mirrors_under_their_own_names(inventory: dict[str, set[str]], module: str) -> None:
    """Here, no other module's page stands for a name."""
    known = set().union(*(found for kind, found in inventory.items() if kind.startswith("py:")))
    assert [n for n in import_module(f"pypfm.{module}").__all__ if f"pypfm.{module}.{n}" not in known] == []


def test_command_line(site: Path) -> None:
    from pypfm.cli import build_parser

    commands = next(a for a in build_parser()._actions if a.dest == "command").choices
    assert commands
    for name, parser in commands.items():
        page = (site / "commands" / f"{name}.html").read_text(encoding="utf-8")
        for option in (o for a in parser._actions for o in a.option_strings if o.startswith("--") and o != "--help"):
            assert option in page, f"pypfm {name} {option}"


def test_both_libpfms(site: Path) -> None:
    """A page can link functions of the same name in two libraries."""
    page = (site / "c" / "index.html").read_text(encoding="utf-8")
    for library in ("pfm3", "pfm4"):
        assert f'href="{library}/pfmlib.html#c.{library}.pfm_initialize"' in page


def test_what_warns_and_what_does_not(tmp_path: Path) -> None:
    """Names in single backquotes are quiet; roles that say what they mean are not."""
    (tmp_path / "conf.py").write_text(f"""\
import sys
sys.path.insert(0, {str(DOCS / "_ext")!r})
project, extensions = "x", ["sphinx.ext.autodoc", "c_headers", "docstrings", "library_types", "quiet_role"]
default_role, nitpicky = "quiet", True
""")
    (tmp_path / "index.rst").write_text("""\
x
=

.. py:class:: pypfm.Itanium2

`Itanium2` and `whatever --it is`; :py:class:`pypfm.Itanium2`, :py:class:`pathlib.Path`, :py:class:`int`.

:py:class:`pypfm.Itanium3`

:py:class:`pathlib.Pth`

:c:func:`pfm_initialise`
""")
    built = run(sys.executable, "-m", "sphinx", "-q", "-n", ".", "out", cwd=tmp_path)
    targets = re.findall(r"reference target not found: (\S+)", built.stderr)
    assert targets == ["pypfm.Itanium3", "pathlib.Pth", "pfm_initialise"], built.stderr
    assert len(built.stderr.splitlines()) == len(targets), built.stderr
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert page.count('href="#pypfm.Itanium2"') > 1
    assert "whatever --it is</span>" in re.sub(r"</span> <span[^>]*>", " ", page)
