"""The pages: feedback for a learner, the class report and the answers that are alike for the instructor."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from sdpa_helpers.classroom.files import write_text
from sdpa_helpers.classroom.pages.class_report import class_page, summarise
from sdpa_helpers.classroom.pages.cockpit import cockpit, cockpit_page
from sdpa_helpers.classroom.pages.feedback import feedback_page
from sdpa_helpers.classroom.pages.groups import groups, of_earlier, with_somebody_of
from sdpa_helpers.classroom.pages.similar import find_similar, similar_page
from sdpa_helpers.classroom.results_folder import Pair, ResultsFolder
from sdpa_helpers.grading.result import GradedNotebook


def write_feedback(folder: ResultsFolder, result: GradedNotebook) -> None:
    """Write the page about one submission."""
    write_text(folder.feedback_path(result.student, result.notebook), feedback_page(result))


def write_class_page(folder: ResultsFolder, only: Iterable[Pair] | None = None) -> int:
    """Write the class report (`only`: of these students and notebooks); returns of how many submissions."""
    summary = summarise(folder.read_results(only))
    write_text(folder.class_page, class_page(summary, folder))
    return sum(len(n.points) + len(n.no_mark) + len(n.nothing) for n in summary.notebooks.values())


def write_class_pages(
    folder: ResultsFolder, only: Iterable[Pair] | None = None, earlier: Iterable[Path] = ()
) -> int:
    """The same, and before it the cockpit and the answers that are alike, to which it leads.

    earlier: folders of runs of earlier terms, whose answers are compared too.
    """
    pairs = None if only is None else list(only)
    old = chain.from_iterable(map(of_earlier, earlier))
    here = {student for student, _ in (folder.read_pairs() if pairs is None else pairs)}
    similar = with_somebody_of(find_similar(chain(folder.read_results(pairs), old)), here)
    write_text(folder.similar_page, similar_page(similar))
    whole = cockpit(folder.read_results(pairs), groups(similar.people))
    write_text(folder.cockpit_page, cockpit_page(whole, folder))
    return write_class_page(folder, pairs)
