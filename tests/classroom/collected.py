"""What somebody hands in, on a day, and what is found of it: for tests of collecting."""

import os
from datetime import UTC, datetime, timedelta

from sdpa_helpers.classroom.collect import find_submissions

NAME, OTHER = "01_dot_product", "03_softmax"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def put(path, at=NOON, text="{}"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def found(source, **options):
    submissions, left_out = find_submissions(source, [NAME, OTHER], **options)
    return {s.student: s for s in submissions if s.notebook == NAME}, left_out


def kinds(submission):
    return [flag.kind for flag in submission.flags]
