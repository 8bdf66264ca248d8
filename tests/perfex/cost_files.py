"""Cost files that perfex and libperfex have to accept or refuse alike."""

from __future__ import annotations

import re

Costs = dict[int, tuple[str, float, float, float]]
_NUMBER = re.compile(r"(\d{1,12}(\.\d{0,12})?|\.\d{1,12})", re.ASCII)


def described(data: bytes) -> Costs | None:
    """What perfex.costs(5) says of a file: unit, typical, minimum and maximum by event; None: it is wrong."""
    found: Costs = {}
    try:
        lines = data.decode("utf-8").split("\n") if len(data) <= 1 << 20 else ["too long"]
    except UnicodeDecodeError:
        return None
    for words in filter(None, (line.partition("#")[0].split() for line in lines)):
        if (len(words) != 5 or not re.fullmatch("[0-9]{1,9}", words[0]) or int(words[0]) > 31 or int(words[0]) in found
                or words[1] not in ("clks", "nsec") or not all(map(_NUMBER.fullmatch, words[2:]))):
            return None
        typical, minimum, maximum = map(float, words[2:])
        if not minimum <= typical <= maximum:
            return None
        found[int(words[0])] = (words[1], typical, minimum, maximum)
    return found


# Lines that are wrong, and what perfex says of them.
BAD_LINES = [
    ("0 clks 1 1", "'0 clks 1 1': a line is event, unit, typical, minimum, maximum cost"),
    ("0 clks 1 1 1 1", "a line is event, unit"),
    ("32 clks 1 1 1", "event: '32' is not an event"),
    ("-1 clks 1 1 1", "event: '-1' is not an event"),
    ("0 usec 1 1 1", "'usec' is not a unit; clks and nsec are"),
    ("0 clks -1 1 1", "'-1' is not a cost"),
    ("0 clks nan 1 1", "'nan' is not a cost"),
    ("0 clks 1e5 1 1", "'1e5' is not a cost"),
    ("0 clks . 1 1", "'.' is not a cost"),
    ("0 clks 1 1 " + "9" * 400, "is not a cost"),
    ("0 clks 1 2 3", "minimum 2, typical 1, maximum 3 are not in ascending order"),
    ("1 clks 1 1 1", "event 1 stands here a second time"),
    ("junk", "'junk': a line is"),
    ("0 clks \u0661 1 1", "'\u0661' is not a cost"),
]

# Files that are right, and how many costs they give.
GOOD_FILES = {
    b"": 0,
    b"# nothing": 0,
    b"\n\n \t \n": 0,
    b"0 clks 1 1 1": 1,
    b"  25\tnsec 9 8 10 # why\r\n#26 clks 1 1 1\n": 1,
    b"000000031 clks 0. .0 .000000000001\n0 nsec 999999999999.5 0 999999999999.500000000000\n": 2,
    "21\u00a0clks\u30001\u20281 1\x1f#\u20ac".encode(): 1,
    b"0 clks 1 1 1 #\0\0\n1 clks 1 1 1\0# not a cost, but only here".replace(b"1\0#", b"1 #"): 2,
    b"0 clks 1.000000000000 0.999999999999 1.000000000001": 1,
    b"0 clks 999999999999 999999999999.000000000001 999999999999": 1,  # the same in binary
}

# Files that are no tables.
BAD_FILES = [
    b"\xff", b"# \xe2\x82\n", b"# \xc0\x80\n", b"# \xed\xa0\x80\n", b"# \xf5\x80\x80\x80\n", b"# \xf4\x90\x80\x80\n",
    b"# \xe0\x80\x80\n", b"# \x80\n", b"0 clks 1 1 1\0", b"0\0 clks 1 1 1", b"0 clks\0 1 1 1", b"\xef\xbb\xbf0 clks 1 1 1",
    b"0 clks 1 1 1\r0 clks 1 1 1", b"0 CLKS 1 1 1", b"0 clks 1, 1, 1", b"0 clks +1 1 1", b"0 clks 1e0 1 1",
    b"0 clks 1 1 1 1234567890123", b"0 clks 1 1 1234567890123", b"0 clks 1 1 1.1234567890123", b"0000000001 clks 1 1 1",
    b"#" * ((1 << 20) + 1),
]
