"""What no other test comes by: texts of objects, cells that are set, answers to what is not there."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

import pypfm
from conftest import TESTS
from pypfm import Goldmont, Itanium2, _dwarf, layout, pfm3, pfm4
from pypfm._layout.model import LayoutError
from pypfm.conform import runner, suppress, vectors
from pypfm.conform._words import differences
from pypfm.conform.suppress import SuppressionError
from pypfm.decode import decode
from pypfm.errors import ConformError, CountingError
from pypfm.perfex import _formulas, counting

ITA2, GLM = Itanium2(), Goldmont()


# ---- texts ------------------------------------------------------------------------------

def test_dir_has_names_that_are_imported_when_asked_for() -> None:
    assert set(pypfm.__all__) <= set(dir(pypfm))


def test_objects_say_what_they_are() -> None:
    assert repr(ITA2) == "<Itanium2: 497 events>"
    assert repr(GLM) == "<Goldmont: 34 events>"
    assert str(GLM["ICACHE"]) == "ICACHE"


@pytest.mark.parametrize(("register", "value", "row"), [
    ("PMC8", 0x7FFFFFF07FFFFFF9, ("slots", "i, f, b")),
    ("PMC9", 0xFFFFFFFF3FFFFFFD, ("code ranges", "ignored")),
    ("PMC10", 0x2008, ("event", "L1I_EAR_CACHE_RAB")),
    ("PMC11", 0x1000009, ("instruction set", "IA-32")),
    ("PMC15", 0xFFFFFFF5, ("channels matched", "1, 3")),
    ("PMD4", 12345, ("count", "12,345")),
])
def test_meanings_in_words(register: str, value: int, row: tuple[str, str]) -> None:
    meaning = decode("itanium2", {register: value})[register].meaning
    assert meaning is not None
    assert row in meaning.rows()


def test_levels_of_a_pythonic_call_may_be_text() -> None:
    assert ITA2.encode(["CPU_CYCLES"], plm="user")["PMC4"] == ITA2.encode(["CPU_CYCLES"], plm=8)["PMC4"]


# ---- cells for what C allocates ----------------------------------------------------------

def test_cells_can_be_set() -> None:
    text, codes = pfm3.c_char_p(), pfm4.c_uint64_array()
    text.value, codes.value = "text", [1, 2]
    assert (text.value, codes.value) == ("text", [1, 2])


# ---- what is not there ------------------------------------------------------------------

def test_an_unknown_library() -> None:
    with pytest.raises(LayoutError, match=r"no library 'libfoo'; libraries are pfm3, "):
        layout.describe("pfmlib_event_t", "libfoo")


def test_no_type_is_void() -> None:
    assert _dwarf.spelling(None) == "void"


def test_a_formula_of_another_kind() -> None:
    with pytest.raises(ValueError, match="x - y"):
        _formulas._value(ast.parse("x - y", mode="eval").body, {"x": 2, "y": 1})


def test_a_suppression_file_of_another_form(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("[a]\nthis line has no value\n")
    with pytest.raises(SuppressionError, match=r"file: line 2: not a \[section\] or KEY = VALUE"):
        suppress.read(str(path))


def test_a_vector_of_no_kind(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"kind": 3}\n')
    with pytest.raises(ConformError, match="1: kind is '3'; there are dispatch, call"):
        vectors.read(path)


def test_an_api_that_does_not_exist() -> None:
    from pypfm.config import LIBRARIES
    with pytest.raises(ConformError, match="no such API: 'pfm5'; there are pfm3"):
        runner.run(str(LIBRARIES["pfm3"].path), "pfm5", vectors=[])


def test_null_and_return_codes_in_words() -> None:
    vector = {"kind": "encode", "event": "x", "os": "none", "dfl_plm": 8}
    found = differences("pfm4", vector, {"ret": 0, "fstr": None}, {"ret": 0, "fstr": "glm::x"})
    assert [(d.field, d.expected) for d in found] == [("fstr", "NULL")]
    found = differences("pfm4", vector, {"answers": [{"ret": -2}]}, {"answers": [{"name": "u"}]})
    assert "PFM_ERR_INVAL" in found[0].expected


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
