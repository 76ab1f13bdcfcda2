"""Every panel of the course in one page, light and dark, and how two pictures of one are compared.

The page has no kernel and no network: each panel is mounted from the module and the state that its widget would send,
and letters are those that Matplotlib brings along, so that every machine has the same. What is stored beside this file
in `pictures/` is a quarter as large as the screen shows it; `python -m tests.browser.gallery` stores it anew.
"""

import base64
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from PIL import Image, ImageFilter

from editions.programs import chromium_here
from sdpa_helpers.course.session import check
from sdpa_helpers.show.predict import Chosen, Option, Prediction, PredictionShown
from sdpa_helpers.show.visualiser import SENTENCE, walk_through
from tests.handing_in import RIGHT
from tests.lessons.pictures import PANELS

from .harness import chromium, open_page

STORED = Path(__file__).with_name("pictures")
STORE_AGAIN = "python -m tests.browser.gallery"
SHRINK = 4
COLOURS = 256
MOST, MEAN = 45.0, 1.6
"""Two pictures are alike when no place differs by more than `MOST` of 255 levels, and all by no more than `MEAN`."""


def _question(before: Chosen | None) -> PredictionShown:
    asked = Prediction(
        "twice_as_long",
        "*q* becomes twice as long. What becomes of its score with *k*_{1}?",
        (
            Option("It stays", "That is the cosine: it knows no lengths."),
            Option("It doubles", "q·k is linear in q."),
            Option("Four times as large", "That is the square of a length."),
        ),
        after="The weights do not double: they add up to 1.",
    )
    table = "<table><tr><th>q</th><th>2 q</th></tr><tr><td>0.75</td><td>1.50</td></tr></table>"
    return PredictionShown("01_dot_product", asked, "It doubles", [Html(table)], before=before)


class Html(NamedTuple):
    """Something that a notebook would show."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


def _answer(source: str) -> str:
    """The card for an answer to the first exercise."""
    written: dict[str, Any] = {}
    exec(source, written)
    return check(written["dot_product"], keep=False).html()


WIDGETS: dict[str, Callable[[], Any]] = {
    **{
        f"walk_{step}": lambda step=step: walk_through(SENTENCE, step=step, mask="causal", query=2)
        for step in range(1, 6)
    },
    **PANELS,
    "prediction_asked": lambda: _question(None),
    "prediction_answered": lambda: _question(Chosen(0)),
}
CARDS: dict[str, Callable[[], str]] = {
    "card_wrong": lambda: _answer("def dot_product(q, k):\n    return q * k\n"),
    "card_right": lambda: _answer(RIGHT["dot_product"]),
}
NAMES = (*WIDGETS, *CARDS)

THEMES = {
    name: f"color-scheme: {name}; color: {ink}; background: {paper}; --jp-layout-color1: {paper}; "
    f"--jp-content-font-color1: {ink}"
    for name, ink, paper in (("light", "#212121", "#fff"), ("dark", "#e0e0e0", "#111"))
}

MOUNT = """async shown => {
    const model = state => ({ get: name => state[name], set(name, value) { state[name] = value; }, on() {}, off() {}, send() {}, save_changes() {} });
    for (const [name, { module, state, html }] of Object.entries(shown)) {
        const place = document.body.appendChild(Object.assign(document.createElement("section"), { id: name, innerHTML: html ?? "" }));
        if (html) continue;
        const { default: { render } } = await import("data:text/javascript;charset=utf-8," + encodeURIComponent(module));
        render({ model: model(state), el: place });
        place.firstChild.shadowRoot.append(Object.assign(document.createElement("style"), { textContent: "* { font-family: Course !important }" }));
    }
    await document.fonts.load("14px Course"); await document.fonts.load("700 14px Course");
}"""
SETTLED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))))"
DAMAGE = """hidden => { for (const [name, what] of Object.entries(hidden)) {
    const place = document.getElementById(name), root = place.firstChild?.shadowRoot ?? place;
    const [first] = root.querySelectorAll(what);
    if (!first) throw new Error(`${name} has no ${what}`);
    first.style.setProperty("visibility", "hidden", "important"); } }"""
BOXES = """() => Object.fromEntries([...document.querySelectorAll("section")].map(place => {
    const { x, y, width, height } = place.getBoundingClientRect();
    return [place.id, [x, y + scrollY, x + width, y + scrollY + height].map(Math.round)]; }))"""


def contents() -> dict[str, dict[str, Any]]:
    """What each panel's widget would send to the page, and the cards' HTML."""
    shown: dict[str, dict[str, Any]] = {}
    for name, make in WIDGETS.items():
        sent = make().widget().get_state()
        module = sent.pop("_esm")
        state = {key: value for key, value in sent.items() if key != "layout" and key[0] != "_"}
        shown[name] = {"module": module, "state": state}
    return shown | {name: {"html": make()} for name, make in CARDS.items()}


def swapped(shown: dict[str, Any], colours: dict[str, str]) -> dict[str, Any]:
    """The same with colours in the place of others, wherever they are written."""
    found = re.compile("|".join(colours), re.IGNORECASE)
    return json.loads(found.sub(lambda m: colours[m[0].upper()], json.dumps(shown)))


class Gallery:
    """The page with all of them."""

    def __init__(self, page: Any, shown: dict[str, Any], letters: float = 1) -> None:
        """`letters`: how large they are, of what they should be."""
        self.page = page
        page.set_content(
            f"<!doctype html><meta charset='utf-8'><style>{fonts(letters)} body {{ margin: 8px }}"
            " section { width: 960px; padding: 4px 0; font: 14px/1.45 Course } section * { font-family: Course !important }</style>"
        )
        page.evaluate(MOUNT, shown)

    def hide(self, elements: dict[str, str]) -> None:
        """Take the first element of a selector out of each panel's picture."""
        self.page.evaluate(DAMAGE, elements)

    def pictures(self, theme: str) -> dict[str, Image.Image]:
        """What each panel looks like, in pixels of the screen."""
        self.page.evaluate("style => { document.body.style = style }", THEMES[theme])
        self.page.evaluate(SETTLED)
        whole = Image.open(io.BytesIO(self.page.screenshot(full_page=True))).convert("RGB")
        return {name: whole.crop(box) for name, box in self.page.evaluate(BOXES).items()}


def fonts(letters: float = 1) -> str:
    """The letters that Matplotlib brings along, as a style sheet."""
    folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
    faces = ""
    for weight, file in ((400, "DejaVuSans.ttf"), (700, "DejaVuSans-Bold.ttf")):
        data = base64.b64encode((folder / file).read_bytes()).decode()
        faces += (
            f"@font-face {{ font-family: Course; font-weight: {weight}; size-adjust: {letters:.1%};"
            f" src: url(data:font/ttf;base64,{data}) }}"
        )
    return faces


# ---- comparing ---------------------------------------------------------------------------------------------


def shrunk(picture: Image.Image) -> Image.Image:
    """As small as it is stored."""
    size = (round(picture.width / SHRINK), round(picture.height / SHRINK))
    return picture.resize(size, Image.Resampling.BOX)


class Difference(NamedTuple):
    """How far two small pictures are from each other, in levels of 255."""

    most: float
    mean: float

    @property
    def is_small(self) -> bool:
        """Whether it is what fonts and antialiasing make."""
        return self.most <= MOST and self.mean <= MEAN


def difference(small: Image.Image, stored: Image.Image) -> Difference:
    """After a blur, which forgives a pixel; pictures that are not equally high differ as far as can be."""
    if abs(small.height - stored.height) > 1 or small.width != stored.width:
        return Difference(255.0, 255.0)
    small = small.resize(stored.size)
    a, b = (np.asarray(one.filter(ImageFilter.GaussianBlur(1)), dtype=float) for one in (small, stored))
    apart = abs(a - b)
    return Difference(float(apart.max()), float(apart.mean()))


def stored(name: str, theme: str) -> Image.Image:
    """The stored picture of a panel."""
    return Image.open(STORED / f"{name}_{theme}.png").convert("RGB")


def store() -> None:
    """Take every picture anew."""
    with chromium(chromium_here()) as browser:
        gallery = Gallery(open_page(browser, width=980, reduced_motion="reduce"), contents())
        for theme in THEMES:
            for name, picture in gallery.pictures(theme).items():
                few = shrunk(picture).quantize(COLOURS, dither=Image.Dither.NONE)
                few.save(STORED / f"{name}_{theme}.png", optimize=True)


if __name__ == "__main__":
    store()
