"""The register pages: a picture of a register, its fields, and a worked example.

    .. pfm-register:: itanium2 PMC4-7
       :variant: NAME

       Itanium2().encode(["CPU_CYCLES"])

The content is an expression; see register_sources.example().  It is evaluated by the build, which fails if
the call does.

    .. pfm-tool:: itanium2

is where the scripts of the page (docs/_static/registers) put what decodes values and changes them: the data that they
need, and nothing that is seen without them.

    .. pfm-picture:: itanium2 PMC4
       :bits: 32

       Itanium2().encode(["CPU_CYCLES"])

is the picture alone, of the lowest bits, with a link to the tool of the register's page.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, cast

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.addnodes import pending_xref
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from event_tables import entries
from pfm_domain import PfmDomain, Place, note
from register_data import data
from register_picture import picture
from register_sources import Example, example, fields, meanings, names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

    from pypfm.ia64.models import Field

__all__ = ["SCRIPTS", "Picture", "Register", "Tool", "setup"]

#: Of the pages with a tool, in the order in which they need each other.
SCRIPTS = [f"registers/{name}.js"
           for name in ("registers", "settings", "decode", "words", "goldmont", "numbers", "card", "page")]

_HEADS = ("Bits", "Field", "Example", "Meaning")
_WIDTHS = (12, 18, 15, 55)
_EXTENSION = re.compile(r"pmd\d+ext_")


class Register(SphinxDirective):
    """A register, or several with the same fields."""

    required_arguments = 2
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"variant": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        pmu, variant = self.arguments[0], self.options.get("variant", "")
        registers = names(self.arguments[1].split())
        try:
            layout = fields(pmu, registers[0], variant)
            if any(fields(pmu, name, variant) != layout for name in registers):
                raise ValueError("the registers have not the same fields")
            found = example(pmu, registers, variant, "\n".join(self.content))
            words = meanings(pmu, found.name, layout)
        except Exception as error:  # whatever the example raises fails the build
            source, line = self.get_source_info()
            raise ExtensionError(f"{source}:{line}: {pmu} {self.arguments[1]}: {error!r}") from error
        made = nodes.container(classes=["pfm-register"], support_smartquotes=False,
                               ids=[f"{pmu}-{name}" + (f"-{variant}" if variant else "") for name in registers])
        if not variant:
            for name in registers:
                note(self.env, f"{pmu}.{name}",
                     Place("register", self.env.docname, f"{pmu}-{name}", f"{pmu}.{name}"))
        labels = [f.label.removeprefix("L2_MISS_") for f in layout]
        made += nodes.paragraph("", "", nodes.strong("", found.name), nodes.Text(" = "),
                                nodes.literal("", f"{found.value:#0{sum(f.width for f in layout) // 4 + 2}x}"),
                                classes=["pfm-caption"])
        made += nodes.raw("", _values(found, variant), format="html")
        made += nodes.raw("", picture(found.name, layout, labels, found.value), format="html")
        made += _call(found)
        made += _table(layout, words, found.value)
        return [made]


class Picture(SphinxDirective):
    """A register on a page of another kind; what is above the bits that are drawn must be 0."""

    required_arguments = 2
    has_content = True
    option_spec: ClassVar = {"bits": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        pmu, name = self.arguments
        bits = self.options.get("bits", 64)
        found = example(pmu, [name], "", "\n".join(self.content))
        if found.value >> bits:
            raise self.error(f"{name} = {found.value:#x} has more than {bits} bits")
        layout = [f._replace(width=min(f.width, bits - f.bit)) for f in fields(pmu, name) if f.bit < bits]
        words = "; ".join(f"{f.name} {f.of(found.value):#x}" for f in reversed(layout) if not f.ignored)
        says = ", ".join(f"{what} {text}" for what, text in found.says)
        drawn = picture(name, layout, [f.label for f in layout], found.value, f"{words}. {says}")
        link = pending_xref("", nodes.inline("", f"Change {name}"), refdomain="pfm", reftype="register",
                            reftarget=f"{pmu}.{name}", refexplicit=True, fragment=f"{name}={found.value:#x}",
                            refdoc=self.env.docname, refwarn=True)
        caption = nodes.paragraph("", "", nodes.strong("", name), nodes.Text(" = "),
                                  nodes.literal("", f"{found.value:#x}"), nodes.Text(f": {says}. "), link,
                                  classes=["pfm-caption"])
        return [nodes.raw("", drawn, format="html"), caption]


class tool(nodes.Element):  # noqa: N801 - as docutils names its nodes
    """The place of the tool."""


class Tool(SphinxDirective):
    """What a page's scripts need."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [tool("", pmu=self.arguments[0])]


def _visit(translator: HTML5Translator, node: tool) -> None:
    """The data: no script, so that a page's policy about scripts does not matter; "<" cannot end it."""
    builder, pmu = translator.builder, node["pmu"]
    found = data(pmu)
    event = cast("PfmDomain", builder.env.get_domain("pfm")).objects[entries(pmu)[0].object_name]
    page = builder.get_relative_uri(builder.current_docname, event.document)
    text = json.dumps(found, separators=(",", ":")).replace("<", "\\u003c")
    translator.body.append(f'<div class="pfm-tool" data-events="{html.escape(page)}" hidden></div>\n'
                           f'<script type="application/json" class="pfm-data">{text}</script>\n')
    raise nodes.SkipNode


def _skip(translator: nodes.NodeVisitor, node: tool) -> None:
    del translator, node
    raise nodes.SkipNode


def _scripts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any],
             doctree: nodes.document | None) -> None:
    """The scripts, on the pages that use them."""
    del pagename, templatename, context
    if doctree is not None and next(doctree.findall(tool), None) is not None:
        for name in SCRIPTS:
            app.add_js_file(name, loading_method="defer")
        app.add_css_file("registers/tool.css")


def _values(found: Example, variant: str) -> str:
    """All registers of an example as the tool reads them; nothing that is seen."""
    words = [f"{name}={value:#x}" for name, value in found.registers]
    if variant.startswith("ipear"):
        words.append("trace=ipear")
    values = html.escape(" ".join(words))
    return f'<span class="pfm-example" data-name="{found.name}" data-values="{values}" hidden></span>'


def _call(found: Example) -> list[nodes.Node]:
    """The example: the call, and what its result means."""
    made: list[nodes.Node] = [nodes.literal_block("", found.session, language="pycon")]
    if found.says:
        made.append(nodes.definition_list("", *(
            nodes.definition_list_item("", nodes.term("", what), nodes.definition("", nodes.paragraph("", words)))
            for what, words in found.says), classes=["simple", "pfm-says"]))
    return made


def _table(layout: Sequence[Field], words: Sequence[str], value: int) -> nodes.table:
    """The fields; those of the same kind that extend different registers share a row."""
    rows: dict[str, list[tuple[Field, str]]] = {}
    for field, meaning in zip(layout, words, strict=True):
        rows.setdefault(_EXTENSION.sub("pmdNext_", field.name), []).append((field, meaning))
    group = nodes.tgroup("", *(nodes.colspec(colwidth=w) for w in _WIDTHS), cols=len(_HEADS))
    group += nodes.thead("", _row([nodes.Text(head) for head in _HEADS]))
    body = nodes.tbody()
    for name, members in rows.items():
        meaning = members[0][1] if len(members) == 1 else re.sub(r"PMD\d+", "PMDN", members[0][1])
        held = [f"{f.of(value):#x}" for f, _ in members]
        if len(members) > 1:
            held = [f"PMD{n}: {text}" for (f, _), text in zip(members, held, strict=True)
                    for n in re.findall(r"\d+", f.name)[:1] if text != "0x0"] or ["0x0"]
        body += _row([nodes.Text(", ".join(f.bits for f, _ in members)), nodes.literal("", name),
                      nodes.literal("", ", ".join(held)), nodes.Text(meaning)])
    group += body
    return nodes.table("", group, classes=["pfm-fields"])


def _row(cells: Sequence[nodes.Node]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, object]:
    app.setup_extension("pfm_domain")
    app.add_directive("pfm-register", Register)
    app.add_directive("pfm-tool", Tool)
    app.add_directive("pfm-picture", Picture)
    app.add_node(tool, html=(_visit, None), man=(_skip, None), text=(_skip, None))
    app.connect("html-page-context", _scripts)
    app.add_css_file("pfm.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
