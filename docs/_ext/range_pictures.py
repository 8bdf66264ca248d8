"""The directive ``range-picture``: what debug registers cover, encoded and drawn when the site is built.

    .. range-picture:: itanium2 L2_MISSES
       :code: 0x4000000000001230-0x40000000000052f0

       Caption.

The argument is a PMU and its events; ``:code:`` or ``:data:`` gives ranges, separated by commas, as
``pypfm encode --code-range`` takes them; ``:no-fine:`` is ``--no-fine``.  Under the picture stands a
table of the registers.  Nothing is drawn that pypfm did not answer; a request that it refuses ends
the build.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from pypfm import Itanium2, Montecito
from pypfm.cli.values import address_range
from pypfm.ia64.coverage import Block, block_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from docutils.nodes import Node
    from sphinx.application import Sphinx

    from pypfm.ia64.registers import DebugRegister, RangeCover
    from pypfm.ia64.request import AddressRange

__all__ = ["RangePicture", "setup"]

_BUNDLE = 16
_WIDTH, MARGIN, _ROW, _BAR, _NOTE = 320, 4, 52, 12, 16
SMALLEST = 3  # a bar that is narrower cannot be seen

# Fill and opacity: they are read on a light and on a dark page alike.
_ASKED, _HELD, _COVERED, _TOO_MANY = ("currentColor", 0.55), ("#4c8bf5", 0.6), ("#2e9e5b", 0.7), ("#e0861a", 0.8)


@dataclass(frozen=True)
class Bar:
    """Addresses from start to end, exclusive, and how they are filled."""

    start: int
    end: int
    fill: tuple[str, float]


@dataclass(frozen=True)
class Row:
    """A line of text with bars under it, and under these a note."""

    label: str
    bars: tuple[Bar, ...]
    note: str = ""

    @property
    def height(self) -> int:
        return _ROW + (_NOTE if self.note else 0)


@dataclass(frozen=True)
class Pair:
    """A pair of debug registers with what it says.

    :ivar says: in words
    :ivar block: the addresses that it names
    """

    address: DebugRegister
    mask: DebugRegister
    says: str
    block: Block

    @property
    def name(self) -> str:
        return f"{self.address.name}, {self.mask.name}"


def pairs(cover: RangeCover) -> Iterator[Pair]:
    """The pairs of debug registers in the order of the C library."""
    for n, (address, mask) in enumerate(zip(cover.registers[0::2], cover.registers[1::2], strict=True)):
        if cover.fine:
            says = "last bundle" if n % 2 else "first bundle"
            yield Pair(address, mask, says, (address.value, address.value + _BUNDLE))
        else:
            block = block_of(address.value, mask.value)
            yield Pair(address, mask, f"block of {_bytes(block[1] - block[0])}", block)


def rows(asked: Sequence[AddressRange], cover: RangeCover) -> list[Row]:
    """What was asked for, what each pair holds, and what all pairs together cover."""
    made = [Row(f"asked for: {_bytes(r.end - r.start)}", (Bar(r.start, r.end, _ASKED),)) for r in asked]
    made += [Row(f"{p.name}: {p.says}", (Bar(*p.block, _HELD),)) for p in pairs(cover)]
    for limit, held in zip(asked, cover.ranges, strict=True):
        bars = [Bar(max(held.start, limit.start), min(held.end, limit.end), _COVERED)]
        if held.start < limit.start:
            bars.append(Bar(held.start, limit.start, _TOO_MANY))
        if held.end > limit.end:
            bars.append(Bar(limit.end, held.end, _TOO_MANY))
        made.append(Row(f"covered: {_bytes(held.end - held.start)}", tuple(bars),
                        _excess(held.start_offset, held.end_offset)))
    return made


def _bytes(number: int) -> str:
    if number >= 1024 and number % 1024 == 0:
        return f"{number // 1024} KB"
    return f"{number} bytes"


def _excess(before: int, after: int) -> str:
    said = [f"{_bytes(n)} {where}" for n, where in ((before, "before"), (after, "after")) if n]
    return f"{' and '.join(said)} too many" if said else "exactly what was asked for"


def svg(drawn: Sequence[Row], title: str, name: str) -> str:
    """The picture; it takes its colour of text and page from the page."""
    low = min(bar.start for row in drawn for bar in row.bars)
    high = max(bar.end for row in drawn for bar in row.bars)
    scale = (_WIDTH - 2 * MARGIN) / (high - low)

    def at(address: int) -> float:
        return MARGIN + (address - low) * scale

    height = sum(row.height for row in drawn) + MARGIN
    edges = {at(edge) for row in drawn for bar in row.bars if bar.fill == _ASKED for edge in (bar.start, bar.end)}
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"'
             f' aria-labelledby="{name}" style="width:100%;max-width:32rem;height:auto">',
             f'<title id="{name}">{escape(title)}</title>',
             *(f'<path d="M{x:.1f} {_ROW - 6} V{height - MARGIN}" stroke="currentColor" stroke-opacity="0.3"'
               ' stroke-dasharray="3 3"/>' for x in sorted(edges)),
             '<g fill="currentColor" font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace"'
             ' font-size="10.5">']
    top = 0
    for row in drawn:
        lines += _draw_row(row, top, at)
        top += row.height
    return "\n".join([*lines, "</g>", "</svg>"])


# What lies under a text is faded out.
_HALO = 'style="paint-order:stroke;stroke:var(--color-background-primary,transparent);stroke-width:3px"'
_SMALL = f'font-size="9" fill-opacity="0.8" {_HALO}'


def _draw_row(row: Row, top: int, at: Callable[[int], float]) -> Iterator[str]:
    first, last = min(b.start for b in row.bars), max(b.end for b in row.bars)
    yield f'<text x="{MARGIN}" y="{top + 16}" {_HALO}>{escape(row.label)}</text>'
    yield f'<text x="{MARGIN}" y="{top + 28}" {_SMALL}>{first:#x} to {last:#x}</text>'
    for bar in row.bars:
        width = max(at(bar.end) - at(bar.start), SMALLEST)
        left = min(at(bar.start), _WIDTH - MARGIN - width)
        colour, opacity = bar.fill
        yield (f'<rect x="{left:.1f}" y="{top + _ROW - _BAR - 6}" width="{width:.1f}" height="{_BAR}" fill="{colour}"'
               f' fill-opacity="{opacity}" stroke="{colour}"/>')
    if row.note:
        yield f'<text x="{MARGIN}" y="{top + _ROW + 6}" {_SMALL}>{escape(row.note)}</text>'


class RangePicture(SphinxDirective):
    """See the module."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"code": directives.unchanged_required, "data": directives.unchanged_required,
                             "no-fine": directives.flag}

    def run(self) -> list[Node]:
        self.env.note_dependency(__file__)
        model, *events = self.arguments[0].split()
        if model not in ("itanium2", "montecito"):
            raise self.error(f"range-picture: {model} is not itanium2 or montecito")
        pmu = Itanium2() if model == "itanium2" else Montecito()
        code, data = (self._ranges(kind) for kind in ("code", "data"))
        encoding = pmu.encode(events, code_ranges=code, data_ranges=data, no_fine="no-fine" in self.options)
        cover = encoding.irange or encoding.drange
        if cover is None or (code and data):
            raise self.error("range-picture: expected ranges in :code: or in :data:")
        title = f"{pmu.name}, {' and '.join(map(str, code or data))}"
        picture = svg(rows(code or data, cover), title, f"range-picture-{self.env.new_serialno('range-picture')}")
        figure = nodes.figure("", nodes.raw("", picture, format="html"))
        figure += nodes.caption("", "", *self.parse_inline(" ".join(self.content))[0])
        return [figure, *self.parse_text_to_nodes(_table(cover))]

    def _ranges(self, kind: str) -> list[AddressRange]:
        return [address_range(text) for text in self.options.get(kind, "").split(",") if text.strip()]


def _table(cover: RangeCover) -> str:
    """The registers as a table, in reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: auto", "",
             "   * - registers", "     - address", "     - mask word", "     - what they say"]
    for pair in pairs(cover):
        lines += [f"   * - {pair.name}", f"     - ``{pair.address.value:#018x}``",
                  f"     - ``{pair.mask.value:#018x}``", f"     - {pair.says}"]
    return "\n".join(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("range-picture", RangePicture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
