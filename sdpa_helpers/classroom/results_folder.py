"""The --out folder of `sdpa grade`: the one place that knows which files are in it."""

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from sdpa_helpers.classroom.files import DRAFTS, write_text
from sdpa_helpers.grading.result import RECORD_FORM, GradedNotebook, NotAResult, OlderForm
from sdpa_helpers.grading.result_json import as_json, from_json

Pair = tuple[str, str]
"""(student, notebook)."""


class Edited(NotAResult):
    """A result that somebody changed by hand: it is believed no more."""


@dataclass(frozen=True)
class PassedOver:
    """Results that are there and are not read."""

    edited: list[Path]
    """Those that somebody changed by hand, below the folder."""
    older: list[OlderForm]
    """Why those of another version are passed over."""


class ResultsFolder:
    """Everything that a run writes, and what later runs and other commands read again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.grades_csv = path / "grades.csv"
        """A row for each student."""
        self.details_csv = path / "details.csv"
        """A row for each case."""
        self.handed_in_csv = path / "handed_in.csv"
        """A row for each file that was handed in."""
        self.left_out_csv = path / "left_out.csv"
        """A row for each file that was not read, with why."""
        self.timings_csv = path / "timings.csv"
        """How long each submission took."""
        self.class_page = path / "class.html"
        self.similar_page = path / "similar.html"
        self.cockpit_page = path / "cockpit.html"
        """All learners and exercises."""
        self.teaching_page = path / "teaching.html"
        """What the class says of the course."""
        self.viva_page = path / "viva.html"
        """Questions to learners on their own answers."""
        self.viva_key = path / "viva-key.html"
        self.gradebook_db = path / "gradebook.db"
        """The gradebook, where no other is named."""
        self.run_json = path / "run.json"
        """The seed, and the options that marks depend on."""
        self.lock = path / ".lock"
        """Held by the grader at work."""
        self.marks_db = path / "marks.db"
        """What people decided about answers. No command deletes it."""
        self.marks_changed_csv = path / "marks-changed.csv"
        """Which marks are others than before, of the last time that any were."""
        self.history = path / "history"
        """The same of each time. No command deletes it."""
        self.names_toml = path / "names.toml"
        """What the instructor tells everybody who gave the same answer. No command deletes it."""
        self.review_notebook = path / "review.ipynb"
        self.exports = path / "export"
        """Marks for other systems, unless --out names another place."""
        self._results = path / "results"
        self._feedback = path / "feedback"

    def __str__(self) -> str:
        return str(self.path)

    def result_path(self, student: str, notebook: str) -> Path:
        """The result of one submission."""
        return self._results / student / f"{notebook}.json"

    def feedback_path(self, student: str, notebook: str) -> Path:
        """The page about one submission."""
        return self._feedback / student / f"{notebook}.html"

    def feedback_link(self, student: str, notebook: str) -> str:
        """The same as a link from the pages about the class."""
        return f"{self._feedback.name}/{quote(student)}/{quote(notebook)}.html"

    # ---- results

    def holds_results(self) -> bool:
        """Whether anything was graded into it."""
        return self._results.is_dir()

    def is_of_a_run(self) -> bool:
        """Whether `sdpa grade` has made it."""
        return self.run_json.is_file() and self._results.is_dir()

    def write_result(self, result: GradedNotebook) -> None:
        """Write the result of one submission."""
        write_text(self.result_path(result.student, result.notebook), _sealed(as_json(result)))

    def kept_result(self, student: str, notebook: str, fingerprint: str) -> GradedNotebook | None:
        """The result of an earlier run when it still holds, its page is there, and it is whole."""
        kept = _read(self.result_path(student, notebook))
        if not isinstance(kept, GradedNotebook) or kept.fingerprint != fingerprint:
            return None
        return kept if self.feedback_path(student, notebook).exists() else None

    def read_results(self, only: Iterable[Pair] | None = None) -> Iterator[GradedNotebook]:
        """The results, one at a time, by student and notebook; `only`: of these pairs.

        A file that was cut off, was edited, has an older form, or is none of ours, is passed over.
        """
        for path in self._result_paths(only):
            result = _read(path)
            if isinstance(result, GradedNotebook):
                yield result

    def read_pairs(self) -> set[Pair]:
        """Whose results `read_results` would read, without taking them apart."""
        return {_pair_of(text) for path in self._result_paths() if _is_whole(text := _text_of(path))}

    def passed_over(self) -> PassedOver:
        """The results that are believed no more."""
        odd = {path: _read(path) for path in self._result_paths() if not _is_whole(_text_of(path))}
        edited = [path.relative_to(self.path) for path, found in odd.items() if isinstance(found, Edited)]
        return PassedOver(edited, [found for found in odd.values() if isinstance(found, OlderForm)])

    def of_others(self, here: set[str]) -> list[tuple[str, str]]:
        """Results of earlier runs, of learners who hand in nothing now: (where they lie, what that means)."""
        why = "of an earlier run, nobody here is called so; exports and reports have it still"
        others = sorted({student for student, _ in self.read_pairs()} - here)
        return [((self._results / other).relative_to(self.path).as_posix(), why) for other in others]

    def _result_paths(self, only: Iterable[Pair] | None = None) -> Iterable[Path]:
        if only is None:
            return sorted(self._results.glob("*/*.json"))
        return (self.result_path(*pair) for pair in sorted(only))

    # ---- before a run

    def remove_drafts(self) -> None:
        """Remove what a writer that was killed has left."""
        for folder in (self.path, *self._results.glob("*"), *self._feedback.glob("*")):
            for draft in folder.glob(DRAFTS):
                draft.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove what a run has written, for a fresh start. Marks, exports and the lock stay."""
        for folder in (self._results, self._feedback):
            shutil.rmtree(folder, ignore_errors=True)
        for path in (
            self.grades_csv,
            self.details_csv,
            self.handed_in_csv,
            self.left_out_csv,
            self.timings_csv,
            self.class_page,
            self.similar_page,
            self.cockpit_page,
            self.teaching_page,
            self.viva_page,
            self.viva_key,
            # Of a writer that was killed: SQLite would apply it to the next gradebook.
            self.gradebook_db.with_name(f"{self.gradebook_db.name}-journal"),
            self.gradebook_db,
            self.run_json,
        ):
            path.unlink(missing_ok=True)


_SEAL = '"seal": "'


def _sealed(entries: dict[str, object]) -> str:
    """JSON with a line for each entry: readable, and ten times as quick as with `indent`, which Python does itself.

    The last one is the digest of the others. It is no secret: it shows a slip, not a forger.
    """
    lines = "{\n" + "".join(f"{_text(name)}: {_text(value)},\n" for name, value in entries.items())
    return f"{lines}{_SEAL}{_seal_of(lines)}"


def _seal_of(lines: str) -> str:
    return f'{sha256(lines.encode()).hexdigest()[:32]}"\n}}\n'


_LAST = f'"form": {json.dumps(RECORD_FORM)},\n'


def _is_whole(text: str) -> bool:
    """Whether a result has today's form and its seal: ten times as quick as reading it."""
    lines, _, seal = text.rpartition(_SEAL)
    return lines.endswith(_LAST) and seal == _seal_of(lines)


def _pair_of(text: str) -> Pair:
    """Of a whole one: its first two lines."""
    _, student, notebook, _ = text.split("\n", 3)
    return tuple(json.loads(f"{{{student}{notebook[:-1]}}}").values())


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _read(path: Path) -> GradedNotebook | OlderForm | Edited | None:
    """What stands in a results file; None when it is cut off or none of ours."""
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text)
    except OSError:
        return None
    except ValueError:
        return Edited(f"{path} is no JSON any more")
    try:
        result = from_json(data)
        return result if _is_whole(text) else Edited(f"{path} was edited by hand")
    except OlderForm as older:
        return older
    except NotAResult:
        return None
