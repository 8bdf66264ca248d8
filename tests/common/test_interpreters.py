"""Subinterpreters: the package works in one, or says at once that it cannot."""

from __future__ import annotations

import sys

from conftest import run_python

PROGRAM = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
print(interpreters.run_string(interpreters.create(), '''
try:
    import pypfm
    pmcs = pypfm.Itanium2().encode(["CPU_CYCLES"]).pmcs
    print([hex(register.value) for register in pmcs], flush=True)
except ImportError as error:
    print(error, flush=True)
'''))
"""


def test_in_a_subinterpreter() -> None:
    """From Python 3.12 on each has a lock of its own, which cffi does not support."""
    done = run_python(PROGRAM)
    words = "['0x1228']" if sys.version_info < (3, 12) else "module _cffi_backend does not support loading in subinterpreters"
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (0, [words, "None"], "")
