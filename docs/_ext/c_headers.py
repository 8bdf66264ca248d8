"""The C reference: the public headers.

A page is a title and

    .. c:header:: pfm3 perfmon/pfmlib.h

which becomes everything that a compiler sees of the header, in its order, with the comments; comments that belong
to no symbol are text between them.  The value of a macro and the width of a bit-field become part of the text.

Each library is a namespace of its own in the C domain (libpfm 3 and 4 have names in common):
``:c:func:`pfm3.pfm_initialize```, or ``:c:func:`~pfm3.pfm_initialize``` without the
library in the text.  After ``.. c:namespace:: pfm3``, and where only one library has the
name, ``:c:func:`pfm_dispatch_events``` is enough.

Of a function, csrc/functions.csv says more than its comment: threads, memory, versions (function_facts).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from c_text import to_rst
from function_facts import TABLE, facts, statements
from layout_tables import places
from library_headers import Header, Symbol, headers_of
from pypfm.config import LIBRARIES

if TYPE_CHECKING:
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["setup"]

_DIRECTIVES = {"func": "function"}  # the others are named as the role


@cache
def roles_of(name: str) -> dict[str, str]:
    """Role of each name of a library (members are no names)."""
    symbols = (s for header in headers_of(name) for s in header.all())
    return {s.name: f"c:{s.role}" for s in symbols if s.role != "member" and s.name}


def _content(header: Header, library: str) -> Iterator[str]:
    """A header as reStructuredText."""
    roles = roles_of(library)
    parts = [(s.start, _described(s, library)) for s in header.symbols]
    parts += [(line, to_rst(text, roles)) for line, text in header.notes]
    for _, text in sorted(parts, key=lambda part: part[0]):
        yield text + "\n"


def _described(symbol: Symbol, library: str, where: Mapping[str, str] | None = None, path: str = "") -> str:
    """A symbol, and its members inside; constants of an enumeration without a name are the header's own.

    :param where: of a member, the places of its structure (`layout_tables.places`)
    :param path: of a member, that of what it lies in, with a point
    """
    text = _text(symbol, roles_of(library))
    inside = path
    if where is None:
        where = places(library, symbol.name) if symbol.role in ("struct", "union") else {}
        text = "\n\n".join(filter(None, [where.get("", ""), text]))
    elif symbol.name:
        text = "\n\n".join(filter(None, [where.get(path + symbol.name, ""), text]))
        inside = f"{path}{symbol.name}."
    members = [_described(member, library, where, inside) for member in symbol.members]
    if symbol.role == "enum" and not symbol.name:
        return "\n\n".join([text, *members]) + "\n"
    if symbol.role == "func":
        text = _with_facts(text, library, symbol.name)
    parts = [text, *members]
    content = textwrap.indent("\n\n".join(filter(None, parts)), "   ")
    return f".. c:{_DIRECTIVES.get(symbol.role, symbol.role)}:: {_signature(symbol)}\n\n{content}\n"


def _signature(symbol: Symbol) -> str:
    if symbol.role in ("func", "member"):
        return symbol.declaration
    if symbol.parameters is not None:
        return f"{symbol.name}({', '.join(symbol.parameters)})"
    if symbol.role == "enumerator" and symbol.value:
        return f"{symbol.name} = {symbol.value}"
    return symbol.name or f"@anonymous_{re.sub(r'[^a-z]', '_', symbol.header)}_{symbol.start}"


def _text(symbol: Symbol, roles: Mapping[str, str]) -> str:
    text = symbol.text
    if symbol.width:
        one = symbol.width == 1
        if re.fullmatch(r"\d+(:\d+)?", text):
            text = f"{'bit' if one else 'bits'} {text}"
        else:
            text = f"{symbol.width} bit{'' if one else 's'}" + (f": {text}" if text else "")
    text = to_rst(text, {name: role for name, role in roles.items() if name != symbol.name})
    if symbol.role == "macro" and symbol.value and symbol.start == symbol.end:
        text = f"``{symbol.value}``" + (f": {text}" if text else "")
    return text


def _with_facts(text: str, library: str, name: str) -> str:
    """A function's text, with a paragraph of facts before its source."""
    one = facts(library).get(name)
    if one is None:
        raise ExtensionError(f"csrc/functions.csv has no row for {name} of {library}")
    said, source, rest = text.partition("\nSource:")
    listed = " \N{MIDDLE DOT}\n".join(f"**{heading}:** {_linked(heading, phrase, one.threads)}"
                                     for heading, phrase in statements(one))
    return f"{said.rstrip()}\n\n.. rst-class:: function-facts\n\n{listed}\n{source}{rest}"


def _linked(heading: str, phrase: str, threads: str) -> str:
    """What explains a phrase is a link away."""
    label = {"Threads": f"threads-{threads}", "Signal handlers": "signal-handlers"}.get(heading)
    return f":ref:`{phrase} <{label}>`" if label else phrase


# ---- Sphinx ------------------------------------------------------------------------

class HeaderDirective(SphinxDirective):
    """``.. c:header:: LIBRARY NAME``: everything in a header, in the library's namespace."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        name, path = self.arguments
        header = next((h for h in headers_of(name) if h.name == path), None)
        if header is None:
            raise self.error(f"{name} has the headers {', '.join(h.name for h in headers_of(name))}, not {path}")
        self.env.note_dependency(str(LIBRARIES[name].include_dir / path))
        self.env.note_dependency(str(TABLE))
        return self.parse_text_to_nodes(f"""\
.. c:namespace:: {name}

.. code-block:: c

   #include <{path}>

{to_rst(header.introduction, roles_of(name))}

""" + "\n".join(_content(header, name)), allow_section_headings=True)


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element) -> nodes.Element | None:
    """A C name without its library, if only one library has it."""
    if node["refdomain"] != "c":
        return None
    target = node["reftarget"]
    names = [name for name, library in LIBRARIES.items() if not library.form_of]
    for full in found if len(found := [f"{name}.{target}" for name in names if target in roles_of(name)]) == 1 else []:
        copy = node.copy()
        copy["reftarget"], copy["c:parent_key"] = full, None
        return env.domains["c"].resolve_xref(env, node["refdoc"], app.builder, node["reftype"], full, copy, contnode)
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("function_facts")
    app.add_directive_to_domain("c", "header", HeaderDirective)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
