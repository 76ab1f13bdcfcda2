"""Write a file so that it is either the old one or the new one, whenever somebody stops us."""

import os
from pathlib import Path

DRAFT = ".draft-"
"""The beginning of a file's name while it is written."""


def replace_file(place: Path, text: str) -> None:
    """Write a file beside its place and move it there; OSError where that cannot be."""
    draft = place.with_name(f"{DRAFT}{os.getpid()}")
    try:
        draft.write_bytes(text.encode())
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def sweep(*folders: Path) -> None:
    """Remove drafts of a start that was stopped. Call it only when nobody else writes there."""
    for folder in folders:
        for left in folder.glob(f"{DRAFT}*"):
            left.unlink(missing_ok=True)
