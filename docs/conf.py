"""Sphinx: the C and Python reference, the event catalogue, guides, and the manual pages.

    sphinx-build -W -n docs build/html
    sphinx-build -W -n -E -d build/manual -b man docs/manual docs/man    # what is committed there

Needs the extra [docs] and pypfm installed; no network.
"""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

project = "pypfm"
author = copyright = "The pypfm developers"
version = release = installed_version("pypfm")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.intersphinx",
    "layout_tables",
]
exclude_patterns = ["man", "examples", "_ext"]
nitpicky = True

html_theme = "furo"
html_static_path = ["_static"]
html_title = f"pypfm {version}"
pygments_style = "friendly"
pygments_dark_style = "native"

autodoc_typehints = "description"
autodoc_member_order = "bysource"

# Debian's python3-doc, where it is installed; never the network.
_INVENTORY = Path("/usr/share/doc/python3-doc/html/objects.inv")
if _INVENTORY.is_file():
    intersphinx_mapping = {"python": ("https://docs.python.org/3", str(_INVENTORY))}

# The event catalogue and the pictures of registers: docs/_ext.
extensions += ["event_pages", "register_pages"]

# Where long names in tables break, and what stands in tables of contents (docs/_ext).
extensions += ["long_names", "short_contents"]

# Guides: pictures of code and data ranges (docs/_ext).
extensions.append("range_pictures")

# The manual pages, which docs/manual/conf.py makes alone.
extensions.append("manual_pages")

# ---- the C reference ------------------------------------------------------------
# One directive for each header (_ext/c_headers.py).  Each library is a namespace: write
# :c:func:`~pfm3.pfm_initialize`, or :c:func:`pfm_dispatch_events` where one library has the name.
extensions += ["c_headers"]
html_css_files = ["reference.css"]
smartquotes = False  # --options are no dashes
nitpick_ignore = [("c:identifier", name) for name in (
    "FILE", "int32_t", "int64_t", "off_t", "pid_t", "size_t", "uint16_t", "uint32_t", "uint64_t", "uint8_t")]
nitpick_ignore_regex = [("py:obj", r"typing\.Literal\['\w+'")]  # of overloads: Sphinx cuts the type at its commas
nitpick_ignore += [("py:class", "CArgObject")]  # what byref() returns; ctypes has no name for it
nitpick_ignore += [("py:class", f"pypfm.{name}")  # type variables
                   for name in ("common.event_table.E", "_c.mirror.T", "_c.structures.T")]

# ---- the Python reference ---------------------------------------------------------
# `Name` in single backquotes is a link to a name of the project, or else literal (_ext/quiet_role.py).
extensions += ["docstrings", "library_types", "mirrors", "quiet_role", "sphinxarg.ext"]
default_role = "quiet"
autodoc_default_options = {"members": True, "undoc-members": True}
