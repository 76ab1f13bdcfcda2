"""On Gradescope's machine: grade what one learner handed in, and write results/results.json.

Nothing is decided here. `sdpa grade` grades, `sdpa export --to gradescope` writes the file. Whatever happens, a
results.json is there at the end, with a sentence that the learner can act on; what the commands print goes into
grader.log, which only instructors see, and holds neither seed nor expected values.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sdpa_helpers.classroom.gradescope.packing_list import SEED, SETTINGS, Assignment

LEARNER = "learner"
MOST_BYTES = 64 << 20
"""Of all files that are handed in together; more is not copied."""
LOG = "grader.log"
NOT_ALL_JUDGED = 3
"""Exit status of `sdpa grade` where it failed on an exercise itself: the others have their points."""


class NotGraded(Exception):
    """Why there are no marks, in a sentence for the learner."""


def main(root: Path) -> None:
    """Grade root/submission as root/source says, into root/results."""
    results = root / "results"
    results.mkdir(exist_ok=True)
    try:
        found = graded(root)
    except NotGraded as why:
        found = without_marks(str(why))
    except Exception as error:  # a learner is to read a sentence, whatever went wrong
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        found = without_marks("The grader itself failed. Your file is kept: tell your instructor.")
        del found["score"]  # a 0 would be a mark
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    draft = results / "results.json.draft"
    draft.write_text(text, encoding="utf-8")
    draft.replace(results / "results.json")


def without_marks(why: str) -> dict[str, Any]:
    """A results.json with no points and a reason."""
    return {"score": 0, "output": why, "output_format": "text", "visibility": "visible", "tests": []}


def graded(root: Path) -> dict[str, Any]:
    """What results.json holds.

    Raises:
        NotGraded: nothing was handed in that can be graded, or the machine has been used before.
    """
    source = root / "source"
    settings = json.loads((source / SETTINGS).read_text(encoding="utf-8"))
    assignment = Assignment(**settings | {"notebooks": tuple(settings["notebooks"])})
    try:
        seed = (source / SEED).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise NotGraded(
            "This machine has graded already; each hand-in needs a fresh one. Your file is kept: tell your instructor."
        ) from None
    (source / SEED).unlink()  # before anything of the learner's runs
    with tempfile.TemporaryDirectory() as temporary:
        folder, out = Path(temporary) / "in", Path(temporary) / "out"
        lay_in(root / "submission", folder / LEARNER, assignment.notebooks)
        options = ["--sandbox", assignment.sandbox, "--timeout", str(assignment.timeout)]
        if assignment.mistake_cap is not None:
            options += ["--mistake-cap", str(assignment.mistake_cap)]
        log = root / "results" / LOG
        # Through a pipe: other processes can read a command line, and an environment.
        _sdpa(
            log, ["grade", str(folder), "--out", str(out), "--seed-file", "/dev/stdin", *options], f"{seed}\n"
        )
        _sdpa(log, ["export", str(out), "--to", "gradescope", "--allow-ungraded"])
        path = out / "export" / "gradescope" / LEARNER / "results.json"
        if not path.is_file():
            raise NotGraded("The grader has no result of this file. Your file is kept: tell your instructor.")
        return json.loads(path.read_text(encoding="utf-8"))


def lay_in(submission: Path, into: Path, notebooks: tuple[str, ...]) -> None:
    """Copy what was handed in to where `sdpa grade` looks. One notebook of another name is taken for the one asked for.

    Raises:
        NotGraded: there is no notebook that was asked for, or the files are too large.
    """
    files = [path for path in sorted(submission.rglob("*.ipynb")) if path.is_file() and not path.is_symlink()]
    if sum(path.stat().st_size for path in files) > MOST_BYTES:
        raise NotGraded(f"Your files are larger than {MOST_BYTES >> 20} MB: hand in the notebook alone.")
    named = {path.stem: path for path in files if path.stem in notebooks}
    if len(named) < sum(path.stem in notebooks for path in files):
        raise NotGraded("Hand in one file of each name: there are several of the same name in your folders.")
    if not named and len(files) == 1 and len(notebooks) == 1:
        named = {notebooks[0]: files[0]}
    if not named:
        wanted = " or ".join(f"{name}.ipynb" for name in notebooks)
        # A name may hold bytes that are no text, and line ends.
        came = ", ".join(ascii(path.name)[1:-1] for path in files[:5]) or "no notebook"
        raise NotGraded(f"Hand in {wanted}; this was {came}.")
    into.mkdir(parents=True)
    for name, path in named.items():
        shutil.copyfile(path, into / f"{name}.ipynb")


def _sdpa(log: Path, arguments: list[str], told: str = "") -> None:
    with log.open("a", encoding="utf-8") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "sdpa_helpers", *arguments],
            input=told,
            stdout=stream,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if done.returncode not in (0, NOT_ALL_JUDGED):
        done.check_returncode()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
