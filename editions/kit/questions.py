"""The questions of a page: predictions of the lesson, with the answer that its stored notebook found."""

import json
import re
from functools import cache
from typing import NamedTuple

from editions.kit.words import ToAsk
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.questions import predictions_of
from sdpa_helpers.show.predict import Option, rich


class ClassQuestion(NamedTuple):
    """A question to ask a class."""

    question: str
    right: Option
    tempting: Option
    about: str
    """What one has to know first, where the lesson has said it before."""


def asked(lesson: str, question: ToAsk) -> ClassQuestion:
    """A prediction with its right answer, and the wrong one to expect.

    LookupError: the lesson or its stored notebook has no such question. ValueError: the tempting answer is right.
    """
    known = {prediction.name: prediction for prediction in predictions_of(lesson)}
    name, tempting = question.name, question.tempting
    if name not in known:
        raise LookupError(f"{lesson} has no prediction {name!r}; it has {', '.join(known)}")
    options = known[name].options
    right = _right_option(lesson, name, options)
    if options[tempting - 1] is right:
        raise ValueError(f"{lesson}, {name}: answer {tempting} is right, so it is no mistake")
    return ClassQuestion(known[name].question, right, options[tempting - 1], question.about)


def _right_option(lesson: str, name: str, options: tuple[Option, ...]) -> Option:
    for page in _outputs(lesson):
        if f'data-key="{name}-' in page:
            ticked = re.findall(r"<li>✓ <strong>(.*?)</strong>:", page.split(f'data-key="{name}-')[1])
            return next(option for option in options if rich(option.text) == ticked[0])
    raise LookupError(f"{lesson}: its stored notebook does not ask {name!r}; run `make notebooks`")


@cache
def _outputs(lesson: str) -> tuple[str, ...]:
    """The HTML of every stored output of a lesson."""
    path = course_root() / "notebooks" / f"{lesson}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    data = (output.get("data", {}) for cell in cells for output in cell.get("outputs", ()))
    return tuple("".join(one["text/html"]) for one in data if "text/html" in one)
