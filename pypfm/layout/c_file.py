"""A C file that holds a project to a layout: it compiles only where the headers agree.

Bit-fields have no address: a function checks them when the program runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.config import LIBRARIES
from pypfm.layout.mirrors import header_of
from pypfm.layout.model import of_one_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypfm.layout.model import TypeLayout

__all__ = ["c_source"]

# The header that takes the structures of a newer kernel's, if it may, and what tells it not to.
_LINUX_S = "perfmon/perf_event.h"
_OWN = ["#ifndef PFM_OWN_PERF_EVENT\n#define PFM_OWN_PERF_EVENT 1\n#endif\n"]

_BITS = """
#include <string.h>

/* Whether the bits of an object that are set are these, and no other. */
static int
pypfm_bits_are(const void *object, size_t size, size_t first, size_t width)
{
	const unsigned char *byte = object;

	for (size_t bit = 0; bit < 8 * size; bit++)
		if ((byte[bit / 8] >> bit % 8 & 1) != (bit >= first && bit < first + width))
			return 0;
	return 1;
}

/* Set all bits of a bit-field of a zeroed object (0 - 1) and see where they are. */
#define PYPFM_BITS(object, member, first, width) \\
	(memset(&(object), 0, sizeof(object)), (object).member--, \\
	!pypfm_bits_are(&(object), sizeof(object), first, width))

/* How many bit-fields are not where they were. */
__attribute__((unused)) static int
pypfm_misplaced_bit_fields(void)
{
	int wrong = 0;
"""
_END = """	return wrong;
}

#ifdef PYPFM_LAYOUT_MAIN
int
main(void)
{
	return pypfm_misplaced_bit_fields() != 0;
}
#endif
"""


def c_source(layouts: Sequence[TypeLayout]) -> str:
    """Write C11 source with a static_assert for each size, alignment, offset and member type.

    :param layouts: from `describe`, types of one library
    :return: text that compiles wherever the structures are the same; where they have bit-fields it
        has a function pypfm_misplaced_bit_fields(), which returns 0 if these are, too, and with
        ``-DPYPFM_LAYOUT_MAIN`` a main() whose exit status is 0 then
    """
    layouts = of_one_library(layouts)
    library = LIBRARIES[layouts[0].source]
    included = dict.fromkeys(map(header_of, layouts))
    parts = [f"/* Layout of {library.name}, made by pypfm layout --c.  Compile as C11. */\n",
             "#include <assert.h>\n#include <stddef.h>\n",
             *(f"#define {name} 1\n" for name in library.defines),
             *(_OWN if _LINUX_S in included else []), *(f"#include <{header}>\n" for header in included)]
    for layout in layouts:
        parts += ["\n", *(f'static_assert({what}, "{_quoted(what)}");\n' for what in _facts(layout))]
    checks = [line for number, layout in enumerate(layouts) for line in _bit_checks(layout, f"object{number}")]
    return "".join([*parts, *([_BITS, *checks, _END] if checks else [])])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _facts(layout: TypeLayout) -> Iterator[str]:
    """Yield constant expressions that are true."""
    name = layout.name
    yield f"sizeof({name}) == {layout.size}"
    yield f"_Alignof({name}) == {layout.alignment}"
    for path, member in layout.flat():
        if member.bits is not None:
            continue
        yield f"offsetof({name}, {path}) == {member.offset}"
        yield f"sizeof((({name} *)0)->{path}) == {member.size}"
        if not member.members:
            yield f"_Generic((({name} *)0)->{path}{'[0]' * len(member.dimensions)}, {member.type}: 1, default: 0)"


def _bit_checks(layout: TypeLayout, variable: str) -> Iterator[str]:
    fields = [(path, m) for path, m in layout.flat() if m.bits is not None]
    if fields:
        yield f"\tstatic {layout.name} {variable};\n"
    for path, m in fields:
        yield f"\twrong += PYPFM_BITS({variable}, {path}, {m.first_bit}, {m.bits});\n"
