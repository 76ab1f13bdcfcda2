"""The lessons' panels, and what a picture of one says."""

from typing import Any
from xml.etree import ElementTree

from sdpa_helpers.lessons.complexity.experiments import Machine
from sdpa_helpers.lessons.complexity.widget import explore_roofline
from sdpa_helpers.lessons.does_scaling_matter.widget import explore_arms
from sdpa_helpers.lessons.dot_product.widget import explore_keys
from sdpa_helpers.lessons.flash_attention.widget import paint_tiles
from sdpa_helpers.lessons.gradients.widget import explore_way_back
from sdpa_helpers.lessons.heads_and_variants.widget import explore_rope
from sdpa_helpers.lessons.many_machines.widget import explore_devices
from sdpa_helpers.lessons.masking.widget import paint_mask
from sdpa_helpers.lessons.softmax.widget import explore_temperature
from sdpa_helpers.lessons.variance_proof.widget import explore_scores
from sdpa_helpers.show.figures import Picture
from sdpa_helpers.show.panels import Panel

KEYS = ["the", "cat", "fears", "big", "dogs"]
TOKENS = ["the", "small", "cat", "fears", "two", "big", "dogs"]
SCORES, ARRIVED = [0, 0.577, 0, 0, 1.155], [-0.5, -4, -3, -3, -6.5]
SVG = "{http://www.w3.org/2000/svg}"

PANELS = {
    "dot_product": explore_keys,
    "variance_proof": explore_scores,
    "softmax": explore_temperature,
    "gradients": lambda: explore_way_back(KEYS, SCORES, ARRIVED),
    "masking": lambda: paint_mask(TOKENS),
    "complexity": lambda: explore_roofline(Machine(5e10, 8e9)),
    "flash_attention": paint_tiles,
    "heads_and_variants": explore_rope,
    "many_machines": explore_devices,
    "does_scaling_matter": explore_arms,
}
"""A panel of each lesson that has one, by lesson."""

BY_PAGE = (
    "dot_product",
    "softmax",
    "flash_attention",
    "heads_and_variants",
    "many_machines",
    "does_scaling_matter",
)
DRAWN = {lesson: make for lesson, make in PANELS.items() if lesson not in BY_PAGE}
"""Those whose pictures Python draws; the page draws the others by itself."""


def shown(panel: Panel, **state: Any) -> dict[str, str]:
    """What the picture of a state writes, by name."""
    picture = ElementTree.fromstring(panel.draw(panel.start | state).svg)
    return {t.get("data-name", ""): t.text or "" for t in picture.iter(f"{SVG}text") if t.get("data-name")}


def read(text: str) -> float:
    """A number as a picture writes it."""
    return float(text.replace("−", "-").replace("∞", "inf").replace(",", ""))


def numbers(panel: Panel, **state: Any) -> dict[str, float]:
    """The numbers that a picture shows, by name."""
    return {name: read(text) for name, text in shown(panel, **state).items()}


def unreadable(pictures: dict[str, Picture], most: int = 60_000, shared_y: bool = False) -> list[str]:
    """Figures that lack a title, labels or a description, or have more bytes than `most`.

    shared_y: panels beside the first share its axis, which is named once.
    """

    def fine(picture: Picture) -> bool:
        axes = picture.figure.axes
        titled = all(ax.get_title(loc="left") and ax.get_xlabel() for ax in axes)
        labelled = all(ax.get_ylabel() for ax in (axes[:1] if shared_y else axes))
        return titled and labelled and len(picture.alt) > 40 and len(picture.png()) < most

    assert pictures
    return [name for name, picture in pictures.items() if not fine(picture)]
