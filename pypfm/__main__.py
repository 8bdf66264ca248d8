"""The entry points of the commands pypfm, pmc and perfex; ``python -m pypfm`` is the first of them.

From the first line on, Ctrl-C ends them without a word, as it ends a C program.  That comes before every other
import: ``signal`` would bring twenty modules with it, ``_signal`` is a part of the interpreter.
"""

import _signal  # type: ignore[import-not-found] # of the interpreter: typeshed has it not

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # else who started us wants it ignored
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

__all__ = ["perfex", "pmc", "pypfm"]


def pypfm() -> int:
    """Run the command pypfm and return its exit status."""
    from pypfm.cli import main
    return main()


def pmc() -> int:
    """Run the command pmc and return its exit status."""
    from pypfm.cli.pmc import main
    return main()


def perfex() -> int:
    """Run the command perfex and return its exit status."""
    from pypfm.cli.perfex import main
    return main()


if __name__ == "__main__":
    import sys
    sys.exit(pypfm())
