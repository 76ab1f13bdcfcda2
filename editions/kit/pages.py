"""The pages of the kit as Markdown: one for each lesson, the plans, and the list of them all."""

import re
from collections.abc import Iterator

from editions.kit.plans import Day, Plan, minutes_in_class, plans, short_minutes
from editions.kit.questions import ClassQuestion, asked
from editions.kit.words import Words, has_board, words_of
from editions.kit.wrong_answers import Mistake, collection_size, likely_mistakes
from sdpa_helpers.classroom.course_map import FIRST, title_of
from sdpa_helpers.course.registry import LESSONS, exercises_of

MISTAKES = 4
LESSONS_FOLDER = "../../sdpa_helpers/lessons"
"""As a page sees it."""
_WRITTEN_BY = (
    "<!-- Written by `make kit` from the lessons' kit.md and editions/kit/. Change the words there. -->"
)


def pages() -> dict[str, str]:
    """Every generated page of docs/instructors, by its file's name; none for a lesson without words."""
    made = {f"{lesson}.md": lesson_page(lesson, words) for lesson, words in _taught()}
    return {"README.md": _first_page(), "plans.md": _plans_page(plans()), **made}


# ---- a lesson --------------------------------------------------------------------------------------------------


def _taught() -> list[tuple[str, Words]]:
    return [(lesson, words) for lesson in (FIRST, *LESSONS) if (words := words_of(lesson))]


def lesson_page(lesson: str, words: Words) -> str:
    """What an instructor needs to teach one lesson, on one sheet of paper."""
    shown = [asked(lesson, question) for question in words.questions]
    board = (
        f"![{_plain(words.board)}]({LESSONS_FOLDER}/{lesson[3:]}/board.svg)\n\n" if has_board(lesson) else ""
    )
    parts = [
        f"{_WRITTEN_BY}\n\n# {title_of(lesson)}",
        _minutes(lesson),
        f"**Goal.** {words.goal}",
        f"**Begin.** {words.begin}",
        f"## On the board\n\n{board}{words.board}",
        *(["## Three questions to ask", *map(_question, shown, range(1, 4))] if shown else []),
        *_mistakes(lesson),
        f"## On the projector, and when time is short\n\n- **Show.** {words.show}\n- **Skip.** {words.skip}\n"
        f"- **End with.** {words.end}",
    ]
    return "\n\n".join(parts) + "\n"


def _minutes(lesson: str) -> str:
    if lesson == FIRST:
        return f"**{minutes_in_class(lesson)} minutes**, no exercises · [the lesson](../../notebooks/{lesson}.ipynb)"
    exercises = exercises_of(lesson)
    return (
        f"**{minutes_in_class(lesson)} minutes in class**: {short_minutes(lesson)} of them its short, "
        f"6 the three questions below · "
        f"{len(exercises)} exercises, {sum(e.minutes for e in exercises)} minutes in all · "
        f"[the lesson](../../notebooks/{lesson}.ipynb) · [solutions](../../solutions/{lesson}.ipynb)"
    )


def _question(question: ClassQuestion, number: int) -> str:
    told = f"{question.about} {question.question}".strip()
    return (
        f"**{number}.** {_markdown(told)}\n\n"
        f"- Tempting: *{_in_italics(question.tempting.text)}*. {_markdown(question.tempting.because)}\n"
        f"- Right: *{_in_italics(question.right.text)}*. {_markdown(question.right.because)}"
    )


def _mistakes(lesson: str) -> Iterator[str]:
    found = likely_mistakes(lesson, MISTAKES) if lesson != FIRST else []
    if found:
        rows = "\n".join(map(_row, found))
        yield (
            "## Likely wrong answers\n\n| exercise | how often | what `check` says |\n|---|---|---|\n"
            f"{rows}\n\nCounted in our collection of written answers, not in a class ([about it](README.md#how-often))."
        )


def _row(mistake: Mistake) -> str:
    says = re.sub(r"\bd_k\b", "dₖ", _markdown(mistake.says)).replace("|", "\\|")
    return f"| `{mistake.exercise}` | {mistake.answers} of {mistake.of} | {says} |"


def _markdown(text: str) -> str:
    """The marks d_{k} and x^{2} of our texts as HTML, which Markdown lets through."""
    text = re.sub(r"_\{([^}]+)\}", r"<sub>\1</sub>", " ".join(text.split()))
    return re.sub(r"\^\{([^}]+)\}", r"<sup>\1</sup>", text)


def _in_italics(text: str) -> str:
    return _markdown(text.replace("*", ""))


def _plain(text: str) -> str:
    return re.sub(r"[*`]", "", text)


# ---- the plans ---------------------------------------------------------------------------------------------------


def _plans_page(every: tuple[Plan, ...]) -> str:
    head = (
        f"{_WRITTEN_BY}\n\n# Three plans\n\n"
        "A lesson takes the minutes of its short and of its long way, as the lesson itself states them, and two more "
        "for each question you discuss; a short alone takes its own. An exercise takes the minutes that its heading "
        "says. Each row is rounded up to five minutes. What is left over is your reserve: in a first run you will "
        "need it."
    )
    return "\n\n".join([head, *map(_plan, every)]) + "\n"


def _plan(plan: Plan) -> str:
    return "\n\n".join(
        [f"## {plan.title}", plan.for_whom, *(_day(day, len(plan.days) > 1) for day in plan.days)]
    )


def _day(day: Day, named: bool) -> str:
    rows = "\n".join(f"| {row.starts} | {row.minutes} | {row.what} |" for row in day.rows)
    lessons, work = day.minutes_of("lesson", "short"), day.minutes_of("do")
    summary = (
        f"{day.starts} to {day.ends}: {lessons} minutes of lessons, {work} of exercises, "
        f"{day.minutes_of('pause', 'talk')} of breaks and talk, {day.reserve} in reserve."
    )
    parts = [f"### {day.name}"] if named else []
    parts += [f"| from | minutes | what |\n|---|---|---|\n{rows}", summary]
    if day.homework:
        parts.append(
            "Homework, an hour at most for each lesson:\n\n" + "\n".join(map(_homework, day.homework))
        )
    return "\n\n".join(parts)


def _homework(work) -> str:
    names = ", ".join(f"`{name}`" for name in work.exercises)
    return f"- [{title_of(work.lesson)}]({work.lesson}.md), {work.minutes} minutes: {names}"


# ---- the first page ----------------------------------------------------------------------------------------------


def _first_page() -> str:
    rows = "\n".join(
        f"| [{title_of(lesson)}]({lesson}.md) | {minutes_in_class(lesson)} | {words.goal} |"
        for lesson, words in _taught()
    )
    size, wrong = collection_size()
    return _FIRST_PAGE.format(written_by=_WRITTEN_BY, rows=rows, size=f"{size:,}", wrong=wrong)


_FIRST_PAGE = """\
{written_by}

# The instructor's kit

You have a date and a room. Here is what to teach, in which order, and how long it takes.

1. Choose [a plan](plans.md): half a day, a day, or five weeks.
2. Print the page of each lesson in it. It fits on one sheet.
3. A week before, send [the mail](mail.md).
4. The day before, take [the checklist](day-before.md) to the room.
5. On the day, [open a room](room.md): you see who is stuck, and on what.
6. Afterwards: [one sentence](one-sentence.md) for all who made the same mistake, [the term](term.md) as one gradebook,
   and [does it teach?](does-it-teach.md), with a page on AI tools and a test before and after.

| lesson | minutes in class | afterwards, learners can do this |
|---|---|---|
{rows}

A page has the goal, a way to begin, a drawing for the board, three questions to ask with the answers to expect, the
usual mistakes, and what to skip. Teach the core and leave folded sections for home.

## How often

We have watched no class. The column “how often” counts in a collection of {size} written answers, {wrong} of them
wrong, that the course's tests are made of. They were written the way learners, chatbots and public code write them, and
some are from public code. So a count says which mistakes are easily made, and not how many of your learners will make
them. For your own class, the class report of `sdpa grade` counts the real ones ([how](../grading.md)).
"""
