"""A program: answer the vectors on stdin (JSON) through a mirror of libpfm 3, one line for each.

All vectors are for one PMU; with "cpuid3" (LIBPFM_IA64_CPUID3 is set to it) the library
detects the PMU, else it is forced.
"""

import json
import sys

from dispatching import ALL_PMUS, pfm3


def main() -> None:
    vectors = json.load(sys.stdin)
    pmu = ALL_PMUS[vectors[0]["pmu"]]
    if vectors[0].get("cpuid3"):
        assert pfm3.pfm_initialize() == 0
    else:
        pmu.select()
    kind = pfm3.c_int()
    assert pfm3.pfm_get_pmu_type(kind) == 0
    assert kind.value == pmu.type
    for vector in vectors:
        print(json.dumps(pmu.replay(vector).as_recorded()))


if __name__ == "__main__":
    main()
