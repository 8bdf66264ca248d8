"""The directive ``layout-diff``: structures of two libraries side by side, read from them at build time.

    .. layout-diff:: pfm3 pfm3-manual
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.util.docutils import SphinxDirective

from pypfm import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.application import Sphinx


def _bytes(member: layout.Member | None) -> str:
    return "none" if member is None else f"{member.offset} ({member.size})"


def _table(structure: layout.LayoutDiff, left: str, right: str) -> Iterator[str]:
    """A list-table; members that differ are bold."""
    assert structure.left is not None
    assert structure.right is not None
    yield f".. list-table:: ``{structure.left.name}``"
    yield from ("   :header-rows: 1", "   :class: wide", "   :widths: 50 25 25", "")
    yield from ("   * - member: offset (size) in bytes", f"     - {left}", f"     - {right}")
    for row in structure.rows:
        member = row.left or row.right
        assert member is not None
        name = f"``{member.type} {member.declarator}``"
        strong = "" if row.same else "**"
        yield f"   * - {name}"
        yield from (f"     - {strong}{_bytes(side)}{strong}" for side in (row.left, row.right))
    yield from ("   * - size of the structure", f"     - {structure.left.size}", f"     - {structure.right.size}", "")


class LayoutDiff(SphinxDirective):
    """Structures that differ between two libraries, each as a table."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """What differs, or an error if nothing does."""
        left, right = self.arguments
        lines = [line for structure in layout.diff(left, right) if not structure.same
                 for line in _table(structure, left, right)]
        if not lines:
            raise self.error(f"{left} and {right} do not differ")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of the directive."""
    app.add_directive("layout-diff", LayoutDiff)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
