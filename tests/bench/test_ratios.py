"""The ratios that CI compares: the two sides of each do the same, and a ratio that has grown is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import ratios
from conftest import ROOT


def test_both_sides_do_the_same() -> None:
    for subject in ratios.subjects():
        assert subject.ours() == subject.theirs(), subject.work


def test_each_has_a_ratio_that_is_written_down() -> None:
    assert list(json.loads(ratios.WRITTEN.read_text(encoding="utf-8"))) == [subject.work for subject in ratios.subjects()]


def test_a_ratio_that_has_grown_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The same times, beside ratios that are half and more of what they are, and of which one is not there."""
    monkeypatch.setattr(ratios, "measure", lambda _: (300.0, 100.0))
    monkeypatch.setattr(ratios, "WRITTEN", tmp_path / "ratios.json")
    monkeypatch.setattr(sys, "argv", ["ratios.py", "--write"])
    assert ratios.main() == 0
    monkeypatch.setattr(sys, "argv", ["ratios.py"])
    assert ratios.main() == 0
    known = json.loads(ratios.WRITTEN.read_text(encoding="utf-8"))
    ratios.WRITTEN.write_text(json.dumps(known | {"member, set": 1.99}), encoding="utf-8")
    capsys.readouterr()
    assert ratios.main() == 1
    assert capsys.readouterr().err == "member, set: 3.0 is more than 1.5 times 1.99, which is written down in ratios.json\n"


def test_ci_measures() -> None:
    assert "python tests/bench/ratios.py\n" in (ROOT / ".ci/run").read_text(encoding="utf-8")
