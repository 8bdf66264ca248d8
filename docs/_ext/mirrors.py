"""Pages of the mirrors: ``.. mirror:: pfm3`` is everything in pypfm.pfm3.

All is in the order of the headers, and says what they say.  Constants stand in tables, which are
short; each has its own anchor.
"""

from __future__ import annotations

import ctypes
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_id

from c_text import to_rst
from layout_tables import places
from library_headers import Header, Symbol, headers_of, page_of
from pypfm._c import names
from pypfm._c.structures import Structure, Union
from pypfm.config import LIBRARIES

if TYPE_CHECKING:
    from types import ModuleType

    from sphinx.application import Sphinx

_LIBRARY_OF = {library.module: name for name, library in LIBRARIES.items()}
_TEXTS = {"ffi": "The cffi object of the extension module: types, ``ffi.new()``, ``ffi.errno``."
                " ``ffi.from_buffer(\"T *\", x)`` is a structure of the mirror for its functions.",
          "lib": "The C functions and constants as cffi gives them."}


def roles_of(module: ModuleType) -> dict[str, str]:
    """The role of each name of a mirror."""
    return {name: f"py:{_role(getattr(module, name))}" for name in module.__all__}


def _role(value: object) -> str:
    if isinstance(value, type):
        return "class"
    return "func" if callable(value) else "data"


class ConstantsDirective(SphinxDirective):
    """``.. mirror-constants:: MODULE HEADER``: a table of its constants."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        name, header_name = self.arguments
        module = import_module(f"pypfm.{name}")
        header = next(h for h in headers_of(_LIBRARY_OF[name]) if h.name == header_name)
        body = nodes.tbody()
        for symbol in _constants(header, module):
            body += self._row(module, symbol, to_rst(symbol.text, roles_of(module)))
        group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in (40, 20, 40)), cols=3)
        head = nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in ("Name", "Value", "")))
        group += [nodes.thead("", head), body]
        return [nodes.table("", group, classes=["constants"])]

    def _row(self, module: ModuleType, symbol: Symbol, text: str) -> nodes.row:
        full = f"{module.__name__}.{symbol.name}"
        anchor = make_id(self.env, self.state.document, "", full)
        name = nodes.literal("", symbol.name, ids=[anchor])
        self.state.document.note_explicit_target(name)
        self.env.domains["py"].note_object(full, "data", anchor, location=name)
        value = getattr(module, symbol.name)
        shown = hex(value) if symbol.value.lower().startswith("0x") else str(value)
        content, messages = self.parse_inline(text)
        cells = [name], [nodes.literal("", shown)], content
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *cell)) for cell in cells), *messages)


def _constants(header: Header, module: ModuleType) -> Iterator[Symbol]:
    for symbol in header.all():
        if symbol.role in ("macro", "enumerator") and type(getattr(module, symbol.name, None)) is int:
            yield symbol


class MirrorDirective(SphinxDirective):
    """``.. mirror:: MODULE``: the whole module."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        text = "\n".join(_page(self.arguments[0]))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _page(name: str) -> Iterator[str]:
    module = import_module(f"pypfm.{name}")
    library = LIBRARIES[_LIBRARY_OF[name]]
    headers = headers_of(library.name)
    yield f".. automodule:: {module.__name__}\n   :no-members:\n"
    yield "From the headers\n"
    yield from (f"* :doc:`{h.name} </c/{library.form_of or library.name}/{page_of(h)}>`" for h in headers
                if any(h.all()))  # a header that declares nothing here has no page
    yield ""
    declared = [(s, getattr(module, s.name, None)) for h in headers for s in h.all() if s.role != "member"]
    yield from _section("Functions", [_function(module, s.name, library.form_of or library.name)
                                      for s, value in declared if inspect.isfunction(value)])
    yield from _section("Structures", [_structure(module, s) for s, value in declared if _is_structure(value)])
    yield from _section("Variables of C types", [_variable(module, s) for s, value in declared if _is_variable(value)])
    yield from _section("Constants", [f".. rubric:: {h.name}\n\n.. mirror-constants:: {name} {h.name}\n"
                                      for h in headers if any(_constants(h, module))])
    others = set(module.__all__) - {s.name for s, _ in declared}
    yield from _section("Not in C", [_other(module, n) for n in module.__all__ if n in others])


def _section(title: str, parts: list[str]) -> Iterator[str]:
    if parts:
        yield f"{title}\n{'-' * len(title)}\n"
        yield from dict.fromkeys(parts)  # a typedef and its structure are one class


def _is_structure(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, (Structure, Union))


def _is_variable(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, ctypes._SimpleCData)


def _object(directive: str, full: str, texts: list[str]) -> str:
    return f".. {directive}:: {full}\n\n" + textwrap.indent("\n\n".join(filter(None, texts)), "   ") + "\n"


def _function(module: ModuleType, name: str, library: str) -> str:
    """A function: its docstring is the header's comment; the C reference has threads and memory."""
    function = getattr(module, name)
    roles = {n: role for n, role in roles_of(module).items() if n != name}
    text = to_rst(inspect.getdoc(function) or "", roles)
    types = {p: _type(t) for p, t in function.__annotations__.items()}
    result = types.pop("return")
    # One list of fields: :type: before :param:, :rtype: last; "Source:" comes after it.
    start = match.start() if (match := re.search(r"^:(param|return)", text, flags=re.M)) else len(text)
    fields, _, rest = text[start:].partition("\n\n")
    listed = "\n".join([*(f":type {p}: {t}" for p, t in types.items()), fields, f":rtype: {result}"])
    parameters = ", ".join(inspect.signature(function).parameters)
    in_c = f"In C, with what holds for threads and memory: :c:func:`~{library}.{name}`."
    return _object("py:function", f"{name}({parameters})", [text[:start], listed.strip(), rest, in_c])


def _type(annotation: str) -> str:
    """An annotation of a generated module, for a :type: field."""
    homes = {"m": "~pypfm._c.mirror.", "c": "~ctypes."}
    return re.sub(r"\b_([mc])\.", lambda match: homes[match[1]], annotation)


def _structure(module: ModuleType, symbol: Symbol) -> str:
    """A structure with its members; one that is another's second name says so."""
    cls, roles = getattr(module, symbol.name), roles_of(module)
    if cls.__name__ != symbol.name:
        return _object("py:data", symbol.name, [f"Another name of :py:class:`{cls.__name__}`."])
    texts = {member.name: member.text for member in symbol.all()}
    where = places(_LIBRARY_OF[module.__name__.rpartition(".")[2]], symbol.name)
    members = []
    for name, annotation in cls.__annotations__.items():
        text = to_rst(texts.get(name, ""), roles).replace("\n", " ")
        type_option = "" if annotation.startswith("_p") else f"\n   :type: {_type(annotation)}"
        place = textwrap.indent(where.get(name, ""), "   ")
        members.append(f".. py:attribute:: {name}{type_option}\n\n{place}\n\n   {text}")
    return _object("py:class", symbol.name, [where.get("", ""), to_rst(symbol.text, roles), *members])


def _variable(module: ModuleType, symbol: Symbol) -> str:
    kind = f"Another name of :py:class:`ctypes.{getattr(module, symbol.name).__name__}`."
    return _object("py:class", f"{symbol.name}(value=0)", [to_rst(symbol.text, roles_of(module)), kind])


def _other(module: ModuleType, name: str) -> str:
    value = getattr(module, name)
    if name in _TEXTS:
        return _object("py:data", name, [_TEXTS[name]])
    kind = "class" if isinstance(value, type) else "function"
    if name in names.__all__:
        home = "pypfm._c.references" if name == "byref" else "ctypes"
        return _object(f"py:{kind}", name, [f"See :py:obj:`{home}.{name}`."])
    return f".. auto{kind}:: {module.__name__}.{name}\n"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("mirror", MirrorDirective)
    app.add_directive("mirror-constants", ConstantsDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
