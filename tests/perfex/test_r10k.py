"""The simulated processor (csrc/perfex/tool/r10k.c) beside a model in Python that is written for clarity alone."""

from __future__ import annotations

import ctypes
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from conftest import ROOT
from native import CC, build
from tools import needs_flags

SOURCE = ROOT / "csrc/perfex/tool/r10k.c"
NAMES = re.findall(r"^\tX\((\w+), ", SOURCE.with_suffix(".h").read_text(), re.MULTILINE)
LONGEST = 16384


class Shape(ctypes.Structure):
    _fields_ = (("size", ctypes.c_uint64), ("ways", ctypes.c_uint32), ("line", ctypes.c_uint32))


class Config(ctypes.Structure):
    _fields_ = (("l1i", Shape), ("l1d", Shape), ("l2", Shape), ("page", ctypes.c_uint64), ("pages", ctypes.c_uint32),
                ("tlb", ctypes.c_uint32), ("predictor", ctypes.c_uint32), ("seed", ctypes.c_uint64))


@pytest.fixture(scope="module")
def lib(tmp_path_factory: pytest.TempPathFactory) -> Any:
    needs_flags(CC, "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
    path = tmp_path_factory.mktemp("r10k") / "r10k.so"
    build(CC, "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffreestanding", "-fPIC", "-shared",
          "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", SOURCE, "-o", path)
    made = ctypes.CDLL(str(path))
    made.r10k_r10000.restype = made.r10k_r12000.restype = Config
    made.r10k_r10000.argtypes = made.r10k_r12000.argtypes = [ctypes.c_uint64]
    made.r10k_wrong.restype = ctypes.c_char_p
    made.r10k_size.restype = ctypes.c_size_t
    made.r10k_make.restype = ctypes.c_void_p
    made.r10k_make.argtypes = [ctypes.c_void_p] * 4
    made.r10k_fetched.restype = ctypes.POINTER(ctypes.c_uint64)
    for name in ("fetch", "load", "store"):
        function = getattr(made, f"r10k_{name}")
        function.restype, function.argtypes = ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
    for name in ("prefetch", "branch"):
        function = getattr(made, f"r10k_{name}")
        function.restype, function.argtypes = ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_bool]
    made.r10k_fetched.argtypes = made.r10k_alone.argtypes = [ctypes.c_void_p]
    made.r10k_count_for.argtypes = made.r10k_count_to.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return made


class Real:
    """A processor of C's."""

    def __init__(self, lib: Any, config: Config, beside: Real | None = None) -> None:
        assert lib.r10k_wrong(ctypes.byref(config)) is None
        self._lib = lib
        size = lib.r10k_size(ctypes.byref(config))
        self._memory = ctypes.create_string_buffer(b"\xa5" * (size + 64), size + 64)  # what follows is watched
        self._numbers = (ctypes.c_uint64 * len(NAMES))()
        self.site = (ctypes.c_uint64 * len(NAMES))()
        self._size = size
        self.machine = lib.r10k_make(self._memory, ctypes.byref(config), beside.machine if beside else None, self._numbers)
        lib.r10k_count_for(self.machine, self.site)

    def call(self, name: str, *values: object) -> bool:
        return bool(getattr(self._lib, f"r10k_{name}")(self.machine, *values))

    def counts(self) -> dict[str, int]:
        assert self._memory.raw[self._size:] == b"\xa5" * 64
        return dict(zip(NAMES, self._numbers, strict=True))


# ---- the model ----------------------------------------------------------------------------


@dataclass
class Line:
    number: int
    way: int
    dirty: bool = False
    shared: bool = False


@dataclass
class Cache:
    """Sets of lines, the one used last first."""

    shape: Shape
    sets: dict[int, list[Line]] = field(default_factory=dict)

    @property
    def number(self) -> int:
        return self.shape.size // self.shape.line // self.shape.ways

    def set_of(self, line: int) -> list[Line]:
        return self.sets.setdefault(line % self.number, [])

    def find(self, line: int) -> Line | None:
        return next((x for x in self.set_of(line) if x.number == line), None)

    def use(self, found: Line) -> None:
        place = self.set_of(found.number)
        place.remove(found)
        place.insert(0, found)

    def lines(self, begin: int, end: int) -> list[Line]:
        """Those with these bytes."""
        return [x for n in range(begin // self.shape.line, (end - 1) // self.shape.line + 1) if (x := self.find(n))]

    def drop(self, line: Line) -> None:
        self.set_of(line.number).remove(line)


class Model:
    """A processor; others are in a list that all share."""

    def __init__(self, config: Config, all_: list[Model]) -> None:
        self.config, self.all = config, all_
        all_.append(self)
        self.counts: Counter[str] = Counter()
        self.l1i, self.l1d, self.l2 = Cache(config.l1i), Cache(config.l1d), Cache(config.l2)
        self.pages: list[int] = []
        self.predictor: Counter[int] = Counter()
        self.ways: Counter[int] = Counter()
        self.state = config.seed

    def _random(self) -> int:
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        return z ^ z >> 31

    def _page(self, address: int) -> int:
        return address // (self.config.page * self.config.pages)

    def translate(self, first: int, last: int) -> None:
        for page in range(self._page(first), self._page(last) + 1):
            if page not in self.pages:
                self.counts["TLBm"] += 1
                if len(self.pages) < self.config.tlb:
                    self.pages.append(page)
                else:
                    self.pages[self._random() % self.config.tlb] = page

    def leave(self, line: Line) -> None:
        size = self.l2.shape.line
        begin, end = line.number * size, (line.number + 1) * size
        for part in self.l1i.lines(begin, end):
            self.l1i.drop(part)
        for part in self.l1d.lines(begin, end):
            self.counts["D1wq"] += part.dirty * self.l1d.shape.line // 16
            self.l1d.drop(part)
        self.l2.drop(line)

    def others(self, line: int) -> list[tuple[Model, Line]]:
        return [(m, x) for m in self.all if m is not self and (x := m.l2.find(line))]

    def share(self, line: int) -> bool:
        found = self.others(line)
        for other, theirs in found:
            if theirs.shared:
                continue
            other.counts["Xint"] += 1
            theirs.shared, theirs.dirty = True, False
            size = self.l2.shape.line
            for part in other.l1d.lines(line * size, (line + 1) * size):
                other.counts["D1wq"] += part.dirty * self.l1d.shape.line // 16
                part.dirty = False
        return bool(found)

    def take(self, line: int) -> None:
        for other, theirs in self.others(line):
            other.counts["Xinv" if theirs.shared else "Xint"] += 1
            other.leave(theirs)

    def fill(self, cache: Cache, number: int) -> Line:
        """A place for a line; the least recently used one leaves."""
        place = cache.set_of(number)
        way = 0
        if len(place) == cache.shape.ways:
            old = place[-1]
            way = old.way
            if cache is self.l2:
                dirty = old.dirty
                self.leave(old)
                self.counts["L2wq"] += dirty * cache.shape.line // 16
            else:
                self.counts["D1wq"] += old.dirty * cache.shape.line // 16
                cache.drop(old)
        else:
            way = min({0, 1} - {x.way for x in place}) if cache.shape.ways == 2 else 0
        made = Line(number, way)
        place.insert(0, made)
        return made

    def ask_l2(self, address: int, kind: str) -> None:
        number = address // self.l2.shape.line
        at = number % self.l2.number % 8192
        found = self.l2.find(number)
        if found:
            if self.l2.shape.ways == 2:
                self.counts["ILway" if kind == "fetch" else "DLway"] += self.ways[at] != found.way
            self.l2.use(found)
        else:
            what = {"fetch": "ILmr", "load": "DLmr", "store": "DLmw"}.get(kind)
            if what:
                self.counts[what] += 1
            found = self.fill(self.l2, number)
            if kind in ("store", "exclusive"):
                self.take(number)
            else:
                found.shared = self.share(number)
            found.dirty = kind == "store"
        self.ways[at] = found.way

    def fetch(self, address: int, size: int) -> None:
        last = min(address + size - 1, (1 << 64) - 1)
        self.translate(address, last)
        for number in range(address // self.l1i.shape.line, last // self.l1i.shape.line + 1):
            found = self.l1i.find(number)
            if found:
                self.l1i.use(found)
            else:
                self.counts["I1mr"] += 1
                self.ask_l2(number * self.l1i.shape.line, "fetch")
                self.fill(self.l1i, number)

    def data(self, address: int, size: int, kind: str) -> None:
        last = min(address + size - 1, (1 << 64) - 1)
        if kind in ("load", "store"):
            self.translate(address, last)
        elif self._page(address) not in self.pages:
            return
        for number in range(address // self.l1d.shape.line, last // self.l1d.shape.line + 1):
            self._line(number, kind)

    def _line(self, number: int, kind: str) -> None:
        found = self.l1d.find(number)
        if found:
            self.l1d.use(found)
        else:
            self.counts[{"load": "D1mr", "store": "D1mw"}.get(kind, "Pm")] += 1
            self.ask_l2(number * self.l1d.shape.line, kind)
            found = self.fill(self.l1d, number)
        if kind in ("store", "exclusive") and not found.dirty:
            below = number * self.l1d.shape.line // self.l2.shape.line
            there = self.l2.find(below)
            assert there
            if there.shared:
                self.counts["DLsh"] += 1
                self.take(below)
            elif not there.dirty:
                self.counts["DLce"] += 1
            there.shared = False
            if kind == "store":
                there.dirty = found.dirty = True

    def branch(self, address: int, taken: bool) -> None:
        at = address // 8 % self.config.predictor
        self.counts["Bm"] += (self.predictor[at] >= 2) != taken
        self.predictor[at] = min(3, self.predictor[at] + 1) if taken else max(0, self.predictor[at] - 1)


# ---- both, side by side --------------------------------------------------------------------


def small(rnd: random.Random) -> Config:
    """A processor in which lines leave soon."""
    l2_line = rnd.choice((32, 64, 128))
    shapes = [Shape(line * ways * sets, ways, line) for line, ways, sets in (
        (rnd.choice([n for n in (16, 32, 64) if n <= l2_line]), rnd.choice((1, 2, 4)), rnd.choice((2, 3, 8))),
        (rnd.choice([n for n in (16, 32, 64) if n <= l2_line]), rnd.choice((1, 2, 3)), rnd.choice((2, 4, 5))),
        (l2_line, rnd.choice((2, 2, 4)), rnd.choice((4, 8, 12))))]
    return Config(*shapes, 4096, rnd.choice((1, 2)), rnd.choice((1, 3, 8)), rnd.choice((1, 4, 64)), rnd.getrandbits(64))


def step(rnd: random.Random, real: Real, model: Model, span: int) -> None:
    address = rnd.randrange(span) + rnd.choice((0, 0, 0, 1 << 20, (1 << 64) - span))
    what = rnd.random()
    if what < 0.2:
        size = rnd.randrange(1, 17)
        real.call("fetch", address, size)
        model.fetch(address, size)
    elif what < 0.85:
        kind, size = rnd.choice(("load", "store")), rnd.choice((1, 2, 4, 8, 16, 32, 512, rnd.randrange(1, 200)))
        real.call(kind, address, size)
        model.data(address, size, kind)
    elif what < 0.92:
        exclusive = rnd.random() < 0.5
        real.call("prefetch", address, exclusive)
        model.data(address, 1, "exclusive" if exclusive else "prefetch")
    else:
        taken = rnd.random() < 0.6
        real.call("branch", address, taken)
        model.branch(address, taken)


@pytest.mark.parametrize("seed", range(20))
def test_random_accesses(lib: Any, seed: int) -> None:
    rnd = random.Random(seed)
    config = small(rnd) if seed else lib.r10k_r10000(1 << 20)
    reals, models = list[Real](), list[Model]()
    for _ in range(rnd.choice((1, 1, 2, 3)) if seed else 1):
        reals.append(Real(lib, config, reals[0] if reals else None))
        Model(config, models)
    span = rnd.choice((1024, 4096, 40000))
    for _ in range(3000):
        which = rnd.randrange(len(reals))
        step(rnd, reals[which], models[which], span)
    for real, model in zip(reals, models, strict=True):
        assert {name: n for name, n in real.counts().items() if n} == {name: n for name, n in model.counts.items() if n}
    sums = [sum(column) for column in zip(*(real.site for real in reals), strict=True)]
    assert sums == [sum(model.counts[name] for model in models) for name in NAMES]


def test_an_access_of_no_bytes_or_too_many_is_none(lib: Any) -> None:
    real = Real(lib, lib.r10k_r10000(1 << 20))
    for name in ("fetch", "load", "store"):
        for size in (0, LONGEST + 1, (1 << 64) - 1):
            assert not real.call(name, 64, size)
    assert not any(real.counts().values())
    assert real.call("load", (1 << 64) - 4, 8)
    assert real.counts()["D1mr"] == 1


def test_each_access_says_whether_it_counted(lib: Any) -> None:
    real = Real(lib, lib.r10k_r10000(1 << 20))
    assert [real.call("load", 128, 8) for _ in range(3)] == [True, False, False]
    assert [real.call("store", 128, 8) for _ in range(3)] == [True, False, False]
    assert [real.call("fetch", 4096, 8) for _ in range(3)] == [True, False, False]
    assert [real.call("branch", 64, taken) for taken in (True, True, True, True, False)] == [True, True, False, False, True]


def test_a_processor_that_is_alone_from_now_on(lib: Any) -> None:
    config = lib.r10k_r10000(1 << 20)
    one = Real(lib, config)
    other = Real(lib, config, one)
    for address in (0, 4096):
        other.call("store", address, 8)
    one.call("store", 0, 8)
    lib.r10k_alone(one.machine)
    one.call("store", 4096, 8)
    assert other.counts()["Xint"] == 1


def test_the_line_that_was_fetched_last(lib: Any) -> None:
    """To leave out fetches of it changes no count; it is gone where the secondary cache has lost it."""
    config = Config(Shape(128, 1, 64), Shape(128, 1, 64), Shape(512, 2, 64), 4096, 1, 4, 1, 0)
    real = Real(lib, config)
    fetched = lib.r10k_fetched(real.machine)
    assert fetched[0] == (1 << 64) - 1
    real.call("fetch", 70, 4)
    assert fetched[0] == 64
    for turn in (1, 2):
        real.call("load", 64 + 256 * turn, 4)
    assert fetched[0] == (1 << 64) - 1
    before = real.counts()["I1mr"]
    assert real.call("fetch", 70, 4)
    assert real.counts()["I1mr"] == before + 1


@pytest.mark.parametrize(("name", "predictor"), [("r10k_r10000", 512), ("r10k_r12000", 2048)])
def test_the_processors(lib: Any, name: str, predictor: int) -> None:
    config = getattr(lib, name)(4 << 20)
    assert [(s.size, s.ways, s.line) for s in (config.l1i, config.l1d, config.l2)] == [
        (32768, 2, 64), (32768, 2, 32), (4 << 20, 2, 128)]
    assert (config.page, config.pages, config.tlb, config.predictor) == (16384, 2, 64, predictor)


@pytest.mark.parametrize(("member", "value", "said"), [
    ("l1i", Shape(32768, 2, 24), "a power of two"), ("l1d", Shape(32768, 0, 32), "1 to 64 ways"),
    ("l2", Shape(0, 2, 128), "a size"), ("l2", Shape(1000, 2, 128), "multiple"), ("l2", Shape(1 << 33, 2, 128), "4g"),
    ("l2", Shape(1 << 20, 2, 32), "not shorter"), ("l1d", Shape(32768, 65, 32), "64 ways"), ("l1d", Shape(32768, 2, 8192), "4096"),
    ("page", 2048, "page"), ("page", 5000, "page"), ("page", 1 << 31, "page"), ("pages", 0, "1 or 2"), ("pages", 3, "1 or 2"),
    ("tlb", 0, "TLB"), ("tlb", 4097, "TLB"), ("predictor", 0, "predictor"), ("predictor", 3, "predictor"), ("predictor", 1 << 21, "predictor")])
def test_wrong_processors(lib: Any, member: str, value: Any, said: str) -> None:
    config = lib.r10k_r10000(1 << 20)
    setattr(config, member, value)
    assert said in lib.r10k_wrong(ctypes.byref(config)).decode()
