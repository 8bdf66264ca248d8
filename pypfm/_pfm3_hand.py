"""Functions of libpfm 3 whose call from Python needs more than the generated wrapper.

The generator of the mirror (csrc/bindings/generate.py) puts a call of the function here in the
place of its own; signature and documentation still come from the C header.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from pypfm._mirror import CData, callers, string

if TYPE_CHECKING:
    from collections.abc import Callable

    from _cffi_backend import FFI

__all__ = ["Hand"]


class _Listing(threading.local):
    """The call of pfm_list_supported_pmus() under way in this thread."""

    print: Callable[..., object] | None = None
    error: BaseException | None = None


class Hand:
    """The functions, for one form of the library.

    :param ffi: of its extension module
    :param lib: likewise
    """

    def __init__(self, ffi: FFI, lib: Any) -> None:
        self._ffi, self._lib = ffi, lib
        self._call = callers(lib).call
        self._tags = {lib.PFMLIB_ITANIUM_PMU: "ita", lib.PFMLIB_ITANIUM2_PMU: "ita2", lib.PFMLIB_MONTECITO_PMU: "mont"}
        self._listing = _Listing()
        ffi.def_extern(name="pypfm_pfm3_print", error=-1)(self._print)

    def _print(self, format: CData, argument: CData) -> int:
        """Hand one printf() call of C to the Python function."""
        listing = self._listing
        if listing.print is None or listing.error is not None:
            return -1
        args = [string(format)]
        if argument != self._ffi.NULL:
            args.append(string(argument))
        try:
            listing.print(*args)
        except BaseException as error:  # noqa: BLE001 - raised again behind the C call
            listing.error = error
            return -1
        return 0

    def pfm_list_supported_pmus(self, pf: Callable[..., object] | None) -> int:
        """Call pf(format) or pf(format, string) as C calls printf()."""
        if pf is None:
            return int(self._lib.pfm_list_supported_pmus(self._ffi.NULL))
        listing = self._listing
        outer = listing.print, listing.error
        listing.print, listing.error = pf, None
        try:
            ret = int(self._lib.pypfm_pfm3_list())
            if listing.error is not None:
                raise listing.error
            return ret
        finally:
            listing.print, listing.error = outer

    def _check_model(self, structure: object, kind: str) -> None:
        """Refuse the structure of another model: C takes any pointer and would read behind it."""
        if not isinstance(structure, CData):
            return
        pmu: Any = self._ffi.new("int *")
        if self._lib.pfm_get_pmu_type(pmu) or pmu[0] not in self._tags:
            return  # the generic PMU does not look at them
        ctype = self._ffi.typeof(structure)
        given = ctype.item if ctype.kind == "pointer" else ctype
        wanted = self._ffi.typeof(f"pfmlib_{self._tags[pmu[0]]}_{kind}_param_t")
        if given is not wanted and given.cname != "void":
            other = "that of the library's other form" if given.cname == wanted.cname else given.cname
            message = f"the selected PMU wants {wanted.cname}, not {other}"
            raise TypeError(message)

    def pfm_dispatch_events(self, p: object, model_in: object, q: object, model_out: object) -> int:
        """Call C once the model's structures are known to be those of the selected PMU."""
        self._check_model(model_in, "input")
        self._check_model(model_out, "output")
        return self._call(self._lib.pfm_dispatch_events, p, model_in, q, model_out)
