"""A program: the replay program pfm3_vectors.py, for structures as the manual pages print them.

    manual_vectors.py PATH/TO/libpfm-manual.so.3 VECTORS.jsonl[.bz2] [--limit N] [-v]

The recorded requests know no etb_ds; it is set to 1 in every one, and has to change nothing.
"""

import ctypes
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "replay"))

import pfm3_abi as abi
import pfm3_vectors

Fields = list[tuple[str, Any]]


def without_reserved(fields: Fields) -> Fields:
    return [f for f in fields if f[0] != "reserved"]


def etb() -> type[ctypes.Structure]:
    fields: Fields = list(abi.mont_etb._fields_)
    return abi.struct("pfmlib_mont_etb_t", *fields[:2], ("etb_ds", ctypes.c_ubyte), *fields[2:])


def montecito_input() -> type[ctypes.Structure]:
    fields = without_reserved(list(abi.mont_input._fields_))
    at = [name for name, _ in fields].index("pfp_mont_etb")
    fields[at:at + 2] = [fields[at + 1], ("pfp_mont_etb", etb())]

    def init(self: Any) -> None:
        self.pfp_mont_etb.etb_ds = 1

    return type("pfmlib_mont_input_param_t", (ctypes.Structure,), {"_fields_": fields, "__init__": init})


def use_manual_form() -> None:
    for pmu, (tag, in_type, out_type) in abi.MODEL.items():
        if tag == "ita":  # has no manual page, and one form
            continue
        manual_in = montecito_input() if tag == "mont" else abi.struct(
            in_type.__name__, *without_reserved(in_type._fields_))
        abi.MODEL[pmu] = (tag, manual_in, abi.struct(out_type.__name__, *without_reserved(out_type._fields_)))


def main() -> int:
    use_manual_form()
    pfm3_vectors.__file__ = __file__  # which it starts again as its worker
    return pfm3_vectors.main() or 0


if __name__ == "__main__":
    sys.exit(main())
