"""What the sub-commands share: the PMU option, output as JSON or to a terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from pypfm.itanium import PMUS

if TYPE_CHECKING:
    import argparse

    from pypfm.itanium import Itanium2, Montecito

Subparsers = Any  # argparse does not name the type of what add_subparsers() returns

__all__ = ["Subparsers", "add_json_option", "add_pmu_option", "on_terminal", "print_json", "selected_pmu"]


def add_pmu_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-p", "--pmu", choices=sorted(PMUS), required=True, help="which PMU")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def selected_pmu(args: argparse.Namespace, cpuid3: int | None = None) -> Itanium2 | Montecito:
    """The PMU that -p names."""
    return PMUS[args.pmu](cpuid3)


def on_terminal(args: argparse.Namespace) -> bool:
    """Whether a person reads the output."""
    return sys.stdout.isatty() and not args.json


def print_json(data: object) -> None:
    json.dump(data, sys.stdout, indent=2)
    print()
