"""Functions of libpfm 3 whose call from Python needs more than the generated wrapper.

The generator of the mirror (csrc/bindings/generate.py) puts a call of the function here in the
place of its own; signature and documentation still come from the C header.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from pypfm._c.mirror import REFUSED, Calls, CData, string

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
    :param call: calls of its functions
    """

    def __init__(self, ffi: FFI, lib: Any, call: Calls) -> None:
        self._ffi, self._lib, self._call = ffi, lib, call
        tags = {lib.PFMLIB_ITANIUM_PMU: "ita", lib.PFMLIB_ITANIUM2_PMU: "ita2", lib.PFMLIB_MONTECITO_PMU: "mont"}
        self._models = {pmu: (call.converter(f"pfmlib_{tag}_input_param_t *"),
                              call.converter(f"pfmlib_{tag}_output_param_t *")) for pmu, tag in tags.items()}
        self._input = call.converter("pfmlib_input_param_t *")
        self._output = call.converter("pfmlib_output_param_t *")
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
        except BaseException as error:  # noqa: BLE001 - raised again after the C call
            listing.error = error
            return -1
        return 0

    def pfm_list_supported_pmus(self, pf: Callable[..., object] | None) -> int:
        """Call pf(format) or pf(format, string) as C calls printf()."""
        self._call.arguments("pfm_list_supported_pmus", (pf,))
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

    def pfm_dispatch_events(self, p: object, model_in: object, q: object, model_out: object) -> int:
        """Call C; the model's structures must be those of the selected PMU: C takes any pointer."""
        pmu: Any = self._ffi.new("int *")
        if self._lib.pfm_get_pmu_type(pmu) or pmu[0] not in self._models:
            return int(self._call("pfm_dispatch_events", p, model_in, q, model_out))  # C does not look at them
        into, out = self._models[pmu[0]]
        try:
            return int(self._lib.pfm_dispatch_events(self._input(p), into(model_in), self._output(q), out(model_out)))
        except REFUSED:
            return self._call("pfm_dispatch_events", p, model_in, q, model_out, model_in=into, model_out=out)
