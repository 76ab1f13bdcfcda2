"""The cards of `check`, `hint` and `progress` in JupyterLab: as stored by somebody else, then run."""

import numpy as np
import pytest

from tests.handing_in import POINTS

WRONG = "def dot_product(q, k):\n    return q * k\n\n"
TURNED = (
    "import numpy as np\n\ndef attention_scores(Q, K):\n    return np.maximum(Q @ K.swapaxes(-1, -2), 0)\n\n"
)
CARDS = (0, 1, 2, 3)
"""The cells that show one."""


@pytest.fixture(scope="module")
def notebook(lab, lab_server):
    """A notebook with stored cards, open in JupyterLab and not yet run: styles and scripts are removed there."""
    from sdpa_helpers.lessons.session import check, progress

    def dot_product(q, k):
        return q * k

    def attention_scores(Q, K):
        return np.maximum(Q @ K.swapaxes(-1, -2), 0)

    lab_server.write(
        "exercises/cards.ipynb",
        f"from sdpa_helpers import check, hint, progress\n{WRONG}check(dot_product)",
        f"{TURNED}check(attention_scores)",
        "hint(dot_product)",
        "progress()",
        outputs={
            0: check(dot_product, keep=False)._repr_mimebundle_(),
            1: check(attention_scores, keep=False)._repr_mimebundle_(),
            3: progress()._repr_mimebundle_(),
        },
    )
    return lab.open("exercises/cards.ipynb")


def open_fold(card):
    card.locator("summary", has_text="Stuck?").click()
    return card.locator("details[open]").inner_text()


def test_a_stored_card_reads_well_before_it_is_run(notebook):
    card = notebook.output(0)
    assert f"✗ dot_product: 0 of {POINTS['dot_product']:g} points" in card.inner_text()
    assert "Diagnosis (not-summed)" in card.inner_text()
    assert "How many numbers should come out" not in card.inner_text()
    assert "How many numbers should come out" in open_fold(card)
    assert "▱▱▱▱▱▱▱▱▱▱" in notebook.output(3).inner_text()


def test_a_stored_heat_map_is_a_table_with_the_wrong_numbers_in_bold(notebook):
    card = notebook.output(1)
    yours, expected = card.locator("table").nth(0), card.locator("table").nth(1)
    assert yours.locator("td").count() == expected.locator("td").count() > 1
    assert yours.locator("td strong").count() >= 1
    assert expected.locator("strong").count() == 0


def test_cards_of_a_run(notebook):
    notebook.run_all()
    assert "How many numbers should come out" in open_fold(notebook.output(0))
    assert notebook.output(2).locator("details[open]").count() == 1
    assert "hint 1 of 4" in notebook.output(2).inner_text()
    assert "01_dot_product" in notebook.output(3).inner_text()


def test_a_heat_map_is_named_and_its_wrong_numbers_have_a_frame(notebook):
    table = notebook.output(1).locator("table").first
    assert table.get_attribute("aria-label").startswith("yours: ")
    assert "wrong at [" in table.get_attribute("aria-label")
    wrong = table.locator("td:has(strong)").first
    assert wrong.evaluate("cell => getComputedStyle(cell).outlineStyle") == "solid"
    numbers = notebook.output(1).locator("table").evaluate_all("tables => tables.map(t => t.offsetTop)")
    assert numbers[0] == numbers[1], "yours and expected stand side by side"


def test_folds_are_reached_and_opened_with_the_keyboard(notebook):
    """The cases that failed beyond the first few, those that passed, the hint: in this order."""
    folds = notebook.output(1).locator("details")
    assert folds.count() == 3
    folds.first.locator("summary").focus()
    for number, said in enumerate(("more that failed", "cases passed", "Stuck?")):
        assert said in notebook.page.evaluate("document.activeElement.textContent")
        notebook.page.keyboard.press("Enter" if number % 2 == 0 else "Space")
        assert folds.nth(number).get_attribute("open") is not None
        notebook.page.keyboard.press("Tab")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(notebook, axe, dark):
    notebook.theme(dark)
    for number in CARDS:
        assert axe(notebook.page, f".jp-Cell:nth-child({number + 1}) .jp-Cell-outputArea") == []
    notebook.theme(False)


@pytest.mark.parametrize("width", [420, 1280])
def test_a_card_is_no_wider_than_the_page_and_than_a_text_should_be(page, width):
    from sdpa_helpers.lessons.session import check

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
        assert shown.evaluate("document.querySelector('body > div').offsetWidth") <= 46 * 16 + 40
        assert shown.locator("b").count() == 0


def test_the_link_leads_to_the_next_exercise(notebook):
    notebook.output(3).locator("a", has_text="exercises/01_dot_product.ipynb").click()
    notebook.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.context?.path === 'exercises/01_dot_product.ipynb' || "
        "document.title.startsWith('01_dot_product')"
    )
