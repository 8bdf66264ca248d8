"""The default role: `Itanium2` is a link where that is a name of the project, else literal text.

Docstrings use it for names of their own module, of pypfm, or in full, and for C names; for
anything else it is quiet.  Roles that say what they mean (:py:class:, :c:func:) still warn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxRole

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_TYPE = "quiet"


class QuietRole(SphinxRole):
    """Text in single backquotes."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        node = pending_xref(self.rawtext, nodes.literal(self.rawtext, self.text), refdomain="", reftype=_TYPE,
                            reftarget=self.text.removesuffix("()"), refexplicit=False, refwarn=False)
        node.attributes.update(self.env.ref_context)  # module, class and C namespace that we are in
        node["refdoc"] = self.env.docname
        return [node], []


def _candidates(node: pending_xref) -> Iterator[str]:
    target, module, inside = node["reftarget"], node.get("py:module"), node.get("py:class")
    if module and inside:
        yield f"{module}.{inside}.{target}"
    if module:
        yield f"{module}.{target}"
    yield f"pypfm.{target}"
    yield target


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element) -> nodes.Element | None:
    if node["reftype"] != _TYPE:
        return None
    python, document = env.domains["py"], node["refdoc"]
    for name in _candidates(node):
        if name in python.objects:
            return python.resolve_xref(env, document, app.builder, "obj", name, node, contnode)
    if node["reftarget"].isidentifier():
        found = env.domains["c"].resolve_any_xref(env, document, app.builder, node["reftarget"], node, contnode)
        if found:
            return found[0][1]
    return contnode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("quiet", QuietRole())
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
