"""The lessons: a folder each, and what they share: the list of them, checks and hints, progress, the ledger."""

from sdpa_helpers.lazy import offer
from sdpa_helpers.lessons.needs import watch_cells

__getattr__, __all__ = offer(
    __name__, {"lessons.registry": ("LESSONS", "all_exercises", "all_written", "exercises_of", "written_of")}
)

watch_cells()
