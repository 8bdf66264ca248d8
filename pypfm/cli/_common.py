"""What the sub-commands share: the PMU option, values of options, output."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pypfm.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from pypfm.goldmont import Goldmont, Perf
    from pypfm.itanium import GenericIA64, Itanium, Itanium2, Montecito

    AnyPmu = Itanium2 | Montecito | Itanium | GenericIA64 | Goldmont | Perf

Subparsers = Any  # argparse does not name the type of what add_subparsers() returns

# Name of each PMU: its library, module and class.
PMUS = {
    "itanium2": ("pfm3", "itanium", "Itanium2"),
    "montecito": ("pfm3", "itanium", "Montecito"),
    "itanium": ("pfm3", "itanium", "Itanium"),
    "gen_ia64": ("pfm3", "itanium", "GenericIA64"),
    "glm": ("pfm4", "goldmont", "Goldmont"),
    "perf": ("pfm4", "goldmont", "Perf"),
}

__all__ = [
    "PMUS", "Subparsers", "add_json_option", "add_pmu_option", "between", "checked", "library_of", "number",
    "on_terminal", "print_json", "selected_pmu",
]


def add_pmu_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-p", "--pmu", choices=sorted(PMUS), required=True, help="which PMU")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def library_of(name: str) -> str:
    """The library that a PMU belongs to."""
    return PMUS[name][0]


def selected_pmu(name: str, *args: object, **keywords: object) -> Any:
    """The PMU of a name; only its own library is loaded."""
    _, module, cls = PMUS[name]
    return getattr(import_module(f"pypfm.{module}"), cls)(*args, **keywords)


def number(text: str) -> int:
    """A number, decimal or 0x hexadecimal, not negative."""
    try:
        value = int(text, 0)
    except ValueError:  # also of more digits than Python converts
        message = f"{shown(text)} is not a number (decimal or 0x...)"
        raise ValueError(message) from None
    if value < 0:
        message = f"{shown(text)} is negative"
        raise ValueError(message)
    return value


def between(text: str, least: int, most: int) -> int:
    """A number in a range, ends included."""
    value = number(text)
    if not least <= value <= most:
        message = f"{shown(text)} is not between {least} and {most}"
        raise ValueError(message)
    return value


def checked(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser whose errors argparse shows."""
    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return parsed


def on_terminal(args: argparse.Namespace) -> bool:
    """Whether a person reads the output."""
    return sys.stdout.isatty() and not args.json


def print_json(data: object) -> None:
    json.dump(data, sys.stdout, indent=2)
    print()
