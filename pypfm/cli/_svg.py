"""A picture of decoded registers as an SVG file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

from pypfm.cli import _draw_decoded
from pypfm.cli.common import file_errors, named
from pypfm.errors import PfmError

if TYPE_CHECKING:
    from pypfm import perf
    from pypfm.ia64.decode import Decoded

__all__ = ["write"]

_COLUMNS = 80
# As rich's own, but self-contained: no fonts from the network, no window around it.
_FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
{lines}
</defs>
<rect width="100%" height="100%" fill="#ffffff"/>
<g transform="translate(10, 10)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def write(file: str, decoded: Decoded | perf.Decoded) -> None:
    """Draw registers into a file.

    :raises PfmError: it cannot be written
    """
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True, color_system="standard",
                      highlight=False, legacy_windows=False)
    _draw_decoded.show(decoded, console)
    picture = console.export_svg(title="pypfm decode", theme=DEFAULT_TERMINAL_THEME, code_format=_FORMAT,
                                 unique_id="pypfm")
    with file_errors(PfmError, f"cannot write {named(file)}"):
        Path(file).write_text(picture, encoding="utf-8")
