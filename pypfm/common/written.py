"""Write the content of a value."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import Field

__all__ = ["as_written"]


def as_written(value: object, of_field: Field[Any]) -> str:
    """Write the content of a field as a program would."""
    if isinstance(value, int) and of_field.metadata.get("json", {}).get("hex"):
        return hex(value)
    return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)
