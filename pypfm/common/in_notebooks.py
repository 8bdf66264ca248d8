"""Bases of classes that a notebook shows; their HTML is made when it is asked for."""

from __future__ import annotations

__all__ = ["Printed", "Tabled"]


class Tabled:
    """A dataclass that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        from pypfm.common.notebook import table
        return table(self)


class Printed:
    """A report that a notebook shows as a terminal does."""

    def _text(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from pypfm.common.notebook import preformatted
        return preformatted(self._text())
