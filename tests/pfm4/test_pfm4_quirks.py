"""Quirks of libpfm 4.13.0 that are kept and that no other test shows alone (docs/deviations/pfm4.rst)."""

from __future__ import annotations

from mirror4 import mirror

FORCED = {"LIBPFM_FORCE_PMU": "glm"}
FEATCOMB = -5


def test_find_event_does_not_combine() -> None:
    """A string that cannot be encoded may well be found."""
    text = "glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT:ANY_RESPONSE"
    code = ("pfm_initialize()\narg = pfm_pmu_encode_arg_t()\n"
            f"tell(pfm_find_event('{text}') >= 0, pfm_get_os_event_encoding('{text}', 9, PFM_OS_NONE, arg))\n")
    assert mirror(code, **FORCED) == [[True, FEATCOMB]]


def test_defaults_of_perf_are_not_reported() -> None:
    """perf::L1-dcache is READ:ACCESS; no attribute says is_dfl."""
    code = ("pfm_initialize()\nevent, attribute = pfm_event_info_t(), pfm_event_attr_info_t()\n"
            "index = pfm_find_event('perf::PERF_COUNT_HW_CACHE_L1D')\n"
            "pfm_get_event_info(index, PFM_OS_NONE, event)\nflags = []\n"
            "for i in range(event.nattrs):\n"
            "    pfm_get_event_attr_info(index, i, PFM_OS_NONE, attribute)\n"
            "    if attribute.type == PFM_ATTR_UMASK:\n        flags.append(attribute.is_dfl)\n"
            "tell(len(flags), sum(flags))\n")
    assert mirror(code, LIBPFM_FORCE_PMU="perf") == [[5, 0]]
