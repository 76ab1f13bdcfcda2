"""Write a file so that it is either the old one or the new one, whenever somebody stops us."""

import os
from pathlib import Path

DRAFT = ".draft-"
"""The beginning of a file's name in work/ while it is written."""


def replace_file(work: Path, place: Path, text: str) -> None:
    """Write a file of work/ and move it into its place; OSError where that cannot be."""
    draft = work / f"{DRAFT}{os.getpid()}"
    try:
        draft.write_bytes(text.encode())
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def sweep(work: Path) -> None:
    """Remove drafts of a start that was stopped. Call it only when nobody else writes there."""
    for left in work.glob(f"{DRAFT}*"):
        left.unlink(missing_ok=True)
