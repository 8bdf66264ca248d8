"""Functions of libpfm 3 that take a function: the Python side of their calls."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pypfm._mirror import string
from pypfm._pfm3 import ffi, lib

if TYPE_CHECKING:
    from collections.abc import Callable

    from pypfm._mirror import CData

__all__ = ["pfm_list_supported_pmus"]


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
