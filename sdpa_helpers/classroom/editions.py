"""Which editions `sdpa release` writes, where, and what is packed."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.classroom.files import write_text
from sdpa_helpers.classroom.homework import Homework
from sdpa_helpers.classroom.instructors_edition import release_to_teach
from sdpa_helpers.classroom.packing import write_sums, zip_folder
from sdpa_helpers.classroom.release import ALL, CannotRelease, release
from sdpa_helpers.classroom.sentences.store import for_learners, read_sentences
from sdpa_helpers.course.told import FILE

EDITIONS = ("student", "instructor", "both")


@dataclass(frozen=True)
class EditionOrder:
    """What `sdpa release` was asked for."""

    edition: str = "student"
    track: str = ALL
    graded: Homework | None = None
    """What the student edition has no answers to."""
    zipped: bool = False
    """A zip too. Both editions together always come with theirs."""
    names: Path | None = None
    """A names.toml, whose sentences go along to learners."""


@dataclass(frozen=True)
class Written:
    """A folder or a file that was written."""

    path: Path
    holds: tuple[str, ...] = ()
    """What a folder holds at the top."""
    is_students: bool = False


def write_editions(folder: Path, wanted: EditionOrder) -> Iterator[Written]:
    """Write what is wanted into `folder`, one thing at a time; both editions into folders of their own in it."""
    if wanted.edition != "both":
        yield _write(folder, wanted.edition, wanted)
        if wanted.zipped:
            yield Written(zip_folder(folder))
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CannotRelease(f"{folder} exists and is not empty; name a new folder")
    zips = []
    for edition in EDITIONS[:2]:
        written = _write(folder / name_of(edition, wanted.track), edition, wanted)
        yield written
        zips.append(zip_folder(written.path))
        yield Written(zips[-1])
    yield Written(write_sums(folder, zips))


def name_of(edition: str, track: str = ALL) -> str:
    """The folder of an edition beside others, e.g. "sdpa-student-core"."""
    return f"sdpa-{edition}" if track == ALL else f"sdpa-{edition}-{track}"


def _write(folder: Path, edition: str, wanted: EditionOrder) -> Written:
    if edition == "student":
        told = for_learners(read_sentences(wanted.names)) if wanted.names else ""
        holds = release(folder, wanted.graded, wanted.track)
        if told:
            write_text(folder / FILE, told)
        return Written(folder, tuple(sorted([*holds, *([FILE] if told else [])])), is_students=True)
    return Written(folder, tuple(release_to_teach(folder, wanted.track)))
