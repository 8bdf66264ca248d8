"""Manual pages: ``docs/manual/NAME.SECTION.rst``, and the directives for what comes from elsewhere.

A page begins with its title, ``NAME(SECTION)``, and ``:purpose:`` before it.  The names on the NAME line,
and the alias pages, are those of its ``man-synopsis`` directives.

    .. man-synopsis:: pfm3        prototypes of the functions that are named below
    .. man-functions:: pfm3       what the header says of them
    .. man-errors:: pfm3          the return codes that they name
    .. man-facts::                threads and memory of all functions of the page
    .. man-structures:: pfm3      declarations of the types that are named below
    .. man-members:: pfm3 TYPE    what the header says of each member
    .. man-constants:: pfm3       the macros that are named below, with value and comment
    .. man-commands::             the sub-commands of pypfm
    .. man-options:: perfex       the options of a program, by group
    .. man-event-list:: r10000    the events of a processor

The pages have no dates and no versions, so that the same sources make the same pages.
"""

from __future__ import annotations

import re
import textwrap
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.manpage import ManualPageTranslator

import manual_headers as headers
from function_facts import facts, statements
from manual_programs import command_sections, event_list, option_sections
from manual_text import definition, definitions, paragraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from docutils.parsers.rst import Directive
    from sphinx.application import Sphinx
    from sphinx.builders import Builder
    from sphinx.config import Config
    from sphinx.util.typing import ExtensionMetadata, OptionSpec

    from library_headers import Symbol

__all__ = ["Translator", "setup"]

_SOURCE = re.compile(r"(?P<name>.+)\.(?P<section>\d)\.rst")
_TITLE = re.compile(r"^(\S+)\((\d)\)\n=+$", re.MULTILINE)
_PURPOSE = re.compile(r"^:purpose: (.+)$", re.MULTILINE)
_WIDTH = 66  # of declarations: with the indentation, 80 columns are enough


# ---- directives -------------------------------------------------------------------

class _Listed(SphinxDirective):
    """A directive with a library as argument, and names as content."""

    required_arguments = 1
    has_content = True

    @property
    def library(self) -> str:
        return str(self.arguments[0])

    @property
    def names(self) -> list[str]:
        return [name for line in self.content for name in line.split()]

    def shown(self, text: str) -> nodes.literal_block:
        return nodes.literal_block(text, text, language="c", highlight_args={})


class Synopsis(_Listed):
    """The include lines and prototypes of functions."""

    option_spec: ClassVar[OptionSpec | None] = {"include": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        found = [headers.functions(self.library)[name] for name in self.names]
        metadata = self.env.metadata[self.env.docname]
        metadata[f"functions {self.library}"] = " ".join(self.names)
        metadata["names"] = " ".join(dict.fromkeys([*metadata.get("names", "").split(), *self.names]))
        included = self.options.get("include", "").split() or dict.fromkeys(f.header for f in found)
        lines = [f"#include <{header}>" for header in included]
        return [self.shown("\n".join([*lines, "", *map(_prototype, found)])), self.compiled()]

    def compiled(self) -> nodes.paragraph:
        """How a program is compiled that calls them."""
        line = f"cc prog.c $(pypfm config --cflags --libs {self.library})"
        return nodes.paragraph("", "", nodes.Text("Compile and link with "), nodes.literal("", line), nodes.Text("."))


def _prototype(function: headers.Function) -> str:
    """The declaration; a long one is broken between its parameters."""
    front = f"{function.front}("
    parameters = [parameter.replace(" ", "\0") for parameter in function.parameters]
    text = f"{', '.join(parameters) or 'void'});"
    if len(front + text) > _WIDTH:
        text = "\n" + textwrap.fill(text, _WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return (front + text).replace("\0", " ")


class Functions(_Listed):
    """What the header says of the functions of the page's synopsis."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        names = self.env.metadata[self.env.docname][f"functions {self.library}"].split()
        found = [headers.functions(self.library)[name] for name in names]
        alike = groupby(found, key=lambda f: (f.described, f.returns))
        return [node for _, group in alike for node in _group(list(group))]


def _group(found: list[headers.Function]) -> Iterator[nodes.Node]:
    """Functions of which the same is said of parameters and result; it is said once, if they are many."""
    many = len(found) > 2 and bool(found[0].described)
    yield definitions(_described(function, alone=not many) for function in found)
    if many:
        yield paragraph("Common to these functions:")
        yield _parameters(found[0])
        yield paragraph(f"They return {found[0].returns}.")


def _parameters(function: headers.Function) -> nodes.definition_list:
    return definitions(definition([nodes.emphasis("", name)], [paragraph(text)]) for name, text in function.described)


def _described(function: headers.Function, *, alone: bool) -> nodes.definition_list_item:
    term: list[nodes.Node] = [nodes.strong("", function.name), nodes.Text("(")]
    for i, (name, _) in enumerate(function.described):
        term += [nodes.Text(", ")] * bool(i) + [nodes.emphasis("", name)]
    body: list[nodes.Node] = [paragraph(text) for text in function.text]
    if function.described and alone:
        body.append(_parameters(function))
    if function.returns and alone:
        body.append(paragraph(f"Returns {function.returns}."))
    return definition([*term, nodes.Text(")")], body)


class Errors(_Listed):
    """The return codes that the functions of the page's synopsis, or the content, name."""

    def run(self) -> list[nodes.Node]:
        names = self.env.metadata[self.env.docname][f"functions {self.library}"].split()
        said = " ".join([*(headers.functions(self.library)[name].returns for name in names), *self.names])
        patterns = re.findall(r"PFM\w*?_(?:SUCCESS|ERR_\w*\*?)", said)
        return [definitions(definition([nodes.strong("", name), nodes.Text(f" ({number})")], [paragraph(text)])
                            for name, (number, text) in headers.errors(self.library).items()
                            if number and any(fnmatchcase(name, pattern) for pattern in patterns))]


class FunctionFacts(SphinxDirective):
    """Which threads may call the functions of the page's synopses, and who frees what."""

    def run(self) -> list[nodes.Node]:
        metadata = self.env.metadata[self.env.docname]
        of = {library: metadata[key].split() for library in _LIBRARIES if (key := f"functions {library}") in metadata}
        made: list[nodes.Node] = []
        for library, names in of.items():
            if len(of) > 1:
                made.append(paragraph(f"{_LIBRARIES[library]}:"))
            made += _stated(library, names)
        return made


_LIBRARIES = {"pfm3": "libpfm 3", "pfm4": "libpfm 4", "pmc": "libpmc", "perfex": "libperfex"}


def _stated(library: str, names: list[str]) -> Iterator[nodes.Node]:
    """Of functions with the same facts these are said once."""
    said: dict[str, list[str]] = {}
    for name in names:
        text = " ".join(f"{heading}: {phrase}." for heading, phrase in statements(facts(library)[name], since=False))
        said.setdefault(text, []).append(name)
    if len(said) == 1:
        yield _emphasised(next(iter(said)))
    else:
        yield definitions(definition(paragraph(", ".join(f"{name}()" for name in alike)).children, [_emphasised(text)])
                          for text, alike in said.items())


def _emphasised(text: str) -> nodes.paragraph:
    """A paragraph; what stands in double backquotes is a parameter."""
    made = nodes.paragraph()
    for i, part in enumerate(text.split("``")):
        made += nodes.emphasis("", part) if i % 2 else paragraph(part).children
    return made


class Structures(_Listed):
    """Declarations of types, without comments."""

    def run(self) -> list[nodes.Node]:
        return [self.shown("\n\n".join(_declared(headers.types(self.library)[name])
                                       for name in map(str.strip, self.content) if name))]


def _declared(one: Symbol) -> str:
    head = one.c_name if " " in one.c_name else f"typedef {one.role}"
    foot = "};" if " " in one.c_name else f"}} {one.name};"
    return "\n".join([f"{head} {{", *_member_lines(one, "    "), foot])


def _member_lines(one: Symbol, indent: str) -> Iterator[str]:
    for member in one.members:
        if member.members:
            yield f"{indent}{member.role} {{"
            yield from _member_lines(member, indent + "    ")
            yield f"{indent}}} {member.name}".rstrip() + ";"
        elif member.role == "enumerator":
            yield f"{indent}{member.name}{' = ' * bool(member.value)}{member.value},"
        else:
            yield f"{indent}{member.declaration}{':' * bool(member.width)}{member.width or ''};"


class Members(_Listed):
    """What the header says of each member of a structure, or constant of an enumeration."""

    required_arguments = 1
    optional_arguments = 1
    final_argument_whitespace = True
    has_content = False

    def run(self) -> list[nodes.Node]:
        one = headers.types(self.library)[self.arguments[1]]
        return [definitions(definition([nodes.strong("", member.name)], [paragraph(member.text)])
                            for member in one.all() if member is not one and member.text)]


class Constants(_Listed):
    """Macros with their values and comments."""

    def run(self) -> list[nodes.Node]:
        known = headers.constants(self.library)
        return [definitions(definition([nodes.strong("", name), nodes.Text(f" ({known[name].value})")],
                                       [paragraph(known[name].comment)]) for name in self.names)]


def _made(make: Callable[..., Iterator[nodes.Node]], text: str) -> type[Directive]:
    """A directive whose content is made of its argument, from a parser or a table."""

    class Made(SphinxDirective):
        optional_arguments = 1

        def run(self) -> list[nodes.Node]:
            made = list(make(*self.arguments))
            for node in made:
                if isinstance(node, nodes.section):
                    self.state.document.note_implicit_target(node, node)
            return made

    Made.__doc__ = text
    return Made


_DIRECTIVES: dict[str, type[Directive]] = {
    "man-synopsis": Synopsis, "man-functions": Functions, "man-errors": Errors, "man-facts": FunctionFacts,
    "man-structures": Structures, "man-members": Members, "man-constants": Constants,
    "man-commands": _made(command_sections, "The sub-commands of pypfm."),
    "man-options": _made(option_sections, "The options of a program."),
    "man-event-list": _made(event_list, "The events of a processor.")}


# ---- pages ------------------------------------------------------------------------

def _directory(app: Sphinx) -> Path:
    """docs/manual, whether it is built alone or as a part of the site."""
    source = Path(app.srcdir)
    return source if source.name == "manual" else source / "manual"


def _find_pages(app: Sphinx, config: Config) -> None:
    pages: list[tuple[str, str, str, list[str], int]] = []
    for path in sorted(_directory(app).glob("*.rst")):
        match, text = _SOURCE.fullmatch(path.name), path.read_text(encoding="utf-8")
        if match:
            title, purpose = _TITLE.search(text), _PURPOSE.search(text)
            assert title, f"{path.name}: no title"
            assert title.groups() == match.groups(), f"{path.name}: the title is {title.groups()}"
            assert purpose, f"{path.name}: no :purpose:"
            docname = path.relative_to(app.srcdir).with_suffix("").as_posix()
            pages.append((docname, match["name"], purpose[1], [], int(match["section"])))
    config["man_pages"] = pages
    config["man_make_section_directory"] = True


def _names(metadata: dict[str, str], title: str) -> list[str]:
    """What a page is about; its title comes first."""
    return list(dict.fromkeys([title, *metadata.get("names", "").split()]))


class Translator(ManualPageTranslator):
    """Without dates and versions, and with all names of a page."""

    document_start = "Generated from docs/manual by Sphinx; do not edit."

    def __init__(self, document: nodes.document, builder: Builder) -> None:
        super().__init__(document, builder)
        self._docinfo["copyright"] = ""

    def header(self) -> str:
        title, section = self._docinfo["title"], self._docinfo["manual_section"]
        page = next(p for p in self.config.man_pages if (p[1], p[4]) == (title, section))
        names = ", ".join(_names(self.builder.env.metadata[page[0]], title))
        head = f'.nr HY 0\n.TH "{title.upper()}" "{section}" "" "pypfm" "{_GROUPS[section]}"\n'
        return f"{head}{_FORM}.SH NAME\n{names} \\- {self.deunicode(page[2])}\n"

    def depart_document(self, node: nodes.document) -> None:
        """Nothing: what docutils writes here is not the same in all its versions."""

    def visit_paragraph(self, node: nodes.paragraph) -> None:
        if "manual-name" in node["classes"]:  # the header has it
            raise nodes.SkipNode
        super().visit_paragraph(node)


# Left-aligned, names are not hyphenated, one space between sentences.
_FORM = ".ad l\n.ss 12 0\n"
_GROUPS = {1: "User Commands", 2: "System Calls", 3: "Library Functions", 5: "File Formats"}


def _add_name(app: Sphinx, document: nodes.document) -> None:
    """The NAME line, for the HTML page."""
    page = next((p for p in app.config.man_pages if p[0] == app.env.docname), None)
    title = next(document.findall(nodes.title), None)
    if page and title:
        names = _names(app.env.metadata[page[0]], page[1])
        line = nodes.paragraph("", "", nodes.strong("", ", ".join(names)), nodes.Text(f" \N{EN DASH} {page[2]}"),
                               classes=["manual-name"])
        title.parent.insert(title.parent.index(title) + 1, line)


def _link(app: Sphinx, document: nodes.document, docname: str) -> None:
    """Names of our pages are links, where there are links."""
    if app.builder.format != "html":
        return
    pages = {f"{name}({section})": page for page, title, _, _, section in app.config.man_pages
             for name in _names(app.env.metadata[page], title)}
    for node in list(document.findall(addnodes.manpage)):
        target = pages.get(node.astext())
        if target and target != docname:
            node.replace_self(nodes.reference("", "", node.deepcopy(), internal=True,
                                              refuri=app.builder.get_relative_uri(docname, target)))


def _write_aliases(app: Sphinx, exception: Exception | None) -> None:
    """A page for each further name, which sends the reader to the page about it."""
    if exception or app.builder.name != "man":
        return
    for docname, title, _, _, section in app.config.man_pages:
        for name in _names(app.env.metadata[docname], title)[1:]:
            alias = Path(app.outdir, f"man{section}", f"{name}.{section}")
            alias.write_text(f".so man{section}/{title}.{section}\n", encoding="ascii")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Called by Sphinx."""
    for name, directive in _DIRECTIVES.items():
        app.add_directive(name, directive)
    app.set_translator("man", Translator)
    app.connect("config-inited", _find_pages)
    app.connect("doctree-read", _add_name)
    app.connect("doctree-resolved", _link)
    app.connect("build-finished", _write_aliases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
