"""What autodoc needs to know of our docstrings.

* ``:ivar NAME: text`` of a class becomes the text of the attribute, beside its type.
* Imports under ``if TYPE_CHECKING`` are made, so that all annotations can be evaluated.
* A dataclass shows its fields once, as attributes, and not as parameters again.
* A short name in a field or an annotation is what its module means by it.
* What a package re-exports (`pypfm.Itanium2`) is documented under that name, and not again
  in its own module.
"""

from __future__ import annotations

import _ctypes
import ast
import builtins
import ctypes
import dataclasses
import re
import sys
from collections import deque
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

import pypfm

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import CodeType, ModuleType

    from sphinx.application import Sphinx
    from sphinx.config import Config

_PACKAGES = ("pypfm", "pypfm.conform", "pypfm.perfex")
_CFFI_DATA = "_cffi_backend._CDataBase"  # the name that cffi's CData gives itself
_FIELD_TYPES = ("class", "exc")
_IVAR = re.compile(r":ivar ([\w, ]+): *(.*)")
_ivars: dict[str, dict[str, list[str]]] = {}  # of each class


def modules() -> list[ModuleType]:
    """All modules of the package."""
    names = [m.name for m in walk_packages(pypfm.__path__, "pypfm.") if not m.name.endswith("__main__")]
    imported = [import_module(name) for name in ["pypfm", *names]]
    return [m for m in imported if str(getattr(m, "__file__", "")).endswith(".py")]


def type_imports(module: ModuleType) -> CodeType:
    """What a module does for type checkers only, but for classes, which it has in another form."""
    file = module.__file__ or ""
    blocks = [node.body for node in ast.parse(Path(file).read_text(encoding="utf-8")).body
              if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"]
    rest = [statement for block in blocks for statement in block if not isinstance(statement, ast.ClassDef)]
    return compile(ast.Module(rest, []), file, "exec")


def import_types(_app: Sphinx, _config: Config) -> None:
    """Make the imports that are for type checkers only."""
    # What typeshed has in _ctypes, and Python does not.
    vars(_ctypes).update(_CData=ctypes._SimpleCData.__base__, _CArgObject=type(ctypes.byref(ctypes.c_int())))
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


def names_of(module: ModuleType | None) -> Collection[str]:
    """The public names of a module; pypfm itself has no __all__ but a dir()."""
    return getattr(module, "__all__", dir(module) if module is pypfm else ())


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
    return any(name in names_of(p) and getattr(p, name) is obj for p in packages) or None


def drop_parameters(_app: Sphinx, domain: str, objtype: str, content: nodes.Element) -> None:
    """Take a dataclass's parameters away, where autodoc has made them of its fields."""
    if domain != "py" or objtype not in ("class", "exception"):
        return
    signature = next(content.parent.findall(desc_signature))
    cls = getattr(sys.modules.get(signature["module"]), signature["fullname"], None)
    if not dataclasses.is_dataclass(cls):
        return
    for fields in [child for child in content if isinstance(child, nodes.field_list)]:
        for field in list(fields):
            name, body = field.children
            kind = name.astext().split()[0]
            if kind == "type" or (kind == "param" and not body.astext()):
                fields.remove(field)
        if not fields.children:
            content.remove(fields)


def full_name(module: ModuleType, name: str) -> str | None:
    """What a module means by a name, under the name that is documented; None: nothing."""
    found = getattr(module, name, None)
    if isinstance(found, type):
        return found.__qualname__ if found.__module__ == "builtins" else f"{found.__module__}.{found.__qualname__}"
    if found is None:
        return None
    # An alias of a type, a function: where it is public.
    homes = [m.__name__ for m in modules() if name in names_of(m) and getattr(m, name) is found]
    return f"{homes[0]}.{name}" if homes else None


class ShortNames(SphinxPostTransform):
    """Before references are resolved: short names of types and errors become full ones."""

    default_priority = 5

    def run(self, **_kwargs: object) -> None:
        documented = self.env.domains["py"].objects
        for node in self.document.findall(pending_xref):
            if node["refdomain"] != "py" or node["reftype"] not in _FIELD_TYPES:
                continue
            if node["reftarget"] == _CFFI_DATA:
                node["reftarget"], node[:] = "pypfm._c.mirror.CData", [nodes.Text("CData")]
            if "." not in node["reftarget"] and (full := self._full(node)):
                node["reftarget"] = full
                for context in ("refspecific", "py:module", "py:class"):
                    node.attributes.pop(context, None)
            if node["reftarget"] in documented:
                node["reftype"] = "obj"  # an alias of a type is no class

    def _full(self, node: pending_xref) -> str | None:
        name, module = node["reftarget"], sys.modules.get(node.get("py:module") or "")
        if module and f"{module.__name__}.{name}" in self.env.domains["py"].objects:
            return f"{module.__name__}.{name}"
        # What a package documents may come from another module: of the class, of its other names.
        names = [node.get("py:class") or "", *names_of(module)]
        homes = {getattr(getattr(module, n, None), "__module__", "") for n in names}
        scopes = [module, *(sys.modules.get(home) for home in sorted(map(str, homes))), builtins]
        return next(filter(None, (full_name(scope, name) for scope in scopes if scope)), None)


class Dashes(SphinxTransform):
    """The dash after a parameter.  Nothing else is one: smart quotes would take --options for dashes."""

    default_priority = 800

    def apply(self, **_kwargs: object) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if text == " -- ":
                text.parent.replace(text, nodes.Text(" \N{EN DASH} "))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", import_types)
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    app.connect("object-description-transform", drop_parameters, priority=600)  # after autodoc
    app.add_post_transform(ShortNames)
    app.add_transform(Dashes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
