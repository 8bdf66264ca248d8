"""libperfex: what two counts have cost.  usage: perfex_costs.py EVENT COUNT EVENT COUNT"""

import os
import sys

from pypfm.libperfex import *

if len(sys.argv) != 5:
    sys.exit("usage: perfex_costs.py EVENT COUNT EVENT COUNT")
e0, c0, e1, c1 = map(int, sys.argv[1:])
if print_counters(e0, c0, e1, c1) < 0 or print_costs(e0, c0, e1, c1) < 0:
    sys.exit(f"perfex_costs: {os.strerror(ffi.errno)}")
