"""Where the C libraries and headers of this installation lie.

``pypfm config`` prints what these functions answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["LIBRARIES", "Library"]

_PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Library:
    """One C library inside the package.

    :ivar name: its name on the command line (pfm3 ...)
    :ivar soname: its file name, as the loader looks for it
    """

    name: str
    soname: str

    @property
    def path(self) -> Path:
        """The shared library."""
        return _PACKAGE / "lib" / self.name / self.soname

    @property
    def include_dir(self) -> Path:
        """The directory of its headers."""
        return _PACKAGE / "include" / self.name

    @property
    def cflags(self) -> list[str]:
        """Arguments of a C compiler that includes the headers."""
        return [f"-I{self.include_dir}"]

    @property
    def libs(self) -> list[str]:
        """Arguments of a C compiler that links a program which finds the library when run."""
        directory = self.path.parent
        return [f"-L{directory}", f"-l:{self.soname}", f"-Wl,-rpath,{directory}"]


LIBRARIES = {library.name: library for library in [
    Library("pfm3", "libpfm.so.3"),
    Library("pfm4", "libpfm.so.4"),
]}
