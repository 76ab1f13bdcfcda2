"""In a real Chromium: a page starts from an image of Python's memory, and from nothing where that does not fit."""

import gzip
import shutil

import pytest

from editions.browser import image
from editions.try_it.sums import behind_the_wall, files_js
from tests.editions.conftest import served
from tests.editions.editor import START_MS, check, paste

WHERE = (
    "import sys, random\nprint(sys._emscripten_info.runtime)\nprint(random.random(), np.random.random())\n"
)
WRONG = (
    "def softmax(x, axis=-1):\n    e = np.exp(x - x.max())\n    return e / e.sum(axis=axis, keepdims=True)\n"
)
MISTAKE = "global-max-subtracted"
OF_THE_IMAGE = "\na browser\n"
"""What Python believes of its browser where it was started by the maker of the image."""


@pytest.fixture
def said(browser):
    """What the page of an exercise in some folder says of an answer, and the mistake that it names."""
    contexts = []

    def say(pages, answer, name="softmax"):
        context = browser.new_context(service_workers="block")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(START_MS)
        with served(pages.parent) as root:
            page.goto(f"{root}/{pages.name}/{name}.html")
            paste(page, answer)
            shown = check(page)
        return shown, page.locator("html").get_attribute("data-mistake")

    yield say
    for context in contexts:
        context.close()


def with_another_image(site, into, change):
    """The site's pages and Python once more, with an image that was changed on purpose, and its sums."""
    for part in ("try", "pyodide", "look"):
        shutil.copytree(site / part, into / part)
    packed = into / "pyodide" / f"light-memory{image.PACKED}"
    packed.write_bytes(gzip.compress(change(gzip.decompress(packed.read_bytes())), 1))
    files = behind_the_wall(into / "try", into / "pyodide")
    (into / "try/files.js").write_text(files_js(files), encoding="utf-8")
    return into / "try"


def test_a_page_starts_from_the_image_and_no_two_have_the_same_random_numbers(said, built_site):
    pages = built_site("try") / "try"
    (first, mistake), (second, _) = said(pages, WHERE + WRONG), said(pages, WHERE + WRONG)
    assert OF_THE_IMAGE in first
    assert OF_THE_IMAGE in second
    assert mistake == MISTAKE
    one, other = (shown.partition(OF_THE_IMAGE)[2].split()[:2] for shown in (first, second))
    assert not set(one) & set(other)


CHANGES = {
    "memory that begins in another way": lambda archive: archive.replace(b'"sum"', b'"mus"', 1),
    "libraries in another place": lambda archive: archive.replace(b'"table":1', b'"table":2', 1),
    "no archive": lambda archive: archive[8:],
}


@pytest.mark.parametrize("change", CHANGES)
def test_where_the_image_does_not_fit_python_starts_from_nothing(said, built_site, tmp_path, change):
    pages = with_another_image(built_site("try"), tmp_path, CHANGES[change])
    shown, mistake = said(pages, WHERE + WRONG)
    assert "Chrome" in shown  # what Python says of its browser
    assert OF_THE_IMAGE not in shown
    assert mistake == MISTAKE
