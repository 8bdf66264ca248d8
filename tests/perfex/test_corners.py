"""Formulas of a form that the simulation does not have; counters in a child process."""

from __future__ import annotations

import ast
import os

import pytest

from conftest import TESTS
from pypfm.errors import CountingError
from pypfm.perfex import counting
from pypfm.perfex.backends.valgrind import formulas


def test_a_formula_of_another_kind() -> None:
    with pytest.raises(ValueError, match="x - y"):
        formulas.value_of(ast.parse("x - y", mode="eval").body, {"x": 2, "y": 1})


def test_counters_of_the_parent_process() -> None:
    with counting(0, 26, perf_table=TESTS / "c" / "libperfex" / "perf_table.csv") as c:
        assert len(c) == 2
        pid = os.fork()
        if pid == 0:
            try:
                c[26]
            except CountingError:
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert len(c) == 2
