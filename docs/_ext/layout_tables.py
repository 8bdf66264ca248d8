"""Where members of structures lie, read from the libraries at build time.

`places` is what the C pages and those of the mirrors print beside each member.  The directive ``layout-diff`` has
structures of two libraries side by side:

    .. layout-diff:: pfm3 pfm3-manual
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx.util.docutils import SphinxDirective

from pypfm import layout
from pypfm.config import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.application import Sphinx


__all__ = ["places"]


def places(library: str, name: str) -> dict[str, str]:
    """Where the members of a type lie, and in the other form of the library if that has them elsewhere.

    :param name: C name of a structure or union
    :return: by path, reStructuredText: "offset 8, 4 bytes, unsigned int"; by "" the size of the type; nothing of a
        type that the mirrors do not have
    """
    if library not in layout.find(name):
        return {}
    form_of = LIBRARIES[library].form_of
    forms = {form_of: "the headers'"} if form_of else {
        other.name: "the manual pages'" for other in LIBRARIES.values() if other.form_of == library}
    found = _places(layout.describe(name, library))
    for other, whose in forms.items():
        theirs = _places(layout.describe(name, other))
        found = {path: place if theirs.get(path) == place else f"{place} \N{MIDDLE DOT} in {whose} form: "
                 + theirs.get(path, "none") for path, place in found.items()}
    return {path: f".. rst-class:: member-place\n\n{place}" for path, place in found.items()}


def _places(found: layout.TypeLayout) -> dict[str, str]:
    return {"": f"{_counted(found.size)}, alignment {found.alignment}"} | {
        path: _place(member) for path, member in found.flat()}


def _place(member: layout.Member) -> str:
    if member.bits is None:
        inner = "".join(f"[{n}]" for n in member.dimensions)
        return f"offset {member.offset}, {_counted(member.size)}, ``{member.type}{inner}``"
    last = member.bit_offset + member.bits - 1
    bits = f"bit {last}" if member.bits == 1 else f"bits {member.bit_offset} to {last}"
    return f"offset {member.offset}, {bits}, ``{member.type}``"


def _counted(size: int) -> str:
    return f"{size} byte{'' if size == 1 else 's'}"


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
