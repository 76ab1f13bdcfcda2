"""What a lesson asks: its `predictions.md` and `recall.md`, a question below each heading.

    ## sum_of_ones · asks how sure

    Add 4096 ones, one after the other, into a **bfloat16** number. What comes out?

    - 2048
      That is where **float16** gets stuck.
    - all of them · right for 4096
      4096 is a bfloat16 number, a power of two. But the sum has to get there one step at a time.

    measured: {:.0f}

    This is why good softmax code keeps the sum in float32.

Behind an answer stands the value for which it is right, or a range, `0.9 to 1.1`; without one it is the value that the
answer says. `measured` is how the value is written, and what stands last is said afterwards. A question to recall has
code, and the value of its last line is what is right. `· on paper` marks a question that can be answered without the
text around it, and that no other one with this mark answers: tests on paper are drawn from these.
"""

import re
from collections.abc import Callable
from functools import cache, partial

from sdpa_helpers.course.content import Code, ContentEntry, Paragraph, Section, page_of
from sdpa_helpers.course.predicting import Recalled, asker, recaller
from sdpa_helpers.course.registry import lesson_in
from sdpa_helpers.show.predict import Option, Prediction, PredictionShown, Range, Series

_HOW_SURE, _ON_PAPER, _MEASURED, _RIGHT = " · asks how sure", " · on paper", "measured: ", " · right for "
_NUMBER = r"[-−]?(?:\d[\d.]*(?:e[-+]?\d+)?|∞)"
_NUMBERS = re.compile(rf"({_NUMBER})(?: to ({_NUMBER}))?")


@cache
def predictions_of(lesson: str) -> tuple[Prediction, ...]:
    """What a lesson asks before it measures; PageError says which line of the page cannot be read."""
    return tuple(map(_prediction, page_of(lesson, "predictions").sections))


@cache
def recalled_of(lesson: str) -> tuple[Recalled, ...]:
    """What a lesson asks of earlier ones; PageError says which line of the page cannot be read."""
    return tuple(map(_recalled, page_of(lesson, "recall").sections))


def predict_in(folder: str) -> Callable[..., PredictionShown]:
    """The function `predict` of the lesson in a folder, e.g. "softmax"."""
    lesson = lesson_in(folder)
    return asker(lesson, predictions_of(lesson))


def recall_in(folder: str) -> Callable[[], Series]:
    """The function `recall` of the lesson in a folder."""
    lesson = lesson_in(folder)
    return recaller(lesson, recalled_of(lesson))


def _recalled(section: Section) -> Recalled:
    if not section.of(Code):
        raise section.wrong("a question to recall needs code, whose last line is what is right")
    return Recalled(_prediction(section), partial(_computed, section))


def _computed(section: Section) -> str | float:
    value = section.run()[1]
    if value is None:
        raise section.wrong("the last line of the code is expected to be what is right")
    return value.item() if hasattr(value, "item") else value


def _prediction(section: Section) -> Prediction:
    title = section.title.removesuffix(_ON_PAPER)
    name, sure, more = title.partition(_HOW_SURE)
    options, texts = section.of(ContentEntry), section.of(Paragraph)
    if not options or more or "·" in name:
        raise section.wrong(
            f"`## name` or `## name{_HOW_SURE}` is expected (behind either also `{_ON_PAPER.strip()}`), a question, "
            "and answers with `- `"
        )
    for text in texts:
        if options[0].line < text.line < options[-1].line:
            raise section.wrong(
                "between answers nothing is expected: what belongs to one is indented", text.line
            )
    asked = [text.text for text in texts if text.line < options[0].line]
    after = [text.text for text in texts if text.line > options[-1].line]
    measured = after.pop(0).removeprefix(_MEASURED) if after and after[0].startswith(_MEASURED) else "{}"
    answers = tuple(_option(entry) for entry in options)
    try:
        texts = "\n\n".join(asked), answers, "\n\n".join(after), measured
        return Prediction(name, *texts, bool(sure), on_paper=title != section.title)
    except ValueError as error:
        raise section.wrong(str(error)) from None


def _option(entry: ContentEntry) -> Option:
    text, _, right = entry.text.partition(_RIGHT)
    return Option(text, entry.says, _value(right) if right else None)


def _value(text: str) -> str | float | Range:
    """A number, both ends of a range, or a word."""
    numbers = _NUMBERS.fullmatch(text)
    if not numbers:
        return text
    low, high = (float(n.replace("−", "-").replace("∞", "inf")) if n else None for n in numbers.groups())
    assert low is not None
    return low if high is None else (low, high)
