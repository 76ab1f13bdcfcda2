"""The panel of this lesson in a page without Python: what it begins with there, and what its script is given."""

from sdpa_helpers.lessons.masking import widget
from sdpa_helpers.show.figures import INK, SKY, fullest
from sdpa_helpers.show.panels import WithoutPython

PAINTED = ("Ann", "pours", "Ben", "and", "Lea", "some", "tea")
"""A mask is painted over these."""


def panel() -> WithoutPython:
    """A mask to paint, and who knows of whom when layers are stacked."""
    data = {"words": PAINTED, "shares": {"ink": fullest(INK), "sky": fullest(SKY), "blue": SKY}}
    return WithoutPython(widget.paint_mask(PAINTED), data)
