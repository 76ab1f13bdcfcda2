"""The exercises in a page without Jupyter: the text of an answer comes in, a verdict goes out as JSON.

The same engine and the same words as `check` in a notebook, where the cells are the answers of one lesson. The page's
worker calls `reply`; nothing here knows of browsers, so tests call it too. Nothing is kept here: the page does that.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace

from sdpa_helpers.checking.card.render import OPEN, OPEN_WITH_CODE, Onward
from sdpa_helpers.checking.code.answer_cells import MAX_ANSWER_CHARACTERS, answered_in
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.course import session
from sdpa_helpers.course.notebook_cells import SETUP
from sdpa_helpers.course.page_shell import Ran, Shell, ShownVerdict, run_alone
from sdpa_helpers.course.registry import LESSONS, exercises_of, sheet_of
from sdpa_helpers.course.told import keep_from_room, sentence_for

LINE = "# exercise: {name}\n"
NOTHING_SHOWN = (
    "It ran and printed nothing. To see a value, end with a line that has one, such as a call of {name}."
)
IN_A_PAGE = {
    OPEN: "Write your answer in the editor, then press Check again.",
    OPEN_WITH_CODE: "Change the code in the editor, then press Check again.",
}
"""What a card says of cells → what it says where there are none."""


def reply(request: str) -> str:
    """Answer a page: {"ask": "check" | "hint" | "solution", "lesson": …, "name": …, "answers": {…}} in, JSON out.

    With the same, {"ask": "run", …} runs the answer and judges nothing, and {"ask": "head", …} asks what the trained
    head does with it; {"ask": "name", "source": …} asks of any code which mistake is in it.

    answers: the texts of the lesson's cells by exercise, that of this one among them. told: where it is there, the
    names.toml of the room that the page is in. Errors that a learner can mend
    are in the JSON's "text"; LookupError where there is no such exercise.
    """
    asked = json.loads(request)
    if asked["ask"] == "name":
        from sdpa_helpers.course.pasted.named import named  # it is not loaded where nothing is pasted

        return json.dumps(asdict(named(asked["source"])), ensure_ascii=False)
    if asked["ask"] == "head":
        return json.dumps(asdict(_at_work(asked["name"], asked["answers"])), ensure_ascii=False)
    exercise = exercise_in(asked["lesson"], asked["name"])
    if asked["ask"] == "run":
        return json.dumps(asdict(shown(exercise, asked["answers"])), ensure_ascii=False)
    if asked["ask"] == "check":
        if told := asked.get("told"):
            keep_from_room(told)
        return json.dumps(asdict(checked(exercise, asked["answers"])), ensure_ascii=False)
    card = session.hint_for(exercise) if asked["ask"] == "hint" else session.solution_of(exercise)
    return json.dumps(
        asdict(ShownVerdict(card.html(), card.text(), of=exercise.max_points)), ensure_ascii=False
    )


def _at_work(name: str, answers: Mapping[str, str]) -> ShownVerdict:
    """What the trained head does with an answer, as JSON in the verdict's text."""
    from sdpa_helpers.course.in_head import in_head  # most pages never ask

    space, problem = run_alone(answers.get(name, ""), {})
    if problem or not callable(function := space.get(name)):
        trouble = problem or f"Your cell defines no function called `{name}`."
        return ShownVerdict(
            "", json.dumps({"answer": "", "weights": [], "trouble": trouble}, ensure_ascii=False)
        )
    return ShownVerdict("", in_head(name, function))


def exercise_in(lesson: str, name: str) -> Exercise:
    """An exercise of a lesson, without loading those of the others: a page wants to answer soon."""
    found = next((one for one in exercises_of(lesson) if one.name == name), None)
    if found is None:
        raise LookupError(f"lesson {lesson} has no exercise {name!r} that can be checked")
    return found


def checked(exercise: Exercise, answers: Mapping[str, str]) -> ShownVerdict:
    """Run the cells of one lesson up to the exercise's, each in its turn, and check what it defines."""
    name = exercise.name
    shell, ran = _ran(exercise, answers)
    function = shell.user_ns.get(name)
    if ran.problem or not callable(function):
        missing = f"Your cell defines no function called `{name}`. Give yours that name."
        return ShownVerdict("", ran.problem or missing, of=exercise.max_points, printed=ran.printed)
    report = session.report_on(exercise, function, shell.notebook)
    onward = report.helps.onward and replace(
        report.helps.onward, href=_page_after(exercise, report.helps.onward)
    )
    key = report.result.unknown
    helps = replace(report.helps, onward=onward, worlds=())  # nothing is kept here
    report = replace(report, helps=helps, told=sentence_for(name, key))
    return ShownVerdict(
        _in_a_page(report.html()),
        report.text(),
        report.points,
        report.max_points,
        report.passed,
        report.result.mistake,
        ran.printed,
        key,
    )


def shown(exercise: Exercise, answers: Mapping[str, str]) -> ShownVerdict:
    """Run the same cells, and give what the exercise's printed and the value of its last line; nothing is judged."""
    _, ran = _ran(exercise, answers, shows=True)
    nothing = "" if ran.printed else NOTHING_SHOWN.format(name=exercise.name)
    return ShownVerdict("", ran.problem or ran.value or nothing, of=exercise.max_points, printed=ran.printed)


def _ran(exercise: Exercise, answers: Mapping[str, str], shows: bool = False) -> tuple[Shell, Ran]:
    """What came of the exercise's cell, and the shell in which it ran after those of the earlier exercises."""
    shell, source = Shell(), with_line(exercise.name, answers.get(exercise.name, ""))
    if len(source) > MAX_ANSWER_CHARACTERS:
        told = f"Your answer has {len(source):,} characters; {MAX_ANSWER_CHARACTERS:,} are read. Shorten it."
        return shell, Ran("", told)
    shell.run(SETUP)
    order = [one.name for one in sheet_of(exercise.lesson).exercises]
    for earlier in order[: order.index(exercise.name)]:
        if text := answers.get(earlier):
            shell.run(with_line(earlier, text))
    return shell, shell.run(source, shows)


def _in_a_page(card: str) -> str:
    for of_cells, here in IN_A_PAGE.items():
        card = card.replace(of_cells, here)
    return card


def _page_after(exercise: Exercise, onward: Onward) -> str:
    """The page that a card leads to: that of the next exercise, or the list after a lesson's last one."""
    _, _, anchor = onward.href.partition("#")
    return f"{anchor}.html" if anchor else f"index.html#{LESSONS[LESSONS.index(exercise.lesson) + 1]}"


def with_line(name: str, source: str) -> str:
    """A cell's text with the line by which an answer is found."""
    return source if name in answered_in(source) else LINE.format(name=name) + source
