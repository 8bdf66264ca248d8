"""Sphinx: the manual pages alone; the site has them too, by docs/conf.py.

    sphinx-build -W -n -E -d build/manual -b man docs/manual docs/man

Needs the extra [docs] and pypfm installed; no network.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "_ext"))

project = "pypfm"
author = copyright = "The pypfm developers"
extensions = ["manual_pages"]
nitpicky = True
