"""Moodle's grading worksheet: it knows when each submission came, which the zip of submissions does not."""

import csv
import io
import re
from datetime import datetime
from pathlib import Path

When = tuple[datetime | None, bool]
"""When something was handed in, and whether the learning system calls it late."""

_MOODLE_TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")


def worksheet_times(worksheet: Path) -> dict[str, tuple[datetime | None, bool]]:
    """Participant number → when they handed in, and whether Moodle's status says late."""
    found: dict[str, tuple[datetime | None, bool]] = {}
    for row in csv.DictReader(io.StringIO(worksheet.read_text(encoding="utf-8-sig"))):
        number = re.sub(r"\D", "", row.get("Identifier") or "")
        status = row.get("Status") or ""
        if number and not status.startswith("No submission"):
            late = re.search(r"\blate\b", status) is not None
            found[number] = (_moodle_time(row.get("Last modified (submission)") or ""), late)
    return found


def _moodle_time(text: str) -> datetime | None:
    for form in _MOODLE_TIMES:
        try:
            return datetime.strptime(text.strip(), form).astimezone()
        except (ValueError, OverflowError, OSError):
            continue
    return None
