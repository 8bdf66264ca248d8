# What type checkers see of pypfm/__init__.py, which loads each name when it is asked for.
from pypfm import (
    bench as bench,
)
from pypfm import (
    config as config,
)
from pypfm import (
    conform as conform,
)
from pypfm import (
    errors as errors,
)
from pypfm import (
    ia64 as ia64,
)
from pypfm import (
    layout as layout,
)
from pypfm import (
    libperfex as libperfex,
)
from pypfm import (
    netbsd as netbsd,
)
from pypfm import (
    perf as perf,
)
from pypfm import (
    perfex as perfex,
)
from pypfm import (
    pfm3 as pfm3,
)
from pypfm import (
    pfm3_manual as pfm3_manual,
)
from pypfm import (
    pfm4 as pfm4,
)
from pypfm import (
    pmc as pmc,
)
from pypfm.decoding import decode as decode
from pypfm.errors import *
from pypfm.ia64 import *
from pypfm.ia64.decode import Decoded as Decoded
from pypfm.levels import Plm as Plm
from pypfm.netbsd import (
    Counter as Counter,
)
from pypfm.netbsd import (
    CounterEvent as CounterEvent,
)
from pypfm.netbsd import (
    Machine as Machine,
)
from pypfm.perf import (
    AverageLatency as AverageLatency,
)
from pypfm.perf import (
    Goldmont as Goldmont,
)
from pypfm.perf import (
    Perf as Perf,
)
from pypfm.pmus import pmu as pmu

__version__: str
