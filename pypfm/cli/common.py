"""What the sub-commands share: the PMU option, values of options, output."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pypfm.errors import named, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from pypfm.ia64.pmu import GenericIA64, Itanium, Itanium2, Montecito
    from pypfm.perf.pmu import Pmu

    AnyPmu = Itanium2 | Montecito | Itanium | GenericIA64 | Pmu

Subparsers = Any  # argparse does not name the type of what add_subparsers() returns

# Name of each PMU: its library, package and class.
PMUS = {
    "itanium2": ("pfm3", "ia64", "Itanium2"),
    "montecito": ("pfm3", "ia64", "Montecito"),
    "itanium": ("pfm3", "ia64", "Itanium"),
    "gen_ia64": ("pfm3", "ia64", "GenericIA64"),
    "ita": ("pfm4", "perf", "Pmu"),
    "ita2": ("pfm4", "perf", "Pmu"),
    "mont": ("pfm4", "perf", "Pmu"),
    "glm": ("pfm4", "perf", "Goldmont"),
    "perf": ("pfm4", "perf", "Perf"),
}

__all__ = [
    "PMUS", "Subparsers", "add_json_option", "add_pmu_option", "between", "checked", "library_of", "named",
    "number", "on_terminal", "print_json", "selected_pmu",
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
    _, package, cls = PMUS[name]
    if cls == "Pmu":
        args = name, *args
    return getattr(import_module(f"pypfm.{package}"), cls)(*args, **keywords)


def number(text: str) -> int:
    """A number, decimal or 0x hexadecimal, not negative."""
    try:
        value = int(text, 0)
    except ValueError:  # also of more digits than Python converts
        raise ValueError(f"{shown(text)} is not a number (decimal or 0x...)") from None
    if value < 0:
        raise ValueError(f"{shown(text)} is negative")
    return value


def between(text: str, least: int, most: int) -> int:
    """A number in a range, ends included."""
    value = number(text)
    if not least <= value <= most:
        raise ValueError(f"{shown(text)} is not between {least} and {most}")
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
