"""The cards of `check`, `hint` and `progress` in JupyterLab: as stored by somebody else, then run."""

import pytest

WRONG = "def dot_product(q, k):\n    return q * k\n\n"


@pytest.fixture(scope="module")
def notebook(lab, lab_server):
    """A notebook with stored cards, open in JupyterLab and not yet run: styles and scripts are removed there."""
    from sdpa_helpers.lessons.session import check, progress

    def dot_product(q, k):
        return q * k

    lab_server.write(
        "exercises/cards.ipynb",
        f"from sdpa_helpers import check, hint, progress\n{WRONG}check(dot_product)",
        "hint(dot_product)",
        "progress()",
        outputs={
            0: check(dot_product, keep=False)._repr_mimebundle_(),
            2: progress()._repr_mimebundle_(),
        },
    )
    return lab.open("exercises/cards.ipynb")


def open_fold(card):
    card.locator("summary").click()
    return card.locator("details[open]").inner_text()


def test_a_stored_card_reads_well_before_it_is_run(notebook):
    card = notebook.output(0)
    assert "✗ dot_product: 0 of 5 points" in card.inner_text()
    assert "Diagnosis (not-summed)" in card.inner_text()
    assert "How many numbers should come out" not in card.inner_text()
    assert "How many numbers should come out" in open_fold(card)
    assert "▱▱▱▱▱▱▱▱▱▱" in notebook.output(2).inner_text()


def test_cards_of_a_run(notebook):
    notebook.run_all()
    assert "How many numbers should come out" in open_fold(notebook.output(0))
    assert notebook.output(1).locator("details[open]").count() == 1
    assert "hint 1 of 4" in notebook.output(1).inner_text()
    assert "01_dot_product" in notebook.output(2).inner_text()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(notebook, axe, dark):
    notebook.theme(dark)
    for number in (1, 2, 3):
        assert axe(notebook.page, f".jp-Cell:nth-child({number}) .jp-Cell-outputArea") == []
    notebook.theme(False)


def test_the_link_leads_to_the_next_exercise(notebook):
    notebook.output(2).locator("a", has_text="exercises/01_dot_product.ipynb").click()
    notebook.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.context?.path === 'exercises/01_dot_product.ipynb' || "
        "document.title.startsWith('01_dot_product')"
    )
