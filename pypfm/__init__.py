"""Performance-monitoring interfaces of the past, byte for byte.

* `pypfm.pfm3`: libpfm 3 as in C, for the IA-64 processors;
* `Itanium`, `Itanium2`, `Montecito`, `GenericIA64`: these as Python objects;
* `Context`: counting and sampling with them;
* `pypfm.pfm4`: libpfm 4 as in C, for Intel Goldmont and the Linux generic events;
* `Goldmont`, `Perf`: these as Python objects;
* `pypfm.pmc`: NetBSD's pmc interface as in C;
* `Counter`, `Machine`: the same as Python objects;
* `decode`: registers and codes back to what they mean;
* `pypfm.libperfex`: IRIX's libperfex as in C; `pypfm.perfex.counting`: the same as a Python object.
"""

import os  # which the interpreter has already loaded, as the others; nothing else: Ctrl-C has to wait for it
import sys
import time
from _thread import get_ident as _get_ident

#: The version of the package.
__version__ = "0.1.0"

if not any(os.path.exists(f"{directory}/_c/pfm3.abi3.so") for directory in __path__):
    _source = os.path.dirname(os.path.abspath(__path__[0]))
    _text = (f"{_source} is pypfm's source tree, and {sys.executable} has no pypfm installed from there:"
             f" use {_source}/.venv/bin/python after the first command of README.md, or 'pip install -e {_source}'")
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

__all__ = [*_HOME, "__version__"]  # noqa: PLE0604 - names, all of them


def __getattr__(name: str) -> object:
    """Import what is asked for, so that ``import pypfm.pfm3`` loads nothing else."""
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f"pypfm.{name}")
    if name in _HOME:
        value = getattr(import_module(f"pypfm.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pypfm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])


# ---- fork ----------------------------------------------------------------------------
#
# A thread that loads a module holds a lock of the import system.  In a child that is forked meanwhile nobody ever opens
# it, and the child waits for ever as soon as it asks for the same module.  So fork() waits for such a thread, not for
# those that compute.

_IMPORTING = "<frozen importlib._bootstrap>"  # the code that holds the locks
_LONGEST_WAIT = 5.0  # seconds: what is loaded might itself wait for the thread that forks


def _loads(thread: int) -> bool:
    """Whether a thread loads a module of the package, or another one for the package."""
    frame, importing = sys._current_frames().get(thread), False
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
    others = sys._current_frames().keys() - {_get_ident()}
    if not others:
        return
    end = time.monotonic() + _LONGEST_WAIT
    time.sleep(0)  # from here on this thread has the interpreter for 5 ms, longer than it takes to get to fork()
    while any(_loads(thread) for thread in others) and time.monotonic() < end:
        time.sleep(0.001)
        others = sys._current_frames().keys() - {_get_ident()}


os.register_at_fork(before=_wait_for_loading)
