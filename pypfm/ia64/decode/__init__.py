"""Register values -> fields, meanings, events, ranges, and a request again."""

from pypfm.ia64.decode.decoded import Decoded, DecodedRegister, FieldValue, decode_registers
from pypfm.ia64.decode.meanings import (
    BranchMeaning,
    CounterMeaning,
    CountMeaning,
    EarMeaning,
    EarSample,
    IndexMeaning,
    IpEarMeaning,
    ItaniumBranchMeaning,
    MatcherMeaning,
    Meaning,
    PairsMeaning,
    RangeMeaning,
    RoutingMeaning,
    TraceEntry,
)
from pypfm.ia64.decode.reencoding import Reencoded

__all__ = [
    "BranchMeaning", "CountMeaning", "CounterMeaning", "Decoded", "DecodedRegister", "EarMeaning", "EarSample",
    "FieldValue", "IndexMeaning", "IpEarMeaning", "ItaniumBranchMeaning", "MatcherMeaning", "Meaning", "PairsMeaning",
    "RangeMeaning", "Reencoded", "RoutingMeaning", "TraceEntry", "decode_registers",
]
