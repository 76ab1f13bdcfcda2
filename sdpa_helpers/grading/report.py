"""The result of one submission as plain text: what `sdpa check` prints."""

from sdpa_helpers.grading.result import GradedExercise, GradedNotebook


def report(result: GradedNotebook) -> str:
    """The report, several lines of it. Answers in words, which nobody has read, do not count."""
    worth = sum(exercise.max_points for exercise in result.code)
    lines = [f"{result.notebook}: {result.points:g} of {worth:g} points"]
    if result.status in ("unreadable", "missing"):
        return "\n".join([*lines, f"  {result.status}: {_inside(result.reason)}"])
    if result.status != "graded":
        lines.append(f"  status: {result.status}")
    for exercise in result.exercises:
        if isinstance(exercise, GradedExercise):
            lines += _exercise(exercise)
        else:
            worth = f"{exercise.max_points:g} points"
            lines.append(f"  {exercise.name}: {worth}, read by a person. {exercise.case.message}")
    lines += [f"  note ({flag.kind}): {_inside(flag.message)}" for flag in result.flags]
    return "\n".join(lines)


def _exercise(exercise: GradedExercise) -> list[str]:
    """Its points, then every message once, with the cases that it is about."""
    lines = [f"  {exercise.name}: {exercise.points:g} of {exercise.max_points:g}"]
    for message in dict.fromkeys(case.message for case in exercise.cases if case.message):
        cases = [case.case for case in exercise.cases if case.message == message]
        which = ", ".join(cases) if len(cases) < len(exercise.cases) else "every case"
        lines.append(f"    {which}: {_inside(message)}")
    return lines


def _inside(text: str) -> str:
    """A text with all its lines inside the report: none can pass for a line of ours."""
    return text.replace("\n", "\n      ")
