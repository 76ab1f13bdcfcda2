"""Canvas: a zip for "Upload Submissions", which makes a comment of each file for the learner who handed it in.

Canvas finds them by two numbers in the name that it gave to a file, those of the learner and of the attachment, so
each page has the name of the graded file.
"""

import re
from pathlib import PurePosixPath

from sdpa_helpers.classroom.exports.feedback_pages import handed_in, left_out, page_of, write_zip
from sdpa_helpers.classroom.exports.order import Exported, Order
from sdpa_helpers.grading.result import GradedNotebook

_NUMBERS = re.compile(r"(?:.*?_)?(\d+)_(\d+)_.+", re.DOTALL)


def export(order: Order) -> Exported:
    """Every notebook's page, under its file's name."""
    entries, unknown, learners = [], [], set()
    for student, results in handed_in(order):
        for result in results:
            name = _name(result)
            if name:
                learners.add(student)
                entries.append((name, page_of(result)))
            else:
                unknown.append(f"{student}, {result.notebook}")
    target = order.target("canvas-feedback.zip")
    write_zip(target, entries)
    return Exported((target,), len(learners), left_out(unknown, "their files have no name of Canvas"))


def _name(result: GradedNotebook) -> str:
    """What Canvas called the graded file, with another ending; "" where it was not Canvas."""
    graded = next((file.file for file in result.handed_in if file.graded), "")
    name = PurePosixPath(graded.replace("\\", "/")).name
    if result.lms is None or result.lms.system != "canvas" or not name.isprintable():
        return ""
    found = _NUMBERS.fullmatch(name)
    numbers = [part for part in name.split("_") if part.isdecimal()][:2]
    # The first two numbers are what Canvas looks at: another one in front would be taken for the learner's.
    if not found or numbers != [found[1], found[2]] or found[1] != result.lms.id:
        return ""
    return f"{PurePosixPath(name).stem}.html"
