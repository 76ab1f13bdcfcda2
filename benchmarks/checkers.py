"""Who accepts what: wrong and right answers, through our checks and through those that public courses write.

    python -m benchmarks.checkers            asks all, writes results/checkers.json and the tables of docs/checkers.md
    python -m benchmarks.checkers --page     writes only the tables, of the stored result
    python -m benchmarks.checkers --check    says whether the page has them

Nothing is timed, and nothing depends on the machine: `nearest` in the result is the verdict that comes nearest to its
border, as a factor, and two processors differ by 1e-10 of that.
"""

import contextlib
import datetime
import io
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import common_checks
from sdpa_helpers.checking.diagnose import points_of, try_out
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.classroom.answers_as_written import ENDING, CorpusAnswer, answers_to, function_of, read
from sdpa_helpers.course.generated import keep_page, with_tables
from sdpa_helpers.course.registry import find

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "checkers.md"
RESULT = HERE / "results" / "checkers.json"
PUBLIC = HERE / "found_in_public"

SEED = "another than the learner's"
OURS = ("our check, as a learner sees it", "our grade, with inputs nobody has seen")
OTHERS = {
    "by_hand": "one small example, numbers by hand",
    "one_square": "`allclose`, one random square input",
    "one_unequal": "`allclose`, one batch of unequal sizes",
    "shape_and_sum": "shape, and rows that add up to 1",
    "as_the_framework": "the framework's function on a batch",
    "loss_goes_down": "the loss goes down",
    "three_hidden": "three fixed hidden cases",
    "thirty_drawn": "thirty inputs of drawn sizes",
}
KINDS = {"listed": "of our lists", "collected": "collected", "public": "as in public code", "right": "right"}
UNDECIDED = {"float32-somewhere", "half-precision-somewhere", "differs-each-call"}
"""Mistakes of which tolerance, processor or chance decide what a check sees; answers with one of them aren't asked."""
WRONG = ("listed", "collected", "public")
LET, REFUSED, NAMED, MISNAMED, NONE = "L", "R", "N", "F", "-"


@dataclass(frozen=True)
class Subject:
    """An answer that is tried."""

    kind: str
    title: str
    true: frozenset[str]
    """The names that are true of it."""
    answer: Callable


def subjects(asked: Exercise) -> Iterator[Subject]:
    """The answers to an exercise that are tried: all but those with mistakes of UNDECIDED."""
    return (subject for subject in _all(asked) if not subject.true & UNDECIDED)


def _all(asked: Exercise) -> Iterator[Subject]:
    """Those of its page, those beside it, and those made after what was found in public code."""
    for wrong in asked.wrong:
        yield Subject("listed", wrong.name, frozenset({wrong.name}), wrong.function)
    for i, right in enumerate((asked.reference, *asked.also_right)):
        yield Subject("right", f"of the page, {i}", frozenset(), right)
    found = PUBLIC / f"{asked.name}{ENDING}"
    public = read(found.read_text(encoding="utf-8"), found, asked.lesson) if found.exists() else ()
    for kind, entries in (("collected", answers_to(asked)), ("public", public)):
        yield from (_written(kind, entry) for entry in entries)


def _written(kind: str, entry: CorpusAnswer) -> Subject:
    true = frozenset(name.removeprefix("?") for name in entry.names)
    return Subject("right" if entry.right else kind, entry.title, true, function_of(entry))


def verdicts(asked: Exercise, subject: Subject) -> tuple[str, float]:
    """A letter for each of OURS and OTHERS, and how near to its border the nearest of the latter is: 1 is on it."""
    with contextlib.redirect_stdout(io.StringIO()):
        result = try_out(asked, subject.answer)
        points = points_of(asked, subject.answer, SEED)
        far = [common_checks.asked_by(style, asked, subject.answer) for style in common_checks.STYLES]
    names = {mistake.name for mistake in result.mistakes}
    said = (NAMED if names <= subject.true else MISNAMED) if names else REFUSED
    letters = [LET if result.passed else said, LET if points > asked.max_points - 1e-9 else REFUSED]
    letters += [NONE if value is None else LET if value <= 1 else REFUSED for value in far]
    return "".join(letters), min((max(v, 1 / v) for v in far if v), default=math.inf)


def measure(names: tuple[str, ...] = tuple(common_checks.INPUTS)) -> dict:
    """Every verdict, by exercise, kind and title."""
    found, nearest = {}, (math.inf, "")
    for name in names:
        asked, of = find(name), {kind: {} for kind in KINDS}
        for subject in subjects(asked):
            of[subject.kind][subject.title], near = verdicts(asked, subject)
            nearest = min(nearest, (near, f"{name}: {subject.title}"))
        found[name] = of
    return {
        "command": "python -m benchmarks.checkers",
        "date": datetime.date.today().isoformat(),
        "letters": "L let through, R refused, N and named truly, F and named otherwise, - no such check",
        "checkers": [*OURS, *OTHERS.values()],
        "nearest": [round(nearest[0], 4), nearest[1]],
        "verdicts": found,
    }


def of_kind(result: dict, kind: str) -> dict[str, str]:
    """Every answer of a kind, as "exercise: title", with its letters."""
    return {
        f"`{name}`: {title}": letters
        for name, kinds in result["verdicts"].items()
        for title, letters in kinds[kind].items()
    }


def says(result: dict) -> str:
    """The page's first paragraph."""
    wrong = [v for kind in WRONG for v in of_kind(result, kind).values()]
    people = [v for kind in WRONG[1:] for v in of_kind(result, kind).values()]
    ours = [sum(v[i] == LET for v in wrong) for i in range(len(OURS))]
    others = [
        sum(v[i] == LET for v in wrong) / sum(v[i] != NONE for v in wrong) for i in range(2, len(wrong[0]))
    ]
    told, other, untold = (sum(v[0] == letter for v in people) for letter in (NAMED, MISNAMED, REFUSED))
    blind = sum(set(v[len(OURS) :]) <= {LET, NONE} for v in wrong)
    refused = sum(v[i] == REFUSED for v in of_kind(result, "right").values() for i in range(len(v)))
    return (
        f"Of {len(wrong):,} wrong answers to {len(result['verdicts'])} exercises our check lets {ours[0]} through, and "
        f"our grade, on other inputs, {ours[1]}. Of the {len(people)} that stand in no list of ours it names the "
        f"mistake in {told}, says another in {other}, and refuses {untold} without a name. "
        f"Eight checks as public courses write them let between {min(others):.0%} and {max(others):.0%} through; "
        f"{blind} answers pass all that there are for their exercise. "
        f"The {len(of_kind(result, 'right'))} right answers are refused {refused} times. "
        "This is a game at home: all these answers were known to us before, so 0 says that nothing known gets through, "
        "not that nothing does."
    )


def counts(result: dict) -> str:
    """How many wrong answers each check lets through, of those it can be asked about, and right ones it refuses."""
    every = {kind: list(of_kind(result, kind).values()) for kind in KINDS}
    rows = [["check", *(f"let through: {KINDS[kind]}" for kind in WRONG), "right, refused"]]
    for i, check in enumerate(result["checkers"]):
        row = [check]
        for kind, letters in every.items():
            column = Counter(one[i] for one in letters)
            asked, let = len(letters) - column[NONE], column[LET]
            row.append(f"{asked - let if kind == 'right' else let} of {asked:,}")
        rows.append(row)
    return table(rows)


def named(result: dict) -> str:
    """What our check says of what it refuses."""
    rows = [
        [
            "wrong answers",
            "in all",
            "refused",
            "named truly",
            "with another name than their label's",
            "not named",
        ]
    ]
    for kind in WRONG:
        said = Counter(letters[0] for letters in of_kind(result, kind).values())
        rows.append(
            [
                KINDS[kind],
                *map(
                    str, (said.total(), said.total() - said[LET], said[NAMED], said[MISNAMED], said[REFUSED])
                ),
            ]
        )
    return table(rows)


def public(result: dict) -> str:
    """Which check refuses which mistake of public code."""
    rows = [["", "ours", *(f"({i})" for i in range(1, len(OTHERS) + 1))]]
    signs = {LET: "let through", REFUSED: "·", NAMED: "named", MISNAMED: "misnamed", NONE: ""}
    for what, letters in of_kind(result, "public").items():
        ours = "refused" if letters[0] == REFUSED else signs[letters[0]]
        rows.append([what, ours, *(signs[letter] for letter in letters[len(OURS) :])])
    return table(rows)


def missed(result: dict) -> str:
    """What we let through, refuse though it's right, misname, or don't name, by name."""
    parts = []
    for i, says in enumerate(OURS):
        wrong = [what for kind in WRONG for what, v in of_kind(result, kind).items() if v[i] == LET]
        right = [what for what, v in of_kind(result, "right").items() if v[i] != LET]
        parts += [f"- {says}, wrong and let through: {'; '.join(wrong) or 'none'}."]
        parts += [f"- {says}, right and refused: {'; '.join(right) or 'none'}."]
    for letter, says in (
        (MISNAMED, "with another name than their label's"),
        (REFUSED, "refused without a name"),
    ):
        for kind in WRONG:
            them = [what for what, v in of_kind(result, kind).items() if v[0] == letter]
            parts += [f"- {says}, {KINDS[kind]} ({len(them)}): {'; '.join(them)}."] if them else []
    return "\n".join(parts)


def table(rows: list[list[str]]) -> str:
    head, *rest = rows
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, [":--"] * len(head), *rest])


def filled(page: str) -> str:
    """The page with what was found between its marks."""
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    return with_tables(page, {part.__name__: part(result) for part in (says, counts, named, public, missed)})


def main() -> int:
    """Ask and write, or only one of these."""
    if not {"--check", "--page"} & set(sys.argv):
        RESULT.write_text(json.dumps(measure(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return keep_page(PAGE, filled)


if __name__ == "__main__":
    sys.exit(main())
