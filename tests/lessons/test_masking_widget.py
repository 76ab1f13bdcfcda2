"""Lesson 05's widget: who knows of whom, leaks, and the grid's positions."""

import itertools

import numpy as np
import pytest

from sdpa_helpers.lessons.masking import widget
from sdpa_helpers.lessons.masking.widget import NEVER, layers_needed, leaks, presets, shortest_way
from tests.lessons.pictures import PANELS, shown


def test_layers_needed_is_the_boolean_power():
    rng = np.random.default_rng(5)
    for share in (0.05, 0.2, 0.5):
        mask = rng.random((7, 7)) < share
        step = (mask | np.eye(7, dtype=bool)).astype(int)
        for layers in range(1, 9):
            needed = layers_needed(mask, layers)
            for i, j in np.ndindex(7, 7):
                powers = [p for p in range(layers + 1) if np.linalg.matrix_power(step, p)[i, j]]
                assert needed[i, j] == (min(powers) if powers else NEVER)
                way = shortest_way(mask, i, j)
                if i != j and layers == 8:
                    assert len(way) == (needed[i, j] + 1 if needed[i, j] != NEVER else 0)
                    assert all(mask[a, b] for a, b in itertools.pairwise(way))


def test_what_the_lesson_says_about_masks():
    masks = presets(7)
    assert layers_needed(masks["window"], 8)[6, 0] == 6
    wrong = masks["causal"].copy()
    wrong[1, 5] = True
    assert [int(leaks(layers_needed(wrong, layers)).sum()) for layers in (1, 2, 3, 4)] == [1, 7, 10, 10]
    for name in ("causal", "window", "causal + padding", "empty"):
        assert not leaks(layers_needed(masks[name], 8)).any()
    assert masks["padding"].all(axis=0).tolist() == [True] * 5 + [False] * 2
    assert (layers_needed(masks["empty"], 8) == np.where(np.eye(7, dtype=bool), 0, NEVER)).all()


def test_the_picture_marks_leaks_and_empty_rows():
    panel = PANELS["masking"]()
    mask = presets(7)["causal"].copy()
    mask[1, 5], mask[0] = True, False
    texts = shown(panel, mask=mask, layers=3)
    assert texts["reach-1-5"] == "1!"
    assert texts["reach-2-3"] == "3!"
    assert texts["reach-0-0"] == "0"
    assert texts["reach-0-1"] == "·"
    assert "empty-0" in texts
    assert "empty-1" not in texts
    text = panel.draw(panel.start | {"mask": mask, "layers": 3}).text
    assert "10 leaks into the future: in layer 1 small → big; in layer 3 cat → small → big → fears." in text
    assert text.endswith("1 row sees nothing: the.")
    encoder = shown(panel, mask=mask, layers=3, decoder=False)
    assert encoder["reach-1-5"] == "1"


def test_a_mask_and_its_position_belong_together():
    panel = PANELS["masking"]()
    grid = panel.controls["mask"]
    rng = np.random.default_rng(5)
    for mask in [*presets(7).values(), np.ones((7, 7), dtype=bool), *(rng.random((9, 7, 7)) < 0.5)]:
        assert grid.index(mask) < 2**53  # exact as a number of JavaScript
        np.testing.assert_array_equal(grid.value(grid.index(mask)), mask)
    with pytest.raises(ValueError, match=r"must be \(7, 7\)"):
        panel.set(mask=np.ones((2, 2)))


def test_the_kernel_answers_a_painted_cell():
    panel = PANELS["masking"]()
    model = panel.widget()
    wrong = presets(7)["causal"].copy()
    wrong[1, 5] = True
    panel.set(mask=wrong, layers=2)
    assert "7 leaks" in model.answer["text"]
    np.testing.assert_array_equal(panel.state["mask"], wrong)


@pytest.mark.parametrize("count", [2, 8])
def test_paint_mask_refuses_what_does_not_fit(count):
    with pytest.raises(ValueError, match="3 to 7 fit"):
        widget.paint_mask(["word"] * count)
