"""PMUs as any libpfm 4 knows them: `ForeignTables` asks a library that is loaded.

Events of PMUs that this host does not have are encoded, too: libpfm 4 does that where LIBPFM_ENCODE_INACTIVE is set
when it is initialised.  So the library is a copy of its own, with its own state: what the program, or another library
that it uses, has initialised stays as it is, and the environment is only another one during that one call.
"""

from __future__ import annotations

import ctypes
import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pypfm._c.convert import string
from pypfm._c.loading import private_copy, symbol
from pypfm._c.pfm4 import ffi, lib
from pypfm.common.arguments import utf8
from pypfm.common.loaded import MARK, library_of, opened
from pypfm.errors import InvalidValueError, LibraryError, named, nearest, shown
from pypfm.perf.events import Event, GroupedUmask, Modifier
from pypfm.perf.tables import Made, Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ForeignPmu", "ForeignTables", "foreign_pmu", "foreign_pmus"]

# The environment for pfm_initialize(): PMUs that are not here are encoded, and none is forced or switched off: these
# variables are meant for the libraries that the program itself initialises.
_ENVIRONMENT = {b"LIBPFM_ENCODE_INACTIVE": b"1", b"LIBPFM_FORCE_PMU": None, b"LIBPFM_DISABLED_PMUS": None}
_MOST_PMUS = 1 << 14
_MOST_EVENTS = 1 << 20
_MOST_ATTRIBUTES = 1 << 14
_MOST_CODES = 64
# Codes that pfm_get_os_event_encoding() returns before it combines what it has read.
_OF_PARSING = frozenset({lib.PFM_ERR_NOTFOUND, lib.PFM_ERR_ATTR, lib.PFM_ERR_ATTR_VAL, lib.PFM_ERR_ATTR_SET,
                         lib.PFM_ERR_INVAL, lib.PFM_ERR_TOOMANY, lib.PFM_ERR_NOMEM})


class ForeignPmu(NamedTuple):
    """A PMU that a library knows.

    :ivar is_present: whether this host has it
    :ivar num_counters: generic counters
    :ivar events: how many the library says that it has
    :ivar first: the library's number of the first of them
    """

    name: str
    description: str
    is_present: bool
    num_counters: int
    events: int
    first: int


class _Library:
    """A libpfm 4, initialised.

    :ivar file: where it is from
    :ivar lib: its functions
    :ivar pmus: those that it knows, by name in lower case
    """

    def __init__(self, handle: ctypes.CDLL, file: str) -> None:
        self.file = file
        copy = private_copy(handle, MARK)
        self.lib = library_of(copy, file)
        self._sizes: dict[str, int] = {}
        address = symbol(copy, "pfm_initialize")
        if not address:
            self.lib.pfm_initialize()  # says that there is none
        ret = _initialised(address)
        if ret:
            raise LibraryError(f"{named(file)}: pfm_initialize() returns {ret}: {string(lib.pfm_strerror(ret))}")
        self.pmus = {pmu.name.lower(): pmu for pmu in reversed(list(self._pmus()))}
        described = [(pmu.description.lower(), pmu) for pmu in self.pmus.values()]
        # Intel Skylake is skl, and so is skylake.
        self._called = {text: pmu for whole, pmu in described for text in (whole, whole.partition(" ")[2]) if text}

    def find(self, name: str) -> ForeignPmu | None:
        """Find the PMU of a name, in upper or lower case, or of a description, which may lack its first word."""
        return self.pmus.get(name.lower()) or self._called.get(name.lower())

    def ask(self, ctype: str, call: Callable[[Any], int]) -> tuple[int, Any]:
        """Have the library fill in a structure; return the return code, and the structure.

        A library that refuses the size of ours knows a smaller one: it is asked with 0, for its first.
        """
        info: Any = ffi.new(f"{ctype} *")
        info.size = size = self._sizes.get(ctype, ffi.sizeof(ctype))
        ret = call(info)
        if ret == lib.PFM_ERR_INVAL and ctype not in self._sizes:
            info = ffi.new(f"{ctype} *")
            ret, size = call(info), 0
        if not ret:
            self._sizes[ctype] = size
        return ret, info

    def _pmus(self) -> Iterator[ForeignPmu]:
        get = self.lib.pfm_get_pmu_info
        for number in range(_MOST_PMUS):
            ret, info = self.ask("pfm_pmu_info_t", partial(get, number))
            if ret == lib.PFM_ERR_INVAL and number >= lib.PFM_PMU_MAX:
                return
            if ret == 0 and info.name:
                counters, events = max(int(info.num_cntrs), 0), max(int(info.nevents), 0)
                yield ForeignPmu(string(info.name), _text(info.desc), bool(info.is_present), counters, events,
                                 int(info.first_event))


def _text(pointer: Any) -> str:
    return string(pointer) if pointer else ""


_lock = threading.Lock()
_libraries: dict[int, _Library] = {}


def _unlocked() -> None:
    """Replace the lock in a process that was forked while another thread held it: it would stay locked."""
    global _lock  # noqa: PLW0603 - a lock cannot be opened by whom it does not belong to
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_unlocked)


def _library(path: str | os.PathLike[str]) -> _Library:
    """Return a library by its file or name."""
    handle, file = opened(path)
    with _lock:
        if handle._handle not in _libraries:
            _libraries[handle._handle] = _Library(handle, file)
        return _libraries[handle._handle]


def _initialised(address: int) -> int:
    """Call pfm_initialize() with our environment; os.environ stays as it is.

    PyDLL: while one of these C functions runs, no other thread of Python does.
    """
    libc = ctypes.PyDLL(None)
    libc.getenv.restype = ctypes.c_char_p
    before = {name: libc.getenv(name) for name in _ENVIRONMENT}
    try:
        _set(libc, _ENVIRONMENT)
        return int(ctypes.PYFUNCTYPE(ctypes.c_int)(address)())
    finally:
        _set(libc, before)


def _set(libc: ctypes.PyDLL, values: dict[bytes, bytes | None]) -> None:
    for name, value in values.items():
        if value is None:
            libc.unsetenv(name)
        else:
            libc.setenv(name, value, 1)


def foreign_pmus(path: str | os.PathLike[str]) -> tuple[str, list[ForeignPmu]]:
    """Return the file of a library, and the PMUs that it knows, in the order of their numbers.

    :raises LibraryError: it cannot be loaded, or is no libpfm 4
    """
    library = _library(path)
    return library.file, list(reversed(library.pmus.values()))


def foreign_pmu(path: str | os.PathLike[str], name: str) -> ForeignPmu | None:
    """Find a PMU of a library by its name, in upper or lower case, or its description: skl, Intel Skylake, skylake.

    :raises LibraryError: it cannot be loaded, or is no libpfm 4
    """
    return _library(path).find(name)


class ForeignTables(Tables):
    """A PMU of a library.

    :param name: of the PMU, or its description, in upper or lower case (`foreign_pmu`)
    :param path: the file of the library, or a name that the loader looks up
    :raises LibraryError: it cannot be loaded, or is no libpfm 4
    :raises InvalidValueError: it knows no such PMU
    """

    def __init__(self, name: str, path: str | os.PathLike[str]) -> None:
        library = _library(path)
        pmu = library.find(name)
        if pmu is None:
            raise InvalidValueError(f"PMU {shown(name)}: {named(library.file)} knows {len(library.pmus)}, not this one"
                                    f"{nearest(name.lower(), library.pmus)}")
        given = os.fspath(path)
        self.library = os.path.abspath(given) if "/" in given else given
        self.name, self.model_name, self.num_counters = pmu.name, pmu.description, pmu.num_counters
        self._of = library
        self._prefix = utf8(pmu.name) + b"::"
        self._numbers, self._names = self._walked(pmu.first)
        self._places = {number: place for place, number in enumerate(self._numbers)}
        self._by_name = {utf8(n).lower(): i for i, n in reversed(list(enumerate(self._names)))}
        self._events: dict[int, Event] = {}
        self.count = len(self._numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ForeignTables) and (self.name, self._of) == (other.name, other._of)

    def __hash__(self) -> int:
        return hash((self.name, self._of.file))

    def _walked(self, number: int) -> tuple[list[int], list[str]]:
        """Return the library's numbers of the events, and their names."""
        numbers: dict[int, str] = {}
        step = self._of.lib.pfm_get_event_next
        while number >= 0:
            if number in numbers or len(numbers) >= _MOST_EVENTS:
                raise LibraryError(f"{named(self._of.file)}: the list of the events of {self.name} has no end")
            ret, info = self._info(number, lib.PFM_OS_NONE)
            if ret or not info.name:
                raise LibraryError(f"{named(self._of.file)} does not name event {number:#x} of {self.name}:"
                                   f" pfm_get_event_info() returns {ret}")
            numbers[number] = string(info.name)
            number = step(number)
        return list(numbers), list(numbers.values())

    def _info(self, number: int, os: int) -> tuple[int, Any]:
        call = self._of.lib.pfm_get_event_info
        return self._of.ask("pfm_event_info_t", lambda output: call(number, os, output))

    def _attributes(self, index: int, os: int) -> Iterator[Any]:
        number = self._numbers[index]
        call = self._of.lib.pfm_get_event_attr_info
        ret, info = self._info(number, os)
        if not ret and info.nattrs > _MOST_ATTRIBUTES:
            raise LibraryError(f"{named(self._of.file)}: event {shown(self._names[index])} of {self.name} is said to"
                               f" have {info.nattrs} unit masks and modifiers; {_MOST_ATTRIBUTES} at most are read")
        for n in range(0 if ret else info.nattrs):
            ret, attribute = self._of.ask("pfm_event_attr_info_t", partial(call, number, n, os))
            if ret == 0 and attribute.name:
                yield attribute

    def names(self) -> tuple[str, ...]:
        return tuple(self._names)

    def find(self, name: bytes) -> int:
        return self._by_name.get(name.lower(), -1)

    def event(self, index: int) -> Event:
        if index not in self._events:
            self._events[index] = self._event(index)
        return self._events[index]

    def _event(self, index: int) -> Event:
        _, info = self._info(self._numbers[index], lib.PFM_OS_NONE)
        found = [a for a in self._attributes(index, lib.PFM_OS_NONE) if a.type == lib.PFM_ATTR_UMASK]
        umasks = tuple(GroupedUmask._of(
            index=n, name=string(a.name), code=int(a.code), group=0, description=_text(a.desc),
            members=tuple(string(a.equiv).split(":")) if a.equiv else (), is_default=bool(a.is_dfl),
            is_precise=bool(a.is_precise)) for n, a in enumerate(found))
        return Event._of(
            pmu=self.name, index=index, name=self._names[index], description=_text(info.desc), code=int(info.code),
            alias_of=string(info.equiv) if info.equiv else None, is_precise=bool(info.is_precise), is_offcore=False,
            num_groups=1, umasks=umasks)

    def modifiers(self, index: int, os: int) -> list[Modifier]:
        kinds = {lib.PFM_ATTR_MOD_BOOL: True, lib.PFM_ATTR_MOD_INTEGER: False}
        return [Modifier(string(a.name), kinds[a.type], _text(a.desc)) for a in self._attributes(index, os)
                if a.type in kinds]

    def _whole(self, text: bytes) -> bytes | None:
        """Return the string with this PMU's name; None: it has another one's."""
        prefix, colons, rest = text.partition(b"::")
        if not colons:
            return self._prefix + text
        return self._prefix + rest if prefix.lower() == self._prefix[:-2].lower() else None

    def parse(self, text: bytes, os: int) -> int:
        ret, _ = self.make(text, os, lib.PFM_PLM3)
        return ret if ret in _OF_PARSING else 0

    def make(self, text: bytes, os: int, plm: int) -> tuple[int, Made | None]:
        whole = self._whole(text)
        if whole is None:
            return lib.PFM_ERR_NOTFOUND, None
        encode = self._of.lib.pfm_get_os_event_encoding
        fstr: Any = ffi.new("char **")
        attr: Any = ffi.new("struct perf_event_attr *")
        attr.size = ffi.sizeof("struct perf_event_attr")
        ctype = "pfm_pmu_encode_arg_t" if os == lib.PFM_OS_NONE else "pfm_perf_encode_arg_t"

        def call(arg: Any) -> int:
            arg.fstr, arg.idx = fstr, -1
            if os != lib.PFM_OS_NONE:
                arg.attr, arg.cpu = attr, -1
            return int(encode(whole, plm, os, arg))

        ret, arg = self._of.ask(ctype, call)
        if ret:
            return ret, None
        if os == lib.PFM_OS_NONE:
            return 0, self._made(arg.idx, fstr, self._codes(arg), None, -1)
        return 0, self._made(arg.idx, fstr, self._configs(attr), attr, int(arg.cpu))

    @staticmethod
    def _codes(arg: Any) -> tuple[int, ...]:
        codes = [int(code) for code in arg.codes[0:min(max(arg.count, 0), _MOST_CODES)]] if arg.codes else []
        lib.free(arg.codes)
        return tuple(codes) or (0,)

    @staticmethod
    def _configs(attr: Any) -> tuple[int, ...]:
        configs = [int(attr.config), int(attr.config1), int(attr.config2)]
        while len(configs) > 1 and not configs[-1]:
            configs.pop()
        return tuple(configs)

    def _made(self, number: int, fstr: Any, codes: tuple[int, ...], attr: Any, cpu: int) -> Made:
        text = _text(fstr[0])
        lib.free(fstr[0])
        text = text.partition("::")[2] or text
        place = self._places.get(number)
        return Made(text.partition(":")[0] if place is None else self._names[place], text, codes, attr, cpu)
