"""What installed headers declare, read from their text and from the preprocessor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

from native import CC, build, headers
from pypfm._c import names
from pypfm.config import Library


def includes(headers: list[str]) -> str:
    return "".join(f"#include <{h}>\n" for h in headers)


@dataclass(frozen=True)
class HeaderNames:
    """The names in the headers of one library.

    :ivar not_api: macros that are no part of the API, and why
    :ivar system_headers: headers that these include
    """

    library: Library
    not_api: dict[str, str]
    system_headers: list[str]

    @cached_property
    def headers(self) -> list[str]:
        return headers(self.library)

    @cached_property
    def header_text(self) -> str:
        """All headers, without comments."""
        text = "\n".join((self.library.include_dir / h).read_text() for h in self.headers)
        return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)

    def preprocess(self, names: list[str], *flags: str) -> str:
        return build(CC, "-std=gnu11", "-E", "-DPFM_OWN_PERF_EVENT", *flags, *self.library.cflags, "-x", "c", "-", source=includes(names))

    @cached_property
    def preprocessed(self) -> str:
        """What a compiler for this machine sees of the headers (no system headers)."""
        text, keep = [], False
        for line in self.preprocess(self.headers).splitlines():
            marker = re.match(r'# \d+ "([^"]*)"', line)
            if marker:
                keep = marker.group(1).startswith(str(self.library.include_dir))
            elif keep:
                text.append(line)
        return "\n".join(text)

    @cached_property
    def extern_functions(self) -> frozenset[str]:
        plain = re.sub(r"\bextern\b[^;{]*__asm__[^;]*;", "", self.header_text)  # another name for a function of ours
        return frozenset(re.findall(r'\bextern\s+(?!")[\w\s*]*?\b(\w+)\s*\(', plain))

    @cached_property
    def inline_functions(self) -> frozenset[str]:
        return frozenset(re.findall(r"\bstatic\s+inline\s+[\w\s*]*?\b(\w+)\s*\(", self.preprocessed))

    @cached_property
    def typedefs(self) -> frozenset[str]:
        text = self.preprocessed
        return frozenset(re.findall(r"\btypedef\s[^{};]*?\b(\w+)\s*;", text)
                         + re.findall(r"^}\s*(\w+)\s*;", text, flags=re.M)
                         + re.findall(r"\btypedef\s+enum\s*{[^{}]*}\s*(\w+)\s*;", text))

    @cached_property
    def struct_tags(self) -> frozenset[str]:
        """Structures with a tag that are defined."""
        return frozenset(re.findall(r"^struct\s+(\w+)\s*{", self.preprocessed, flags=re.M))

    @cached_property
    def union_tags(self) -> frozenset[str]:
        """Unions with a tag that are defined."""
        return frozenset(re.findall(r"^union\s+(\w+)\s*{", self.preprocessed, flags=re.M))

    @cached_property
    def incomplete_types(self) -> frozenset[str]:
        """Typedefs of structures that the headers never define."""
        found = re.findall(r"\btypedef\s+struct\s+(\w+)\s+(\w+)\s*;", self.preprocessed)
        return frozenset(name for tag, name in found if not re.search(rf"struct\s+{tag}\s*{{", self.preprocessed))

    @cached_property
    def enumerators(self) -> frozenset[str]:
        bodies = re.findall(r"\benum\b[^{;]*{([^}]*)}", self.preprocessed)
        parts = [part.split("=")[0].strip() for body in bodies for part in body.split(",")]
        return frozenset(filter(None, parts))

    def macro_lines(self, names: list[str]) -> set[str]:
        return set(self.preprocess(names, "-dM").splitlines())

    @cached_property
    def macros(self) -> dict[str, list[str] | None]:
        """Macros of the headers: parameters, or None for an object-like one."""
        found: dict[str, list[str] | None] = {}
        for line in self.macro_lines(self.headers) - self.macro_lines(self.system_headers):
            match = re.match(r"#define (\w+)(?:\(([^)]*)\))?", line)
            assert match
            found[match.group(1)] = None if match.group(2) is None else match.group(2).split(",")
        return found

    @cached_property
    def constants(self) -> list[str]:
        """Object-like macros of the API, and enumerators."""
        objects = {name for name, parameters in self.macros.items() if parameters is None}
        return sorted((objects | self.enumerators) - set(self.not_api))

    @cached_property
    def one_argument_macros(self) -> list[str]:
        return sorted(name for name, parameters in self.macros.items()
                      if parameters is not None and len(parameters) == 1 and name not in self.not_api)


def check_mirror(api: HeaderNames, mirror: ModuleType, own: set[str], directory: Path) -> None:
    """A mirror has every name of the headers with its value in C, and beside them only Python's and its own."""
    declared = {*api.extern_functions, *api.inline_functions, *api.typedefs, *api.struct_tags, *api.union_tags, *api.constants,
                *api.one_argument_macros}
    assert sorted(name for name in declared if not hasattr(mirror, name) or name not in mirror.__all__) == []
    assert set(mirror.__all__) - {*names.__all__, "ffi", "lib", *own} <= declared
    # A type without definition would have no size: a program could hold pointers to it, not make one.
    assert api.incomplete_types == set()
    assert {n for n, p in api.macros.items() if p is not None and len(p) != 1} <= set(api.not_api) <= set(api.macros)
    source = includes([*api.headers, "stdio.h"]) + "int main(void) {\n" + "".join(
        f'printf(({n}) < 0 ? "{n} %lld\\n" : "{n} %llu\\n", (long long)({n}));\n' for n in api.constants) + "return 0; }\n"
    build(CC, "-std=gnu11", "-w", "-DPFM_OWN_PERF_EVENT", *api.library.cflags, "-x", "c", "-", "-o", directory / "constants", source=source)
    values = dict(line.split() for line in build(directory / "constants").splitlines())
    assert {n: getattr(mirror, n) for n in api.constants} == {n: int(v) for n, v in values.items()}
