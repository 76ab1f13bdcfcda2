"""`python -m editions.printing [FOLDER [LESSON …]]`: write the PDFs into a folder, build/print at first."""

import sys
from pathlib import Path

from editions.printing.build import build_print

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("build/print")
    written = build_print(folder, sys.argv[2:])
    print(f"{len(written)} files in {folder}")
