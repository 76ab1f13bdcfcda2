"""Every panel, in light and dark, looks as the stored picture of it; a damaged one does not.

Who means a change stores new pictures: `python -m tests.browser.gallery`. Look at them before you commit them.
"""

import re

import pytest

from .gallery import (
    NAMES,
    STORE_AGAIN,
    STORED,
    THEMES,
    Gallery,
    contents,
    difference,
    shrunk,
    stored,
    swapped,
)
from .harness import open_page


@pytest.fixture(scope="module")
def shown():
    return contents()


@pytest.fixture(scope="module")
def gallery(browser, shown):
    page = open_page(browser, width=980, reduced_motion="reduce")
    yield Gallery(page, shown)
    page.context.close()


def damaged(browser, shown, change=None, hide=None):
    """The pictures of a page of its own, in light."""
    page = open_page(browser, width=980, reduced_motion="reduce")
    other = Gallery(page, change(shown) if change else shown)
    if hide:
        other.hide(hide)
    pictures = other.pictures("light")
    page.context.close()
    return {name: difference(shrunk(picture), stored(name, "light")) for name, picture in pictures.items()}


@pytest.mark.parametrize("theme", THEMES)
def test_every_panel_looks_as_stored(gallery, theme, tmp_path):
    wrong = []
    for name, picture in gallery.pictures(theme).items():
        found = difference(shrunk(picture), stored(name, theme))
        if not found.is_small:
            picture.save(tmp_path / f"{name}_now.png")
            stored(name, theme).save(tmp_path / f"{name}_stored.png")
            wrong.append(f"{name}: {found.most:.0f} at most, {found.mean:.1f} on average")
    assert not wrong, (
        f"{theme}: {wrong}. Both pictures are in {tmp_path}. If the change is meant: {STORE_AGAIN}"
    )


def test_nothing_else_is_stored():
    assert {path.stem for path in STORED.glob("*.png")} == {f"{n}_{t}" for n in NAMES for t in THEMES}
    assert sum(path.stat().st_size for path in STORED.glob("*.png")) < 300_000


def test_the_other_theme_is_seen(gallery):
    for name, picture in gallery.pictures("dark").items():
        assert not difference(shrunk(picture), stored(name, "light")).is_small, name


def test_a_missing_element_is_seen(browser, shown):
    hidden = {name: "svg, .answers, .verdicts, .stage" for name in NAMES if not name.startswith("card")}
    hidden |= {name: "details, ul, p" for name in NAMES if name.startswith("card")}
    for name, found in damaged(browser, shown, hide=hidden).items():
        assert not found.is_small, f"{name}: {found}"


def test_swapped_colours_are_seen(browser, shown):
    roles = {"#0072B2": "#E69F00", "#E69F00": "#0072B2", "#CC79A7": "#009E73", "#009E73": "#CC79A7"}
    found = damaged(browser, shown, change=lambda whole: swapped(whole, roles))
    coloured = [name for name in NAMES if re.match(r"walk|dot_product|softmax|prediction_answered", name)]
    assert [name for name in coloured if found[name].is_small] == []
