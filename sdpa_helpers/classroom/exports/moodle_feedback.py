"""Moodle: a zip for "Upload multiple feedback files in a zip", in the folders of its own "Download all submissions"."""

import re

from sdpa_helpers.classroom.exports.feedback_pages import handed_in, left_out, page_of, write_zip
from sdpa_helpers.classroom.exports.order import Exported, Order
from sdpa_helpers.grading.result import LmsIdentity

_NOT_IN_A_NAME = re.compile(r"[\s/\\_:*?\"<>|\x00-\x1f]+")
"""Moodle takes a folder's name apart at each underscore; the others no zip should have."""


def export(order: Order) -> Exported:
    """Every notebook's page in the folder of its learner, whom Moodle finds by their participant number."""
    entries, unknown, learners = [], [], 0
    for student, results in handed_in(order):
        lms = next(
            (r.lms for r in results if r.lms and r.lms.system == "moodle" and r.lms.id.isdecimal()), None
        )
        if lms is None:
            unknown.append(student)
            continue
        learners += 1
        entries += [(f"{_folder(lms)}/{result.notebook}.html", page_of(result)) for result in results]
    target = order.target("moodle-feedback.zip")
    write_zip(target, entries)
    return Exported(
        (target,), learners, left_out(unknown, "their files have no participant number of Moodle")
    )


def _folder(lms: LmsIdentity) -> str:
    """As Moodle names it: full name, participant number, and the part of an assignment that files belong to."""
    name = _NOT_IN_A_NAME.sub(" ", lms.name).strip(" .~") or "Participant"
    return f"{name}_{lms.id}_assignsubmission_file_"
