"""The visualiser in a page without a kernel: its numbers, mouse and keyboard."""

import re

import nbformat
import numpy as np
import pytest

from sdpa_helpers.show.visualiser import SENTENCE, Walk, walk_through
from tests.show.test_visualiser import allowed, expected

SHOWN = re.compile(r"−?\d+\.\d\d|−?∞|NaN")


def read(text: str) -> float:
    """A number as the picture writes it."""
    return float(text.replace("−", "-").replace("∞", "inf"))


class QuickStill:
    """Drawing the still takes half a second, and most tests never look at it."""

    def html(self):
        return '<img alt="the still">'


@pytest.fixture
def alive(page, tmp_path, monkeypatch):
    """alive(walk_through(...), width=600, …) opens a page that holds nothing else; no kernel, no network, no motion."""
    monkeypatch.setattr(Walk, "still", lambda walk: QuickStill())

    def open_it(walk, **context):
        opened = page(**{"reduced_motion": "reduce", **context})
        (tmp_path / "walk.html").write_text(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>walk</title><main>{walk.html()}</main>'
        )
        opened.goto((tmp_path / "walk.html").as_uri())
        return opened

    return open_it


# ---- its numbers, rounded ----------------------------------------------------------------------------------

PIECES = """svg => { const whole = svg.querySelector('[data-id="unit:frame"]').getBoundingClientRect();
    return [...svg.querySelectorAll('[data-id^="piece:"]')].map(piece => {
        const { left, width } = piece.getBoundingClientRect();
        return [Number(piece.dataset.id.split(":")[1]), (left - whole.left) / whole.width, width / whole.width]; }) }"""


def matrix(page) -> np.ndarray:
    """The numbers of the matrix."""
    rows = page.locator(".matrix tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))"
    )
    return np.array([[read(text) for text in row] for row in rows])


def words(page) -> dict[str, str]:
    """The texts of the flow by the ids of their marks; an exponent stands behind ^."""
    told = page.locator(".marks").evaluate(
        "svg => [...svg.querySelectorAll('text')].map(one => [one.dataset.id, one.dataset.words])"
    )
    return {id_: text.replace("\0", "") for id_, text in told}


@pytest.mark.parametrize(
    ("mask", "size", "scale", "temperature"),
    [("causal", 2, "none", 0.5), ("padding", 0, "1/d", 2.0), ("window", 1, "1/√d", 1.0)],
)
def test_each_step_shows_its_numbers_and_none_of_a_later_one(alive, mask, size, scale, temperature):
    walk = walk_through(SENTENCE, query=3, mask=mask, mask_size=size, scale=scale, temperature=temperature)
    page, dk, n = alive(walk), walk.settings["dk"], len(walk.tokens)
    output, weights = expected(
        walk.Q, walk.K, walk.V, dk=dk, scale=scale, temperature=temperature, mask=mask, size=size
    )
    np.testing.assert_array_equal(walk.weights, weights)
    seen = allowed(mask, size, n, n)
    scores = walk.Q[:, :dk] @ walk.K[:, :dk].T
    scaled = scores / ({"none": 1, "1/√d": np.sqrt(dk), "1/d": dk}[scale] * temperature)
    masked = np.where(seen, scaled, -np.inf)
    for step, right in enumerate((scores, scaled, masked, weights, weights), start=1):
        told = words(page)
        np.testing.assert_allclose(matrix(page), right, atol=0.00501)
        hatched = page.locator(".matrix td.hidden").count(), page.locator('[data-id^="hatch:"]').count()
        assert hatched == ((~seen).sum() if step >= 3 else 0, (~seen[3]).sum() if step == 3 else 0)
        if step <= 3:
            shown = [read(told[f"number:{j}"]) for j in range(n)]
            np.testing.assert_allclose(shown, right[3], atol=0.00501)
        marks = page.locator(
            ".marks [data-id^='piece:'], .marks [data-id='output:'], .marks [data-id^='part:']"
        )
        assert step >= 4 or marks.count() == 0
        if step == 4:
            for j, x in enumerate(masked[3]):
                exponent, power = told[f"number:{j}"].removeprefix("e^").split(" = ")
                np.testing.assert_allclose([read(exponent), read(power)], [x, np.exp(x)], atol=0.00501)
            pieces = page.locator(".marks").evaluate(PIECES)
            drawn = np.zeros(n)
            for j, start, wide in pieces:
                assert abs(start - weights[3, :j].sum()) < 0.005
                drawn[j] = wide
            np.testing.assert_allclose(drawn, weights[3], atol=0.01)
            assert abs(drawn.sum() - weights[3].sum()) < 0.005
        page.get_by_role("button", name="Forward").click()
    page.get_by_role("button", name="Back").click()
    told = words(page)
    for j in range(n):
        assert abs(read(told[f"weight:{j}"]) - weights[3, j]) < 0.00501
        part = [read(told[f"part:{j}:{c}"]) for c in range(3)]
        np.testing.assert_allclose(part, weights[3, j] * walk.V[j], atol=0.00501)
    np.testing.assert_allclose([read(told[f"out:{c}"]) for c in range(3)], output[3], atol=0.00501)
    assert page.log.thrown == page.log.console == []


# ---- a page without kernel and network ---------------------------------------------------------------------


def test_mouse_and_keyboard(alive):
    page = alive(walk_through(SENTENCE))
    say, step = page.locator(".say"), page.get_by_label("step", exact=True)
    now = page.locator(".formula [aria-current]")
    assert say.inner_text().startswith("1 of 5, scores. The query “does”")
    assert now.evaluate_all("all => all.map(one => one.dataset.part)") == ["Q", "K"]

    page.locator(".matrix td").nth(7).click()  # second row
    assert "The query “Lea”" in say.inner_text()
    page.keyboard.press("ArrowRight")  # the click put the focus on the query's radio button
    assert "The query “drink”" in say.inner_text()
    assert page.get_by_label("drink").is_checked()

    for number, parts in enumerate([["scale"], ["mask"], ["softmax"], ["out", "V"]], start=2):
        page.get_by_role("button", name="Forward").click()
        assert say.inner_text().startswith(f"{number} of 5")
        assert now.evaluate_all("all => all.map(one => one.dataset.part)") == parts
    page.get_by_role("button", name="Forward").click()  # on to the next query
    assert "The query “green”" in say.inner_text()
    page.get_by_role("button", name="Back").press("Enter")
    assert say.inner_text().startswith("5 of 5")
    assert "“drink”" in say.inner_text()

    step.press("Home")
    step.press("ArrowRight")
    assert say.inner_text().startswith("2 of 5, scale")
    assert step.get_attribute("aria-valuetext") == "2: scale"
    page.get_by_label("dₖ", exact=True).press("End")
    assert "√64 = 8.00" in say.inner_text()
    page.get_by_label("scale", exact=True).select_option("none")
    assert "Nothing is divided" in say.inner_text()
    page.get_by_label("mask", exact=True).select_option("padding")
    assert say.inner_text().startswith("3 of 5, mask")  # where a mask does something
    real = page.get_by_label("real tokens")
    real.press("Home")
    step.press("End")
    assert not matrix(page).any()
    page.get_by_label("mask", exact=True).select_option("window")
    assert page.get_by_label("sees this far").is_visible()
    page.get_by_role("button", name="Start again").click()
    assert say.inner_text().startswith("1 of 5, scores. The query “does”")
    assert page.log.thrown == page.log.console == []


def test_symbols_light_their_pixels_and_back(alive):
    page = alive(walk_through(SENTENCE, step=4, query=2, mask="causal"))
    lit = "all => [...new Set(all.map(one => one.dataset.part))].sort()"
    bright = "all => all.filter(one => getComputedStyle(one).opacity > 0.2)"
    pixels, symbols = page.locator(".stage [data-part]"), page.locator(".formula .lit")
    every = pixels.evaluate_all(lit)
    page.get_by_role("button", name="K transposed").hover()
    assert pixels.evaluate_all(f"all => ({lit})(({bright})(all))") == ["K", "Q K"]
    page.locator('[data-id="q:frame"]').hover()
    assert symbols.evaluate_all(lit) == ["Q"]
    assert pixels.evaluate_all(f"all => ({lit})(({bright})(all))") == every
    page.locator('[data-id="piece:1"]').hover()
    assert symbols.evaluate_all(lit) == ["softmax"]
    page.locator(".matrix tbody td").first.hover()
    assert symbols.evaluate_all(lit) == ["softmax"]
    page.mouse.move(1, 1)
    assert symbols.count() == 0

    page.get_by_role("button", name="Back").focus()
    page.keyboard.press("Shift+Tab")
    assert symbols.evaluate_all(lit) == ["V"]
    assert pixels.evaluate_all(f"all => ({lit})(({bright})(all))") == every  # V has no pixels yet
    page.keyboard.press("Enter")
    assert page.locator(".say").inner_text().startswith("5 of 5")
    assert pixels.evaluate_all(f"all => ({lit})(({bright})(all))") == ["V", "V out", "V softmax"]
    page.keyboard.press("Shift+Tab")
    assert symbols.evaluate_all(lit) == ["mask"]
    page.get_by_role("button", name="the scale").hover()
    page.get_by_label("dₖ", exact=True).evaluate(
        "one => one.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    assert symbols.evaluate_all(lit) == ["scale"]  # still, after everything was drawn again


def test_motion_ends_at_the_picture_and_none_where_nobody_wants_it(alive):
    calm, moving = (
        alive(walk_through(SENTENCE, step=3)),
        alive(walk_through(SENTENCE, step=3), reduced_motion="no-preference"),
    )
    frames = """() => { const ask = requestAnimationFrame;
        window.asked = 0;
        window.requestAnimationFrame = f => { window.asked++; return ask(f); } }"""
    picture = "svg => [...svg.querySelectorAll('.mark')].map(mark => mark.outerHTML.replace(/ lit/g, '')).join('\\n')"
    for page in (calm, moving):
        page.evaluate(frames)
        for _ in range(2):
            page.get_by_role("button", name="Forward").click()
            page.get_by_label("drink").check()
    assert calm.evaluate("window.asked") == 0
    assert moving.evaluate("window.asked") > 0
    assert calm.locator(".marks").evaluate("svg => svg.getAnimations({ subtree: true }).length") == 0
    end = calm.locator(".marks").evaluate(picture)
    assert "output" in end
    wait = (
        f"end => ({picture})(document.querySelector('main > div').shadowRoot.querySelector('.marks')) === end"
    )
    moving.wait_for_function(wait, arg=end)


def test_play_goes_through_all_steps_and_stops_at_the_end(alive):
    page = alive(walk_through(SENTENCE))
    page.clock.install()
    play = page.get_by_role("button", name="Play")
    play.click()
    seen = [page.locator(".say").inner_text()[:6]]
    for _ in range(4):
        page.clock.run_for(2400)
        seen.append(page.locator(".say").inner_text()[:6])
    assert seen == ["1 of 5", "2 of 5", "3 of 5", "4 of 5", "5 of 5"]  # the first step once more, in motion
    page.clock.run_for(2400)
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(10_000)
    assert page.locator(".say").inner_text().startswith("1 of 5, scores. The query “Lea”")
    play.click()
    page.clock.run_for(100_000)
    assert page.locator(".say").inner_text().startswith("5 of 5")
    assert "“tea”" in page.locator(".say").inner_text()
    assert play.inner_text() == "Play"


def test_your_own_sentence(alive):
    page = alive(walk_through(SENTENCE))
    page.get_by_text("Your own sentence or vectors").click()
    sentence = page.get_by_label("A sentence")
    sentence.fill("my own <b>words</b> here")
    for names in (".matrix tbody th", ".queries label"):
        assert page.locator(names).all_inner_texts() == ["my", "own", "<b>words</b>", "here"]
    assert words(page)["name:0"] == "my"
    sentence.fill("   ")
    assert page.get_by_role("alert").inner_text() == "Write at least one word."
    assert page.locator(".matrix tbody tr").count() == 4
    sentence.fill(" ".join(f"w{i}" for i in range(20)))
    assert page.get_by_role("alert").inner_text() == "Only the first 12 words fit."
    assert page.locator(".matrix tbody tr").count() == 12
    assert page.log.thrown == []


def test_bad_vectors_get_a_sentence(alive):
    page = alive(walk_through(Q=np.eye(2), K=np.eye(2), V=np.eye(2), step=5))
    before = page.locator(".marks").inner_html()
    page.get_by_text("Your own sentence or vectors").click()
    for field, text, message in [
        ("Q", "1 2\n3 x4", "Q, line 2: “x4” is not a number."),
        ("Q", "1 2\n\n3", "Q, line 3 has 1 numbers, but line 1 has 2"),
        ("K", "  \n ", "K is empty"),
        ("K", "1 2 3", "A row of Q has 2 numbers and a row of K has 3"),
        ("V", "1", "K has 2 rows and V has 1"),
        ("V", "banan\n1", "V, line 1: “banan” is not a number"),
        ("Q", "1 2\n" * 13, "Q has 13 rows; the picture has room for 12"),
    ]:
        area = page.get_by_label(f"{field}: one")
        area.fill(text)
        assert page.get_by_role("alert").inner_text().startswith(message)
        assert page.locator(".marks").inner_html() == before
        area.fill("[1, 0]\n[0; 1e0]")
        assert page.get_by_role("alert").inner_text() == ""
    page.get_by_label("V: one").fill("1 0\n0 −2.5e0")
    assert page.locator(".marks").inner_html() != before
    assert page.log.thrown == []


def test_extreme_vectors_are_shown_not_thrown(alive):
    page = alive(
        walk_through(Q=[[1e308, 1e308], [1, 2]], K=[[1e308, -np.inf], [np.nan, 1]], V=[[1], [1]], step=5)
    )
    assert "no finite numbers" in page.locator(".say").inner_text()
    assert words(page)["weight:0"] == "NaN"
    page.get_by_label("step", exact=True).press("ArrowLeft")
    assert words(page)["unit:name"] == "NaN: nothing can be cut"
    page.get_by_text("Your own sentence or vectors").click()
    assert page.get_by_label("K: one").input_value() == "1e+308 −∞\nNaN 1"
    page.get_by_label("K: one").fill("1e308 -inf\nnan 2")
    assert page.get_by_role("alert").inner_text() == ""
    page.get_by_label("mask", exact=True).select_option("padding")
    page.get_by_label("real tokens").press("Home")
    assert not matrix(page).any()
    assert page.log.thrown == []


CONTROLS = "button, select, summary, input, textarea, .matrix td:nth-child(2)"
COVERED = """(panel, controls) => { const root = panel.getRootNode();
    return [...panel.querySelectorAll(controls)].filter(one => one.getClientRects().length).filter(one => {
        one.scrollIntoView({ block: "center", inline: "center" });
        const { left, top, width, height } = one.getBoundingClientRect();
        const hit = root.elementFromPoint(left + width / 2, top + height / 2);
        const label = one.closest("label") ?? one;
        return !label.contains(hit) || (one.matches("button, input, select, summary") && height < 24);
    }).map(one => one.outerHTML.slice(0, 80)) }"""
SMALLEST = """panel => Math.min(...[...panel.querySelectorAll("*")].filter(one => one.getClientRects().length
    && [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()) && !one.closest(".formula"))
    .map(one => parseFloat(getComputedStyle(one).fontSize) * (one.ownerSVGElement?.getScreenCTM().a ?? 1)))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_control_can_be_hit_and_read_at_any_width(alive, axe, scheme):
    page = alive(
        walk_through("does Lea drink extraordinarily green tea", step=5, mask="window"), color_scheme=scheme
    )
    page.get_by_text("Your own sentence or vectors").click()
    page.get_by_label("K: one").fill("x")
    panel = page.locator(".walk")
    for width in (390, 560, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"document.querySelector('main').clientWidth <= {width}")
        fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert page.evaluate(fits), "the page scrolls sideways"
        assert panel.evaluate(COVERED, CONTROLS) == []
        assert panel.evaluate(SMALLEST) >= 11.9
        if width == (1000 if scheme == "light" else 390):
            assert axe(page, "main") == []


def test_a_page_of_nbconvert_is_alive_without_kernel_and_network(page, course, tmp_path):
    from nbconvert import HTMLExporter

    notebook = nbformat.read(course / "notebooks" / "00_start_here.ipynb", as_version=4)
    (tmp_path / "lesson.html").write_text(HTMLExporter().from_notebook_node(notebook)[0])
    opened = page()
    opened.context.set_offline(True)
    opened.goto((tmp_path / "lesson.html").as_uri(), wait_until="domcontentloaded")
    walk = opened.locator(".walk")
    assert walk.count() == 1
    opened.get_by_label("Dee juice").check()
    assert "The query “Dee juice”" in walk.locator(".say").inner_text()
    assert [error for error in opened.log.thrown if "MathJax" not in error and "require" not in error] == []

    silent = page(java_script_enabled=False)
    silent.goto((tmp_path / "lesson.html").as_uri(), wait_until="domcontentloaded")
    named = "'The query “Lea?”'"
    still = silent.locator(f":is(svg[aria-label*={named}], img[alt*={named}]):visible")
    assert still.is_visible()
    assert still.bounding_box()["height"] > 200
    assert silent.locator(".walk").count() == 0


# ---- trained heads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 390])
def test_a_trained_head_is_chosen_walked_through_and_left_again(alive, width):
    page = alive(walk_through(SENTENCE, query=1, step=4), width=width)
    source, about, said = page.locator("select#head"), page.locator(".about"), page.locator(".say")
    assert about.text_content() == ""
    source.select_option("looks up")
    walk = walk_through(head="looks up", step=4)
    np.testing.assert_allclose(matrix(page), walk.weights, atol=0.005 + 1e-9)
    assert about.text_content() == walk.head.says
    assert page.locator(".answer").text_content() == "Lea? → tea"
    assert page.locator(".queries input:checked").get_attribute("value") == "5"
    page.locator(".formula [data-part=V]").click()
    assert "stands for “tea”" in said.text_content()
    page.locator("select#scale").select_option("none")
    np.testing.assert_allclose(
        matrix(page), walk_through(head="looks up", scale="none").weights, atol=0.005 + 1e-9
    )
    source.select_option("")
    assert page.locator(".answer").text_content() == ""
    assert page.locator(".queries").inner_text().split()[1:] == ["does", "Lea", "drink", "green", "tea"]
    np.testing.assert_allclose(matrix(page), walk_through(SENTENCE, step=5).weights, atol=0.005 + 1e-9)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.log.thrown == []


def test_vectors_that_are_typed_are_called_ones_own(alive):
    page = alive(walk_through(head="looks up", step=4))
    page.locator("summary").click()
    page.locator("[data-own=V]").fill("1\n2\n3\n4\n5\n6")
    assert page.locator("select#head option:checked").text_content() == "your own"
    assert page.locator(".about").text_content() == ""
    page.locator("[data-own=sentence]").fill("one two")
    assert page.locator("select#head option:checked").text_content() == "made from letters"
