"""The head's little worlds: right attention is right in all of them, and most wrong ones are found out in one."""

import time
import warnings

import numpy as np
import pytest

from sdpa_helpers import walk_through
from sdpa_helpers.course.session import check
from sdpa_helpers.head.consequences import BACKWARD, PLACES, Consequence, consequence, percent, shown
from sdpa_helpers.head.model import looks_up
from sdpa_helpers.head.run import SHOWN
from sdpa_helpers.head.stages import Stages
from sdpa_helpers.head.won import PRIZES, can_now
from sdpa_helpers.head.worlds import WORLDS, share
from sdpa_helpers.lessons import all_exercises


def told(exercise, name):
    (wrong,) = [w for w in all_exercises()[exercise].wrong if w.name == name]
    return consequence(exercise, wrong.function, False).says


@pytest.mark.parametrize("world", WORLDS, ids=[world.name for world in WORLDS])
def test_right_attention_is_right_in_every_world(world):
    assert share(world, Stages()) == 1
    attention = all_exercises()["attention"]
    for function in (attention.reference, *attention.also_right):
        assert share(world, Stages(attention=function)) == 1


def test_most_wrong_attentions_find_everybody_and_most_of_these_are_found_out_elsewhere():
    wrong = {w.name: w.function for w in all_exercises()["attention"].wrong}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: [_share(world, function) for world in WORLDS] for name, function in wrong.items()}
    find_everybody = [name for name, shares in found.items() if shares[0] == 1]
    show_nowhere = [name for name, shares in found.items() if all(part == 1 for part in shares)]
    assert len(find_everybody) > 0.6 * len(wrong)
    assert len(show_nowhere) < 0.25 * len(find_everybody)
    assert {"mask-ignored", "no-maximum-subtracted", "no-scaling"} <= {*find_everybody} - {*show_nowhere}
    assert "weights-rounded" in show_nowhere


def _share(world, function):
    try:
        return share(world, Stages(attention=function))
    except Exception:
        return float("nan")


@pytest.mark.parametrize("name", [*PLACES, *BACKWARD])
def test_every_right_answer_runs_the_head(name):
    exercise = all_exercises()[name]
    for function in (
        exercise.reference,
        *(exercise.also_right if name not in BACKWARD else ()),
    ):  # some are slow
        said = consequence(name, function, True).says
        assert "finds everybody, on all 1,000 lists" in said or "100% of 1,000 new lists right" in said
        assert ("and holds in " in said) == (len(getattr(PLACES.get(name), "worlds", ())) > 1)


def test_a_mistake_has_a_consequence_or_none_that_one_would_see():
    assert told("attention", "mask-ignored").startswith(
        "The trained head still finds everybody. In a batch with padding it answers for people who aren't there: "
    )
    assert "whoever used this would see a model that works" in told("attention", "weights-rounded")
    assert "It ends with an error in a batch with padding." in told("attention", "mask-not-broadcast")
    assert told("softmax", "sigmoid").startswith("With your function the trained head gets ")
    assert told("dot_product", "not-summed") == ""
    assert "a model that learns" in told("attention_backward", "diagonal-only")
    assert "a model that learns" not in told("attention_backward", "column-sum")
    assert told("softmax_backward", "diagonal-only") == told("attention_backward", "diagonal-only")
    assert consequence("entropy", lambda w: w, False) == Consequence()
    assert consequence("softmax", lambda x: exec("while True: pass"), False) == Consequence()


def test_shares_are_never_rounded_to_all_or_none():
    assert [percent(part) for part in (0, 0.001, 0.554, 0.999, 1)] == ["none", "1%", "55%", "99%", "100%"]


def test_the_list_that_is_shown_is_that_of_the_walk_through():
    head = walk_through(head="looks up").head
    assert head is not None
    assert SHOWN.words(looks_up(), 0) == head.tokens
    ours = np.stack([part[0] for part in looks_up().project(SHOWN)[:2]])
    assert np.allclose(ours, np.stack([head.Q, head.K]), atol=0.02)  # both are rounded to three decimals


def test_a_function_of_two_vectors_runs_the_head():
    right = walk_through(scores=lambda q, k: (q * k).sum())
    assert right.passed
    assert right.text().startswith(
        "Lea? → tea: right\nWith your function the head gets all of 1,000 new lists right."
    )
    wrong = walk_through(head="looks up", scores=lambda q, k: np.abs(q - k).sum())
    assert not wrong.passed
    assert wrong.answer != wrong.right
    here_only = walk_through(scores=lambda q, k: abs((q * k).sum()))
    assert here_only.answer == here_only.right
    assert "right this time" in here_only.text()
    assert "sdpa-failed" in here_only.html()
    assert "yours" in wrong.html()


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        ({"scores": lambda q, k: NotImplemented}, "your function isn't written yet"),
        (
            {"scores": lambda q, k: q * k},
            "a score is one number, but your function returned an array of shape (8,)",
        ),
        ({"attention": lambda Q, K, V: Q @ K}, "your function ended with ValueError"),
        ({"attention": lambda Q, K, V: "tea"}, "numbers are needed"),
        ({"weights": lambda s: 1}, "weights of shape (6, 6) are needed, but your function returned shape ()"),
        ({"attention": lambda Q, K, V: Q @ K.T}, "an output of shape (6, 4) is needed"),
        ({"scores": lambda q, k: "3"}, "something of type str"),
        ({"mask": lambda n_q, n_k: None}, "isn't written yet"),
        ({"mask": lambda n_q, n_k: np.zeros((n_q, n_k))}, "dtype float64"),
        ({"mask": lambda n_q, n_k: np.zeros((n_q, n_k), bool)}, "no drink: wrong"),
        ({"weights": lambda s: None}, "isn't written yet"),
    ],
)
def test_what_is_no_function_yet_is_said(stages, said):
    run = walk_through(**stages)
    assert not run.passed
    assert said in run.text()
    assert "tea" not in run.answer


@pytest.mark.parametrize(
    "score",
    [
        lambda q, k: sum(q[i] * k[i] for i in range(8)),
        lambda q, k: float(sum(q * k)),
        lambda q, k: k @ q.T,
        lambda Q, K: Q @ np.swapaxes(K, -1, -2) if Q.ndim > 1 else 1 / 0,
    ],
)
def test_a_score_in_any_form_is_right(score):
    assert walk_through(scores=score).passed


def test_a_score_that_writes_into_its_inputs_and_prints_is_right_all_the_same(capsys):
    def score(q, k):
        q *= k
        print("tried")
        return q.sum()

    assert walk_through(scores=score).passed
    assert capsys.readouterr().out == ""


def test_a_score_that_takes_its_time_is_told_so(monkeypatch):
    monkeypatch.setattr("sdpa_helpers.head.consequences.SECONDS", 0.1)
    slow = walk_through(scores=lambda q, k: time.sleep(1e-3) or (q * k).sum())
    assert slow.answer == slow.right
    assert "doesn't get through 1,000 new lists" in slow.text()


def test_a_function_of_matrices_is_not_tried_with_vectors_in_a_check():
    assert consequence("attention_scores", lambda Q, K: Q @ K, False) == Consequence()
    assert "finds everybody" in consequence("dot_product", lambda q, k: k @ q.T, True).says


def test_other_stages_and_what_does_not_go_together():
    def attention(Q, K, V):
        weights = np.exp(Q @ K.T)
        return weights / weights.sum(-1, keepdims=True) @ V

    assert walk_through(attention=attention).passed
    assert walk_through(weights=lambda s: np.exp(s) / np.exp(s).sum(-1, keepdims=True)).passed
    assert walk_through(mask=lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool)).passed
    with pytest.raises(ValueError, match="not both: here are attention, scores"):
        walk_through(attention=attention, scores=attention)
    with pytest.raises(ValueError, match="shows one list only"):
        walk_through(head="before training", scores=attention)
    with pytest.raises(TypeError, match="of type int"):
        walk_through(scores=3)


def test_a_right_answer_by_numbers_that_are_no_weights_is_no_success():
    run = walk_through(weights=lambda s: 40 * np.exp(s) / np.exp(s).sum(-1, keepdims=True))
    assert (run.share, run.answer, run.passed) == (1, run.right, False)
    assert "Lea?'s weights add up to 40.00, and weights add up to 1" in run.text()


def test_the_card_says_it():
    def masked_softmax(scores, mask):
        e = np.exp(scores - scores.max(-1, keepdims=True)) + 0 * mask
        return e / e.sum(-1, keepdims=True)

    report = check(masked_softmax, keep=False)
    assert "it answers for people who aren't there" in report.text()
    assert "it answers for people who aren&#x27;t there" in report.html()


def test_behind_the_sentence_stand_the_matrices_of_a_list_that_is_answered_wrongly():
    (wrong,) = [w for w in all_exercises()["attention"].wrong if w.name == "mask-ignored"]
    seen = consequence("attention", wrong.function, False)
    assert seen.compared is not None
    assert seen.compared.yours.shape == seen.compared.ours.shape == (6, 6)
    assert (seen.compared.ours == 0).any(), "what is hidden gets no weight"
    assert not (seen.compared.yours == 0).any()
    assert seen.compared.words[-1].endswith("?")
    assert seen.more == "With nobody on the list its output should be zeros, and it isn't."
    told = shown(seen)
    assert told.count("<table") == 2
    assert "ours</strong>" in told
    no_weights = consequence("attention", lambda Q, K, V, mask=None: wrong.function(Q, K, V, mask)[0], False)
    assert no_weights.compared is not None
    assert no_weights.compared.ours.shape == (6, 4)
    assert "a vote for each drink" in shown(no_weights)
    right = all_exercises()["attention"]
    assert shown(consequence("attention", right.reference, True)) == ""


def test_an_error_is_said_with_the_line_of_the_learners_code():
    def score(q, k):
        return q @ k[:2]

    told = walk_through(scores=score).text()
    assert ": `return q @ k[:2]`; `q` has shape (8,), `k` has shape (8,)" in told
    assert "your function ended with ValueError in line " in told
    assert " in line " in walk_through(attention=lambda Q, K, V: Q @ K).text()


def test_nobody_is_asked_while_a_function_is_tried():
    asks = walk_through(scores=lambda q, k: float(input("a number? ")))
    assert "EOFError" in asks.text()

    def dot_product(q, k):
        return float(input())

    assert "nobody answers `input()`" in check(dot_product, keep=False).text()


def test_every_world_is_won_by_an_exercise_of_its_own():
    known = list(all_exercises())
    won_by = [prize.exercise for prize in PRIZES]
    assert [name for name in known if name in won_by] == won_by, "in the order of the lessons"
    assert {world.name for world in WORLDS} | {"training"} == {prize.name for prize in PRIZES}
    assert can_now(()) == ""
    assert can_now(PRIZES[:1]) == "Your attention can find who is asked for."
    assert can_now(PRIZES[:2]) == "Your attention can find who is asked for and say how sure it is."


def test_scores_with_their_scale_are_a_stage_too():
    scaled = walk_through(scaled=lambda Q, K: Q @ K.T / np.sqrt(Q.shape[-1]))
    assert scaled.passed
    assert scaled.yours == pytest.approx(scaled.ours)
    assert walk_through(scaled=lambda Q, K: Q @ K.T / Q.shape[-1]).yours[2] < 0.9


@pytest.mark.parametrize("nothing", [..., NotImplemented])
def test_an_attention_made_of_a_part_that_is_not_written_is_not_written(nothing):
    def attention(Q, K, V):
        weights = nothing
        return weights @ V

    assert "isn't written yet" in walk_through(attention=attention).text()
