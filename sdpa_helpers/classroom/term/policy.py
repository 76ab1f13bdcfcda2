"""term.toml: what a term's homeworks weigh, what late costs, who has until when. It lies beside the --out folders.

drop_lowest = 1                # homeworks of each learner that don't count
worth = 100                    # what the whole term is worth

[late]
rule = "penalty"               # "use", "ignore" or "penalty"
a_day = 0.1                    # of the points, for each started day
at_most = 0.5                  # of the points, in all
grace_minutes = 15

[homework.hw1]                 # the name of its --out folder
weight = 2
deadline = 2026-05-01T23:59:00+02:00
cap = 40                       # points that count at most
mistake_cap = 0.5

[learner."Ada Lovelace_123456"]
extension = { hw1 = 2026-05-08T23:59:00+02:00 }
excused = ["hw2"]
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from sdpa_helpers.classroom.collect import Late, LatePolicy
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.term.reading import BadTerm, Table

NAME = "term.toml"


@dataclass(frozen=True)
class LateRule:
    """What late files cost."""

    rule: LatePolicy = "use"
    a_day: float = 0.1
    at_most: float = 1.0
    grace_minutes: float = 0.0


@dataclass(frozen=True)
class Homework:
    """One of them, and how it counts."""

    name: str
    """Of its --out folder."""
    weight: float = 1.0
    deadline: datetime | None = None
    late: LateRule = field(default_factory=LateRule)
    cap: float | None = None
    """Points that count at most; None: all."""
    mistake_cap: float | None = None
    """As the option of `sdpa grade`."""
    extensions: tuple[tuple[str, datetime], ...] = ()
    """(learner, their own deadline)."""
    excused: frozenset[str] = frozenset()
    """Learners for whom it does not count."""

    def as_late(self) -> Late:
        """The same as `sdpa grade` applies it."""
        grace = timedelta(minutes=self.late.grace_minutes)
        return Late(self.late.rule, self.late.a_day, self.late.at_most, grace, False, dict(self.extensions))

    def counted(self, points: float, most: float) -> tuple[float, float]:
        """(points, of how many) that count."""
        return (points, most) if self.cap is None else (min(points, self.cap), min(most, self.cap))

    def __str__(self) -> str:
        said = [f"weight {self.weight:g}"]
        said += [f"until {self.deadline.isoformat(timespec='minutes')}"] if self.deadline else []
        said += [f"late: {self.late.rule}"] if self.late.rule != "use" else []
        said += [f"{self.cap:g} points count at most"] if self.cap is not None else []
        said += [f"{who} until {when.isoformat(timespec='minutes')}" for who, when in self.extensions]
        said += [f"excused: {', '.join(sorted(self.excused))}"] if self.excused else []
        return f"{self.name or 'no rules of its own'}: {'; '.join(said)}"


ANY = Homework("")
"""One that nobody made rules for: all counts."""


@dataclass(frozen=True)
class Term:
    """The policy of a whole term."""

    homeworks: Mapping[str, Homework] = field(default_factory=dict)
    others: Homework = ANY
    """What holds for a homework without a table of its own."""
    drop_lowest: int = 0
    worth: float = 100.0
    path: Path | None = None

    def homework(self, name: str) -> Homework:
        """The rules for an --out folder of this name."""
        return self.homeworks.get(name, self.others)


NO_TERM = Term()


def homework_of(folder: ResultsFolder) -> Homework:
    """The rules for an --out folder; those of nobody where no term.toml lies beside it. Raises BadTerm."""
    return term_beside(folder.path).homework(_name(folder.path))


def term_beside(folder: Path) -> Term:
    """What stands in the term.toml of the folder that an --out folder lies in."""
    path = folder.absolute().parent / NAME
    return read_term(path) if path.is_file() else NO_TERM


def _name(folder: Path) -> str:
    return folder.absolute().name


def read_term(path: Path) -> Term:
    """Read one; BadTerm names the line and the key, what was expected and what came."""
    try:
        text = path.read_text(encoding="utf-8")
        whole = Table(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadTerm(f"{path} is no TOML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadTerm(f"{path} cannot be read: {error}") from None
    whole.only("drop_lowest", "worth", "late", "homework", "learner")
    late = _late(whole.table("late"), LateRule())
    tables = whole.tables("homework")
    people = whole.tables("learner")
    found = {name: _homework(name, table, late, people) for name, table in tables.items()}
    for person in people.values():
        person.only("extension", "excused")
        for key in ("extension", "excused"):
            person.names(key, found)
    drop, worth = whole.number("drop_lowest", 0, least=0, whole=True), whole.number("worth", 100.0, least=0)
    return Term(found, Homework("", late=late), int(drop), worth, path)


def _homework(name: str, table: Table, late: LateRule, people: Mapping[str, Table]) -> Homework:
    table.only("weight", "deadline", "late", "cap", "mistake_cap")
    extensions = {who: person.table("extension").time(name) for who, person in people.items()}
    return Homework(
        name,
        table.number("weight", 1.0, least=0),
        table.time("deadline"),
        _late(table.table("late"), late),
        table.number("cap", None, least=0),
        table.number("mistake_cap", None, least=0, most=1),
        tuple((who, until) for who, until in sorted(extensions.items()) if until),
        frozenset(who for who, person in people.items() if name in person.texts("excused")),
    )


def _late(table: Table, general: LateRule) -> LateRule:
    table.only("rule", "a_day", "at_most", "grace_minutes")
    rule = table.choice("rule", general.rule, ("use", "ignore", "penalty"))
    return LateRule(
        rule,  # type: ignore[arg-type]  # one of the three
        table.number("a_day", general.a_day, least=0, most=1),
        table.number("at_most", general.at_most, least=0, most=1),
        table.number("grace_minutes", general.grace_minutes, least=0),
    )
