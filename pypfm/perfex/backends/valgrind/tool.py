"""The valgrind tool r10k (csrc/perfex/tool), built on this machine for the valgrind that is here.

It is made of what valgrind's packages ship for tools of others: headers and libraries.  What was built is kept in the
user's cache directory, for each version of valgrind, compiler and source: the tool, beside links to all files of that
valgrind's own directory, in which it looks for its tools.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.config import built
from pypfm.errors import shown
from pypfm.perfex.backends.kept import compiled, compiler, is_kept, kept
from pypfm.perfex.backends.valgrind.installed import find, version
from pypfm.perfex.model import PerfexError
from pypfm.perfex.opening import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COMPILE", "PACKAGES", "Platform", "directory", "is_built", "own_directory", "platforms", "sources"]

#: What is installed to build the tool, by distribution.
PACKAGES = ("Debian, Ubuntu: apt-get install gcc valgrind; Fedora: dnf install gcc valgrind-devel;"
            " Arch: pacman -S gcc valgrind")
_PACKAGES_32 = ("Debian, Ubuntu: apt-get install gcc-multilib; Fedora: dnf install glibc-devel.i686 libgcc.i686;"
                " Arch: pacman -S lib32-gcc-libs lib32-glibc")
_WHAT = "valgrind's tool r10k"
#: Flags as of valgrind's own tools; what stands last wins over what a distribution's compiler does by itself.  Without
#: debug information, which valgrind would read: it may be of another version than it knows.
COMPILE = ("-std=gnu11", "-O2", "-g0", "-fno-builtin", "-fno-strict-aliasing", "-fpic", "-fno-stack-protector",
           "-U_FORTIFY_SOURCE", "-fcf-protection=none", "-fno-lto", "-DVGO_linux=1")
_LINK = ("-static", "-nodefaultlibs", "-nostartfiles", "-no-pie", "-u", "_start", "-Wl,--build-id=none")


@dataclass(frozen=True)
class Platform:
    """A kind of program that valgrind runs.

    :ivar name: valgrind's, such as amd64-linux
    :ivar arch: valgrind's name of the processor
    :ivar width: bits of a word
    """

    name: str
    arch: str
    width: int


def _machine() -> str:
    return os.uname().machine


def platforms() -> tuple[Platform, ...]:
    """Return the platforms whose programs this machine executes: its own first, then that of 32 bits, if it does.

    :raises PerfexError: the tool is not made for such a machine
    """
    known = {"x86_64": (Platform("amd64-linux", "amd64", 64), Platform("x86-linux", "x86", 32)),
             "aarch64": (Platform("arm64-linux", "arm64", 64),)}
    found = known.get(_machine())
    if found is None:
        raise PerfexError(f"valgrind's tool r10k is made for x86-64 and AArch64, not for {_machine()};"
                          " --backend perf counts where the kernel has counters")
    return found


# ---- what valgrind is made of ------------------------------------------------------------

@cache
def _description(valgrind: str) -> Mapping[str, str]:
    """Return the values of valgrind.pc; pkg-config is not needed.

    :raises PerfexError: it is not there
    """
    places = [Path(p) for p in os.environ.get("PKG_CONFIG_PATH", "").split(":") if p]
    # Where valgrind is; and where it would be if what stands in PATH is a script that calls it.
    for prefix in (Path(os.path.realpath(valgrind)).parent.parent, Path("/usr/local"), Path("/usr")):
        for library in ("lib", "lib64", "share"):
            places += [prefix / library / "pkgconfig", *sorted(prefix.glob(f"{library}/*/pkgconfig"))]
    for place in places:
        with suppress(OSError):
            found = _parsed((place / "valgrind.pc").read_text(encoding="utf-8", errors="surrogateescape"))
            if found.get("Version") == version():
                return found
    raise PerfexError(f"no valgrind.pc of valgrind {version()}, which says where its libraries are: {PACKAGES}")


def _parsed(text: str) -> dict[str, str]:
    """Return the variables and fields of a .pc file."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if match := re.match(r"([\w.]+)\s*[=:]\s*(.*)", line):
            found[match[1]] = re.sub(r"\$\{(\w+)\}", lambda m: found.get(m[1], ""), match[2].strip())
    return found


@cache
def own_directory(valgrind: str) -> Path:
    """Return where valgrind has its tools.

    :raises PerfexError: it does not say
    """
    try:
        answer = subprocess.run([valgrind, "--command-line-only=yes", "-d", "--tool=none", "true"], text=True,
                                capture_output=True, errors="surrogateescape", check=False, timeout=60,
                                stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        raise PerfexError(f"valgrind does not run: {error}") from None
    match = re.search(r"VG_\(libdir\) = (.*)", answer.stderr)
    if not match:
        raise PerfexError(f"valgrind -d does not say where its tools are: {shown(answer.stderr.strip()[-200:])}")
    return Path(match[1])


@dataclass(frozen=True)
class _Parts:
    """The parts that the tool is built from.

    :ivar headers: their directory
    :ivar libraries: theirs
    :ivar compiler: its path
    """

    headers: Path
    libraries: Path
    address: str
    compiler: str

    def archives(self, platform: Platform) -> list[Path]:
        """Return the archives that must exist, and the compiler's own functions, which older versions have."""
        return [self.libraries / f"lib{name}-{platform.name}.a" for name in ("coregrind", "vex", "gcc-sup")]

    def missing(self, platform: Platform) -> str:
        """Return the file that is missing; "": none is."""
        needed = [self.headers / "pub_tool_tooliface.h", *self.archives(platform)[:2]]
        return next((str(path) for path in needed if not path.exists()), "")


def _parts() -> _Parts:
    """:raises PerfexError: something is missing; says which packages have it"""
    described = _description(find())
    libraries = next((Path(word[2:]) for word in described.get("Libs", "").split() if word.startswith("-L")), Path())
    return _Parts(Path(described.get("includedir", "")), libraries,
                  described.get("valt_load_address", "0x58000000"),
                  compiler("valgrind's tool r10k", PACKAGES))


def sources() -> list[Path]:
    """Return the files of the tool, which are installed with the package."""
    return sorted(path for path in built("perfex/tool").iterdir() if path.suffix in (".c", ".h"))


# ---- where it is kept --------------------------------------------------------------------

def _key(parts: _Parts) -> str:
    """Return a short key that changes with anything that the tool depends on."""
    digest = hashlib.sha256(repr((version(), parts, COMPILE, _LINK)).encode("utf-8", "surrogateescape"))
    for path in (*sources(), Path(__file__)):
        digest.update(path.read_bytes())
    for platform in platforms():
        for path in (Path(os.path.realpath(parts.compiler)), *parts.archives(platform)):
            with suppress(OSError):
                known = path.stat()
                digest.update(repr((str(path), known.st_size, known.st_mtime_ns)).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]


def _name(parts: _Parts) -> str:
    return f"{version()}-{_key(parts)}"


def is_built() -> bool:
    """Tell whether the tool is there already, or will be built when it is first used.

    :raises PerfexError: it cannot be built; says what is missing
    """
    parts = _parts()
    if missing := parts.missing(platforms()[0]):
        raise PerfexError(f"{missing}: no such file: {PACKAGES}")
    return is_kept("valgrind", _WHAT, _name(parts))


def directory(width: int = 64) -> Path:
    """Return the directory for ``VALGRIND_LIB``, in which the tool is; build it if it has not been built.

    :param width: bits of a word of the program that is to run
    :raises PerfexError: it cannot be built; says what is missing
    """
    parts = _parts()
    made = kept("valgrind", _WHAT, _name(parts), lambda aside: _make(aside, parts))
    platform = next((p for p in platforms() if p.width == width), platforms()[0])
    if not (made / f"r10k-{platform.name}").exists():
        raise _failed(platform, _reason(made / f"{platform.name}.failed"))
    return made


def _failed(platform: Platform, why: str) -> PerfexError:
    return PerfexError(f"valgrind's tool r10k could not be built for programs of {platform.width} bits ({why}):"
                       f" {_PACKAGES_32 if platform.width == 32 else PACKAGES}")


def _reason(path: Path) -> str:
    """Read why it could not be built, and remove that: the next run builds it anew, as the reason may be gone."""
    why = "reason unknown"
    with suppress(OSError):
        why = read_regular(path, 1 << 20).decode("utf-8", "replace")
        path.unlink()
    return why


def _make(aside: Path, parts: _Parts) -> None:
    """Build it in an empty directory; only what is not for the machine's own programs may be missing.

    :raises PerfexError: it cannot be built
    """
    for path in own_directory(find()).iterdir():
        (aside / path.name).symlink_to(path)
    for platform in platforms():
        if why := _compiled(aside, platform, parts):
            if platform == platforms()[0]:
                raise _failed(platform, why)
            (aside / f"r10k-{platform.name}").unlink(missing_ok=True)  # ld leaves what it has written
            (aside / f"{platform.name}.failed").write_text(why, encoding="utf-8", errors="surrogateescape")


def _compiled(aside: Path, platform: Platform, parts: _Parts) -> str:
    """Compile and link the tool; return why that failed, or ""."""
    if missing := parts.missing(platform):
        return f"{missing}: no such file"
    archives = [str(path) for path in parts.archives(platform) if path.exists()]
    arch = f"-DVGA_{platform.arch}=1", f"-DVGP_{platform.arch}_linux=1", f"-DVGPV_{platform.arch}_linux_vanilla=1"
    width = [f"-m{platform.width}"] if _machine() == "x86_64" else []
    command = [parts.compiler, *width, *COMPILE, *arch, f"-I{parts.headers}",
               *(str(path) for path in sources() if path.suffix == ".c"), *_LINK,
               f"-Wl,-Ttext-segment={parts.address}", "-o", str(aside / f"r10k-{platform.name}"), *archives, "-lgcc"]
    return compiled(command)
