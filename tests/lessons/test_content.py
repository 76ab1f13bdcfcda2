"""The pages of a lesson's content: what cannot be read names the page and the line, and what is missing is no error."""

from dataclasses import replace

import pytest

from sdpa_helpers.checking.pages.page_text import PageError
from sdpa_helpers.course import cards, content, questions
from sdpa_helpers.course.interview import reader
from sdpa_helpers.course.interview.question import Claimed, Mistaken, Tempted
from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.show.predict import Option

TITLE = "# What the lesson asks\n\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes a page of a lesson in a folder of its own; returns the lesson's name."""
    for module in (content, cards):
        monkeypatch.setattr(module, "home_of", lambda lesson: tmp_path)

    def write(name, text, lesson="90_scratch"):
        questions.predictions_of.cache_clear()
        questions.recalled_of.cache_clear()
        cards.card_of.cache_clear()
        reader.asked_in.cache_clear()
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
        return lesson

    return write


ASKED = """\
## how_many · asks how sure

How *many*
are there?

- 4, all of them · right for 4
  Because
  of this.
- about 7 · right for 6.5 to 7e3
  Because of that.
- none · right for −∞
  Because.
- no number · right for no number at all
  Because.

measured: {:.1f} of 5

And so on.

The end.
"""


def test_a_question_is_read_as_it_is_written(written):
    (asked,) = questions.predictions_of(written("predictions", TITLE + ASKED))
    assert asked.name == "how_many"
    assert asked.how_sure
    assert asked.question == "How *many* are there?"
    assert asked.options == (
        Option("4, all of them", "Because of this.", 4.0),
        Option("about 7", "Because of that.", (6.5, 7000.0)),
        Option("none", "Because.", float("-inf")),
        Option("no number", "Because.", "no number at all"),
    )
    assert asked.measured == "{:.1f} of 5"
    assert asked.after == "And so on.\n\nThe end."


@pytest.mark.parametrize("sure", ["", " · asks how sure"])
def test_a_question_on_paper_is_marked_so_and_else_the_same(written, sure):
    plain = ASKED.replace(" · asks how sure", sure)
    (asked,) = questions.predictions_of(written("predictions", TITLE + plain))
    (marked,) = questions.predictions_of(
        written("predictions", TITLE + plain.replace("\n", " · on paper\n", 1))
    )
    assert not asked.on_paper
    assert marked == replace(asked, on_paper=True)


BROKEN = {
    "Title": ("# What the lesson asks\n", "", 1, "a line `# Title` is expected first"),
    "twice": ("The end.", "## how_many · asks how sure", 22, "stands twice"),
    "indented": ("And so on.", "  And so on.", 20, "`And so on.` is indented below no entry"),
    "between": ("  Because of that.", "Because of that.", 12, "what belongs to one is indented"),
    "sure": ("asks how sure", "asks how sure · at once", 3, "`## name · asks how sure` is expected"),
    "order": ("asks how sure", "on paper · asks how sure", 3, "`## name · asks how sure` is expected"),
    "misspelt": ("asks how sure", "on papr", 3, "`## name` or"),
    "silent": ("  Because of that.\n", "", 3, r"say of \['about 7'\] why it is tempting"),
    "one": ("- about 7", "- 4, all of them", 3, "two to four answers that differ"),
    "code": ("The end.", "```python\n1", 22, "no end"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_error_names_the_page_the_line_and_what_was_expected(written, tmp_path, name):
    before, after, line, says = BROKEN[name]
    assert before in TITLE + ASKED
    with pytest.raises(PageError, match=rf"^{tmp_path.name}/predictions.md, line {line}: .*{says}"):
        questions.predictions_of(written("predictions", (TITLE + ASKED).replace(before, after, 1)))


RECALLED = "## sum\n\nWhat is 1 + 2?\n\n- 2\n  No.\n- 3\n  Yes.\n"


def test_what_is_recalled_is_computed_as_in_a_cell(written):
    code = "```python\ndef add(a):\n    return a.sum()\n\nadd(np.array([1, 2]))\n```\n"
    (recalled,) = questions.recalled_of(written("recall", f"{TITLE}{RECALLED}\n{code}"))
    assert recalled.measure() == 3
    assert recalled.prediction.right_for(recalled.measure()) == 1


@pytest.mark.parametrize(
    ("code", "line", "says"),
    [
        ("", 3, "needs code"),
        ("three = 3", 3, "the last line of the code is expected to be what is right"),
        ("three = 3\nthree +", 14, "this is no Python"),
        ("three = 3\n1 / 0", 13, "the code fails: ZeroDivisionError"),
    ],
)
def test_code_that_does_not_compute_an_answer_says_so(written, tmp_path, code, line, says):
    block = f"\n```python\n{code}\n```\n" if code else ""
    with pytest.raises(PageError, match=rf"^{tmp_path.name}/recall.md, line {line}: .*{says}"):
        questions.recalled_of(written("recall", TITLE + RECALLED + block))[0].measure()


CARD = """\
# 90 · Scratch

## Formulas

- *a* = *b*

## Shapes

- *a* · (n, 1)
  what *b* is

## Remember

- One.
- Two.
- Three.

## Picture

`plot` in figures.py
"""


def test_a_card_is_read_as_it_is_written(written, tmp_path):
    (tmp_path / "figures.py").write_text("")
    card = cards.card_of(written("card", CARD))
    assert (card.title, card.formulas) == ("90 · Scratch", ("*a* = *b*",))
    assert card.shapes == (("*a*", "what *b* is", "(n, 1)"),)
    assert card.remember == ("One.", "Two.", "Three.")


@pytest.mark.parametrize(
    ("before", "after", "line", "says"),
    [
        ("## Remember", "## Keep", 3, "the headings Formulas, Shapes, Remember, Picture, in this order"),
        ("  what *b* is", "", 9, "`- symbol · shape` is expected, and indented below it what that is"),
        ("- Three.", "", 1, "3 to 5 sentences to remember"),
        ("`plot` in", "plot in", 18, "which function draws it"),
        ("figures.py", "pictures.py", 18, "there is no pictures.py in the lesson's folder"),
    ],
)
def test_an_error_in_a_card_names_its_line(written, tmp_path, before, after, line, says):
    (tmp_path / "figures.py").write_text("")
    with pytest.raises(PageError, match=rf"^{tmp_path.name}/card.md, line {line}: .*{says}"):
        cards.card_of(written("card", CARD.replace(before, after)))


INTERVIEW = """\
# What interviews ask

## sum · warm-up

What is 1 + 2?

It is <three:.0f>,
and not <c13.four:.1f>.

```python
three = 3
```

- trap: claim 55
- measured: claim 13
- measured: `add`
- measured: section Sums, and more
- measured: 03_softmax, A sum, again
"""


def test_an_interview_question_is_read_as_it_is_written(written):
    (asked,) = reader.asked_in(written("interview", INTERVIEW))
    assert (asked.key, asked.lesson, asked.level) == ("sum", "90_scratch", 0)
    assert (asked.question, asked.answer) == ("What is 1 + 2?", "It is <three:.0f>, and not <c13.four:.1f>.")
    assert asked.seen == (13, "add", "90_scratch, Sums, and more", "03_softmax, A sum, again")
    assert asked.numbers()["three"] == 3


@pytest.mark.parametrize(
    ("says", "trap"),
    [
        ("claim 55", Claimed(55)),
        ("`add`, off-by-one", Mistaken("add", "off-by-one")),
        ("prediction sum_of_ones, 256, or so", Tempted("90_scratch", "sum_of_ones", "256, or so")),
    ],
)
def test_a_trap_is_a_claim_a_known_mistake_or_a_tempting_answer(written, says, trap):
    (asked,) = reader.asked_in(written("interview", INTERVIEW.replace("claim 55", says)))
    assert asked.trap == trap


@pytest.mark.parametrize(
    ("before", "after", "line", "says"),
    [
        ("warm-up", "easy", 3, "a level is warm-up, solid ground, going deep"),
        ("What is 1 + 2?", "", 3, "a question, the answer, and below them"),
        ("- trap: claim 55", "- trap: number 55", 14, "`- trap: claim 55`, .* is expected"),
        ("- measured: `add`", "- measured: add", 16, "`- measured: claim 55`, .* is expected"),
    ],
)
def test_an_error_in_an_interview_question_names_its_line(written, tmp_path, before, after, line, says):
    with pytest.raises(PageError, match=rf"^{tmp_path.name}/interview.md, line {line}: .*{says}"):
        reader.asked_in(written("interview", INTERVIEW.replace(before, after)))


def test_a_page_in_another_encoding_says_so(written, tmp_path):
    lesson = written("predictions", TITLE)
    (tmp_path / "predictions.md").write_bytes("# é".encode("latin-1"))
    with pytest.raises(PageError, match="line 1: this is not UTF-8"):
        questions.predictions_of(lesson)


def test_a_page_that_a_lesson_lacks_is_as_if_it_were_empty(written):
    lesson = written("kit", "# Kit\n")
    assert questions.predictions_of(lesson) == questions.recalled_of(lesson) == ()
    assert cards.card_of(lesson) is None
    assert reader.asked_in(lesson) == ()


TO_RECALL = [asked for lesson in LESSONS for asked in questions.recalled_of(lesson)]


@pytest.mark.parametrize("asked", TO_RECALL, ids=lambda asked: asked.prediction.name)
def test_one_answer_to_each_question_to_recall_is_right(asked):
    """right_for raises where two are."""
    assert asked.prediction.right_for(asked.measure()) is not None
