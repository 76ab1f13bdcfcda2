"""What `check` gives back: the verdict on one exercise, which shows itself in a notebook and answers a script."""

from dataclasses import dataclass, replace

from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.render import (
    NO_HELPS,
    Helps,
    Shown,
    card,
    code_spans,
    framed,
    report_text,
    squares_text,
    worlds_text,
)
from sdpa_helpers.checking.diagnose import Explained, Result
from sdpa_helpers.checking.helping.shrink import Small
from sdpa_helpers.checking.pages.rules import not_allowed

FROM_INSTRUCTOR = "From your instructor"


@dataclass(frozen=True)
class CheckedCase:
    """What one case earned, and what there is to say about it."""

    case: str
    """The case's name."""
    passed: bool
    points: float
    max_points: float
    diagnosis: str = ""
    """A slug, e.g. "no-scaling"; "" where nothing is wrong."""
    message: str = ""
    """What the learner reads."""


@dataclass(frozen=True, repr=False)
class CheckReport(Shown):
    """The verdict on one exercise, case by case."""

    result: Result
    """What came of the cases here."""
    graded: Result
    """What comes of them in a grader, which runs the answers and, of other cells, only definitions."""
    forbidden: tuple[str, ...] = ()
    """What the answer ran into that isn't there when it is graded, e.g. "torch.softmax"."""
    elsewhere: str = ""
    """Why it earns less in a grader, or ""."""
    notices: tuple[str, ...] = ()
    """What is said above the verdict: that it is not about what the learner sees."""
    helps: Helps = NO_HELPS
    """The buttons of its card."""
    small: Small | None = None
    """An example of what is wrong."""

    remarks: tuple[str, ...] = ()
    """What is said besides."""
    printed: str = ""
    """What the function printed while it was tried."""
    told: str = ""
    """What the instructor tells everybody who gave this answer: plain text from a file that was handed out."""

    @property
    def exercise(self) -> str:
        """The exercise's name."""
        return self.result.exercise.name

    @property
    def passed(self) -> bool:
        """True when every case passed, with what is there when it is graded."""
        return self.result.passed and not self.withheld

    @property
    def points(self) -> float:
        """Points earned."""
        return 0.0 if self.forbidden else self.graded.points

    @property
    def max_points(self) -> float:
        """Points of all cases together."""
        return self.result.exercise.max_points

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The known mistakes that were found, by name."""
        return () if self.elsewhere else tuple(mistake.name for mistake in self.result.mistakes)

    @property
    def withheld(self) -> str:
        """Why points are not given that the cases would earn: one sentence, or ""."""
        if not self.forbidden:
            return self.elsewhere
        right = sum(c.verdict.passed for c in self.graded.cases)
        return not_allowed(right, len(self.graded.cases), self.forbidden, self.result.exercise.is_made)

    @property
    def cases(self) -> tuple[CheckedCase, ...]:
        """Case by case, as a grader sees them."""
        return tuple(self._case(explained) for explained in self.graded.cases)

    def _case(self, explained: Explained) -> CheckedCase:
        v = explained.verdict
        if self.forbidden:
            return CheckedCase(v.case, False, 0.0, v.max_points, "forbidden-call", f"{self.withheld}.")
        return CheckedCase(v.case, v.passed, v.points, v.max_points, explained.diagnosis, explained.message)

    def text(self) -> str:
        """The report as plain text."""
        verdict = (
            [report_text(self._shown(), self.forbidden, self.small, self.remarks)]
            if self._has_verdict
            else []
        )
        seen = [f"  {self.helps.consequence}"] if self._has_verdict and self.helps.consequence else []
        if self._has_verdict and self.helps.squares:
            seen.append(f"  {squares_text(self.helps.squares)}.")
        if seen and self.passed and self.helps.worlds:
            seen.append(f"  {worlds_text(self.helps.worlds)}")
        printed = (
            ["  It printed:", *(f"    {line}" for line in self.printed.splitlines())] if self.printed else []
        )
        told = [f"  {FROM_INSTRUCTOR}: {self.told}"] if self.told else []
        return "\n".join([*self._told, *verdict, *told, *seen, *printed])

    def html(self) -> str:
        """The report as a card."""
        told = [framed(f"<strong>{code_spans(f'⚠ {told}')}</strong>", "forbidden") for told in self._told]
        verdict = (
            [card(self._shown(), self.forbidden, self.helps, self.small, self.remarks, self.printed)]
            if self._has_verdict
            else []
        )
        if self.told:
            verdict.append(framed(f"<p><strong>{FROM_INSTRUCTOR}</strong>: {code_spans(self.told)}</p>"))
        return styled(*told, *verdict)

    @property
    def _told(self) -> list[str]:
        """What is said first."""
        moved = self.elsewhere and not self.forbidden
        return [*self.notices, *([f"{self.exercise}: {self.elsewhere}."] if moved else [])]

    @property
    def _has_verdict(self) -> bool:
        """False where all is said when the learner knows which names to move."""
        return bool(self.forbidden) or not (self.elsewhere and self.result.passed)

    def _shown(self) -> Result:
        """What came of the cases here, with what they earn."""
        if self.forbidden:
            return self.graded
        earned = {c.verdict.case: c.verdict.points for c in self.graded.cases}
        cases = (
            replace(c, verdict=replace(c.verdict, points=earned[c.verdict.case])) for c in self.result.cases
        )
        return replace(self.result, cases=tuple(cases))
