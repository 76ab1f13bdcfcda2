"""`make site`, or `python -m editions.site [--into FOLDER] [--only pages,pyodide]`."""

import argparse
import sys
import time
from pathlib import Path

from editions.browser.fetch import Unobtainable
from editions.npm import NotInstalled
from editions.site.build import STEPS, NotBuilt


def main() -> int:
    """Build the site; returns what the shell is told."""
    parser = argparse.ArgumentParser(prog="python -m editions.site", description=__doc__)
    parser.add_argument(
        "--into", type=Path, default=Path("build/site"), help="where the site goes (build/site)"
    )
    parser.add_argument("--only", default=",".join(STEPS), help=f"some of {', '.join(STEPS)}, with commas")
    asked = parser.parse_args()
    names = asked.only.split(",")
    if unknown := [name for name in names if name not in STEPS]:
        parser.error(f"there is no step {', '.join(unknown)}; there are {', '.join(STEPS)}")
    for name in names:
        begun = time.monotonic()
        try:
            STEPS[name](asked.into)
        except (NotBuilt, NotInstalled, Unobtainable) as problem:
            print(f"{name}: {problem}", file=sys.stderr)
            return 1
        print(f"{name}: {time.monotonic() - begun:.0f} s")
    size = sum(path.stat().st_size for path in asked.into.rglob("*") if path.is_file())
    print(f"{asked.into}: {size / 1e6:.0f} MB. To see it: python -m http.server -d {asked.into}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
