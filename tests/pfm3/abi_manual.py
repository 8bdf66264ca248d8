"""ctypes declarations of the manual-page form of libpfm 3: those of abi_full with what the pages have otherwise.

libpfm_montecito(3) has etb_ds after etb_plm and pfp_mont_ipear before pfp_mont_etb; neither page
has the reserved members of the model-specific structures.
"""

from __future__ import annotations

import ctypes
from typing import Any

import abi_full

Fields = list[tuple[Any, ...]]


def fields_of(name: str) -> Fields:
    return list(abi_full.TYPES[name]._fields_)


def place(fields: Fields, name: str) -> int:
    return [field[0] for field in fields].index(name)


def structure(name: str, fields: Fields) -> type[ctypes.Structure]:
    return type(name, (ctypes.Structure,), {"_fields_": [f for f in fields if f[0] != "reserved"]})


def manual_etb() -> type[ctypes.Structure]:
    fields = fields_of("pfmlib_mont_etb_t")
    fields.insert(place(fields, "etb_tm"), ("etb_ds", ctypes.c_ubyte))
    return structure("pfmlib_mont_etb_t", fields)


def manual_mont_input(etb: type[ctypes.Structure]) -> type[ctypes.Structure]:
    fields = fields_of("pfmlib_mont_input_param_t")
    at = place(fields, "pfp_mont_etb")
    assert fields[at + 1][0] == "pfp_mont_ipear"
    fields[at:at + 2] = [fields[at + 1], ("pfp_mont_etb", etb)]
    return structure("pfmlib_mont_input_param_t", fields)


ETB = manual_etb()
OTHER = [
    ETB, manual_mont_input(ETB),
    *(structure(name, fields_of(name)) for name in (
        "pfmlib_mont_output_param_t", "pfmlib_ita2_input_param_t", "pfmlib_ita2_output_param_t")),
]
TYPES = abi_full.TYPES | {t.__name__: t for t in OTHER}
SIZES = abi_full.SIZES | {
    "pfmlib_mont_etb_t": 16, "pfmlib_mont_input_param_t": 456, "pfmlib_mont_output_param_t": 656,
    "pfmlib_ita2_input_param_t": 376, "pfmlib_ita2_output_param_t": 656,
}
