"""The cards of `check`, `hint` and `progress` in JupyterLab: as stored by somebody else, then run."""

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_markdown_cell

from sdpa_helpers.course.registry import exercises_of
from tests.handing_in import POINTS, RIGHT

WRONG = "def dot_product(q, k):\n    return q * k\n\n"
TURNED = (
    "import numpy as np\n\ndef attention_scores(Q, K):\n    return np.maximum(Q @ K.swapaxes(-1, -2), 0)\n\n"
)
CARDS = (0, 1, 2, 3, 4)
"""The cells that show one."""


def fresh_progress(home):
    """What a learner sees who has solved nothing: other tests of this process may have solved some."""
    from sdpa_helpers.course.session import progress

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDPA_HOME", str(home))
        return progress()


@pytest.fixture(scope="module")
def notebook(lab, lab_server, tmp_path_factory):
    """A notebook with stored cards, open in JupyterLab and not yet run: styles and scripts are removed there."""
    from sdpa_helpers.course.session import check

    def dot_product(q, k):
        return q * k

    def attention_scores(Q, K):
        return np.maximum(Q @ K.swapaxes(-1, -2), 0)

    (lab_server.root / "cards").mkdir()
    name = lab_server.write(
        "cards/01_dot_product.ipynb",
        f"from sdpa_helpers import check, hint, progress\n{WRONG}check(dot_product)",
        f"{TURNED}check(attention_scores)",
        "hint(dot_product)",
        "progress()",
        f"{RIGHT['dot_product']}\ncheck(dot_product)",
        outputs={
            0: check(dot_product, keep=False)._repr_mimebundle_(),
            1: check(attention_scores, keep=False)._repr_mimebundle_(),
            3: fresh_progress(tmp_path_factory.mktemp("nothing solved"))._repr_mimebundle_(),
        },
    )
    path = lab_server.root / name
    opened = nbformat.read(path, as_version=4)
    opened.cells += [
        new_markdown_cell("A line.\n\n" * 60),
        new_markdown_cell("## attention_scores\n\nWrite it."),
    ]
    nbformat.write(opened, path)
    return lab.open(name)


def buttons(output):
    """What can be opened there by name now, hints and solution."""
    return [" ".join(text.split()[:2]) for text in output.locator(".way > summary:visible").all_inner_texts()]


def test_a_stored_card_reads_well_before_it_is_run(notebook):
    """Without its style sheet; the hints open all the same."""
    card = notebook.output(0)
    assert f"dot_product: 0 of {POINTS['dot_product']:g} points" in card.inner_text()
    assert "Diagnosis (not-summed)" in card.inner_text()
    assert "How many numbers should come out" not in card.inner_text()
    card.locator("summary", has_text="Hint 1").click()
    assert "How many numbers should come out" in card.inner_text()
    assert f"0 of {len(exercises_of('01_dot_product'))} solved, 0 of " in notebook.output(3).inner_text()


def test_a_stored_heat_map_is_a_table_with_the_wrong_numbers_in_bold(notebook):
    card = notebook.output(1)
    yours, expected = card.locator("table").nth(0), card.locator("table").nth(1)
    assert yours.locator("td").count() == expected.locator("td").count() > 1
    assert yours.locator("td strong").count() >= 1
    assert expected.locator("strong").count() == 0


def test_hints_and_solution_open_one_after_another_with_the_keyboard(notebook):
    notebook.run_all()
    card, page = notebook.output(0), notebook.page
    assert buttons(card) == ["Hint 1", "Solution"]
    card.locator("summary", has_text="Hint 1").focus()
    for opened in range(1, 5):
        page.keyboard.press("Enter" if opened % 2 else "Space")
        page.keyboard.press("Tab")  # to the next button, which has just appeared
        assert buttons(card) == [f"Hint {n}" for n in range(1, min(opened + 1, 4) + 1)] + ["Solution"]
    assert not card.locator("pre").is_visible()
    page.keyboard.press("Enter")
    assert "return" in card.locator("pre").inner_text()
    ink = card.evaluate("card => getComputedStyle(card.querySelector('.sdpa-card')).color")
    assert card.locator("pre .k").first.evaluate("word => getComputedStyle(word).color") != ink
    assert "hint 1 of 4" in notebook.output(2).inner_text()
    assert buttons(notebook.output(2)) == ["Hint 2"]
    sizes = page.locator(".sdpa-card summary:visible, .sdpa-card a.next:visible").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 24


def test_a_heat_map_is_named_and_its_wrong_numbers_have_a_frame(notebook):
    table = notebook.output(1).locator("table").first
    assert table.get_attribute("aria-label").startswith("yours: ")
    assert "wrong at [" in table.get_attribute("aria-label")
    wrong = table.locator("td:has(strong)").first
    assert wrong.evaluate("cell => getComputedStyle(cell).outlineStyle") == "solid"
    numbers = notebook.output(1).locator("table").evaluate_all("tables => tables.map(t => t.offsetTop)")
    assert numbers[0] == numbers[1], "yours and expected stand side by side"


def test_the_tick_is_drawn_once_and_not_where_motion_is_reduced(notebook):
    page, tick = notebook.page, notebook.output(4).locator(".tick")
    drawn = "tick => getComputedStyle(tick).animationName + ' ' + getComputedStyle(tick).animationDuration"
    assert tick.evaluate(drawn) == "sdpa-tick 0.3s"
    page.emulate_media(reduced_motion="reduce")
    assert tick.evaluate(drawn).startswith("none")
    page.emulate_media(reduced_motion=None)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(notebook, axe, dark):
    notebook.theme(dark)
    for number in CARDS:
        assert axe(notebook.page, f".jp-Cell:nth-child({number + 1}) .jp-Cell-outputArea") == []
    notebook.theme(False)


@pytest.mark.parametrize("width", [390, 1280])
def test_a_card_is_no_wider_than_the_page_and_than_a_text_should_be(page, width):
    from sdpa_helpers.course.session import check

    def softmax(x, axis=-1):
        raise ValueError("<b>" + "x" * 10**6)

    def attention(Q, K, V, mask=None):
        weights = np.exp(Q @ K.swapaxes(-1, -2))
        return weights @ V, weights

    def causal_mask(n_q, n_k):
        return ~np.tri(n_q, n_k, dtype=bool)

    shown = page(width=width)
    for function in (softmax, attention, causal_mask):
        shown.set_content(
            f"<body style='margin:8px;font:16px sans-serif'>{check(function, keep=False).html()}</body>"
        )
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.evaluate("document.querySelector('.sdpa-card').offsetWidth") <= 46 * 16 + 40
        assert shown.locator("b").count() == 0


def test_links_lead_to_the_heading_in_this_notebook_and_to_other_notebooks(notebook):
    page, heading = notebook.page, notebook.page.locator(".jp-MarkdownOutput h2", has_text="attention_scores")
    link = notebook.output(4).locator("a.next", has_text="next: attention_scores")
    link.scroll_into_view_if_needed()
    in_view = "heading => heading.getBoundingClientRect().top < window.innerHeight"
    assert not heading.evaluate(in_view)
    link.click()
    page.wait_for_function(in_view, arg=heading.element_handle())
    notebook.output(3).locator(
        "summary", has_text=f"0 of {len(exercises_of('02_variance_proof'))} solved"
    ).first.click()
    notebook.output(3).locator("a", has_text="score_variance").last.click()
    page.wait_for_function("() => document.title.startsWith('02_vari')")
