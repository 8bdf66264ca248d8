"""Where the C libraries and headers of this installation lie.

``pypfm config`` prints what is here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pypfm

__all__ = ["LIBRARIES", "Library", "built"]


def built(name: str) -> Path:
    """Return a file or directory that the C build puts into the package.

    An editable installation has two directories: the source tree, and what is built.

    :param name: its path inside the package (``lib/pfm3``)
    """
    places = [Path(directory).resolve() / name for directory in pypfm.__path__]
    return next((path for path in places if path.exists()), places[0])


@dataclass(frozen=True)
class Library:
    """One C library inside the package.

    :ivar name: its name on the command line (pfm3 ...)
    :ivar soname: its file name, as the loader looks for it
    :ivar form_of: the library whose headers it has, if it is another form of that
    :ivar defines: macros that choose the form in these headers
    :ivar mirror: name of its mirror in pypfm, if that is not its own name
    :ivar needs: what a program that links the static library has to be linked with, too
    :ivar redirect: whether a program's mmap() is to be the library's, which knows its descriptors: the linker
        does it, and the headers, which would do it for those who compile by hand, are told to leave it
    """

    name: str
    soname: str
    form_of: str = ""
    defines: tuple[str, ...] = ()
    mirror: str = ""
    needs: tuple[str, ...] = ()
    redirect: bool = False

    @property
    def module(self) -> str:
        """Name of its mirror in pypfm; the extension module has an underscore before it."""
        return self.mirror or self.name.replace("-", "_")

    @property
    def path(self) -> Path:
        """The shared library."""
        return built(f"lib/{self.name}") / self.soname

    @property
    def archive(self) -> Path:
        """The static library."""
        return self.path.with_name(self.soname.partition(".so")[0] + ".a")

    @property
    def include_dir(self) -> Path:
        """The directory of its headers."""
        return built(f"include/{self.form_of or self.name}")

    @property
    def cflags(self) -> list[str]:
        """Arguments of a C compiler that includes the headers."""
        defines = [*self.defines, *(["PFM_NO_MMAP_REDIRECT="] if self.redirect else [])]
        return [f"-I{self.include_dir}", *(f"-D{name}" for name in defines)]

    @property
    def libs(self) -> list[str]:
        """Arguments of a C compiler that links a program which finds the library when run."""
        directory = self.path.parent
        return [f"-L{directory}", f"-l:{self.soname}", f"-Wl,-rpath,{directory}", *self.wraps]

    @property
    def static_libs(self) -> list[str]:
        """Arguments of a C compiler that links the library into the program."""
        return [str(self.archive), *self.needs, *self.wraps]

    @property
    def wraps(self) -> list[str]:
        """Arguments of a C compiler that links a program so that its mmap() is the library's."""
        there = self.redirect and sys.platform == "linux"
        return ["-Wl,--wrap=mmap", "-Wl,--wrap=mmap64"] if there else []


_THREADS = ("-pthread",)

#: The libraries of this installation, by name.
LIBRARIES = {library.name: library for library in [
    Library("pfm3", "libpfm.so.3", needs=_THREADS, redirect=True),
    Library("pfm3-manual", "libpfm-manual.so.3", form_of="pfm3", defines=("PFMLIB_MANUAL_LAYOUT",), needs=_THREADS,
            redirect=True),
    Library("pfm4", "libpfm.so.4"),
    Library("pmc", "libpmc.so.1", needs=_THREADS),
    Library("perfex", "libperfex.so.1", mirror="libperfex", needs=_THREADS),
]}
