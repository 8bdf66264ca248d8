"""What the installed headers of libpfm 3 declare, read from their text and from the preprocessor."""

from __future__ import annotations

import re
from functools import cache

from native import CC, HEADERS, PFM3, build

# Macros that are no part of the API.
NOT_API = {
    "__PERFMON_H__": "include guard",
    "__PFMLIB_H__": "include guard",
    "__PFMLIB_COMP_H__": "include guard",
    "__PFMLIB_ITANIUM2_H__": "include guard",
    "__PFMLIB_MONTECITO_H__": "include guard",
    "__PFMLIB_OS_H__": "include guard",
    "__PFMLIB_REGMASK_H__": "include guard",
    "PFMLIB_ERROR_LIST": "X-macro list of the return codes; takes a macro",
}
SYSTEM_HEADERS = ["stdio.h", "inttypes.h", "stddef.h", "endian.h"]


@cache
def header_text() -> str:
    """All headers, without comments."""
    text = "\n".join((PFM3.include_dir / h).read_text() for h in HEADERS)
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def includes(headers: list[str]) -> str:
    return "".join(f"#include <{h}>\n" for h in headers)


def preprocess(headers: list[str], *flags: str) -> str:
    return build(CC, "-std=c11", "-E", *flags, *PFM3.cflags, "-x", "c", "-", source=includes(headers))


@cache
def preprocessed() -> str:
    """What a compiler for this machine sees of the headers (no system headers)."""
    text, keep = [], False
    for line in preprocess(HEADERS).splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            keep = marker.group(1).startswith(str(PFM3.include_dir))
        elif keep:
            text.append(line)
    return "\n".join(text)


@cache
def extern_functions() -> frozenset[str]:
    return frozenset(re.findall(r'\bextern\s+(?!")[\w\s*]*?\b(\w+)\s*\(', header_text()))


@cache
def inline_functions() -> frozenset[str]:
    return frozenset(re.findall(r"\bstatic\s+inline\s+[\w\s*]*?\b(\w+)\s*\(", preprocessed()))


@cache
def typedefs() -> frozenset[str]:
    text = preprocessed()
    return frozenset(re.findall(r"\btypedef\s[^{};]*?\b(\w+)\s*;", text)
                     + re.findall(r"^}\s*(\w+)\s*;", text, flags=re.M))


@cache
def incomplete_types() -> frozenset[str]:
    """Typedefs of structures that the headers never define."""
    found = re.findall(r"\btypedef\s+struct\s+(\w+)\s+(\w+)\s*;", preprocessed())
    return frozenset(name for tag, name in found if not re.search(rf"struct\s+{tag}\s*{{", preprocessed()))


@cache
def enumerators() -> frozenset[str]:
    bodies = re.findall(r"\benum\b[^{;]*{([^}]*)}", preprocessed())
    parts = [part.split("=")[0].strip() for body in bodies for part in body.split(",")]
    return frozenset(filter(None, parts))


def macro_lines(headers: list[str]) -> set[str]:
    return set(preprocess(headers, "-dM").splitlines())


@cache
def macros() -> dict[str, list[str] | None]:
    """Macros of the headers: parameters, or None for an object-like one."""
    found: dict[str, list[str] | None] = {}
    for line in macro_lines(HEADERS) - macro_lines(SYSTEM_HEADERS):
        match = re.match(r"#define (\w+)(?:\(([^)]*)\))?", line)
        assert match
        found[match.group(1)] = None if match.group(2) is None else match.group(2).split(",")
    return found


def constants() -> list[str]:
    """Object-like macros of the API, and enumerators."""
    objects = {name for name, parameters in macros().items() if parameters is None}
    return sorted((objects | enumerators()) - set(NOT_API))


def one_argument_macros() -> list[str]:
    return sorted(name for name, parameters in macros().items()
                  if parameters is not None and len(parameters) == 1 and name not in NOT_API)
