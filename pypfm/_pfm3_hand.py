"""Functions of libpfm 3 whose call from Python needs more than the generated wrapper.

The generator of the mirror (csrc/bindings/generate.py) puts a call of the function here in the
place of its own; signature and documentation still come from the C header.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pypfm._mirror import CData, callers, string
from pypfm._pfm3 import ffi, lib

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["pfm_dispatch_events", "pfm_list_supported_pmus"]

_call, _ = callers(ffi, lib)
_TAGS = {lib.PFMLIB_ITANIUM2_PMU: "ita2", lib.PFMLIB_MONTECITO_PMU: "mont"}


class _Listing(threading.local):
    """The call of pfm_list_supported_pmus() under way in this thread."""

    print: Callable[..., object] | None = None
    error: BaseException | None = None


_listing = _Listing()


@ffi.def_extern(name="pypfm_pfm3_print", error=-1)
def _print(format: CData, argument: CData) -> int:
    """Hand one printf() call of C to the Python function."""
    if _listing.print is None or _listing.error is not None:
        return -1
    args = [string(format)]
    if argument != ffi.NULL:
        args.append(string(argument))
    try:
        _listing.print(*args)
    except BaseException as error:  # noqa: BLE001 - raised again behind the C call
        _listing.error = error
        return -1
    return 0


def pfm_list_supported_pmus(pf: Callable[..., object] | None) -> int:
    """Call pf(format) or pf(format, string) as C calls printf()."""
    if pf is None:
        return lib.pfm_list_supported_pmus(ffi.NULL)
    outer = _listing.print, _listing.error
    _listing.print, _listing.error = pf, None
    try:
        ret = lib.pypfm_pfm3_list()
        if _listing.error is not None:
            raise _listing.error
        return ret
    finally:
        _listing.print, _listing.error = outer


def _check_model(structure: object, kind: str) -> None:
    """Refuse the structure of another model: C takes any pointer and would read behind it."""
    if not isinstance(structure, CData):
        return
    pmu = ffi.new("int *")
    if lib.pfm_get_pmu_type(pmu):
        return
    ctype = ffi.typeof(structure)
    name = (ctype.item if ctype.kind == "pointer" else ctype).cname
    wanted = f"pfmlib_{_TAGS[pmu[0]]}_{kind}_param_t"
    if name not in (wanted, "void"):
        message = f"the selected PMU wants {wanted}, not {name}"
        raise TypeError(message)


def pfm_dispatch_events(p: object, model_in: object, q: object, model_out: object) -> int:
    """Call C once the model's structures are known to be those of the selected PMU."""
    _check_model(model_in, "input")
    _check_model(model_out, "output")
    return _call(lib.pfm_dispatch_events, p, model_in, q, model_out)
