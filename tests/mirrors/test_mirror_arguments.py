"""Every argument of every function of every mirror: what is wrong is named and does not reach C.

In processes of their own: what reaches C ends the process.
"""

from __future__ import annotations

import sys

import pytest

from conftest import TESTS, clean_env, run
from tools import first

MIRRORS = {"pfm3": 250, "pfm3_manual": 250, "pfm4": 40, "pmc": 20, "libperfex": 25}  # fewest parameters
OWN = [mirror for mirror in MIRRORS if mirror != "pfm3_manual"]  # whose functions are those of pfm3, made by the same code


def tried(mirror: str, what: str) -> int:
    """How many cases there were, none of which went wrong."""
    done = run(sys.executable, "-X", "faulthandler", TESTS / "mirrors" / "mirror_arguments.py", mirror, what, env=clean_env())
    *problems, count = done.stdout.splitlines() or [""]
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    assert problems == [], f"{len(problems)} problems"
    return int(count)


@pytest.mark.slow
@pytest.mark.parametrize("mirror", first(MIRRORS))
def test_a_wrong_argument_is_a_type_error_and_no_call(mirror: str) -> None:
    assert tried(mirror, "wrong") > 100 * MIRRORS[mirror]


@pytest.mark.parametrize("mirror", OWN)
def test_numbers_and_texts_that_c_cannot_hold(mirror: str) -> None:
    assert tried(mirror, "range") > MIRRORS[mirror]


@pytest.mark.parametrize("mirror", OWN)
def test_what_is_documented_reaches_c(mirror: str) -> None:
    assert tried(mirror, "right") > 4 * MIRRORS[mirror]
