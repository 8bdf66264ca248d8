"""Tables of contents without the hundreds of members and constants of a page; in the menu, titles of pages alone.

The theme copies the contents of all pages into each, and takes out again what is no page: that was half of a build.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphinx.addnodes import desc_signature, toctree

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

__all__ = ["setup"]

_LEFT_OUT = {"c": ("member", "enumerator", "macro"), "py": ("attribute", "data", "property")}


def shorten(_app: Sphinx, domain: str, objtype: str, content: nodes.Element) -> None:
    if objtype in _LEFT_OUT.get(domain, ()):
        for signature in content.parent.findall(desc_signature):
            signature["_toc_name"] = ""


class Menu:
    """The theme's menu, which is made for each page, from contents that have nothing but titles of pages."""

    def __init__(self) -> None:
        self._titles: dict[str, nodes.bullet_list] = {}

    def begin(self, app: Sphinx, _builder: object) -> None:
        self._titles = {page: contents.deepcopy() for page, contents in app.env.tocs.items()}
        for contents in self._titles.values():
            for entry in contents.children:
                for below in entry.children[1:]:
                    below.children = [*below.findall(toctree)]

    def page(self, app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object) -> None:
        make = context["toctree"]

        def menu(**options: Any) -> str:
            whole, app.env.tocs = app.env.tocs, self._titles
            try:
                return str(make(**options))
            finally:
                app.env.tocs = whole
        context["toctree"] = menu


def setup(app: Sphinx) -> dict[str, bool]:
    menu = Menu()
    app.connect("object-description-transform", shorten)
    app.connect("write-started", menu.begin)
    app.connect("html-page-context", menu.page, priority=400)  # before the theme's
    return {"parallel_read_safe": True, "parallel_write_safe": True}
