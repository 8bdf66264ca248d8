"""Text of headers and parsers as document nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["definition", "definitions", "marked", "paragraph"]

# name(3); name(); constants of the libraries, a star at their end included
_MARKS = re.compile(r"(?P<page>\b[A-Za-z_][\w.]*\([1-8]\))|(?P<function>\b[a-z_]\w+)\(\)"
                    r"|(?P<constant>\b(?:PFM|PFMLIB|PMC|PMU|PERFEX|LIBPFM|T5)_\w+\*?)")


def marked(text: str) -> list[nodes.Node]:
    """Plain text, with the names of pages, functions and constants marked."""
    made: list[nodes.Node] = []
    at = 0
    for match in _MARKS.finditer(text):
        made.append(nodes.Text(text[at:match.start()]))
        if match["page"]:
            made.append(addnodes.manpage("", match["page"]))
        elif match["function"]:
            made += [nodes.strong("", match["function"]), nodes.Text("()")]
        else:
            made.append(nodes.literal("", match["constant"]))
        at = match.end()
    return [*made, nodes.Text(text[at:])]


def paragraph(text: str) -> nodes.paragraph:
    """A paragraph of plain text."""
    return nodes.paragraph("", "", *marked(text))


def definition(term: Sequence[nodes.Node], body: Sequence[nodes.Node]) -> nodes.definition_list_item:
    """A term and what it means."""
    return nodes.definition_list_item("", nodes.term("", "", *term), nodes.definition("", *body))


def definitions(items: Iterable[nodes.definition_list_item]) -> nodes.definition_list:
    """A list of terms."""
    return nodes.definition_list("", *items)
