"""What a card and a report say, in which order, and how much of what a learner wrote."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape

import numpy as np

from sdpa_helpers.checking.answers.observe import describe
from sdpa_helpers.checking.card.render import Helps, Hint, Onward, card, report_text
from sdpa_helpers.checking.card.wording import first_sentences
from sdpa_helpers.checking.diagnose import Explained, Result
from sdpa_helpers.checking.exercise import Case, Exercise
from sdpa_helpers.checking.helping.shrink import Small
from sdpa_helpers.checking.judging.judge import CaseStatus, Verdict
from sdpa_helpers.checking.naming.name_mistakes import Mistake
from tests.checking.made_up import asking

SMALL = Small((np.array([1.0]),), describe(2.0), describe(1.0))


def exercise(cases: int) -> Exercise:
    every = (Case(f"name {n}", lambda rng: (rng.normal(size=3),)) for n in range(1, cases + 1))
    return asking(lambda x: 2 * x, *every, name="doubled", minutes=5)


def right(n: int) -> Explained:
    return Explained(Verdict(f"name {n}", "passed", 2.5, 2.5))


def wrong(
    n: int, seen: str = "", *, fault="wrong-values", status: CaseStatus = "failed", **more
) -> Explained:
    return Explained(
        Verdict(f"name {n}", status, 0.0, 1.0, fault, seen or f"returned {n}", "expected 8"), **more
    )


def result(cases: Sequence[Explained], *mistakes: Mistake, pattern: str = "") -> Result:
    return Result(exercise(len(cases)), tuple(cases), mistakes, pattern)


def words_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def in_order(text: str, *parts: str) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def test_what_is_wrong_comes_first_then_the_example_then_the_cases():
    one = Mistake("not-doubled", "You forgot the factor.", cases=("name 2",), line="line 3: `return x`")
    failed = result([right(1), wrong(2, diagnosis="not-doubled", means=one.says)], one)
    helps = Helps((Hint(1, 4, "How many times?"),))
    for text in (
        words_of(card(failed, (), helps, SMALL, ["the cell was edited"])),
        report_text(failed, (), SMALL),
    ):
        assert in_order(
            text,
            "doubled: 2.5 of 5 points",
            "Diagnosis (not-doubled)",
            "You forgot the factor.",
            "line 3:",
            "For example",
            "x = [1]",
            "yours",
            "expected",
            "✗ case 2 (name 2): returned 2 (expected 8)",
            "1 name 1",
        )
        assert text.count("You forgot the factor.") == 1
        assert ", in case" not in text
    shown = words_of(card(failed, (), helps, SMALL, ["the cell was edited"]))
    assert in_order(
        shown, "✗ doubled", "Note : the cell was edited", "Diagnosis", "Hint 1 of 4 How many times?"
    )


def test_two_things_each_with_its_cases():
    first = Mistake("no-scale", "The scale is missing.", cases=("name 1", "name 2", "name 3", "name 4"))
    second = Mistake("empty-row", "A row is empty.", cases=("name 6",))
    cases = [wrong(n, means=first.says, diagnosis="no-scale") for n in range(1, 5)]
    cases += [right(5), wrong(6, means=second.says, diagnosis="empty-row")]
    for text in (
        words_of(card(result(cases, first, second))),
        report_text(result(cases, first, second)).replace(":", " :"),
    ):
        assert in_order(
            text,
            "Diagnosis (no-scale)",
            "in cases 1–4",
            "The scale is missing.",
            "Diagnosis (empty-row)",
            "in case 6",
            "A row is empty.",
        )
        assert text.count("The scale is missing.") == 1


def test_without_a_name_there_is_the_pattern_or_the_plain_truth():
    cases = [wrong(1), wrong(2)]
    patterned = report_text(result(cases, pattern="In every case your number is twice the right one."))
    assert "  Pattern: In every case your number is twice the right one." in patterned
    assert "What was seen" not in patterned
    told = report_text(result(cases))
    assert (
        "  What was seen: numbers differ in 2 of 2 cases. Kind, shape and dtype are right everywhere" in told
    )
    error = wrong(1, "raised NameError: y", fault="raised-error", status="error")
    assert "What was seen" not in report_text(result([error]))
    both = report_text(result([*cases, right(3), wrong(4, "raised", fault="raised-error", status="error")]))
    assert "  What was seen: numbers differ in 2 of 4 cases, an error is raised in 1.\n" in both


def test_equal_texts_are_said_once():
    alike = [
        wrong(n, "returned a list", fault="wrong-kind", means="Look at the prompt.") for n in (1, 2, 3, 5)
    ]
    told = report_text(result([*alike[:3], right(4), alike[3], wrong(6, means="Look at the prompt.")]))
    assert "✗ cases 1–3, 5 (name 1; name 2; name 3; name 5): returned a list (expected 8)" in told
    assert told.count("Look at the prompt.") == 1
    sizes = [wrong(n, f"returned a list of {n}", fault="wrong-kind") for n in (1, 2)]
    assert "✗ all 2 cases: returned a list of 1 (expected 8). The other fails the same way" in report_text(
        result(sizes)
    )


def test_faults_that_differ_only_in_their_numbers_are_told_once():
    seen = "{} of {} numbers {} NaN and should not be; the first: nan at {}"
    nans = [
        wrong(1, seen.format(3, 9, "are", [0, 1]), fault="not-finite"),
        wrong(2, seen.format(1, 4, "is", [3]), fault="not-finite"),
        wrong(3, "2 of 4 numbers differ; the largest difference: returned 1 at [0], off by 2"),
    ]
    told = report_text(result(nans))
    assert "✗ cases 1, 2 (name 1; name 2): 3 of 9 numbers are NaN" in told
    assert "at [0, 1] (expected 8). The other fails the same way\n" in told
    assert "✗ case 3 (name 3): 2 of 4 numbers differ" in told


def test_what_holds_of_one_case_only_is_not_said_of_others():
    """Every number is twice the right one in the first, three times in the second: these are two faults."""
    seen = "4 of 4 numbers differ; the largest difference: returned 1 at [0], off by 2"
    cases = [wrong(1, seen), wrong(2, seen)]
    cases = [
        replace(c, verdict=replace(c.verdict, compare=f"expected 1; every number is {n} times the right one"))
        for n, c in enumerate(cases, 2)
    ]
    assert report_text(result(cases)).count("✗ case") == 2


def test_what_a_case_is_about_is_said_as_that_and_not_of_everything_that_failed():
    few = report_text(result([right(1), wrong(2, about="Ties share.")]))
    assert "      This is about: Ties share." in few
    many = report_text(result([wrong(n, about="Ties share.") for n in range(1, 6)]))
    assert "Ties share" not in many


def test_many_failed_cases_fold_and_none_is_lost():
    shown = card(result([wrong(n) for n in range(1, 9)]))
    assert re.search(
        r"case 1</strong>.*<summary>All 8 cases fail</summary>.*case 1</strong>.*case 2</strong>.*case 8<",
        shown,
    )
    few = card(result([right(1), wrong(2), wrong(3, "boom", fault="raised-error", status="error")]))
    assert "<summary>2 of 3 cases fail, 1 with an error</summary>" in few


def test_a_long_text_begins_on_the_card_and_ends_behind_the_fold():
    says = f"First, e.g. this one. {'It goes on. ' * 15}Last."
    one = Mistake("long", says, cases=("name 1",))
    shown = words_of(card(result([wrong(1, means=says, diagnosis="long")], one)))
    assert in_order(shown, "First, e.g. this one. It goes on.", "1 of 1 cases fails", "Last.")
    assert first_sentences("One. Two.") == ("One. Two.", "")
    assert first_sentences("x" * 200 + ". Two.") == ("x" * 200 + ".", "Two.")


def test_what_was_printed_is_folded_and_bounded():
    shown = card(result([wrong(1), right(2)]), printed="<b>" * 3)
    assert "<summary>1 of 2 cases fails, and what it printed</summary>" in shown
    assert "&lt;b&gt;" in shown


def test_what_a_name_says_is_not_said_again_case_by_case():
    named = result([wrong(1), wrong(2, "other")])
    named = replace(named, mistakes=(Mistake("halved", "Half of it.", (), "", ("case 1", "case 2")),))
    shown = card(named)
    assert (
        shown.index("Half of it.")
        < shown.index("<summary>All 2 cases fail</summary>")
        < shown.index("case 1<")
    )


def test_right_with_what_is_not_there():
    forbidden = ["torch.nn.functional.softmax"]
    allowed = result([right(1), right(2)])
    for text in (words_of(card(allowed, forbidden)), report_text(allowed, forbidden)):
        assert (
            "doubled: 2 of 2 cases right, 0 points: torch.nn.functional.softmax isn't there when"
            in text.replace("`", "")
        )
    assert "<div class='sdpa-card sdpa-forbidden'>" in card(allowed, forbidden)
    assert "`a`, `b` and `c` aren't there" in report_text(allowed, ["a", "b", "c"])
    assert len(report_text(allowed, ["<" + "x" * 10**6] * 10**4)) < 2000


def test_what_was_stopped_and_what_was_not_run():
    cases = [right(1), wrong(2, "after 8 s, line 2: while True", fault="timeout", status="timeout")]
    cases += [wrong(n, "not run", fault="not-run", status="not-run") for n in (3, 4)]
    cases = [c if c.verdict.passed else replace(c, verdict=replace(c.verdict, compare="")) for c in cases]
    told = report_text(result(cases))
    assert "  ✗ case 2 (name 2): stopped after 8 s, line 2: while True\n" in told
    assert "  ○ cases 3, 4 (name 3; name 4): not run\n" in told


def test_open_and_passed():
    stub = wrong(1, "", fault="not-attempted", status="not-attempted")
    assert report_text(result([stub])).startswith(
        "doubled: not attempted yet (worth 5 points)\n  Write your answer"
    )
    opened = words_of(card(result([stub]), (), HELPS))
    assert opened.startswith(
        "○ doubled: not attempted yet (worth 5 points) Difficulty 1 of 5, about 5 minutes"
    )
    assert in_order(opened, "Hint 1 of 2", "Solution", "return 2 * x")


HELPS = Helps(
    (Hint(1, 2, "Look at `x`."), Hint(2, 2, "Twice.")),
    "return 2 * x",
    Onward("next: halved", "../exercises/01_dot_product.ipynb#halved"),
)


def test_after_a_success_there_is_the_way_on_and_no_hint():
    passed = card(result([right(1), right(2)]), (), HELPS)
    told = words_of(passed)
    assert told.startswith("✓ doubled: all cases passed, 5 of 5 points 2 of 2 cases passed 1 name 1 2 name 2")
    assert in_order(told, "next: halved →", "Compare with one right answer", "return 2 * x")
    assert "href='../exercises/01_dot_product.ipynb#halved'" in passed
    assert not re.search("Difficulty|Twice|costs", told)
    assert "next:" not in words_of(card(result([right(1), wrong(2)]), (), HELPS))
    assert "next:" not in words_of(card(result([right(1), right(2)]), ["np.double"], HELPS))


def test_a_hint_s_button_is_inside_of_the_hint_before():
    shown = card(result([wrong(1)]), (), HELPS)
    shown = shown[shown.index("class='ways'") :]
    buttons = re.findall(r"<details class='way'>|</details>|Hint \d|Twice|Solution", shown)[
        1:
    ]  # cases come first
    opened = "<details class='way'>"
    assert buttons == [
        *(opened, "Hint 1", opened, "Hint 2", "Twice", "</details>", "</details>"),
        *(opened, "Solution", "</details>"),
    ]
    assert "<code>x</code>" in shown
    assert "Solution" not in card(result([wrong(1)]), (), Helps(HELPS.hints))


def test_a_card_without_helps_offers_nothing():
    for cases in ([right(1)], [wrong(1)]):
        assert "class='way'" not in card(result(cases))


def test_what_a_learner_wrote_is_escaped_and_bounded():
    evil = "<script>alert(1)</script>" + "x" * 10**6
    hostile = result([wrong(1, evil, fault="raised-error", status="error")])
    shown = card(hostile, remarks=[evil] * 100)
    assert "<script" not in shown
    assert len(shown) < 8000
    assert len(report_text(hostile, [], None, [evil] * 100)) < 4000
