"""The feedback page of one submission: what passed, which mistake was made, how to go on."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from sdpa_helpers.checking.render import code_spans
from sdpa_helpers.grading.grade_one import Record
from sdpa_helpers.grading.lift_words import waits
from sdpa_helpers.lessons.registry import exercises_of

_LABELS = {"passed": "passed", "failed": "not yet", "error": "error", "not-attempted": "not attempted"}
_ABOUT_STATUS = {
    "timeout": "Something in this notebook did not finish in time. What was earned before it counts.",
    "out-of-memory": "Something in this notebook needed more memory than allowed. The rest was graded.",
    "kernel-died": "Something in this notebook ended the Python process. What could be graded without it was.",
}


def feedback_page(record: Record) -> str:
    """The page as HTML. Everything that came from a submission is escaped."""
    exercises = {
        name: _exercise(record["notebook"], name, exercise) for name, exercise in record["exercises"].items()
    }
    about = _ABOUT_STATUS.get(record["status"], "")
    unread = sum(e["max_points"] for e in record["exercises"].values() if waits(e))
    return _template().render(record={**record, "exercises": exercises}, about_status=about, unread=unread)


@cache
def _template() -> Template:
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["marked"] = lambda text: Markup(code_spans(text))  # escapes, then sets `code`
    return environment.get_template("feedback.html")


def _exercise(notebook: str, name: str, exercise: dict[str, Any]) -> dict[str, Any]:
    """What the template shows of an exercise. A sentence that holds for several cases is shown once."""
    if exercise.get("written"):
        return {
            "mark": None,
            **exercise,
            "alike": "" if "mark" in exercise else exercise["cases"][0]["message"],
        }
    known = (w for e in exercises_of(notebook) if e.name == name for w in e.wrong)
    says = next((w.says for w in known if w.name == exercise["mistake"]), "")
    messages = {c["message"] for c in exercise["cases"]}
    alike = next(iter(messages)) if len(messages) == 1 else ""
    cases = []
    for case in exercise["cases"]:
        told = case["message"].removesuffix(says).strip() if says else case["message"]
        label = _LABELS.get(case["status"], case["status"].replace("-", " "))
        css = (
            "passed"
            if case["passed"]
            else "open"
            if case["status"] in ("not-attempted", "missing")
            else "failed"
        )
        cases.append({**case, "label": label, "css": css, "told": told})
    return {**exercise, "cases": cases, "alike": alike, "diagnosis": says, "mark": None}
