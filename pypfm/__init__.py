"""Performance-monitoring interfaces of the past, byte for byte.

* `Itanium`, `Itanium2`, `Montecito`, `GenericIA64`: events of the IA-64 processors to register values;
  `Context` counts and samples with them
* `Goldmont`, `Perf`: event strings to codes, and to what the kernel of Linux counts
* `Counter`, `Machine`: NetBSD's pmc
* `pypfm.perfex.counting`: IRIX's perfex
* `decode`: registers and codes back to what they mean
* as in C: `pypfm.pfm3`, `pypfm.pfm4`, libpfm 3 and libpfm 4; `pypfm.pmc`, `pypfm.libperfex`
* `pypfm.layout`: where the members of C's structures are; `pypfm.conform`: tests of another library;
  `pypfm.bench`: times; `pypfm.config`: where headers and libraries are; `pypfm.errors`: what is raised

::

    from pypfm import Itanium2, decode
    encoding = Itanium2().encode(["CPU_CYCLES"], plm="user")
    encoding["PMC4"].value
    decode("itanium2", {"PMC4": 0x1228})

help(pypfm.Itanium2), help(pypfm.ia64) and so on say more; dir(pypfm) has all names.
"""

import os as _os  # which the interpreter has already loaded, as the others; nothing else: Ctrl-C has to wait for it
import sys as _sys
import time as _time
from _imp import lock_held as _import_lock_held
from _thread import get_ident as _get_ident
from sys import _current_frames

#: The version of the package.
__version__ = "0.1.0"

if not any(_os.path.exists(f"{directory}/_c/pfm3.abi3.so") for directory in __path__):
    _source = _os.path.dirname(_os.path.abspath(__path__[0]))
    _text = (f"{_source} is pypfm's source tree, and {_sys.executable} has no pypfm installed from there:"
             f" use {_source}/.venv/bin/python after the first command of README.md, or 'pip install -e {_source}'")
    if not _os.path.exists(f"{_source}/CMakeLists.txt"):
        _text = (f"pypfm in {_source} is without its extension modules: it must be a directory that pip has installed,"
                 " not a zip archive; PyInstaller needs --collect-all pypfm")
    raise ImportError(_text)

# The names of the Pythonic layer by the module that has them; __init__.pyi says the same to type checkers.
_MODULES = {
    "decoding": (
        "decode",
    ),
    "errors": (
        "AssignmentError", "BenchError", "CodeRangeError", "ConformError", "ContextClosedError",
        "ContextError", "CounterBusyError",
        "CounterClosedError", "CounterError", "CounterEventError", "CounterNumberError", "CounterRunningError",
        "CountingError", "CoverageError", "DataRangeError", "DecodeError", "EventNotFoundError",
        "EventSetError", "FeatureError", "FieldWidthError", "IncompatibleEventsError", "InvalidArgumentError",
        "InvalidRequestError", "InvalidTypeError", "InvalidValueError", "LibraryError", "LibraryFunctionError",
        "NotConfiguredError",
        "NotSupportedError", "Pfm3Error", "Pfm3EventNotFoundError", "Pfm4Error", "Pfm4EventNotFoundError",
        "Pfm4PromiseError", "Pfm4ValueError", "PfmError", "PromiseError", "RequestTooLargeError",
        "ThresholdError", "UnitMaskError", "UnknownEventError", "UnknownKeyError", "UnknownMachineError",
    ),
    "ia64": (
        "AddressRange", "Btb", "Context", "Count", "CoveredRange", "DataRegister", "DebugRegister", "Ear", "EarMode",
        "Encoding", "Etb", "Event", "EventRequest", "GenericIA64", "IpEar", "Ism", "Itanium", "Itanium2", "ItaniumBtb",
        "Message", "Montecito", "OpcodeMatch", "Pmu", "RangeCover", "Ranges", "Register", "Request", "Sample",
        "UnitMask", "pmu_of",
    ),
    "ia64.decode": (
        "Decoded",
    ),
    "levels": (
        "Plm",
    ),
    "netbsd": (
        "Counter", "CounterEvent", "Machine",
    ),
    "perf": (
        "AverageLatency", "Goldmont", "Perf", "Umask",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}
# What users reach as an attribute without an import of its own: import pypfm; pypfm.layout.find(...)
_PACKAGES = ("bench", "config", "conform", "errors", "ia64", "layout", "libperfex", "netbsd", "perf", "perfex", "pfm3",
             "pfm3_manual", "pfm4", "pmc")

# There is no __all__: help() would print all that is in it, which is thousands of lines.  Without it help() is the text
# above, and `from pypfm import *` takes the names that the module holds.  So it holds each of them from the beginning.
_LATER = object()


class _Package(type(_sys)):
    """The package: what is asked for is imported then, so that ``import pypfm.pfm3`` loads nothing else."""

    def __getattribute__(self, name: str) -> object:
        value = super().__getattribute__(name)
        if value is _LATER:
            from importlib import import_module

            value = getattr(import_module(f"pypfm.{_HOME[name]}"), name)
            setattr(self, name, value)
        return value

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """By name: what sends functions to other processes (cloudpickle) knows the type of usual modules only."""
        from importlib import import_module

        return import_module, (self.__name__,)


globals().update(dict.fromkeys(_HOME, _LATER))
_sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    """A package or module of the public ones, without an import of its own."""
    if name in _PACKAGES:
        from importlib import import_module

        return import_module(f"pypfm.{name}")
    raise AttributeError(f"module 'pypfm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__", *_PACKAGES])


# ---- fork ----------------------------------------------------------------------------
#
# A thread that loads a module holds a lock of the import system.  In a child that is forked meanwhile nobody ever opens
# it, and the child waits for ever as soon as it asks for the same module.  So fork() waits for such a thread, not for
# those that compute.

_IMPORTING = "<frozen importlib._bootstrap>"  # the code that holds the locks
_SHORT = 0.001  # seconds: a look at all threads that the system has not interrupted
_LONGEST_WAIT = 5.0  # seconds: what is loaded might itself wait for the thread that forks


def _loads(thread: int) -> bool:
    """Whether a thread loads a module of the package, or another one for the package."""
    frame, importing = _current_frames().get(thread), False
    while frame:
        if frame.f_code.co_filename == _IMPORTING:
            importing = True
            name = frame.f_locals.get("name")
        else:
            name = frame.f_globals.get("__name__")
        if importing and isinstance(name, str) and (name == __name__ or name.startswith(f"{__name__}.")):
            return True
        frame = frame.f_back
    return False


def _wait_for_loading() -> None:
    """Before fork().  No lock: a thread that loads would wait for this one, and others' handlers of fork() for it."""
    others = _current_frames().keys() - {_get_ident()}
    if not others:
        return
    end = _time.monotonic() + _LONGEST_WAIT
    again = 3
    while True:
        _time.sleep(0)  # from here on this thread has the interpreter for 5 ms, longer than it takes to get to fork()
        begin = _time.monotonic()
        # fork() takes the one lock of the whole import system.  A thread that holds it, while it looks for a file, may
        # go on with a module of the package before fork() has it.
        wait = _import_lock_held() or any(_loads(thread) for thread in others)
        now = _time.monotonic()
        if wait:
            _time.sleep(0.001)
        elif now - begin < _SHORT or not again:  # else the 5 ms may have ended: the machine has other work to do
            return
        else:
            again -= 1
        if now >= end:
            return
        others = _current_frames().keys() - {_get_ident()}


_os.register_at_fork(before=_wait_for_loading)
