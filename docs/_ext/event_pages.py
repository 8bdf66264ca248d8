"""The event catalogue: ``.. pfm-events:: itanium2`` is all events of a PMU, from the tables in csrc/tables;
``.. host-events::`` is the IA-64 events that perfmon2 counts on other machines.

Each event is an object of its own (see pfm_domain).  Neighbours of one family, and what they have in
common, are shown together.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from event_tables import HOST, TABLES, Entry, entries, host_events, tables_of
from pfm_domain import Place, note
from pypfm.cli.common import PMUS
from pypfm.pmus import pmu as pmu_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx

__all__ = ["Events", "setup"]

_MANY = 200  # events of a page that gets sections


class Events(SphinxDirective):
    """All events of a PMU."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        pmu = self.arguments[0]
        for table in tables_of(pmu):
            self.env.note_dependency(str(TABLES / table))
        try:
            found = entries(pmu)
        except ValueError as error:
            raise self.error(str(error)) from None
        summary = nodes.paragraph("", f"{len(found)} events. ", classes=["pfm-summary"])
        return [summary, *self._modifiers(pmu), *(self._sections(pmu, found) if len(found) > _MANY
                                                  else self._families(found))]

    def _modifiers(self, pmu: str) -> list[nodes.Node]:
        """The modifiers of the events of a libpfm 4 PMU, each once."""
        if pmu not in PMUS or PMUS[pmu][0] != "pfm4":
            return []
        model = pmu_of(pmu)
        known = {m.name: m for e in model.values() for m in model.modifiers(e.name, model.default_os)}
        items = [_item(f"{m.name}" if m.is_switch else f"{m.name}=N", m.description) for m in known.values()]
        return [nodes.paragraph("", "Modifiers:"),
                nodes.definition_list("", *items, classes=["simple", "pfm-umasks", "pfm-modifiers"])]

    def _sections(self, pmu: str, found: Sequence[Entry]) -> list[nodes.Node]:
        """Sections by the first word of the name."""
        groups: dict[str, list[Entry]] = {}
        for entry in found:
            groups.setdefault(entry.key.partition("_")[0], []).append(entry)
        return [nodes.section("", nodes.title("", word), *self._families(group), ids=[f"{pmu}-{word}-events"])
                for word, group in groups.items()]

    def _families(self, found: Sequence[Entry]) -> list[nodes.Node]:
        # Events without a family have nothing in common: each is a group of its own.
        groups = groupby(found, lambda e: e.family or e.object_name)
        return [self._family(list(members)) for _, members in groups]

    def _family(self, members: Sequence[Entry]) -> nodes.Node:
        """Events with a common title: that first, then they, then the facts that all share."""
        shared = [fact for fact in members[0].facts if all(fact in e.facts for e in members)]
        if len(members) == 1:
            shared = []
        # The texts of the tables are shown as they are: -- is an option's, not a dash.
        made = nodes.container(classes=["pfm-family"], support_smartquotes=False)
        if len(members) > 1:
            made += nodes.paragraph("", members[0].family, classes=["pfm-title"])
        events = nodes.definition_list(classes=["simple", "pfm-events"])
        for entry in members:
            text = entry.detail if len(members) > 1 else entry.description
            events += self._entry("event", entry, text, [f for f in entry.facts if f not in shared])
        made += events
        if shared:
            made += _facts(shared)
        return made

    def _entry(self, kind: str, entry: Entry, text: str, facts: Sequence[str]) -> nodes.Node:
        """An event or unit mask, known to the domain."""
        shown = f"{entry.pmu}.{entry.key if kind == 'umask' else entry.title}"
        note(self.env, entry.object_name, Place(kind, self.env.docname, entry.anchor, shown))
        link = nodes.reference("", "", nodes.literal("", entry.title), refid=entry.anchor, internal=True)
        term = nodes.term("", "", link, nodes.Text(" "), nodes.inline("", entry.codes, classes=["pfm-code"]),
                          ids=[entry.anchor])
        if "-" in entry.key and kind == "event":
            # The search takes such a name apart; it finds the whole of it as an entry of the index.
            term += addnodes.index(entries=[("single", f"{entry.title}; {entry.pmu}", entry.anchor, "main", None)])
        body = nodes.definition("", nodes.paragraph("", text))
        if facts:
            body += _facts(facts)
        if entry.details:
            body += nodes.definition_list("", *(_item(what, words) for what, words in entry.details),
                                          classes=["simple", "pfm-details"])
        if entry.umasks:
            body += nodes.definition_list("", *(self._entry("umask", u, u.description, u.facts)
                                                for u in entry.umasks), classes=["simple", "pfm-umasks"])
        return nodes.definition_list_item("", term, body)


class HostEvents(SphinxDirective):
    """What a host counts in place of IA-64 events, as a table with links to them."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(TABLES / HOST))
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 42 58", "",
                 "   * - of perf", "     - IA-64 events"]
        for perf, events in host_events().items():
            links = {pmu: [f":pfm:event:`{pmu}.{name}`" for of, name in events if of == pmu] for pmu, _ in events}
            cells = [f"{pmu}: {', '.join(names)}" for pmu, names in links.items()]
            lines += [f"   * - ``{perf}``", f"     - | {cells[0]}", *(f"       | {cell}" for cell in cells[1:])]
        return self.parse_text_to_nodes("\n".join(lines))


def _item(what: str, text: str) -> nodes.Node:
    return nodes.definition_list_item("", nodes.term("", "", nodes.literal("", what)),
                                      nodes.definition("", nodes.paragraph("", text)))


def _facts(facts: Sequence[str]) -> nodes.Node:
    line = nodes.paragraph(classes=["pfm-facts"])
    for i, fact in enumerate(facts):
        line += nodes.Text(" · " if i else "")
        line += nodes.inline("", fact)
    return line


def setup(app: Sphinx) -> dict[str, object]:
    app.setup_extension("pfm_domain")
    app.add_directive("pfm-events", Events)
    app.add_directive("host-events", HostEvents)
    app.add_css_file("pfm.css")
    app.add_js_file("pfm-filter.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
