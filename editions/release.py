"""`make release`: everything that is handed out, into build/release, with SHA256SUMS. The same course, the same bytes.

    python -m editions.release

The wheel and the source distribution, both editions, those of the core track, and the site and slides where they have
been built. Nothing of when and where it was made goes in; docs/releasing.md says how to compare.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from editions.archive.build import course_version
from editions.programs import output_of
from sdpa_helpers.classroom.editions import EDITIONS, EditionOrder, name_of, write_editions
from sdpa_helpers.classroom.packing import LONG_AGO_EPOCH, write_sums, zip_folder
from sdpa_helpers.classroom.release import TRACKS
from sdpa_helpers.course.places import course_root

BUILT = {"site": "index.html", "slides": "*.html", "print": "*.pdf"}
"""Folders of build/ that are packed when they hold such a file."""


class CannotBuild(RuntimeError):
    """hatchling failed; its text says why."""


def build_release(root: Path, into: Path) -> list[Path]:
    """Write everything into a folder, which is emptied first; returns the files, SHA256SUMS last.

    root: the checkout to build from; the editions come from the course that this package belongs to.
    """
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    build_distributions(root, into)
    with tempfile.TemporaryDirectory(dir=into) as made:
        for path in _editions(Path(made)):
            path.rename(into / path.name)
        for name in _built(root):
            folder = Path(made) / f"sdpa-{name}-{course_version()}"
            shutil.copytree(root / "build" / name, folder)
            zip_folder(folder, into / f"{folder.name}.zip")
    files = sorted(path for path in into.iterdir() if path.is_file())
    return [*files, write_sums(into, files)]


def build_distributions(root: Path, into: Path) -> None:
    """The wheel and the source distribution. CannotBuild when hatchling fails."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(LONG_AGO_EPOCH)}
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(into)]
    output_of(command, "hatchling failed", CannotBuild, cwd=root, env=environment)


def _editions(made: Path) -> Iterator[Path]:
    """The zips of both editions on every track; their folders have the version in their names."""
    for track in TRACKS:
        for edition in EDITIONS[:2]:
            folder = made / f"{name_of(edition, track)}-{course_version()}"
            for _ in write_editions(folder, EditionOrder(edition, track)):
                pass
            yield zip_folder(folder)


def _built(root: Path) -> list[str]:
    return [name for name, needed in BUILT.items() if any((root / "build" / name).glob(needed))]


def uncommitted(root: Path) -> bool:
    """Whether git knows of changes in a checkout, or of files that are not its own. False where there is no git."""
    command = ["git", "status", "--porcelain"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


def main() -> None:
    """Build the release, and say what is in it and what is not."""
    root = course_root()
    for path in build_release(root, root / "build" / "release"):
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.name}")
    if uncommitted(root):
        print("The checkout has changes that are in no commit: nobody else can build these bytes.")
    if missing := sorted(BUILT.keys() - {*_built(root)}):
        print(f"not built, so not in it: {', '.join(missing)} (make {' '.join(missing)})")


if __name__ == "__main__":
    main()
