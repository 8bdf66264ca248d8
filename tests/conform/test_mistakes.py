"""Mistakes in what the kit is given, and answers in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypfm.config import LIBRARIES
from pypfm.conform import runner, suppress, vectors
from pypfm.conform.checks.differences import differences
from pypfm.conform.suppress import SuppressionError
from pypfm.errors import ConformError


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
    with pytest.raises(ConformError, match="no such API: 'pfm5'; there are pfm3"):
        runner.run(str(LIBRARIES["pfm3"].path), "pfm5", vectors=[])


def test_null_and_return_codes_in_words() -> None:
    vector = {"kind": "encode", "event": "x", "os": "none", "dfl_plm": 8}
    found = differences("pfm4", vector, {"ret": 0, "fstr": None}, {"ret": 0, "fstr": "glm::x"})
    assert [(d.field, d.expected) for d in found] == [("fstr", "NULL")]
    found = differences("pfm4", vector, {"answers": [{"ret": -2}]}, {"answers": [{"name": "u"}]})
    assert "PFM_ERR_INVAL" in found[0].expected
