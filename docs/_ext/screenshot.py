"""Draw README's picture: what perfex prints about docs/examples/matrix.c, light and dark.

Run it in the clone, with valgrind and gcc there: ``.venv/bin/python docs/_ext/screenshot.py``.  It writes
docs/_static/perfex-light.svg and perfex-dark.svg; tests/docs/test_screenshot.py looks whether perfex still
prints what they show.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI, TerminalTheme
from rich.text import Text

DOCS = Path(__file__).resolve().parent.parent
COMMANDS = ("cc -O1 -g matrix.c -o matrix",
            "perfex --cache host --events L1D-misses,L2D-misses --annotate ./matrix columns")
WIDTH = 82
_LIGHT = TerminalTheme((255, 255, 255), (36, 41, 47), [
    (36, 41, 47), (180, 30, 40), (20, 110, 50), (130, 90, 0), (10, 90, 190), (120, 60, 160), (20, 110, 120),
    (90, 100, 110)])
_SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>{styles} text {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; white-space: pre }}</style>
<defs>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="{background}" stroke="#8888"/>
<g transform="translate({terminal_x}, {terminal_y})">{backgrounds}<g>{matrix}</g></g>
</svg>
"""


def printed(command: str, directory: Path) -> str:
    """Run a command as a shell in a directory does, and return all that it prints."""
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": str(WIDTH)}
    done = subprocess.run(command, shell=True, cwd=directory, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=True)
    return done.stdout.rstrip()


def session() -> Text:
    """Build and measure the program in a directory of its own; what a terminal shows of it."""
    screen = Text()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "matrix.c").write_bytes((DOCS / "examples" / "matrix.c").read_bytes())
        for command in COMMANDS:
            screen.append("$ ", "bold green").append(f"{command}\n", "bold")
            if text := printed(command, directory):
                screen.append(f"{text}\n")
    screen.highlight_regex(r"(?m)^.*matrix\.c:23.*$", "bold red")
    return screen


def main() -> None:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(session(), end="")
    for name, theme in (("light", _LIGHT), ("dark", DIMMED_MONOKAI)):
        svg = console.export_svg(title="", theme=theme, clear=False, code_format=_SVG.replace(
            "{background}", theme.background_color.hex), unique_id="t")
        (DOCS / "_static" / f"perfex-{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
