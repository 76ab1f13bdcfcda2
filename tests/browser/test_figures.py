"""A figure in a page: in the page's ink, in the light and in a shadow, and an image alone where SVG is taken out."""

import re

from sdpa_helpers.show import figures as style

INK = "--jp-content-font-color1"


def bars() -> str:
    fig, ax = style.figure("Weights", x="key of dₖ", y="weight")
    style.bars(ax, ["cat", "dogs"], [0.25, 0.75], colours=[style.WEIGHT])
    return style.show(fig, "Bars: cat 0.25, dogs 0.75.")._repr_html_()


def test_a_figure_has_the_ink_of_its_page(page):
    opened = page(width=800)
    opened.set_content(f"<style>:root {{ {INK}: rgb(10, 20, 30) }}</style>{bars()}{bars()}<p></p>")
    opened.locator("p").evaluate("(p, html) => { p.attachShadow({ mode: 'open' }).innerHTML = html }", bars())
    drawn = opened.get_by_role("img", name="Bars: cat 0.25, dogs 0.75.")
    assert drawn.count() == 3  # each once: what is hidden has no role
    assert opened.locator("svg:visible").count() == 3
    assert opened.locator("img:visible").count() == 0
    for ink in ("rgb(10, 20, 30)", "rgb(240, 241, 242)"):
        opened.evaluate(f"ink => document.documentElement.style.setProperty('{INK}', ink)", ink)
        fills = "texts => texts.map(text => getComputedStyle(text).fill)"
        assert set(opened.locator("svg text").evaluate_all(fills)) == {ink}
    box = drawn.first.bounding_box()
    assert (box["width"], box["height"]) == (640, 360)
    opened.set_viewport_size({"width": 500, "height": 600})
    opened.wait_for_function(
        "one => one.getBoundingClientRect().width < 500", arg=drawn.first.element_handle()
    )


def test_where_svg_and_style_are_taken_out_the_image_stands_alone(page):
    opened = page()
    left = re.sub(r"<style>.*?</style>", "", bars())
    opened.set_content(
        re.sub(r"</?(svg|path|text|tspan)\b[^>]*>", "", left)
    )  # as JupyterLab does it: words stay
    assert opened.get_by_role("img", name="Bars: cat 0.25, dogs 0.75.").count() == 1
    assert opened.locator("img:visible").count() == 1
    assert opened.locator("body").inner_text().strip() == "Numbers as text"  # folded
