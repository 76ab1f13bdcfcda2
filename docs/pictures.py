"""Take every picture of the documents anew, from the course as a learner sees it: `make pictures`.

A JupyterLab with working copies, a headless Chromium, and the film `film.gif`: the head answers, then with a line of
one's own; a wrong answer gets its name, the right one its green card. Nothing is drawn by hand but the pointer.
"""

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageColor, ImageDraw

from editions.programs import chromium_here
from sdpa_helpers.show.figures import KEY, OUTPUT, QUERY, VALUE, WEIGHT
from tests.browser.harness import Lab, LabServer, chromium

IMAGES = Path(__file__).parent / "images"
SIZE = (880, 536)
"""Of the film, in pixels."""
COLOURS = 200
"""Of the film, and of a still."""
ANSWERS = (("named-mistake", "return q * k", 1800), ("green-card", "return (q * k).sum()", 1700))
"""A still's name, the answer whose card it is, and how long the film shows it, in milliseconds."""
OWN_LINE = 5
"""The cell of lesson 00 in which the learner's own line drives the head."""
STRIP = 40
"""How high a strip of a role's colour is that a picture gets while its colours are chosen."""
POINTER = [(0, 0), (0, 17), (4, 13), (7, 20), (10, 19), (7, 12), (12, 12)]


# ---- stills ------------------------------------------------------------------------------------------------


def in_few(picture: Image.Image, colours: int) -> Image.Image:
    """With few colours, those of the roles among them, however small what has them: a thin bar keeps its colour."""
    roles = [QUERY, KEY, VALUE, WEIGHT, OUTPUT]
    sheet = Image.new("RGB", (picture.width, picture.height + len(roles) * STRIP))
    sheet.paste(picture, (0, 0))
    for number, role in enumerate(roles):
        top = picture.height + number * STRIP
        sheet.paste(ImageColor.getrgb(role), (0, top, picture.width, top + STRIP))
    palette = sheet.quantize(colours, method=Image.Quantize.MEDIANCUT)
    found = palette.getpalette() or []
    triples = [found[i : i + 3] for i in range(0, len(found), 3)]
    palette.putpalette(
        [c for one in triples for c in ([255] * 3 if min(one) > 244 else one)]
    )  # paper is white
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def keep(shot: bytes, name: str) -> None:
    """Store a screenshot as a PNG with few colours."""
    path = IMAGES / f"{name}.png"
    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    in_few(picture, COLOURS).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size // 1000} kB")


def to_the_top(page: Any, element: Any) -> None:
    """Scroll until an element stands at the notebook's upper edge."""
    element.evaluate("one => one.scrollIntoView({block: 'start'})")
    page.wait_for_timeout(400)


def show_the_course(lab: Lab) -> None:
    """The side bar with the lessons; wait until it has them."""
    if not lab.page.locator(".sdpa-course").is_visible():
        lab.command("application:toggle-left-area")
    lab.page.wait_for_selector(".sdpa-course .lesson")
    lab.page.wait_for_timeout(1500)


def pictures_of_the_start(lab: Lab) -> None:
    """The first view, before anything is done, and the walk-through in both themes."""
    page = lab.open("work/notebooks/00_start_here.ipynb").page
    show_the_course(lab)
    keep(page.screenshot(), "first-view")
    page.keyboard.press("Shift+Enter")
    lab.wait_idle()
    panel = page.locator(".jp-OutputArea-output .panel").first
    panel.wait_for()
    panel.get_by_label("step", exact=True).press("End")
    page.wait_for_timeout(600)
    to_the_top(page, panel)
    keep(page.screenshot(), "walk-through")
    lab.theme(True)
    panel.get_by_label("mask", exact=True).select_option("causal")
    panel.get_by_label("step", exact=True).press("End")
    panel.get_by_role("button", name="Back").click()
    page.wait_for_timeout(600)
    to_the_top(page, panel)
    keep(page.screenshot(), "walk-through-dark")
    lab.theme(False)


def pictures_of_a_lesson(lab: Lab) -> None:
    """An answered question of lesson 01, and the lesson beside the side bar with what was done."""
    page = lab.open("work/notebooks/01_dot_product.ipynb").page
    show_the_course(lab)
    lab.run_all()
    asked = page.locator(".panel.predict", has_text="hot and bitter is").first  # not one to recall
    asked.get_by_role("button", name="1.5").first.click()
    asked.get_by_text("Measured").first.wait_for()
    page.wait_for_timeout(800)
    to_the_top(page, asked)
    keep(asked.screenshot(), "prediction")
    to_the_top(page, page.locator(".jp-RenderedMarkdown h2", has_text="Length and angle").first)
    keep(page.screenshot(), "lesson")


# ---- the film ----------------------------------------------------------------------------------------------


class Film:
    """Frames of one rectangle of a page, and how long each is shown. Where nothing changed, the last one stays."""

    def __init__(self) -> None:
        self.frames: list[Image.Image] = []
        self.times: list[int] = []
        self.pointer: tuple[float, float] | None = None

    def show(self, page: Any, corner: tuple[float, float], milliseconds: int) -> None:
        """What the page shows now, in the rectangle that begins at this corner."""
        clip = {"x": corner[0], "y": corner[1], "width": SIZE[0], "height": SIZE[1]}
        frame = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
        if self.pointer:
            left, top = self.pointer[0] - corner[0], self.pointer[1] - corner[1]
            outline = [(left + x, top + y) for x, y in POINTER]
            ImageDraw.Draw(frame).polygon(outline, fill="black", outline="white")
        if self.frames and not ImageChops.difference(frame, self.frames[-1]).getbbox():
            self.times[-1] += milliseconds
        else:
            self.frames.append(frame)
            self.times.append(milliseconds)

    def save(self, path: Path) -> None:
        """As a GIF whose frames share their colours."""
        some = self.frames[::2]
        sheet = Image.new("RGB", (SIZE[0], SIZE[1] * len(some)))
        for number, frame in enumerate(some):
            sheet.paste(frame, (0, number * SIZE[1]))
        palette = in_few(sheet, COLOURS)
        first, *others = [f.quantize(palette=palette, dither=Image.Dither.NONE) for f in self.frames]
        first.save(
            path, save_all=True, append_images=others, duration=self.times, loop=0, optimize=True, disposal=1
        )
        seconds = sum(self.times) / 1000
        print(f"{path.name}: {path.stat().st_size // 1000} kB, {len(self.frames)} frames, {seconds:.1f} s")


def middle(element: Any) -> tuple[float, float]:
    """Of an element, in the window."""
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def corner_of(element: Any, left: float, above: float) -> tuple[float, float]:
    """Where a rectangle begins that leaves so much room beside an element."""
    box = element.bounding_box()
    return max(0, box["x"] - left), box["y"] - above


def walk(film: Film, lab: Lab) -> None:
    """The walk-through's five steps: the head answers."""
    page = lab.open("work/notebooks/00_start_here.ipynb").page
    lab.run_cell(2)
    panel = page.locator(".jp-OutputArea-output .panel").first
    panel.wait_for()
    to_the_top(page, panel)
    corner = corner_of(panel, 9, 2)
    film.pointer = middle(panel.get_by_role("button", name="Forward"))
    page.mouse.move(*film.pointer)
    film.show(page, corner, 800)
    for hold in (500, 400, 800, 1200):
        page.mouse.down()
        page.mouse.up()
        for _ in range(4):  # it moves for 300 ms
            film.show(page, corner, 70)
        page.wait_for_timeout(400)
        film.show(page, corner, hold)


def own_line(film: Film, lab: Lab) -> None:
    """A line of the learner's own, and the head answers with it."""
    page = lab.page
    cell = lab.cell(OWN_LINE)
    film.pointer = None
    to_the_top(page, cell)
    corner = corner_of(cell.locator(".jp-InputArea-editor"), 16, 5)
    type_answer(film, lab, OWN_LINE, "return (q * k).sum()", corner)
    lab.run_cell(OWN_LINE)
    lab.output(OWN_LINE).locator(".sdpa-card").first.wait_for()
    page.wait_for_timeout(700)
    to_the_top(page, cell)
    film.show(page, corner, 2200)


def type_answer(film: Film, lab: Lab, number: int, line: str, corner: tuple[float, float]) -> None:
    """Write a line in the place of a cell's answer, a few letters at a time."""
    source = f"jupyterapp.shell.currentWidget.content.widgets[{number}].model.sharedModel"
    head, _, old = lab.page.evaluate(f"{source}.getSource()").rpartition("return")
    rest = old.partition("\n")[2]
    for end in [*range(len("return"), len(line), 3), len(line)]:
        written = head + line[:end] + (f"\n{rest}" if rest else "")
        lab.page.evaluate(f"text => {source}.setSource(text)", written)
        lab.page.wait_for_timeout(60)
        film.show(lab.page, corner, 70)


def answer(film: Film, lab: Lab) -> None:
    """A wrong answer and its name, the right one and the green card; both cards are kept as stills too."""
    page = lab.open("work/exercises/01_dot_product.ipynb").page
    lab.run_cell(1)
    film.pointer = None
    cell = lab.cell(3)
    to_the_top(page, cell)
    corner = corner_of(cell.locator(".jp-InputArea-editor"), 16, 5)
    for name, line, hold in ANSWERS:
        type_answer(film, lab, 3, line, corner)
        lab.run_cell(3)
        lab.run_cell(4)
        card = lab.output(4).locator(".sdpa-card").first
        card.wait_for()
        page.wait_for_timeout(700)
        to_the_top(page, cell)
        film.show(page, corner, hold)
        keep(card.screenshot(), name)
        to_the_top(page, cell)


def main() -> None:
    """Take them all."""
    if not (program := chromium_here()):
        sys.exit("No Chromium here: nothing was taken.")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        server = LabServer(Path(folder))
        try:
            with chromium(program) as browser:
                desk = Lab(browser, server, "desk", width=1280, height=860)
                pictures_of_the_start(desk)
                desk.close()
                film, plain = Film(), Lab(browser, server, width=1000, height=760)
                for scene in (walk, own_line, answer):
                    scene(film, plain)
                film.save(IMAGES / "film.gif")
                plain.close()
                pictures_of_a_lesson(Lab(browser, server, "desk", width=1280, height=860))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
