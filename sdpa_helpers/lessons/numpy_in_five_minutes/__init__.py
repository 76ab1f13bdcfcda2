"""What the door "NumPy in five minutes" uses: a table of cups, pictures of arrays, lines to write."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "lessons.numpy_in_five_minutes.cups": ("CUPS", "line"),
        "lessons.numpy_in_five_minutes.figures": ("draw",),
    },
)
