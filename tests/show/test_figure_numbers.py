"""A figure's numbers as text are those that it draws."""

import numpy as np

from sdpa_helpers.show import figure_numbers
from sdpa_helpers.show import figures as style


def test_bars_and_heat_maps_are_tables_of_what_is_written_on_them():
    fig, (left, right) = style.panels(["Weights", "Two series"])
    style.heat_map(left, [[0.5, -np.inf], [-0.25, 1]], ["q", "r"], ["the", "cat"])
    style.bars(right, ["a", "b"], {"before": [1, 2], "after": [3, 4]}, digits=0)
    weights, two = figure_numbers.tables_of(fig)
    assert weights == ("Weights", ("", "the", "cat"), (("q", "0.50", "−∞"), ("r", "−0.25", "1.00")))
    assert two == ("Two series", ("", "before", "after"), (("a", "1", "3"), ("b", "2", "4")))


def test_of_a_long_line_some_points_are_given_with_both_ends():
    fig, ax = style.figure("Growth", x="d_k", y="variance")
    ax.plot(range(101), range(101), label="measured")
    ax.axhline(3)
    (table,) = figure_numbers.tables_of(fig)
    assert table.caption == "Growth: 9 of 101 points"
    assert table.columns == ("d_k", "measured: variance")
    assert (table.rows[0], table.rows[-1], len(table.rows)) == (("0", "0"), ("100", "100"), 9)


def test_lines_over_the_same_places_share_a_table_and_nameless_ones_stand_back():
    fig, ax = style.figure("Two", x="n", y="ms")
    ax.plot([1, 2], [3, 4], label="a")
    ax.plot([1, 2], [5, 6], label="b")
    ax.plot(range(9), range(9))
    (table,) = figure_numbers.tables_of(fig)
    assert table == ("Two: ms", ("n", "a", "b"), (("1", "3", "5"), ("2", "4", "6")))


def test_of_too_many_series_the_table_says_how_many_are_missing():
    fig, ax = style.figure("Many")
    for i in range(11):
        ax.plot([i, i + 1], [0, 1], label=str(i))
    tables = figure_numbers.tables_of(fig)
    assert len(tables) == figure_numbers.MOST_TABLES
    assert tables[-1].caption == "Many. 3 more series are not given"


def test_a_large_matrix_says_what_is_left_out():
    fig, ax = style.figure("All")
    names = [str(i) for i in range(20)]
    style.heat_map(ax, np.eye(20), names, names, digits=0)
    (table,) = figure_numbers.tables_of(fig)
    assert table.caption == "All (the first 16 of 20 rows, 16 of 20 columns)"
    assert (len(table.rows), len(table.columns)) == (16, 17)


def test_the_picture_has_them_folded_and_a_diagram_has_none():
    fig, ax = style.figure("Score of d_k")
    style.bars(ax, ["<b>", "cat"], [0.25, 0.75])
    page = style.show(fig, "Two bars.")._repr_html_()
    assert "<summary>Numbers as text</summary>" in page
    assert '<th scope="row">&lt;b&gt;</th><td>0.25</td>' in page
    assert "<caption>Score of dₖ</caption>" in page
    diagram, _ = style.figure("Boxes")
    assert "<details>" not in style.show(diagram, "Two boxes.")._repr_html_()
