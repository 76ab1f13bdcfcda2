"""One page of each kind in Chromium: axe, targets of 24 pixels, 320 pixels wide, less motion, keys, headings."""

import pytest

from tests.nightly import at_night

PAGES = {
    "front": "index.html",
    "lesson": "lessons/09_many_machines.html",
    "exercise": "exercises/09_many_machines.html",
    "ledger": "ledger.html#lesson=04",
    "corners": "docs/semantic-corners.html",
    "interview": "docs/interview.html",
    "statement": "accessibility.html",
    "try": "try/softmax.html",
    "hunt": "try/hunt_softmax.html",
    "words": "try/when_gradients_vanish.html",
    "list": "try/index.html",
    "search": "search.html?q=softmax",
    "museum": "mistakes/softmax.html",
    "mistakes": "mistakes/index.html",
    "yours": "try/yours.html",
    "slides": "slides/index.html",
    "lite": "lite/what-works.html",
}

BY_NIGHT = ("exercise", "corners", "interview", "hunt", "words", "mistakes", "yours")
"""Made like the lesson, the statement, the page of an exercise and that of its mistakes."""
DARK = ("front", "lesson", "exercise")
"""Contrast is measured in the dark theme too; the others are made of the same parts."""

SETTLED = """() => document.readyState === 'complete' && document.querySelector("#search #found")?.innerText !== "" """

WALK = """const walk = function* (root) {
    for (const e of root.querySelectorAll("*")) { yield e; if (e.shadowRoot) yield* walk(e.shadowRoot); } };"""

SMALL = f"""() => {{ {WALK} const found = [];
    for (const e of walk(document)) {{
        if (!e.matches("a[href], button, input, select, textarea, summary")) continue;
        const box = e.getBoundingClientRect(), style = getComputedStyle(e), within = e.closest("label");
        const seen = box.width > 1 && box.height > 1 && e.checkVisibility({{ visibilityProperty: true }});
        const inSentence = e.tagName === "A" && style.display === "inline";
        const size = within ? within.getBoundingClientRect() : box;
        if (seen && !inSentence && (size.width < 23.9 || size.height < 23.9)) found.push(e.outerHTML.slice(0, 120));
    }}
    return found; }}"""

SCROLLED = f"""() => {{ {WALK} const found = [];
    for (const e of walk(document)) {{
        const scrolls = ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1;
        const reached = e.tabIndex >= 0 || e.querySelector("a[href], button, input, [tabindex='0']");
        if (scrolls && e.clientWidth && !reached) found.push(e.outerHTML.slice(0, 120));
    }}
    return found; }}"""

SKIPPED = """() => { let last = 0; const skipped = [];
    for (const h of document.querySelectorAll("main article :is(h1, h2, h3, h4, h5, h6)")) {
        if (Number(h.tagName[1]) > last + 1) skipped.push(h.textContent);
        last = Number(h.tagName[1]);
    }
    return skipped; }"""

FOCUSED = """() => { let e = document.activeElement;
    while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
    const drawn = (e.getRootNode().host ?? e).closest(".editor") ?? e; // an editor shows it around its lines
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(drawn);
    return { name: e.outerHTML.slice(0, 90), href: e.getAttribute("href"), content: !!e.closest("main"),
        seen: (outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none" }; }"""


@pytest.fixture(scope="module", params=[at_night(kind) if kind in BY_NIGHT else kind for kind in PAGES])
def page(request, browser, built_site, site_address):
    """A page of the site, and no other host is asked for anything."""
    built_site("pages", "pyodide", "try", "lite", "mistakes", "slides", "search")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.route("**/pyodide/**", lambda route: route.abort())  # no answer is checked here
    opened = context.new_page()
    outside = []
    opened.on(
        "request",
        lambda asked: (
            None if asked.url.startswith((site_address, "data:", "blob:")) else outside.append(asked.url)
        ),
    )
    opened.goto(f"{site_address}/{PAGES[request.param]}", wait_until="load")
    opened.wait_for_function(SETTLED)
    opened.outside, opened.kind = outside, request.param
    yield opened
    context.close()


def violations(page, **options):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [
        (one["id"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_axe_finds_nothing_serious_in_either_theme(page, needs):
    needs("axe_playwright_python")
    assert violations(page) == []
    if page.kind not in DARK:
        return
    page.evaluate("() => { document.documentElement.dataset.theme = 'dark' }")
    assert violations(page, runOnly=["color-contrast"]) == []
    page.evaluate("() => { document.documentElement.dataset.theme = 'light' }")


def test_what_can_be_pressed_is_24_pixels_wide_and_high(page):
    assert page.evaluate(SMALL) == []


def test_it_says_its_language_and_its_headings_are_in_order(page):
    assert page.evaluate("() => document.documentElement.lang") == "en"
    assert page.locator("main h1:visible").count() == 1
    assert page.evaluate(SKIPPED) == []


def test_the_first_key_offers_the_content_and_the_focus_is_seen(page):
    page.evaluate("() => { document.activeElement.blur(); window.scrollTo(0, 0) }")
    page.keyboard.press("Tab")
    first = page.evaluate(FOCUSED)
    assert first["href"] in ("#main-content", "#answer") or first["content"], first["name"]
    for _ in range(8):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        assert focused["seen"], focused["name"]


def test_at_320_pixels_the_page_does_not_scroll_sideways(page):
    page.set_viewport_size({"width": 320, "height": 700})
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 150)))")
    page.wait_for_function("document.documentElement.scrollWidth <= 320")
    assert page.evaluate(SCROLLED) == []
    page.set_viewport_size({"width": 1280, "height": 900})


def test_it_asks_no_other_host_for_anything(page):
    assert page.outside == []


def test_nothing_on_the_front_page_moves_by_itself(browser, built_site, site_address):
    built_site("pages")
    for wish in ("reduce", "no-preference"):
        with browser.new_context(viewport={"width": 1280, "height": 1000}, reduced_motion=wish) as context:
            page = context.new_page()
            page.clock.install()
            page.goto(f"{site_address}/index.html")
            page.locator("#run").wait_for()
            page.clock.run_for(1000)
            before = page.locator("main").inner_html()
            page.clock.run_for(30_000)
            assert page.locator("main").inner_html() == before
            assert page.evaluate("() => document.getAnimations().length") == 0
