"""python -m pypfm: the same as the command pypfm."""

import sys

from pypfm.cli import main

if __name__ == "__main__":
    sys.exit(main())
