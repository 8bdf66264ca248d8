"""What autodoc needs to know of our docstrings.

* ``:ivar NAME: text`` of a class becomes the text of the attribute, beside its type.
* Imports under ``if TYPE_CHECKING`` are made, so that all annotations can be evaluated.
* A dataclass shows its fields once, as attributes, and not as parameters again.
* A short name in a field or an annotation is what its module means by it.
* What a package re-exports (`pypfm.Itanium2`) is documented under that name, and not again
  in its own module.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from collections import deque
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING

from docutils import nodes

import pypfm

if TYPE_CHECKING:
    from types import CodeType, ModuleType

    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

_PACKAGES = ("pypfm", "pypfm.conform", "pypfm.perfex")
_IVAR = re.compile(r":ivar ([\w, ]+): *(.*)")
_ivars: dict[str, dict[str, list[str]]] = {}  # of each class


def modules() -> list[ModuleType]:
    """All modules of the package."""
    names = [m.name for m in walk_packages(pypfm.__path__, "pypfm.") if not m.name.endswith("__main__")]
    imported = [import_module(name) for name in ["pypfm", *names]]
    return [m for m in imported if str(getattr(m, "__file__", "")).endswith(".py")]


def type_imports(module: ModuleType) -> CodeType:
    """What a module does for type checkers only."""
    file = module.__file__ or ""
    blocks = [node.body for node in ast.parse(Path(file).read_text(encoding="utf-8")).body
              if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"]
    return compile(ast.Module([statement for block in blocks for statement in block], []), file, "exec")


def import_types(_app: Sphinx, _config: Config) -> None:
    """Make the imports that are for type checkers only."""
    waiting = deque((module, type_imports(module)) for module in modules())
    failures = 0
    while waiting:
        module, code = waiting.popleft()
        try:
            exec(code, vars(module))
            failures = 0
        except ImportError:  # of a name that another module has for type checkers only
            failures += 1
            if failures > len(waiting):
                raise
            waiting.append((module, code))


def take_ivars(lines: list[str]) -> dict[str, list[str]]:
    """The attributes that a class describes, taken out of its docstring."""
    found: dict[str, list[str]] = {}
    rest, current = [], None
    for line in lines:
        if match := _IVAR.match(line):
            current = [match[2]]
            found |= dict.fromkeys(re.split(", *", match[1]), current)
        elif current is not None and line.startswith(" "):
            current.append(line.strip())
        else:
            current = None
            rest.append(line)
    lines[:] = rest
    return found


def process(_app: Sphinx, what: str, name: str, _obj: object, _options: object, lines: list[str]) -> None:
    if what in ("class", "exception"):
        _ivars[name] = take_ivars(lines)
    elif what in ("attribute", "property") and not any(lines):
        owner, _, attribute = name.rpartition(".")
        lines[:] = _ivars.get(owner, {}).get(attribute, [])


def skip(_app: Sphinx, what: str, name: str, obj: object, _skip: bool, _options: object) -> bool | None:
    if what != "module":
        return None
    packages = [sys.modules[p] for p in _PACKAGES]
    return any(name in p.__all__ and getattr(p, name) is obj for p in packages) or None


def drop_parameters(_app: Sphinx, domain: str, objtype: str, content: nodes.Element) -> None:
    """Take the types of a dataclass's parameters away: autodoc has put them there."""
    signature = content.parent[0]
    if domain != "py" or objtype not in ("class", "exception"):
        return
    cls = getattr(sys.modules.get(signature["module"]), signature["fullname"], None)
    if not dataclasses.is_dataclass(cls):
        return
    for fields in [child for child in content if isinstance(child, nodes.field_list)]:
        for field in [f for f in fields if f[0].astext().startswith("type ")]:
            fields.remove(field)
        if not fields.children:
            content.remove(fields)


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element) -> nodes.Element | None:
    """Of a short name: the object that it is in its module, under the name that is documented."""
    module = sys.modules.get(node.get("py:module") or "")
    if node["refdomain"] != "py" or module is None or "." in node["reftarget"]:
        return None
    found = getattr(module, node["reftarget"], None)
    full = f"{getattr(found, '__module__', None)}.{getattr(found, '__qualname__', None)}"
    if not isinstance(found, type):  # an alias of a type: where it is public
        homes = [m.__name__ for m in modules() if getattr(m, "__all__", None)
                 and node["reftarget"] in m.__all__ and getattr(m, node["reftarget"]) is found]
        full = f"{homes[0]}.{node['reftarget']}" if found is not None and homes else node["reftarget"]
    node["reftarget"] = full  # for intersphinx
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", full, node, contnode)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", import_types)
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    app.connect("object-description-transform", drop_parameters, priority=600)  # behind autodoc
    app.connect("missing-reference", resolve, priority=400)  # before intersphinx
    return {"parallel_read_safe": True, "parallel_write_safe": True}
