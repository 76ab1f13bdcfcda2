"""What an instructor tells everybody who gave an answer without a name: names.toml, where it was handed out.

It lies beside exercises/, or came from the room that one joined. It is read for showing alone: what can't be read is
nothing, and no check fails by it. What writes it, and is strict about it, is classroom/sentences/.
"""

import contextlib
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from sdpa_helpers.course import saved
from sdpa_helpers.course.places import course_root

FILE = "names.toml"
LONGEST = 600
"""Characters of a sentence."""
MOST_BYTES = 256 * 1024
"""Of the file."""


def sentence_for(exercise: str, key: str) -> str:
    """The sentence for an answer by its key, as plain text; "" where there is none, or no key.

    What the room said last goes before what was handed out.
    """
    if not key:
        return ""
    return next((says for folder in _folders() if (says := _sentence(folder / FILE, exercise, key))), "")


def keep_from_room(text: str) -> None:
    """Keep what a room told, for the next check; where that cannot be written there is none."""
    path = saved.home() / FILE
    with contextlib.suppress(OSError, UnicodeError):
        if len(text.encode()) <= MOST_BYTES and text != _text(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def _folders() -> Iterator[Path]:
    yield saved.home()
    with contextlib.suppress(OSError):  # there is no folder of the course here
        yield course_root()


def _sentence(path: Path, exercise: str, key: str) -> str:
    try:
        stands = path.stat()
        if stands.st_size > MOST_BYTES:
            return ""
        says = _tables(path, stands.st_mtime_ns, stands.st_size)[exercise][key]["says"]
    except (OSError, KeyError, TypeError):
        return ""
    fits = isinstance(says, str) and len(says) <= LONGEST and says.isprintable()
    return says if fits else ""


@lru_cache(4)
def _tables(path: Path, _changed: int, _size: int) -> dict:
    """The file's tables; reading TOML takes longer than a check should wait for, so it is done once."""
    try:
        return tomllib.loads(_text(path))
    except (ValueError, RecursionError):
        return {}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
