"""Events, unit masks and registers as objects of Sphinx: found by the search, in objects.inv, to be linked to.

    :pfm:event:`itanium2.CPU_CYCLES`   :pfm:umask:`glm.ICACHE:MISSES`   :pfm:register:`montecito.PMC39`

The name of an object is that of its PMU, a dot, and its own; its anchor has a hyphen in place of the dot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from docutils import nodes
from sphinx.domains import Domain, ObjType
from sphinx.errors import ExtensionError
from sphinx.roles import XRefRole
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.builders import Builder
    from sphinx.environment import BuildEnvironment

__all__ = ["PfmDomain", "Place", "note", "setup"]


@dataclass(frozen=True)
class Place:
    """Where an object is described.

    :ivar shown: the name that the search shows and links have, if it is not the object's own
    """

    kind: str
    document: str
    anchor: str
    shown: str


class PfmDomain(Domain):
    """What the pages of events and registers describe."""

    name = "pfm"
    label = "PMU"
    object_types: ClassVar[dict[str, ObjType]] = {
        "event": ObjType("event", "event"), "umask": ObjType("unit mask", "umask"),
        "register": ObjType("register", "register"),
    }
    roles: ClassVar[dict[str, Any]] = {kind: XRefRole() for kind in object_types}
    initial_data: ClassVar[dict[str, dict[str, Place]]] = {"objects": {}}

    @property
    def objects(self) -> dict[str, Place]:
        """All objects by name."""
        found: dict[str, Place] = self.data["objects"]
        return found

    def clear_doc(self, docname: str) -> None:
        for name in [n for n, place in self.objects.items() if place.document == docname]:
            del self.objects[name]

    def merge_domaindata(self, docnames: Set[str], otherdata: dict[str, Any]) -> None:
        self.objects.update((n, p) for n, p in otherdata["objects"].items() if p.document in docnames)

    def resolve_xref(self, env: BuildEnvironment, fromdocname: str, builder: Builder, typ: str, target: str,
                     node: pending_xref, contnode: nodes.Element) -> nodes.reference | None:
        del env
        place = self.objects.get(target)
        if place is None or place.kind != typ:
            return None
        if not node.get("refexplicit"):
            contnode = nodes.literal("", place.shown.partition(".")[2], classes=["xref"])
        # A fragment leads to values in the tool of a register's page.
        anchor = str(node.get("fragment", place.anchor))
        return make_refnode(builder, fromdocname, place.document, anchor, contnode, place.shown)

    def resolve_any_xref(self, env: BuildEnvironment, fromdocname: str, builder: Builder, target: str,
                         node: pending_xref, contnode: nodes.Element) -> list[tuple[str, nodes.reference]]:
        place = self.objects.get(target)
        if place is None:
            return []
        found = self.resolve_xref(env, fromdocname, builder, place.kind, target, node, contnode)
        return [(f"pfm:{place.kind}", found)] if found is not None else []

    def get_objects(self) -> Iterable[tuple[str, str, str, str, str, int]]:
        return self._objects()

    def _objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        for name, place in self.objects.items():
            yield name, place.shown, place.kind, place.document, place.anchor, 1


def note(env: BuildEnvironment, name: str, place: Place) -> None:
    """Take in an object.

    :raises ExtensionError: its name or its anchor is another one's; the build fails
    """
    objects = cast("PfmDomain", env.get_domain("pfm")).objects
    for other, taken in objects.items():
        if other == name or taken.anchor == place.anchor:
            raise ExtensionError(f"{place.document}: {name} (#{place.anchor}) is already in {taken.document}")
    objects[name] = place


def setup(app: Sphinx) -> dict[str, object]:
    app.add_domain(PfmDomain)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True, "env_version": 1}
