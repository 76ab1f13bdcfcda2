"""Ladders: right orders pass, each line of a wrong answer is named, blanks take any right expression."""

import json
import random

import pytest

from sdpa_helpers.course import saved
from sdpa_helpers.course.code_blocks import Block, as_function, parts_of, put_together
from sdpa_helpers.course.code_ladder import CodeLadder
from sdpa_helpers.course.exercise_notebook import exercise_notebook
from sdpa_helpers.course.ladder import ladder
from sdpa_helpers.course.notes import Told
from sdpa_helpers.course.page_ladder import EASIEST, all_ladders, has_ladder
from sdpa_helpers.course.proof_ladder import FalseStatement, ProofLadder, value_of
from sdpa_helpers.course.registry import all_exercises, all_written
from sdpa_helpers.show.ladder import LONGEST, LadderPlace, place_in
from tests.nightly import at_night

CODE = [one for one in all_ladders().values() if isinstance(one, CodeLadder)]
(PROOF,) = (one for one in all_ladders().values() if isinstance(one, ProofLadder))


def order_of(one, lines):
    """The numbers of these lines among those offered."""
    texts = [
        offered[0].text if isinstance(offered, tuple) and isinstance(offered[0], Block) else offered.text
        for offered in one.offered
    ]
    return [texts.index(line) for line in lines]


def right_order(one):
    return order_of(
        one, [line.text for line in (one.right if isinstance(one, CodeLadder) else one.statements)]
    )


def test_there_is_one_to_each_that_has_lines_enough():
    """An answer of fewer than four lines, one with an `else`, and one that nobody writes as a function have none."""
    assert set(all_ladders()) <= {*all_exercises(), *all_written()}
    assert [n for n, e in all_exercises().items() if has_ladder(e)] == [
        n for n in all_exercises() if n in all_ladders()
    ]
    assert {"proof_in_words", "softmax_backward", "attention_backward", "attention", "rotate"} <= set(
        all_ladders()
    )
    assert len(CODE) >= 14
    written = {"softmax_backward"}
    for one in CODE:
        assert one.name in written or (one.exercise.difficulty >= EASIEST and len(one.right) >= 4)


def test_blocks_are_statements_and_make_the_function_again():
    def doubled(x, times):
        """Its docstring."""
        # a comment
        for _ in range(times):
            if x:
                x = 2 * x
        return x

    head, blocks = parts_of(doubled)
    assert head == "def doubled(x, times):"
    assert [b.depth for b in blocks] == [0, 1, 2, 0]
    assert as_function(put_together(head, blocks), "doubled", {})(3, 2) == 12

    def two_ways(x):
        if x:
            return 1
        else:
            return 2

    with pytest.raises(ValueError, match="no single line"):
        parts_of(two_ways)


@pytest.mark.parametrize("one", CODE, ids=lambda one: one.name)
class TestCode:
    def test_the_right_lines_pass_and_are_not_offered_in_order(self, one):
        order = right_order(one)
        verdict = one.try_order(order)
        assert verdict.passed
        assert not verdict.marked
        assert "nothing of it is counted" in verdict.html
        assert order != sorted(order)
        assert 2 <= len(one.wrong) <= 4

    def test_each_wrong_line_in_its_place_is_named_and_marked(self, one):
        for line in one.wrong:
            right = one.replaced(line).text
            order = order_of(one, [line.text if b.text == right else b.text for b in one.right])
            verdict = one.try_order(order)
            assert not verdict.passed
            assert f"Diagnosis ({line.name})" in verdict.html
            assert [one.offered[number][0].text for number in verdict.marked] == [line.text]
            assert "points" not in verdict.html

    def test_blanks(self, one):
        assert all(sum(blank in block.text for block in one.right) == 1 for blank in one.blanks)
        assert one.try_blanks(one.blanks).passed
        assert one.try_blanks([f"  ({blank})" for blank in one.blanks]).passed
        assert one.rungs().blanks == 2
        wrong = one.try_blanks([one.blanks[0], f"np.nan * ({one.blanks[1]})"])
        assert not wrong.passed
        assert "cases passed" in wrong.html
        assert "Blank 2 is not filled" in one.try_blanks([one.blanks[0], " "]).said
        assert "not one expression" in one.try_blanks(["x = 3", one.blanks[1]]).said
        assert "more than" in one.try_blanks(["1" + LONGEST * "0", one.blanks[1]]).said

    def test_nothing_yet(self, one):
        assert "no line yet" in one.try_order([]).said


@pytest.mark.parametrize("one", [o if n % 4 == 0 else at_night(o) for n, o in enumerate(CODE)])
def test_of_all_wrong_lines_together_one_or_two_are_told(one):
    instead = {one.replaced(line).text: line.text for line in one.wrong}
    verdict = one.try_order(order_of(one, [instead.get(b.text, b.text) for b in one.right]))
    assert not verdict.passed
    assert len(verdict.marked) in (1, 2)


def test_an_order_that_cannot_work_says_which_name_comes_too_late():
    one = all_ladders()["attention_backward"]
    order = right_order(one)
    verdict = one.try_order([order[1], order[0], *order[2:]])
    assert "Line 2 uses `scale`, and no line above it makes `scale`" in verdict.said
    assert verdict.marked == (order[1],)
    chunks = all_ladders()["chunked_attention"]
    body_first = right_order(chunks)
    body_first[1:3] = body_first[2:0:-1]
    assert not chunks.try_order(body_first).passed


def test_a_blank_may_be_filled_in_another_way():
    one = all_ladders()["attention"]
    finite = "np.nan_to_num(largest, neginf=0.0)"
    assert one.try_blanks([finite, one.blanks[1]]).passed


def test_two_orders_of_independent_lines_are_right():
    one = all_ladders()["attention_backward"]
    lines = [block.text for block in one.right]
    dv, da = (next(n for n, line in enumerate(lines) if line.startswith(name)) for name in ("dV", "dA"))
    lines[dv], lines[da] = lines[da], lines[dv]
    assert one.try_order(order_of(one, lines)).passed


class TestProof:
    def test_every_order_that_keeps_to_what_is_used_is_right(self):
        rng = random.Random(1)
        for _ in range(20):
            left, above = list(PROOF.statements), []
            while left:
                ready = [s for s in left if set(s.uses) <= {a.name for a in above}]
                above.append(rng.choice(ready))
                left.remove(above[-1])
            assert PROOF.try_order(order_of(PROOF, [s.text for s in above])).passed

    def test_no_other_order_is(self):
        texts = [s.text for s in PROOF.statements]
        for n, statement in enumerate(PROOF.statements):
            for used in statement.uses:
                swapped = list(texts)
                at = [s.name for s in PROOF.statements].index(used)
                swapped[n], swapped[at] = swapped[at], swapped[n]
                assert "has to stand above it" in PROOF.try_order(order_of(PROOF, swapped)).html
        for n in range(len(texts)):
            assert not PROOF.try_order(order_of(PROOF, texts[:n] + texts[n + 1 :])).passed
        assert "7 lines are" not in PROOF.try_order([]).said

    def test_a_false_line_says_what_is_wrong_with_it(self):
        for line in PROOF.wrong:
            verdict = PROOF.try_order([*right_order(PROOF), *order_of(PROOF, [line.text])])
            assert not verdict.passed
            assert line.says in verdict.said
            assert isinstance(PROOF.offered[verdict.marked[0]], FalseStatement)

    def test_blanks_in_any_form_and_their_slips(self):
        assert PROOF.rungs().blanks == len(PROOF.blanks) == 2
        assert PROOF.try_blanks([blank.right for blank in PROOF.blanks]).passed
        assert PROOF.try_blanks(["v_k·d_k·v_q", "√dₖ^2"]).passed
        for number, blank in enumerate(PROOF.blanks):
            for slip in blank.slips:
                typed = [b.right for b in PROOF.blanks]
                typed[number] = slip.text
                assert slip.says.split(".")[0] in PROOF.try_blanks(typed).html.replace("<sub>", "")
        assert "yours is 3, it has to be 30" in PROOF.try_blanks(["3", "d_k"]).said

    @pytest.mark.parametrize(
        "text", ["", "d_k v_q", "9**9**9", "__import__('os')", "x", "d_k[0]", "1/0", "2**99", "(" * 150, "1" * 300,
                 "sqrt(0-1)", "(1e6)**4*" * 20 + "1", "'a'", "d_k if 1 else 2", "sqrt(d_k, 2)", "True"]
    )  # fmt: skip
    def test_what_is_no_formula_is_a_sentence(self, text):
        verdict = PROOF.try_blanks([text, "d_k"])
        assert not verdict.passed
        assert verdict.said.startswith("Not right yet. Blank 1: ")

    def test_values(self):
        assert value_of("−d_k + 2×v_q²/4", {"d_k": 1, "v_q": 2}) == 1


class TestPlace:
    def test_what_is_no_place_is_left_out(self):
        rungs = CODE[0].rungs()
        odd = {
            "rung": 9,
            "order": [1, 1, 99, "a", True, -1, 0],
            "typed": ["a", 3, "b" * 999, "c"],
            "passed": [2, 7, 1, 1],
        }
        place = place_in(rungs, odd)
        assert place == LadderPlace(1, (1, 0), ("a", "b" * LONGEST), (1, 2))
        assert place_in(rungs, None) == place_in(rungs, {"order": 3, "typed": "ab"}) == LadderPlace()

    def test_it_is_kept_and_forgotten_where_the_lines_are_others(self, monkeypatch, tmp_path):
        monkeypatch.setenv("SDPA_HOME", str(tmp_path))
        panel = ladder("softmax_backward")
        panel._move({"rung": 2, "order": [3, 1], "typed": ["x"], "passed": [1]})
        assert ladder("softmax_backward").place == LadderPlace(2, (3, 1), ("x",), (1,))
        kept = json.loads((tmp_path / "ladders.json").read_text())
        kept["softmax_backward"]["key"] = "older"
        (tmp_path / "ladders.json").write_text(json.dumps(kept))
        assert ladder("softmax_backward").place == LadderPlace(2, passed=(1,))

    def test_a_verdict_moves_on_what_was_passed(self):
        kept = []
        panel = ladder("softmax_backward")
        panel.keep = kept.append
        answer = panel._judge({"rung": 1, "order": right_order(all_ladders()["softmax_backward"])})
        assert answer["passed"]
        assert kept[-1].passed == (1,)
        assert not panel._judge({"rung": 2, "typed": ["1"]})["passed"]
        assert json.dumps(answer)


class TestShown:
    @pytest.mark.parametrize("name", all_ladders())
    def test_a_stored_output_is_the_same_for_everyone_and_gives_nothing_away(
        self, name, monkeypatch, tmp_path
    ):
        monkeypatch.setenv("SDPA_HOME", str(tmp_path))
        first = ladder(name)._repr_mimebundle_()
        saved.keep_ladder(name, {"rung": 3, "passed": [1, 2]})
        assert ladder(name)._repr_mimebundle_() == first
        one = all_ladders()[name]
        assert first["text/html"].count("<li>") == len(one.offered)
        assert "data-blank" not in first["text/html"]
        assert "Optional practice, no points" in first["text/html"]

    def test_unknown(self):
        with pytest.raises(Told, match="there is no ladder to 'softmax'; there are: "):
            ladder("softmax")

    def test_notebooks_have_the_cell_and_graders_do_not_run_it(self):
        cells = exercise_notebook("04_gradients").cells
        names = [cell.id for cell in cells]
        at = names.index("attention-backward-ladder")
        assert names[at - 1 : at + 2 : 2] == ["attention-backward-prompt", "attention-backward-answer"]
        assert cells[at].source.startswith('ladder("attention_backward")')
        assert not cells[at].outputs

    def test_an_edition_with_homework_has_no_ladders_of_that_lesson(self, monkeypatch):
        module = "sdpa_helpers.course.ladder"
        monkeypatch.setattr(f"{module}.all_ladders", lambda: {})
        monkeypatch.setattr(f"{module}._kept_back", lambda name: "04_gradients")
        assert "no ladder in this edition" in str(ladder("attention_backward"))
