"""The register pages: a picture of a register, its fields, and a worked example.

    .. pfm-register:: itanium2 PMC4-7
       :variant: NAME

       Itanium2().encode(["CPU_CYCLES"])

The content is an expression; see register_sources.example().  It is evaluated by the build, which fails if
the call does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from pfm_domain import Place, note
from register_picture import picture
from register_sources import Example, example, fields, meanings, names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from sphinx.application import Sphinx

    from pypfm.ia64.models import Field

__all__ = ["Register", "setup"]

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
        made += nodes.raw("", picture(found.name, layout, labels, found.value), format="html")
        made += _call(found)
        made += _table(layout, words, found.value)
        return [made]


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
    app.add_css_file("pfm.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
