"""Long names in tables break where a reader would break them: after a slash, two colons, a bracket or an underscore.

A browser can break a name anywhere or nowhere.  Here the places are marked, in the literals of tables of the class
"wide"; short names have none, so that a column is as wide as they are (docs/_static/pfm.css).
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

__all__ = ["LongNames", "breaking", "pieces", "setup"]

_LONGEST = 22  # letters that stay together
_WORD = re.compile(r"\S+")
_PARTS = re.compile(r"(?<=::)|(?<=/)|(?<=,)(?! )")
_WORDS = re.compile(r"(?<=[_(=])(?=[^\W_]{2})")


def pieces(text: str) -> list[str]:
    """The parts between which a text may break; spaces, at which it may break anyway, are left in them."""
    found: list[str] = []
    for part in _PARTS.split(text):
        longest = max(map(len, part.split()), default=0)
        found += _WORDS.split(part) if longest > _LONGEST else [part]
    return [piece for piece in found if piece]


class breaking(nodes.literal):  # noqa: N801 - as docutils names its nodes
    """A literal that can break; its text is whole, so that the search finds it."""


class LongNames(SphinxPostTransform):
    """Puts such literals into tables."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        del kwargs
        for table in self.document.findall(nodes.table):
            if "wide" in table["classes"]:
                for literal in list(table.findall(nodes.literal)):
                    made = breaking(literal.rawsource, "", *literal.children, **literal.attributes)
                    literal.replace_self(made)


def _visit(translator: HTML5Translator, node: breaking) -> None:
    """Sphinx's own element, with marks."""
    translator.body.append(translator.starttag(node, "code", "", CLASS="docutils literal notranslate"))
    shown = (_WORD.sub(r'<span class="pre">\g<0></span>', html.escape(piece)) for piece in pieces(node.astext()))
    translator.body.append("<wbr>".join(shown) + "</code>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, object]:
    app.add_node(breaking, html=(_visit, None))
    app.add_post_transform(LongNames)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
