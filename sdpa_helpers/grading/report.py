"""The result of one submission as plain text: what `sdpa check` prints."""

from sdpa_helpers.checking.card.wording import NOT_SAID, numbered, shortened, unit_of
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.course.check_report import FROM_INSTRUCTOR
from sdpa_helpers.course.registry import find
from sdpa_helpers.course.told import sentence_for
from sdpa_helpers.grading.result import GradedCase, GradedExercise, GradedNotebook, NamedMistake


def report(result: GradedNotebook) -> str:
    """The report, several lines of it. Answers in words, which nobody has read, do not count."""
    worth = sum(exercise.max_points for exercise in result.code)
    lines = [f"{result.notebook}: {result.points:g} of {worth:g} points"]
    if result.status in ("unreadable", "missing") or len(result.failed) == len(result.exercises):
        return "\n".join([*lines, f"  {result.status}: {_inside(result.reason)}"])
    if result.status != "graded":
        lines.append(f"  status: {result.status}" + (f". {result.reason}" if result.failed else ""))
    for exercise in result.exercises:
        if isinstance(exercise, GradedExercise):
            lines += _exercise(exercise)
        else:
            worth = f"{exercise.max_points:g} points"
            lines.append(f"  {exercise.name}: {worth}, read by a person. {exercise.case.message}")
    lines += [f"  note ({flag.kind}): {_inside(flag.message)}" for flag in result.flags]
    return "\n".join(lines)


def _exercise(exercise: GradedExercise) -> list[str]:
    """Its points, what is wrong, then what was seen, each once, with the cases that it is about."""
    earned = "no mark" if exercise.failed else f"{exercise.points:g}"
    lines = [f"  {exercise.name}: {earned} of {exercise.max_points:g}"]
    asked, told = find(exercise.name), sentence_for(exercise.name, exercise.unknown)
    lines += [f"    {_diagnosis(exercise, mistake, asked)}" for mistake in exercise.mistakes]
    lines += [f"    {FROM_INSTRUCTOR}: {told}"] if told else []
    if exercise.pattern and not exercise.mistakes:
        lines.append(f"    Pattern: {exercise.pattern}")
    by_message: dict[str, list[int]] = {}
    for n, case in enumerate(exercise.cases, 1):
        if case.message:
            by_message.setdefault(_seen(case, exercise.mistakes), []).append(n)
    for message, cases in by_message.items():
        which = f"all {len(cases)} {unit_of(asked)}"
        if len(cases) < len(exercise.cases) or exercise.failed:
            which = f"{numbered(cases, asked)} ({shortened('; '.join(exercise.cases[n - 1].case for n in cases))})"
        lines.append(f"    {which}: {_inside(message)}")
    if _is_unexplained(exercise) and asked.sealed and not asked.is_made:
        lines.append(f"    {NOT_SAID}.")
    return lines


def _diagnosis(exercise: GradedExercise, mistake: NamedMistake, asked: Exercise) -> str:
    failed = [n for n, case in enumerate(exercise.cases, 1) if not case.passed]
    explained = [n for n, case in enumerate(exercise.cases, 1) if case.case in mistake.cases]
    where = "" if {*failed} <= {*explained} else f", in {numbered(explained, asked)}"
    return f"Diagnosis ({mistake.name}){where}: {mistake.says}"


def _seen(case: GradedCase, mistakes: tuple[NamedMistake, ...]) -> str:
    """A case's message without what its mistake means, which is said above."""
    says = next((mistake.says for mistake in mistakes if mistake.name == case.diagnosis), "")
    return case.message.removesuffix(says).rstrip() or case.message


def _is_unexplained(exercise: GradedExercise) -> bool:
    """Whether a result is wrong, and no name or pattern says how."""
    wrong = any(c.status == "failed" and c.diagnosis != "forbidden-call" for c in exercise.cases)
    return wrong and not exercise.mistakes and not exercise.pattern


def _inside(text: str) -> str:
    """A text with all its lines inside the report: none can pass for a line of ours."""
    return text.replace("\n", "\n      ")
