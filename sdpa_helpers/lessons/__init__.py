"""The lessons, a folder each. What they share is in `sdpa_helpers.course`."""

from sdpa_helpers.course.needs import watch_cells
from sdpa_helpers.lazy import offer

__getattr__, __all__ = offer(
    __name__, {"course.registry": ("LESSONS", "all_exercises", "all_written", "exercises_of", "written_of")}
)

watch_cells()
