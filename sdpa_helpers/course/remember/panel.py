"""The deck in a notebook: `remember()` asks a few questions, one after the other."""

from dataclasses import dataclass

from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.course.remember import spacing
from sdpa_helpers.course.remember.items import Item, all_items
from sdpa_helpers.show.predict import Chosen, Option, Prediction, PredictionShown, Series, plain

COUNT = 5
MOST = 50
WITHOUT_MATPLOTLIB = (
    "The deck draws on the lessons' figures, so it needs matplotlib. In a browser, run `import matplotlib` in a cell "
    'first; elsewhere, pip install "sdpa-helpers[lab]".'
)


@dataclass(frozen=True)
class NothingDue:
    """What there is to say when no question is asked."""

    says: str

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": self.says, "text/html": f"<p>{self.says}</p>"}

    def __repr__(self) -> str:
        return self.says


def remember(count: int = COUNT, lesson: str = "") -> Series | NothingDue:
    """Ask what is due today, at most `count` questions, of the whole course or of one lesson, e.g. "03".

    Answers are kept: a right one comes again in days, then weeks; a wrong one in a minute. Nothing is graded.

    Raises:
        ValueError: no lesson begins like that, or `count` is not 1 to 50.
    """
    if not 1 <= count <= MOST:
        raise ValueError(f"count is 1 to {MOST} questions; this is {count}")
    try:
        items = of_lesson(lesson)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        return NothingDue(WITHOUT_MATPLOTLIB)
    chosen = spacing.next_items(items, count)
    if not chosen:
        return NothingDue(nothing_due(items))
    asked: list[PredictionShown] = []
    for number, item in enumerate(chosen, 1):
        title, waits_for = f"Remember · {number} of {len(chosen)}", asked[-1].given()["key"] if asked else ""
        asked.append(_question(item, title, waits_for))
    return Series(tuple(asked))


def of_lesson(lesson: str) -> tuple[Item, ...]:
    """The deck, or the part of one lesson, "03", "3" or "03_softmax"; ValueError names those there are."""
    found = (
        [name for name in LESSONS if lesson in (name, name[:2], name[:2].lstrip("0"))]
        if lesson
        else list(LESSONS)
    )
    if not found:
        raise ValueError(
            f"there is no lesson {lesson!r}; there are: {', '.join(name[:2] for name in LESSONS)}"
        )
    return tuple(item for item in all_items() if item.lesson in found)


def nothing_due(items: tuple[Item, ...]) -> str:
    """When to come back."""
    when = spacing.first_due(items)
    return (
        f"Nothing is due. The next question comes on {when.astimezone():%d %B at %H:%M}."
        if when
        else "Nothing is due."
    )


def _question(item: Item, title: str, waits_for: str) -> PredictionShown:
    options = tuple(Option(choice.text, choice.because) for choice in item.choices)
    truth = item.choices[item.right].text

    def keep(chosen: Chosen) -> None:
        spacing.answered(item, chosen.option == item.right)

    asked = Prediction(item.key, item.question, options)
    return PredictionShown(
        item.lesson, asked, truth, keep=keep, title=title, waits_for=waits_for, found="Right"
    )


def as_text(item: Item) -> str:
    """A question and its numbered answers, for a terminal."""
    lines = [plain(item.question), ""]
    return "\n".join([*lines, *(f"  {n}  {plain(choice.text)}" for n, choice in enumerate(item.choices, 1))])
