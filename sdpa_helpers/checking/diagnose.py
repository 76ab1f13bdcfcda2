"""From the verdicts on all cases to one sentence: which mistake was made."""

from dataclasses import dataclass

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judge import PUBLIC_SEED, Verdict, judge, truths
from sdpa_helpers.checking.observe import Answer, observe


@dataclass(frozen=True)
class Explained:
    """A verdict with its diagnosis."""

    verdict: Verdict
    diagnosis: str = ""
    """A slug for gradebooks, e.g. "no-scaling"."""
    means: str = ""
    """What it means, in words."""

    @property
    def message(self) -> str:
        """What the learner reads in graded feedback: what was seen, then what it means."""
        return "" if self.verdict.passed else f"{_sentence(self.verdict.seen)} {self.means}".strip()


@dataclass(frozen=True)
class Result:
    """All cases of one exercise, explained."""

    exercise: Exercise
    cases: tuple[Explained, ...]
    mistake: str
    """The known wrong answer that explains every failed case, or ""."""

    @property
    def points(self) -> float:
        """Points earned."""
        return sum(c.verdict.points for c in self.cases)

    @property
    def passed(self) -> bool:
        """Whether every case passed."""
        return all(c.verdict.passed for c in self.cases)

    @property
    def attempted(self) -> bool:
        """False when the stub was left as it came."""
        return any(c.verdict.status not in ("not-attempted", "missing") for c in self.cases)


def assess(exercise: Exercise, answers: list[Answer], seed: str) -> Result:
    """Judge one answer per case, in the order of the cases, and explain the failures."""
    verdicts = [judge(exercise, t, a) for t, a in zip(truths(exercise, seed), answers, strict=True)]
    return explain(exercise, verdicts)


def try_out(exercise: Exercise, function, seed: str = PUBLIC_SEED) -> Result:
    """Call `function` on every case, here and now, and assess what it returns."""
    return assess(exercise, [observe(function, t.inputs) for t in truths(exercise, seed)], seed)


def explain(exercise: Exercise, verdicts: list[Verdict]) -> Result:
    """Give every failed case a diagnosis; the mistake that explains all failures wins."""
    mistake = _one_mistake(exercise, verdicts)
    cases = tuple(_explain_case(exercise, verdict, mistake) for verdict in verdicts)
    return Result(exercise, cases, mistake)


def _one_mistake(exercise: Exercise, verdicts: list[Verdict]) -> str:
    """The wrong answer that agrees with every failed case, preferring one that agrees with the passed ones too."""
    failed = [v for v in verdicts if v.status in ("failed", "error")]
    if not failed:
        return ""
    candidates = [w.name for w in exercise.wrong if all(w.name in v.explained_by for v in failed)]
    agreeing = [c for c in candidates if all(c in v.explained_by for v in verdicts if v.passed)]
    return (agreeing or candidates or [""])[0]


def _explain_case(exercise: Exercise, verdict: Verdict, mistake: str) -> Explained:
    if verdict.passed:
        return Explained(verdict)
    named = mistake if mistake in verdict.explained_by else next(iter(verdict.explained_by), "")
    if named:
        return Explained(verdict, named, next(w.says for w in exercise.wrong if w.name == named))
    if verdict.broken:
        return Explained(
            verdict, verdict.broken, next(i.says for i in exercise.invariants if i.name == verdict.broken)
        )
    case = next(c for c in exercise.cases if c.name == verdict.case)
    means = case.says if verdict.fault == "wrong-values" else _MEANING.get(verdict.fault, "")
    return Explained(verdict, verdict.fault, means)


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else text + "."


_MEANING = {
    "not-attempted": "Nothing is lost: write your answer in the cell and run it.",
    "missing": "The answer cell is found by its first line, `# exercise: NAME`; keep that line.",
    "raised-error": "An error stops the function before it can answer; the message says at which line.",
    "returned-nothing": "A function without `return` gives None.",
    "wrong-kind": "What kind of value comes back is part of the exercise: look at the prompt again.",
    "wrong-shape": "Write the shape of every intermediate result beside its line; the odd one out is the mistake.",
    "wrong-dtype": "The dtype is part of the answer: masks are bool, and numbers keep the precision they came with.",
    "not-finite": "Somewhere a number overflowed, or 0 was divided by 0.",
}
