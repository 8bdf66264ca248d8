"""The encoder is right on any byte order: the recorded calls, made on a big-endian machine under qemu.

The headers' register unions are bit-fields in the order of a little-endian target, and are left out there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from native import PFM3, PFM3_MANUAL, build, library_flags, library_sources
from pypfm.config import Library
from tools import needs

TESTS = ROOT / "tests" / "c"
SYSTEM = "/usr/s390x-linux-gnu"


@pytest.mark.long
@pytest.mark.parametrize("form", [PFM3, PFM3_MANUAL], ids=lambda form: form.name)
def test_recorded_calls_on_s390x(form: Library, tmp_path: Path) -> None:
    compiler, machine = needs("s390x-linux-gnu-gcc"), needs("qemu-s390x")
    lines, fields = tmp_path / "pfm3.txt", tmp_path / "fields.c"
    build(sys.executable, TESTS / "replay_lines.py", "pfm3", ROOT / "pypfm" / "vectors", lines, fields)
    build(compiler, "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-DPFMLIB_NO_REG_UNIONS", *library_flags(form),
          f"-I{TESTS}", *library_sources(form, tmp_path), TESTS / "replay.c", TESTS / "replay_pfm3.c", fields,
          "-rdynamic", "-o", tmp_path / "replay")
    assert "MSB" in build(needs("readelf"), "-h", tmp_path / "replay").replace("big endian", "MSB")
    done = subprocess.run([machine, "-L", SYSTEM, str(tmp_path / "replay"), str(lines)], capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    answered, _, total = done.stdout.split("\n")[-2].partition(" of ")
    assert int(answered) == int(total.split()[0]) > 11_000
