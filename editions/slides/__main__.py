"""`python -m editions.slides [FOLDER [LESSON …]]`: write the slides into a folder, build/slides at first."""

import sys
from pathlib import Path

from editions.slides.build import build_slides

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("build/slides")
    written = build_slides(folder, sys.argv[2:])
    print(f"{len(written) - 1} decks in {folder}; open {folder / 'index.html'}")
