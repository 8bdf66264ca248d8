"""Text of C comments as reStructuredText: nothing in it is markup by accident, known names are links."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["to_rst"]

_FIELD = re.compile(r"\s*:\w+(?: \w+)?:")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b(?:\(\))?")
# A comment may hold an example, in double backquotes or as an indented block after "::".
_LITERAL = re.compile(r"(``.*?``)")

_BEFORE = ("", *" \t'\"([{<-/:")
_AFTER = ("", *" \t'\")]}>-/:.,;!?")


def to_rst(text: str, roles: Mapping[str, str]) -> str:
    """A comment's text.

    :param text: without comment markers
    :param roles: role of each name that is a link (``pfm_initialize``: ``c:func``)
    """
    return "\n".join(_line(line, roles) for line in text.splitlines())


def _line(line: str, roles: Mapping[str, str]) -> str:
    field = _FIELD.match(line)
    start = field.end() if field else 0
    parts = _LITERAL.split(line[start:])
    return line[:start] + "".join(part if i % 2 else _words(part, roles) for i, part in enumerate(parts))


def _words(text: str, roles: Mapping[str, str]) -> str:
    out, at = [], 0
    for match in _WORD.finditer(text):
        word, before, after = match.group(), text[match.start() - 1:match.start()], text[match.end():match.end() + 1]
        name = word.removesuffix("()")
        role = roles.get(name)
        # A function is a link where it is written as one; PFM_PLM* and *count are other names.
        is_link = role and role.endswith(":func") == word.endswith("()") and after != "*" and before != "*"
        out.append(_escaped(text[at:match.start()]))
        out.append(_link(f":{role}:`{name}`", before, after) if is_link else _escaped(word))
        at = match.end()
    return "".join([*out, _escaped(text[at:])])


def _link(markup: str, before: str, after: str) -> str:
    """Inline markup has to stand alone: an escaped blank, which prints nothing, where it does not."""
    start = "" if before in _BEFORE else "\\ "
    return start + markup + ("" if after in _AFTER else "\\ ")


def _escaped(text: str) -> str:
    return re.sub(r"([*`|\\]|_\b)", r"\\\1", text)
