"""A program: the replay program pfm3_verbose.py, for structures as the manual pages print them.

    manual_verbose.py PATH/TO/libpfm-manual.so.3 VECTORS.jsonl[.bz2] VERBOSE.jsonl[.bz2] [-v]
"""

import sys

import manual_vectors
import pfm3_verbose

if __name__ == "__main__":
    manual_vectors.use_manual_form()
    pfm3_verbose.__file__ = __file__  # which it starts again as its worker
    sys.exit(pfm3_verbose.main() or 0)
