"""Performance-monitoring interfaces of the past, byte for byte.

* `Itanium`, `Itanium2`, `Montecito`, `GenericIA64`: events of the IA-64 processors to register values;
  `Context` counts and samples with them
* `Goldmont`, `Perf`: event strings to codes, and to what the kernel of Linux counts
* `pmu`: a PMU by its name, also one that only the system's libpfm 4 knows
* `Counter`, `Machine`: NetBSD's pmc
* `pypfm.perfex.run`, `pypfm.perfex.counting`: IRIX's perfex, of a command and of this process
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

import os as _os  # which the interpreter has already loaded, as sys
import sys as _sys

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
        "ConformError", "ContextError", "CounterError", "CountingError", "DecodeError", "EventNotFoundError",
        "InvalidArgumentError", "InvalidTypeError", "InvalidValueError", "LibraryError", "LibraryFunctionError",
        "Pfm3Error", "Pfm3EventNotFoundError", "Pfm4Error", "Pfm4EventNotFoundError", "PfmError", "PromiseError",
        "UnknownKeyError",
    ),
    "ia64": (
        "AddressRange", "Btb", "Context", "Count", "CoveredRange", "DataRegister", "DebugRegister", "Ear", "EarMode",
        "Encoding", "Etb", "Event", "EventRequest", "GenericIA64", "IpEar", "Ism", "Itanium", "Itanium2", "ItaniumBtb",
        "Message", "Montecito", "OpcodeMatch", "Pmu", "RangeCover", "Ranges", "Register", "Request", "Sample",
        "Umask", "pmu_of",
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
    "pmus": (
        "pmu",
    ),
    "perf": (
        "AverageLatency", "Goldmont", "Perf",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}
# What users reach as an attribute without an import of its own: import pypfm; pypfm.layout.find(...)
_PACKAGES = ("bench", "config", "conform", "errors", "ia64", "layout", "libperfex", "netbsd", "perf", "perfex", "pfm3",
             "pfm3_manual", "pfm4", "pmc")


def __getattr__(name: str) -> object:
    """Import a name when it is first used: ``import pypfm.pfm3`` loads nothing else."""
    if name not in _HOME and name not in _PACKAGES:
        raise AttributeError(f"module 'pypfm' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"pypfm.{_HOME.get(name, name)}")
    value = globals()[name] = getattr(module, name) if name in _HOME else module
    return value


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__", *_PACKAGES])
