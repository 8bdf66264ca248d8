"""Tables of contents without the hundreds of members and constants of a page.

The theme copies the contents of all pages into each, and takes out again what is no page: that was half of a build.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.addnodes import desc_signature

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

__all__ = ["setup"]

_LEFT_OUT = {"c": ("member", "enumerator", "macro"), "py": ("attribute", "data", "property")}


def shorten(_app: Sphinx, domain: str, objtype: str, content: nodes.Element) -> None:
    if objtype in _LEFT_OUT.get(domain, ()):
        for signature in content.parent.findall(desc_signature):
            signature["_toc_name"] = ""


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("object-description-transform", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
