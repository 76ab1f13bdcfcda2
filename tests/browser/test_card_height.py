"""A card is low enough for code and card to be seen together: measured on wrong answers that people wrote."""

from pathlib import Path

import pytest

from sdpa_helpers.course.registry import find
from sdpa_helpers.course.session import report_on
from sdpa_helpers.desk.launch import __file__ as LAUNCH
from tests.corpus import entries, function_of

from .gallery import fonts

EVERY = 10
"""Of the wrong answers of the corpus, from all its exercises: about 95."""
LOW = 350
"""Pixels, in a view of 1280 × 800."""

AS_IN_JUPYTERLAB = """
.sdpa-article { --jp-layout-color0: #fff; --jp-layout-color2: #eee; --jp-content-font-color1: #212121; }
.jp-RenderedHTMLCommon { font: var(--jp-content-font-size1)/var(--jp-content-line-height) Course; padding-right: 20px; }
.jp-RenderedHTMLCommon p { margin: 0 0 1em; }
.jp-RenderedHTMLCommon code { font-size: inherit; line-height: var(--jp-code-line-height); padding: 0; }
.jp-RenderedHTMLCommon code { white-space: pre-wrap; }
.jp-RenderedHTMLCommon :not(pre) > code { padding: 1px 5px; }
.jp-RenderedHTMLCommon table { border-collapse: collapse; font-size: 13px; table-layout: fixed; margin: 0 auto 1em; }
.jp-RenderedHTMLCommon td { vertical-align: middle; padding: .5em; line-height: normal; }
.jp-RenderedHTMLCommon :is(ul, ol) { margin-bottom: 1em; padding-left: 2em; }
"""
"""The rules of JupyterLab that reach into a card; the course's own sheet comes after them."""


@pytest.fixture(scope="module")
def cards(tmp_path_factory):
    """(what it is of, the card as `check` shows it) for the sample."""
    wrong = [entry for entry in entries() if not entry.right]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDPA_HOME", str(tmp_path_factory.mktemp("home")))
        return [
            (f"{e.exercise}: {e.title}", report_on(find(e.exercise), function_of(e), None).html())
            for e in wrong[::EVERY]
        ]


def test_nine_of_ten_cards_are_low_enough_to_stand_below_the_code(page, cards):
    look = (Path(LAUNCH).parent / "front/labextensions/sdpa-course/app/look.css").read_text("utf-8")
    shown = page(width=1280)
    inside = "".join(
        f"<section class='jp-RenderedHTMLCommon' style='width: 46rem'>{card}</section>" for _, card in cards
    )
    shown.set_content(
        f"<style>{fonts()}{AS_IN_JUPYTERLAB}{look}</style><body class='sdpa-article'>{inside}</body>"
    )
    shown.evaluate("document.fonts.load('14px Course')")
    measure = "all => all.map(one => one.querySelector('.sdpa-card').offsetHeight)"
    heights = shown.locator("section").evaluate_all(measure)
    told = sorted(zip(heights, (of for of, _ in cards), strict=True))
    low = sum(height <= LOW for height in heights)
    print(
        f"\n{len(told)} cards: median {told[len(told) // 2][0]} px, the highest {told[-1]}; {low} are low enough"
    )
    assert len(cards) >= 60
    assert low >= 0.9 * len(cards), told[-8:]
    assert told[len(told) // 2][0] <= 270
