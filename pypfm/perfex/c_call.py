"""Calls of csrc/perfex, which knows the processors, reads the files of users and prints tables."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any, cast

from pypfm._c.convert import string
from pypfm._c.libperfex import ffi, lib
from pypfm.errors import Pfm4Error, shown
from pypfm.perfex.model import CPUS, Cpu, PerfexError, PerfexValueError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["known_cpu", "no_term", "parsed", "printed", "processor", "read_limited"]


def printed(function: Callable[..., int], *args: object) -> list[str]:
    """Return the lines that a function of C prints."""
    size = function(ffi.NULL, 0, *args)
    if size < 0:
        raise MemoryError
    text: Any = ffi.new("char[]", size + 1)
    function(text, size + 1, *args)
    return string(text).splitlines()


def processor(cpu: str) -> Any:
    """Return C's structure of a processor.

    :raises PerfexValueError: there is none of that name
    """
    found = lib.perfex_cpu_find(cpu.encode("utf-8", "replace"))
    if found == ffi.NULL or string(found.name) != cpu:  # C's string ends at a NUL
        raise PerfexValueError(f"{shown(cpu)} is not a cpu; {', '.join(CPUS)} are")
    return found


def known_cpu(name: str) -> Cpu:
    """Return the name, and check that it is that of a processor.

    :raises PerfexValueError: it is not
    """
    return cast("Cpu", string(processor(name).name))


def no_term(term: str) -> str:
    """Describe why there is no such perf event; libpfm 4's objects know which names are near."""
    from pypfm.perf.pmu import Perf
    try:
        Perf().encode(term)
    except Pfm4Error as error:
        return str(error)
    return f"{shown(term)}: a perf event stands here without modifiers"


def parsed(parse: Callable[..., int], text: bytes, source: object, *results: Any, is_csv: bool = False) -> None:
    """Let C parse the text of a file.

    :param parse: the function of C: of text, size, results and what is wrong
    :param source: the file, for messages
    :param is_csv: a carriage return ends a line, too, and blanks are part of a word
    :raises PerfexError: names the file and the line
    """
    fault: Any = ffi.new("struct perfex_fault *")
    ret = parse(text, len(text), *results, fault)
    if ret == -errno.ENOMEM:
        raise MemoryError
    if ret < 0:
        word = bytes(ffi.buffer(fault.word, fault.size)).decode(errors="ignore")
        if not is_csv:
            word = " ".join(word.split())
        what = string(fault.what).replace("{}", shown(word)) or no_term(word.strip(" \t"))
        before = text[:fault.at] + b"."
        number = len(before.splitlines()) if is_csv else before.count(b"\n") + 1
        line = "" if ret == -errno.EFBIG else f", line {number}"
        raise PerfexError(f"{source}{line}: {what}")


def read_limited(path: Path, most_json: int = 0) -> str:
    """Read the text of a file of the user.

    :param most_json: how large it may be if it is JSON, in bytes
    :raises PerfexError: it cannot be read, is larger than 1 MiB, or is not UTF-8
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(lib.PERFEX_LARGEST + 1)
            if len(data) > lib.PERFEX_LARGEST and most_json and data.startswith(b"{"):
                return _json_text(data + stream.read(most_json + 1 - len(data)), path, most_json)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise PerfexError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    parsed(lib.perfex_text_check, data, path)
    return data.decode()


def _json_text(data: bytes, path: Path, most: int) -> str:
    if len(data) > most:
        raise PerfexError(f"{path}: larger than {most} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise PerfexError(f"{path}: byte 0x{data[error.start]:02x} is not UTF-8 text") from None
