"""What to do with one copy in work/: lay it, bring a new version, or leave it to the learner."""

from dataclasses import dataclass
from enum import Enum

from sdpa_helpers.desk.record import Record


class Done(Enum):
    """What becomes of one copy."""

    NEW = "laid out"
    UPDATED = "updated"
    KEPT = "left as it is"
    BESIDE = "the learner's own; a new version lies beside it"
    SKIPPED = "left alone, for a reason that is said"


@dataclass(frozen=True)
class Copy:
    """One notebook as the course has it now."""

    name: str
    """From work/, e.g. "notebooks/03_softmax.ipynb"."""
    text: str
    version: str
    """Its fingerprint."""

    @property
    def beside(self) -> str:
        """Where it goes when the learner has changed theirs, e.g. "notebooks/03_softmax.new.ipynb"."""
        return beside(self.name)


@dataclass(frozen=True)
class Found:
    """A notebook that lies in work/."""

    data: bytes
    version: str
    """Its fingerprint."""
    has_run: bool
    has_answers: bool = False


@dataclass(frozen=True)
class NotOurs:
    """Something else lies in its place."""

    why: str
    """What it is, and what to do."""


@dataclass(frozen=True)
class CopyStep:
    """What becomes of one copy."""

    copy: Copy
    done: Done
    why: str = ""
    """Of SKIPPED: the reason, and what to do."""
    write: str = ""
    """The file that becomes the new version; "": none."""
    remove: str = ""
    """The file that is not needed any more; "": none."""


Lying = Found | NotOurs | None


def beside(name: str) -> str:
    """Where a new version goes beside a copy."""
    return f"{name.removesuffix('.ipynb')}.new.ipynb"


def decide(copy: Copy, mine: Lying, new: Lying, record: Record, is_open: frozenset[str]) -> CopyStep:
    """What becomes of a copy. mine, new: what lies in its place and beside it. is_open: files open in a browser."""
    if mine is None:
        return CopyStep(copy, Done.NEW, write=copy.name)
    if isinstance(mine, NotOurs):
        return CopyStep(copy, Done.SKIPPED, mine.why)
    if mine.version == copy.version:
        refresh = not mine.has_run and mine.data != copy.text.encode() and copy.name not in is_open
        over = isinstance(new, Found) and not new.has_run and new.version in record.versions(copy.beside)
        return CopyStep(
            copy, Done.KEPT, write=copy.name if refresh else "", remove=copy.beside if over else ""
        )
    if mine.version not in record.versions(copy.name) or mine.has_answers:
        # Answers in what we laid: the learner had written them into the course's own notebook.
        return _beside(copy, new, record, is_open)
    if copy.name in is_open:
        why = "there is a new version, and it is open in JupyterLab. Save and close it there, shut its kernel down, "
        why += "and start again"
        return CopyStep(copy, Done.SKIPPED, why)
    return CopyStep(copy, Done.UPDATED, write=copy.name)


def _beside(copy: Copy, new: Lying, record: Record, is_open: frozenset[str]) -> CopyStep:
    """The learner has changed theirs."""
    if record.versions(copy.name)[-1:] == (copy.version,):
        return CopyStep(copy, Done.KEPT)
    if new is None:
        dismissed = record.offered.get(copy.name) == copy.version
        return CopyStep(copy, Done.KEPT) if dismissed else CopyStep(copy, Done.BESIDE, write=copy.beside)
    if isinstance(new, Found):
        if new.version == copy.version or copy.beside in is_open:
            return CopyStep(copy, Done.BESIDE)
        if new.version in record.versions(copy.beside):
            return CopyStep(copy, Done.BESIDE, write=copy.beside)
    return CopyStep(
        copy,
        Done.SKIPPED,
        f"there is a new version, and no place for it: work/{copy.beside} is yours too. Rename that and start again",
    )
