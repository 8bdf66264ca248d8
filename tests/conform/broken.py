"""Libraries that are broken on purpose: ours, with a change in the text of one C file."""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from native import CC, PFM3, PFM4, build, build_library, csrc, library_flags, library_sources
from pypfm.config import Library

# A place in each library that a test puts code into: before it, so that what stands there still follows.
INITIALIZE3 = ("api.c", "\tread_environment();\n\tshow_kernel_interface();\n")
EVENT_NAME = ("api.c", "\tif (!event || !name || maxlen < 1 || maxlen - 1 < strlen(event->name))\n")
DISPATCH = ("abi.c", "\tmemset(out, 0, sizeof(*out));\n\tanswer->pmcs = out->pfp_pmcs;\n")
INITIALIZE4 = ("api.c", "\tpfm4_initialize(&state.context, &state.disabled);\n")
ENCODE = ("api.c", "\tif (!args || !str || dfl_plm & ~PFM4_ALL_PLM)\n")

INCLUDES = "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"


@cache
def objects(library: Library, *flags: str) -> dict[Path, Path]:
    """The object file of each source of a library, compiled once for all tests of a process."""
    kept = TemporaryDirectory()
    atexit.register(kept.cleanup)
    directory = Path(kept.name)
    found = {source: directory / f"{source.stem}.o" for source in library_sources(library, directory)}
    for source, out in found.items():
        build(CC, "-c", "-fPIC", "-DPYPFM_SHARED", *flags, *library_flags(library), source, "-o", out)
    return found


def renamed(library: Library, directory: Path, function: str, name: str = "real_function") -> list[Path]:
    """The object files of a library in which a function has another name."""
    for compiled in objects(library).values():
        build("objcopy", "--redefine-sym", f"{function}={name}", compiled, directory / compiled.name)
    return [directory / compiled.name for compiled in objects(library).values()]


def changed(library: Library, directory: Path, name: str, old: str, new: str) -> Path:
    """A library one of whose files has another text in one place.

    :param directory: where it is built
    :param name: of the file
    :param old: text that is there exactly once
    :param new: text for its place
    """
    directory.mkdir(exist_ok=True)
    original = csrc(library) / name
    text = original.read_text()
    assert text.count(old) == 1, f"{name} has it {text.count(old)} times: {old}"
    copy = directory / name
    copy.write_text(INCLUDES + text.replace(old, new))
    return build_library(library, directory, sources=[
        copy if source == original else compiled for source, compiled in objects(library).items()])


def with_code(place: tuple[str, str], directory: Path, code: str) -> Path:
    """A library that runs some more code at a place."""
    name, text = place
    library = PFM4 if place in (INITIALIZE4, ENCODE) else PFM3
    return changed(library, directory, name, text, f"\t{code}\n{text}")
