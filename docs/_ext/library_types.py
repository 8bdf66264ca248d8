"""Types of Python's own library, where there is no inventory of it.

Without intersphinx, ``str`` and ``pathlib.Path`` in a signature resolve to nothing.  A name is
accepted, as plain text, if importing it shows that it exists; a wrong one still warns.
"""

from __future__ import annotations

import builtins
import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


@cache
def exists(name: str) -> bool:
    """Whether Python's own library has this name."""
    parts = name.split(".")
    if len(parts) == 1:
        return hasattr(builtins, name) or name in sys.stdlib_module_names
    if parts[0] not in sys.stdlib_module_names:
        return False
    for i in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:i]))
        except ImportError:
            continue
        for part in parts[i:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def resolve(_app: Sphinx, _env: BuildEnvironment, node: pending_xref,
            contnode: nodes.Element) -> nodes.Element | None:
    return contnode if node["refdomain"] == "py" and exists(node["reftarget"]) else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("missing-reference", resolve, priority=900)  # after intersphinx
    return {"parallel_read_safe": True, "parallel_write_safe": True}
