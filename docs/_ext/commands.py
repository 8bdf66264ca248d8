"""The parsers of the command line, for sphinx-argparse: examples in their texts are literal blocks."""

from __future__ import annotations

import argparse
import re

import pypfm.cli
import pypfm.cli.perfex
import pypfm.cli.pmc

__all__ = ["perfex", "pmc", "pypfm_"]


def pypfm_() -> argparse.ArgumentParser:
    return _with_examples(pypfm.cli.build_parser())


def pmc() -> argparse.ArgumentParser:
    return _with_examples(pypfm.cli.pmc.build_parser())


def perfex() -> argparse.ArgumentParser:
    return _with_examples(pypfm.cli.perfex.build_parser())


def _with_examples(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    if parser.epilog:
        parser.epilog = re.sub(r"(^|\n\n)(?=  )", r"\1::\n\n", parser.epilog)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _with_examples(command)
    return parser
