"""Subinterpreters: the package works in one, or says at once that it cannot."""

from __future__ import annotations

import sys

import pytest

from conftest import run_python

PROGRAM = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
print(interpreters.run_string(interpreters.create(), sys.argv[1]))
"""
ENCODE = """
try:
    import pypfm
    pmcs = pypfm.Itanium2().encode(["CPU_CYCLES"]).pmcs
    print([hex(register.value) for register in pmcs], flush=True)
except ImportError as error:
    print(error, flush=True)
"""
LIST = """
from pypfm import pfm3, pfm3_manual
for mirror in (pfm3, pfm3_manual):
    lines = []
    print(mirror.pfm_list_supported_pmus(lambda *words: lines.append(words)), len(lines), lines[1][1], flush=True)
    print(mirror.pfm_list_supported_pmus(None) == mirror.PFMLIB_ERR_INVAL, flush=True)
"""


def test_in_a_subinterpreter() -> None:
    """From Python 3.12 on each has a lock of its own, which cffi does not support."""
    done = run_python(PROGRAM, ENCODE)
    words = "['0x1228']" if sys.version_info < (3, 12) else "module _cffi_backend does not support loading in subinterpreters"
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (0, [words, "None"], "")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="cffi does not load in a subinterpreter of this Python")
def test_a_function_that_c_would_call() -> None:
    """By a function that ctypes makes: cffi finds none of a subinterpreter."""
    done = run_python(PROGRAM, LIST)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["0 6 dual-core Itanium 2", "True"] * 2 + ["None"]
