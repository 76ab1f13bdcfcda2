"""work/.laid.json: which versions of the course's notebooks were ever laid into work/."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sdpa_helpers.course.places import LAID
from sdpa_helpers.desk.write import replace_file


@dataclass(frozen=True)
class Record:
    """What we did in work/; a file whose cells are not in here is the learner's."""

    laid: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """File, from work/ → the versions that were laid there, the newest last."""
    offered: Mapping[str, str] = field(default_factory=dict)
    """File → the version that was laid beside it: whoever deletes that is not offered it again."""

    def versions(self, name: str) -> tuple[str, ...]:
        """What was laid there."""
        return self.laid.get(name, ())

    def laying(self, name: str, version: str) -> "Record":
        """The record with one version more, as the newest."""
        earlier = tuple(one for one in self.versions(name) if one != version)
        return Record({**self.laid, name: (*earlier, version)}, self.offered)

    def intending(self, name: str, version: str) -> "Record":
        """The record before a version is laid: it is ours from now on, and not yet what the learner began with."""
        earlier = tuple(one for one in self.versions(name) if one != version)
        return Record({**self.laid, name: (*earlier[:-1], version, *earlier[-1:])}, self.offered)

    def offering(self, versions: Mapping[str, str]) -> "Record":
        """The record with what lies beside copies now."""
        return Record(self.laid, {**self.offered, **versions})


def read_record(work: Path) -> Record:
    """The record; where there is none, or it cannot be read, every notebook counts as the learner's."""
    try:
        data = json.loads((work / LAID).read_text(encoding="utf-8"))
        laid = {str(name): tuple(map(str, versions)) for name, versions in data["laid"].items()}
        return Record(laid, {str(name): str(version) for name, version in data["offered"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Record()


def write_record(work: Path, record: Record) -> None:
    """Write it down; OSError where that cannot be."""
    data = {"laid": record.laid, "offered": record.offered}
    replace_file(work / LAID, json.dumps(data, indent=1, sort_keys=True) + "\n")
