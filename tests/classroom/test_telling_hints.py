"""Which hints are as good as the answer: judged by the engine, over every exercise."""

import re
from dataclasses import replace

import pytest

from sdpa_helpers.checking.diagnose import points_of, try_out
from sdpa_helpers.classroom.telling_hints import earns_points, telling
from sdpa_helpers.course.exercise_notebook import answer_cell
from sdpa_helpers.course.registry import all_exercises, exercises_of, find

EVERY = pytest.mark.parametrize("exercise", all_exercises().values(), ids=lambda e: e.name)


@EVERY
def test_no_code_of_a_hint_that_goes_along_earns_points(exercise):
    """Put behind `return` as it stands, here without the machinery that looks for more ways."""
    head = answer_cell(exercise).partition("\n")[2].rpartition("    return")[0]
    left_out = telling(exercise)
    going = [hint for number, hint in enumerate(exercise.hints, 1) if number not in left_out]
    for code in re.findall(r"`([^`]+)`", " ".join(going)):
        cell = dict(exercise.reference.__globals__)
        try:
            exec(f"{head}    return {code}", cell)
        except SyntaxError:
            continue
        assert points_of(exercise, cell[exercise.name]) == 0, code


@EVERY
def test_a_last_hint_that_goes_along_is_words_and_names(exercise):
    if 3 not in telling(exercise):
        assert not re.search(r"[=·²√^@]|`[^`]*[^\w.`][^`]*`", exercise.hints[-1])


def test_what_is_left_out_is_not_everything():
    """The first two say where to look and what idea: they stay, but for one that names both parts of its answer."""
    assert {e.name: telling(e) for e in all_exercises().values() if {1, 2} & {*telling(e)}} == {
        "best_key": (2,)
    }
    assert sum(3 not in telling(e) for e in all_exercises().values()) >= 4


def test_the_answers_of_lesson_03_do_not_go_along():
    assert all(3 in telling(exercise) for exercise in exercises_of("03_softmax"))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("dot_product", "It is `q @ k`."),
        ("dot_product", "`q * k` has shape (d_k,). Then np.sum of it."),
        ("attention_scores", "`np.swapaxes(K, -1, -2)` has shape (..., d_k, n_k): one `@` is left."),
        ("best_key", "`K @ q` holds all scores; look for the argmax."),
        ("log_softmax", "With `a = x - x.max(axis=axis, keepdims=True)`, subtract "
                        "`np.log(np.exp(a).sum(axis=axis, keepdims=True))`."),
        ("largest_safe_score", "s = ln(L / n_k) with `L = float(np.finfo(dtype).max)`."),
        ("padding_mask", "`np.arange(n_k)` and `np.asarray(lengths)[:, None]`"),
        ("crossover_length", "n = 2·d_model + mlp_ratio·d_model, in words."),
        ("keys_where_the_long_one_wins", "`([1, 0], [[1, 0], [4, 9]])`"),
    ],
)  # fmt: skip
def test_a_hint_that_tells_is_found_wherever_it_stands(name, hint):
    exercise = find(name)
    assert earns_points(exercise, hint)
    planted = replace(exercise, hints=(hint, *exercise.hints[1:]))
    assert 1 in telling(planted)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("dot_product", "How long is `q.shape`?"),
        ("attention_scores", "Which of `Q.shape` and `K.shape` say how many scores there are?"),
        ("softmax", "Which step of `np.exp(x)` can overflow?"),
        ("causal_mask", "Compare the numbers of rows and columns."),
    ],
)
def test_a_hint_that_only_points_somewhere_stays(name, hint):
    exercise = find(name)
    assert not earns_points(exercise, hint)
    assert not {1} & {*telling(replace(exercise, hints=(hint, *exercise.hints[1:])))}


def test_points_are_those_that_a_check_gives():
    for exercise in (find("softmax"), find("mend_softmax"), find("test_cases_for_softmax"), find("best_key")):
        tried = [exercise.reference, *(wrong.function for wrong in exercise.wrong), lambda *_: 1]
        assert [points_of(exercise, f) for f in tried] == [try_out(exercise, f).points for f in tried]
