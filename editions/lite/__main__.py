"""python -m editions.lite build/site/lite"""

import argparse
from pathlib import Path

from editions.lite.build import build_lite


def main() -> None:
    """Build the site and say how large it is."""
    parser = argparse.ArgumentParser(
        prog="python -m editions.lite", description="Build the course's JupyterLite site."
    )
    parser.add_argument("into", type=Path)
    parser.add_argument("--pyodide", type=Path, help="the runtime's folder; made beside the site if missing")
    asked = parser.parse_args()
    site = build_lite(asked.into, asked.pyodide)
    sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
    print(f"{site}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
