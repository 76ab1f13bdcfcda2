"""`python -m editions.ways [--hub URL]`: the links that open each lesson elsewhere, as Markdown.

They need the repository's public address: [project.urls] Repository in pyproject.toml, or $SDPA_REPOSITORY.
"""

import argparse
import sys

from editions.address import binder, colab, nbgitpuller, repository
from editions.ways.colab import NOTEBOOK
from sdpa_helpers.classroom.course_map import title_of
from sdpa_helpers.course.registry import LESSONS


def links(hub: str = "") -> str:
    """A table with a row for each lesson's exercises."""
    ways = ["Binder", *(["JupyterHub"] if hub else [])]
    rows = [f"| exercises | {' | '.join(ways)} |", "|---" * (1 + len(ways)) + "|"]
    for lesson in LESSONS:
        path = f"exercises/{lesson}.ipynb"
        places = [binder(path), *([nbgitpuller(hub, path)] if hub else [])]
        rows.append(
            f"| {title_of(lesson)} | {' | '.join(f'[open]({url})' if url else '' for url in places)} |"
        )
    return "\n".join([f"[Two cells on Colab]({colab(NOTEBOOK)})", "", *rows])


def main() -> int:
    """Print the links; 2 where no address is known."""
    parser = argparse.ArgumentParser(prog="python -m editions.ways", description=__doc__)
    parser.add_argument("--hub", default="", help="the address of a JupyterHub that has nbgitpuller")
    asked = parser.parse_args()
    if not repository():
        print(
            "no address: set [project.urls] Repository in pyproject.toml, or SDPA_REPOSITORY", file=sys.stderr
        )
        return 2
    print(links(asked.hub))
    return 0


if __name__ == "__main__":
    sys.exit(main())
