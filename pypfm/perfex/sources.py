"""Source files, if they exist here."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pypfm.perfex.opening import NotRegularError, open_regular

__all__ = ["Source"]

_LARGEST = 8 << 20


@dataclass(frozen=True)
class Source:
    """The lines of a file.

    :ivar lines: tabs are expanded, and bytes that are no UTF-8 replaced
    :ivar missing: why there are none; "": the file was read
    :ivar newer: the file was changed after the program was made
    """

    lines: tuple[str, ...] = ()
    missing: str = ""
    newer: bool = False

    @classmethod
    def read(cls, path: str, program: str) -> Source:
        """Read the lines of a file.

        :param path: as the compiler has noted it
        :param program: or library, that was made of it
        """
        try:
            with open_regular(path, _LARGEST) as stream:
                data, changed = stream.read(_LARGEST), os.fstat(stream.fileno()).st_mtime_ns
        except FileNotFoundError:
            return cls(missing="is not there" if os.path.isabs(path) else "is not in this directory")
        except NotRegularError as error:
            return cls(missing=str(error.strerror))
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
            return cls(missing=f"cannot be read: {getattr(error, 'strerror', None) or error}")
        lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
        if lines[-1] == "":
            lines.pop()
        return cls(tuple(line.expandtabs() for line in lines), newer=_newer(changed, program))

    def line(self, number: int) -> str:
        """Return a line; "" if there is none of that number."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""


def _newer(changed: int, program: str) -> bool:
    try:
        return changed > os.stat(program).st_mtime_ns
    except (OSError, ValueError):
        return False
