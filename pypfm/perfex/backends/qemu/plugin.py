"""The plugin r10k of qemu (csrc/perfex/plugin), built on this machine and kept in the user's cache directory."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pypfm.config import built
from pypfm.perfex.backends.kept import compiled, compiler, is_kept, kept
from pypfm.perfex.backends.qemu.program import PACKAGES
from pypfm.perfex.model import PerfexError

__all__ = ["COMPILE", "WHAT", "is_built", "path"]

#: What it is, for messages.
WHAT = "qemu's plugin r10k"
_FILE = "r10k.so"
#: Flags of the compiler.
COMPILE = ("-std=gnu11", "-O3", "-g0", "-fPIC", "-shared", "-pthread", "-fno-semantic-interposition",
           "-Wl,-Bsymbolic", "-flto")


def _sources() -> list[Path]:
    """Return the files that it is made of, which are installed with the package."""
    own, tool = built("perfex/plugin"), built("perfex/tool")
    return [*sorted(own.iterdir()), *(tool / name for name in ("r10k.c", "r10k.h", "file.h"))]


def _command() -> list[str]:
    """Return the command of the compiler.

    :raises PerfexError: there is none
    """
    return [compiler(WHAT, PACKAGES), *COMPILE, *(str(path) for path in _sources() if path.suffix == ".c")]


def _name(command: list[str]) -> str:
    """Name what a command makes of the sources as they are."""
    digest = hashlib.sha256(repr(command).encode("utf-8", "surrogateescape"))
    for source in _sources():
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def is_built() -> bool:
    """Tell whether the plugin has been built.

    :raises PerfexError: it could not be
    """
    return is_kept("qemu", WHAT, _name(_command()))


def path() -> Path:
    """Return the plugin; build it if it has not been built.

    :raises PerfexError: it cannot be built; says why
    """
    command = _command()

    def make(aside: Path) -> None:
        if why := compiled([*command, "-o", str(aside / _FILE)]):
            raise PerfexError(f"{WHAT} could not be built ({why}): {PACKAGES}")

    return kept("qemu", WHAT, _name(command), make) / _FILE
