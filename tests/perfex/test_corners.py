"""Formulas of a form that the simulation does not have; counters in a child process."""

from __future__ import annotations

import ast
import mmap
import os

import pytest

from conftest import TESTS
from pypfm.errors import CountingError
from pypfm.perfex import counting
from pypfm.perfex.backends.simulation import formulas


def test_a_formula_of_another_kind() -> None:
    with pytest.raises(ValueError, match="x / y"):
        formulas.value_of(ast.parse("x / y", mode="eval").body, {"x": 2, "y": 1})


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


def test_a_child_that_leaves_the_with_does_not_stop_the_parent_s_counters() -> None:
    with counting(26, perf_table=TESTS / "c" / "libperfex" / "perf_table.csv") as c:
        pid = os.fork()
        if pid == 0:
            try:
                c.close()
            except CountingError:
                os._exit(0 if len(c) == 0 else 1)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        with mmap.mmap(-1, 1000 * mmap.PAGESIZE) as memory:
            for page in range(1000):
                memory[page * mmap.PAGESIZE] = 1
    assert c[26] >= 1000
