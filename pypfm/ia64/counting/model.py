"""Events of a context whose counters are a model's."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pypfm.common.arguments import expect_number, expect_size
from pypfm.errors import InvalidValueError, shown
from pypfm.ia64.counting.calls import call, on_cpu
from pypfm.ia64.models import parse_name
from pypfm.ia64.request import EventRequest, Request
from pypfm.levels import Plm, parse_plm

if TYPE_CHECKING:
    from pypfm.ia64.events import Event
    from pypfm.ia64.pmu import Pmu

__all__ = ["Model"]

_LIMIT = 1 << 64


class Model:
    """The events of a model (``LIBPFM_PERFMON=model``): its counters move only when the program says what happens.

    All happens on the calling thread, or on the thread that the context was made for.  Signal handlers of Python run
    after the call, not in the middle of it: what an overflow stops stays stopped for the rest of it.

    :param tid: the thread that the context was made for; None: the caller's own
    :param cpu: the CPU that it was made for
    """

    def __init__(self, pmu: Pmu, tid: int | None, cpu: int | None) -> None:
        self._pmu, self._tid, self._cpu = pmu, tid, cpu

    def __repr__(self) -> str:
        return f"<Model of {self._pmu.name}>"

    def _call(self, name: str, *args: int, function: str) -> None:
        with on_cpu(self._cpu, "the model"):
            call(name, f"the model of {self._pmu.name}", self._pmu._type, *args, function=f"pypfm_perfmon2_{function}")

    def advance(self, event: str | Event | EventRequest, count: int = 1, *, plm: int | str = Plm.PLM3) -> None:
        """Let an event happen.

        :param event: of the PMU, whether it is counted or not
        :param count: how many times, 0 to 2^64 - 1
        :param plm: at which privilege levels; it happens once
        :raises ContextError: ENXIO, the counters are no model's
        :raises Pfm3Error: there is no such event
        """
        count, levels = expect_size(count, "count", 64), parse_plm(plm)
        if not 0 < levels <= 0xF:
            raise InvalidValueError(f"plm={shown(plm)}: an event happens at one of the levels 0 to 3, or at several")
        request = event if isinstance(event, EventRequest) else EventRequest(event)
        if self._tid is not None and self._tid != threading.get_native_id():
            index = self._pmu[request.name].index
            self._call("pfm_model_advance_task", self._tid, index, levels, count, function="advance_task")
            return
        fields = self._pmu.encode_request(Request(plm=levels, events=(request,))).pmcs[0].fields
        self._call("pfm_model_advance_code", fields["es"], fields.get("umask", 0), levels, count, function="advance")

    def pass_time(self, seconds: float) -> None:
        """Let time go by: timeouts switch sets, and the time that they counted grows.

        :param seconds: 0 or more
        :raises ContextError: ENXIO, as `advance`
        """
        value = expect_number(seconds, "seconds")
        if not 0 <= value < _LIMIT / 1e9:
            raise InvalidValueError(f"{shown(seconds)} seconds: 0 or more, and at most 2^64 nanoseconds")
        self._call("pfm_model_time", self._tid or 0, round(value * 1e9), function="time")

    def interrupt_at(self, address: int) -> None:
        """Say which instruction the next overflows interrupt.

        :param address: 0 to 2^64 - 1
        :raises ContextError: ENXIO, as `advance`
        """
        self._call("pfm_model_set_ip", expect_size(address, "address", 64), function="set_ip")

    def record(self, **registers: int) -> None:
        """Write data registers as an EAR or the trace buffer does: ``record(PMD2=address, PMD3=latency)``.

        They are those of the set that is counting on the calling thread.

        :param registers: values by name of the register
        :raises ContextError: ENXIO, as `advance`
        :raises InvalidValueError: it is no such register
        """
        buffers = tuple(n for n in self._pmu.pmds if n not in self._pmu.counters)
        values = {}
        for text, value in registers.items():
            name = parse_name(text)
            if name is None or name.kind != "PMD" or name.num not in buffers:
                raise InvalidValueError(f"{shown(text)} is no register that {self._pmu.name} records something in;"
                                        f" they are {', '.join(f'PMD{n}' for n in buffers) or 'none'}")
            values[name.num] = expect_size(value, text, 64)
        for number, value in values.items():
            self._call("pfm_model_set_pmd", number, value, function="set_pmd")
