"""Write the pages about a whole class: class.html and similar.html."""

from collections.abc import Iterable
from pathlib import Path

from sdpa_helpers.classroom.pages.class_report import class_page, summarise
from sdpa_helpers.classroom.pages.similar import find_similar, similar_page
from sdpa_helpers.classroom.results_folder import read_results, write_text


def write_class_pages(out: Path, only: Iterable[tuple[str, str]] | None = None) -> int:
    """Write both pages from the results in `out` (`only`: of these students and notebooks); gives their number."""
    pairs = None if only is None else list(only)
    write_text(out / "similar.html", similar_page(find_similar(read_results(out, pairs))))
    summary = summarise(read_results(out, pairs))
    write_text(out / "class.html", class_page(summary, out))
    return sum(len(n.points) + len(n.nothing) for n in summary.notebooks.values())
