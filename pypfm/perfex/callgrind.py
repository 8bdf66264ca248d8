"""The counts of a run in the format of callgrind, which KCachegrind and callgrind_annotate read.

Source: Callgrind Format Specification, in valgrind's documentation.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from pypfm.perfex.profile import added
from pypfm.perfex.report import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypfm.perfex.profile import Function, Profile

__all__ = ["text"]


def text(command: Sequence[str], profile: Profile) -> str:
    """Return the text of the file.

    :param command: that was counted
    """
    return "".join(f"{line}\n" for line in _lines(command, profile))


def _lines(command: Sequence[str], profile: Profile) -> Iterator[str]:
    yield from ("# callgrind format", "version: 1", "creator: perfex", f"cmd: {printable(shlex.join(command))}",
                "positions: line", f"events: {' '.join(profile.names)}")
    yield _numbers("summary:", [sum(column) for column in zip(*profile.code.values(), strict=True)])
    code: dict[Function, dict[tuple[str, int], list[int]]] = {}
    for place, counts in profile.code.items():
        added(code.setdefault(place.function, {}), (place.file, place.line), counts)
    calls: dict[Function, list[tuple[Function, list[int]]]] = {}
    for (caller, callee), counts in profile.calls.items():
        calls.setdefault(caller, []).append((callee, counts))
    for function in dict.fromkeys([*code, *calls]):
        yield from ("", f"ob={_name(function.object)}", f"fl={_name(function.file)}", f"fn={_name(function.name)}")
        for (file, line), counts in sorted(code.get(function, {}).items()):
            yield f"fi={_name(file)}"
            yield _numbers(str(line), counts)
        for callee, (times, *counts) in calls.get(function, ()):
            yield from (f"cob={_name(callee.object)}", f"cfi={_name(callee.file)}", f"cfn={_name(callee.name)}",
                        f"calls={times} 0")
            yield _numbers("0", counts)


def _name(name: str) -> str:
    return printable(name)


def _numbers(first: str, numbers: Sequence[int]) -> str:
    return " ".join(map(str, (first, *numbers)))
