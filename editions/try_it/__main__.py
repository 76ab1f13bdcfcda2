"""`python -m editions.try_it FOLDER`: the light pages; Python, in pyodide/ beside it, is made if it is missing."""

import sys
from pathlib import Path

from editions.try_it.build import build_try

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build_try(Path(sys.argv[1]))
