"""Functions of libpfm 3 whose call from Python needs more than the generated wrapper.

The generator of the mirror (csrc/bindings/generate.py) puts a call of the function here in the
place of its own; signature and documentation still come from the C header.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, cast

from pypfm._c.convert import decoded
from pypfm._c.mirror import REFUSED, Address, Calls, Ref, String, bytes_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from _cffi_backend import FFI

__all__ = ["Hand"]


def _elements(ffi: FFI, lib: Any) -> dict[int, int]:
    """Return the size in bytes of an element of perfmonctl()'s argument, for each command that has one."""
    types = {"pfarg_reg_t": ("WRITE_PMCS", "WRITE_PMDS", "READ_PMDS", "GET_PMC_RESET_VAL"),
             "pfarg_dbreg_t": ("WRITE_IBRS", "WRITE_DBRS"), "pfarg_context_t": ("CREATE_CONTEXT",),
             "pfarg_features_t": ("GET_FEATURES",), "unsigned int": ("DEBUG",), "pfarg_load_t": ("LOAD_CONTEXT",)}
    return {getattr(lib, f"PFM_{name}"): ffi.sizeof(ctype) for ctype, names in types.items() for name in names}


# int (*)(const char *format, ...) as C calls it here, with one more argument or none.
_Print = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


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
        self._elements = _elements(ffi, lib)
        self._printf = cast(Any, ffi.typeof(lib.pfm_list_supported_pmus)).args[0]

    def pfm_list_supported_pmus(self, pf: Callable[..., object] | None) -> int:
        """Call pf(format) or pf(format, string) as C calls printf()."""
        self._call.arguments("pfm_list_supported_pmus", (pf,))
        if pf is None:
            return int(self._lib.pfm_list_supported_pmus(self._ffi.NULL))
        raised: list[BaseException] = []

        def called(form: bytes, argument: int | None) -> int:
            """Pass one line of C's on; C cannot raise, so the first exception waits until C is done."""
            if not raised:
                try:
                    more = [decoded(ctypes.string_at(argument))] if b"%s" in form and argument else []
                    pf(decoded(form), *more)
                    return 0
                except BaseException as error:  # noqa: BLE001 - raised again after the C call
                    raised.append(error)
            return -1

        thunk = _Print(called)
        ret = self._lib.pfm_list_supported_pmus(
            self._ffi.cast(self._printf, ctypes.cast(thunk, ctypes.c_void_p).value or 0))
        if raised:
            raise raised[0]
        return int(ret)

    def pfm_dispatch_events(self, p: object, model_in: object, q: object, model_out: object) -> int:
        """Call C; the model's structures must be those of the selected PMU: C takes any pointer."""
        lib = self._lib
        if model_in is None and model_out is None:
            try:
                null = self._ffi.NULL
                return int(lib.pfm_dispatch_events(self._input(p), null, self._output(q), null))
            except REFUSED:
                return self._call("pfm_dispatch_events", p, None, q, None)
        pmu: Any = self._ffi.new("int *")
        if lib.pfm_get_pmu_type(pmu) or pmu[0] not in self._models:
            return self._call("pfm_dispatch_events", p, model_in, q, model_out)  # C does not look at them
        into, out = self._models[pmu[0]]
        try:
            return int(lib.pfm_dispatch_events(self._input(p), into(model_in), self._output(q), out(model_out)))
        except REFUSED:
            return self._call("pfm_dispatch_events", p, model_in, q, model_out, model_in=into, model_out=out)

    # ---- perfmon2: C is told how many elements there are, and looks at no more than Python has given it ------------

    def pfm_create(self, flags: int, sif: Ref[Any], name: String = None, arg: Address = None, size: int = 0) -> int:
        """Call C with all its arguments; it reads the last three if PFM_FL_SMPL_FMT is given.

        :param name: sampling format: "default"; looked at with PFM_FL_SMPL_FMT only, as are the next two
        :param arg: the format's argument, pfm_dfl_smpl_arg_t
        :param size: its size in bytes
        """
        call = self._call
        declared = call.arguments("pfm_create", (flags, sif))
        more = [call.further("pfm_create", *one) for one in (
            ("name", "const char *", name), ("arg", "void *", arg), ("size", "size_t", size))]
        _expect_room("pfm_create", "arg", arg, "size", size)
        return int(self._lib.pfm_create(*declared, *more))

    def _vector(self, name: str, args: tuple[Any, ...], size: int) -> int:
        """Call a function whose last arguments are elements and their number.

        :param size: bytes of an element; 1: the number is that of the bytes
        """
        given = self._call.arguments(name, args)
        (parameter, _), (number, _) = self._call.parameters[name][-2:]
        count = int(given[-1])
        _expect_room(name, parameter, args[-2], number, count * size, count)
        return int(getattr(self._lib, name)(*given))

    def pfm_create_context(self, ctx: object, smpl_name: object, smpl_arg: object, smpl_size: object) -> int:
        return self._vector("pfm_create_context", (ctx, smpl_name, smpl_arg, smpl_size), 1)

    def pfm_create_context_v2old(self, ctx: object, smpl_name: object, smpl_arg: object, smpl_size: object) -> int:
        return self._vector("pfm_create_context_v2old", (ctx, smpl_name, smpl_arg, smpl_size), 1)

    def pfm_write_pmcs(self, fd: object, pmcs: object, count: object) -> int:
        return self._vector("pfm_write_pmcs", (fd, pmcs, count), self._ffi.sizeof("pfarg_pmc_t"))

    def pfm_write_pmds(self, fd: object, pmds: object, count: object) -> int:
        return self._vector("pfm_write_pmds", (fd, pmds, count), self._ffi.sizeof("pfarg_pmd_t"))

    def pfm_read_pmds(self, fd: object, pmds: object, count: object) -> int:
        return self._vector("pfm_read_pmds", (fd, pmds, count), self._ffi.sizeof("pfarg_pmd_t"))

    def pfm_create_evtsets(self, fd: object, setd: object, count: object) -> int:
        return self._vector("pfm_create_evtsets", (fd, setd, count), self._ffi.sizeof("pfarg_setdesc_t"))

    def pfm_delete_evtsets(self, fd: object, setd: object, count: object) -> int:
        return self._vector("pfm_delete_evtsets", (fd, setd, count), self._ffi.sizeof("pfarg_setdesc_t"))

    def pfm_getinfo_evtsets(self, fd: object, info: object, count: object) -> int:
        return self._vector("pfm_getinfo_evtsets", (fd, info, count), self._ffi.sizeof("pfarg_setinfo_t"))

    def pfm_getinfo_evtsets_v2old(self, fd: object, info: object, count: object) -> int:
        return self._vector("pfm_getinfo_evtsets_v2old", (fd, info, count), 192)

    def pfm_write(self, fd: object, flags: object, type: object, pms: object, sz: object) -> int:
        return self._vector("pfm_write", (fd, flags, type, pms, sz), 1)

    def pfm_read(self, fd: object, flags: object, type: object, pmds: object, sz: object) -> int:
        return self._vector("pfm_read", (fd, flags, type, pmds, sz), 1)

    def pfm_create_sets(self, fd: object, flags: object, s: object, sz: object) -> int:
        return self._vector("pfm_create_sets", (fd, flags, s, sz), 1)

    def pfm_getinfo_sets(self, fd: object, flags: object, info: object, sz: object) -> int:
        return self._vector("pfm_getinfo_sets", (fd, flags, info, sz), 1)

    def perfmonctl(self, fd: object, cmd: object, arg: object, narg: object) -> int:
        """Call C; the type of an element depends on the command."""
        given = self._call.arguments("perfmonctl", (fd, cmd, arg, narg))
        count = int(given[-1])
        _expect_room("perfmonctl", "arg", arg, "narg", count * self._elements.get(int(given[1]), 0), count)
        return int(self._lib.perfmonctl(*given))


def _expect_room(name: str, parameter: str, given: Any, number: str, size: int, count: int | None = None) -> None:
    """Refuse an argument shorter than what C would read and write: its memory belongs to Python.

    :param number: the parameter that says how long it is
    :param size: bytes that C takes it for
    :param count: what the parameter says, if not that
    """
    there = bytes_at(given)
    if there is not None and size > there:
        raise ValueError(f"{name}(): {parameter} is too short: {number} is {size if count is None else count},"
                         f" which is {size} bytes, but there are only {there}")
