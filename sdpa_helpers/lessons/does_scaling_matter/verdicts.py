"""Lesson 10: what came out of each registered prediction, computed from the results by the criteria of `registered`."""

from collections.abc import Callable
from typing import NamedTuple

from sdpa_helpers.course.interval import Interval
from sdpa_helpers.lessons.does_scaling_matter.arms import OPTIMIZERS, SCALES, WIDTHS, Arm
from sdpa_helpers.lessons.does_scaling_matter.registered import REGISTERED, WIDEST
from sdpa_helpers.lessons.does_scaling_matter.results import (
    accuracies,
    clearly,
    course,
    interval,
    of,
    reached,
    sooner,
)

NARROWEST = min(WIDTHS)


class Outcome(NamedTuple):
    """What came out."""

    verdict: str
    """ "as predicted", "otherwise", or "in part"."""
    found: str
    """In numbers."""


def outcomes() -> dict[str, Outcome]:
    """By the name of the registered prediction, in its order."""
    return {prediction.name: _CHECKS[prediction.name]() for prediction in REGISTERED}


def _outcome(holds: list[bool], found: str) -> Outcome:
    verdict = "as predicted" if all(holds) else "in part" if any(holds) else "otherwise"
    return Outcome(verdict, found)


def told(found: Interval, unit: str = "%") -> str:
    """E.g. "34% (28 to 40)"."""
    return f"{found.value:.0f}{unit} ({found.low:.0f} to {found.high:.0f})"


def _right_at(scale: str, optimizer: str, d_k: int = WIDEST) -> Interval:
    return interval(accuracies(Arm(d_k, scale, optimizer)))


def _below(limit: float) -> Outcome:
    found = {name: _right_at("1", name) for name in OPTIMIZERS}
    return _outcome(
        [part.value <= limit for part in found.values()],
        ", ".join(f"{name} {told(part)}" for name, part in found.items()),
    )


def _wider_is_worse() -> Outcome:
    lost, parts = [], []
    for name in OPTIMIZERS:
        narrow, wide = (_right_at("1", name, d) for d in (NARROWEST, WIDEST))
        lost.append(narrow.value - wide.value >= 20)
        parts.append(f"{name} {told(narrow)} at {NARROWEST}, {told(wide)} at {WIDEST}")
    return _outcome(lost, "; ".join(parts))


def _places(arms: list[tuple[int, str]], scale: str, verdict: str) -> list[str]:
    """Where `scale` is clearly sooner (or later) than 1/√dₖ."""
    return [
        f"{optimizer} {d}"
        for d, optimizer in arms
        if clearly(sooner(Arm(d, scale, optimizer), Arm(d, "1/√dₖ", optimizer))) == verdict
    ]


_ALL = [(d, optimizer) for optimizer in OPTIMIZERS for d in WIDTHS]


def _not_learned_better() -> Outcome:
    better = _places(_ALL, "learned", "sooner")
    return _outcome([not better], f"clearly sooner in {len(better)} of {len(_ALL)} settings")


def _one_over_d() -> Outcome:
    holds, parts = [], []
    for name in OPTIMIZERS:
        arm = Arm(WIDEST, "1/dₖ", name)
        share = course(arm, "entropy")[-1]
        lost = _right_at("1/√dₖ", name).value - _right_at("1/dₖ", name).value
        holds += [share > 0.9, lost >= 10]
        parts.append(f"{name}: entropy share {share:.2f}, {told(_right_at('1/dₖ', name))} right")
    return _outcome(holds, "; ".join(parts))


def _optimum() -> Outcome:
    better = {scale: len(_places(_ALL, scale, "sooner")) for scale in SCALES if scale != "1/√dₖ"}
    return _outcome(
        [not any(better.values())],
        f"clearly sooner, of {len(_ALL)} settings: "
        + ", ".join(f"{name} in {count}" for name, count in better.items()),
    )


def _stable() -> Outcome:
    narrow, wide = (course(Arm(d, "1/√dₖ", "SGD"), "row_median")[0] for d in (NARROWEST, WIDEST))
    factor = max(narrow, wide) / min(narrow, wide)
    return _outcome([factor < 1.5], f"{narrow:.2f} at {NARROWEST}, {wide:.2f} at {WIDEST}")


def _vanishes() -> Outcome:
    plain, scaled = (course(Arm(WIDEST, scale, "SGD"), "gradient")[0] for scale in ("1", "1/√dₖ"))
    return _outcome([plain < scaled], f"{plain:.2f} at scale 1, {scaled:.2f} at 1/√dₖ")


def _prevents() -> Outcome:
    shares = {name: course(Arm(WIDEST, "1/√dₖ", name), "entropy") for name in OPTIMIZERS}
    return _outcome(
        [share[-1] > 0.5 for share in shares.values()],
        ", ".join(f"{name} {share[0]:.2f} → {share[-1]:.2f}" for name, share in shares.items()),
    )


def _start_is_enough() -> Outcome:
    late = _places(_ALL, "smaller start", "later")
    runs = {scale: sum(reached(Arm(d, scale, o)) for d, o in _ALL) for scale in ("1", "smaller start")}
    return _outcome(
        [not late],
        f"clearly later in {len(late)} of {len(_ALL)} settings; but {runs['smaller start']} of its 120 runs reach 90%, "
        f"against {runs['1']} with scale 1 and the usual start",
    )


def _adam_forgives() -> Outcome:
    sgd, adam = (_right_at("1", name) for name in OPTIMIZERS)
    return _outcome([adam.value - sgd.value >= 20], f"SGD {told(sgd)}, Adam {told(adam)}")


def _transfer() -> Outcome:
    def best(scale: str) -> list[float]:
        return [of(Arm(d, scale, "Adam"))["rate"] for d in (64, 128, 256, 512)]

    own, fixed = best("1/dₖ"), best("1/√dₖ")
    return _outcome(
        [len(set(own)) == 1],
        f"best rates {', '.join(f'{rate:g}' for rate in own)}; with 1/√dₖ {', '.join(f'{rate:g}' for rate in fixed)}",
    )


_CHECKS: dict[str, Callable[[], Outcome]] = {
    "stops": lambda: _below(20),
    "wider_is_worse": _wider_is_worse,
    "not_learned_better": _not_learned_better,
    "one_over_d": _one_over_d,
    "optimum": _optimum,
    "fails": lambda: _below(50),
    "stable": _stable,
    "vanishes": _vanishes,
    "prevents": _prevents,
    "start_is_enough": _start_is_enough,
    "adam_forgives": _adam_forgives,
    "transfer": _transfer,
}
