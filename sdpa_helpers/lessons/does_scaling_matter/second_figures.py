"""Lesson 10: what the second experiment found, drawn and in a table."""

from collections.abc import Sequence

from sdpa_helpers.lessons.does_scaling_matter.second import design, results
from sdpa_helpers.lessons.does_scaling_matter.second.registered import REGISTERED, Registered
from sdpa_helpers.lessons.does_scaling_matter.tables import Table
from sdpa_helpers.show.figures import INK, SKY, Picture, cell, cells, panels, show

MARKS = {"sooner": "▲", "later": "▼", "not clear": "·"}
SPREADS = ("√dₖ times as large", "as with 1/√dₖ", "√dₖ times as small")
LEARNS = ("as with\nno factor", "as with\n1/√dₖ", "as with\n1/dₖ")
PAIRS = (("1", "1, own rates", ""), ("smaller start", "1/√dₖ", ""), ("", "1/dₖ, own rates", "1/dₖ"))
"""The spread of the first scores, how fast W_q and W_k learn, and which way has both."""


def compared(way: str, d_k: int, optimizer: str) -> str:
    """Whether a way gets to 90% "sooner" or "later" than 1/√dₖ, or "not clear"."""
    said = results.answers().get((f"sooner {way}", f"{d_k} {optimizer}"))
    return "not clear" if said is None else "sooner" if said else "later"


def settings_in_which(way: str, verdict: str) -> int:
    """In how many of the six settings a way is clearly "sooner", or "later", than 1/√dₖ, or "not clear"."""
    return sum(compared(way, d_k, optimizer) == verdict for d_k, optimizer in results.SETTINGS)


def plot_race() -> Picture:
    """Steps to 90% of every way in every setting, and whether that is clearly sooner or later than 1/√dₖ."""
    ways = [way.name for way in design.WAYS]
    fig, axes = panels(
        [f"{name}: steps to 90% right" for name in design.OPTIMIZERS], x="dₖ", size=(10.4, 5.0)
    )
    facts = []
    for ax, optimizer in zip(axes, design.OPTIMIZERS, strict=True):
        cells(ax, ways if ax is axes[0] else [""] * len(ways), [str(d) for d in design.WIDTHS])
        for (i, way), (j, d_k) in ((a, b) for a in enumerate(ways) for b in enumerate(design.WIDTHS)):
            steps, said = results.race_steps(d_k, optimizer, way), compared(way, d_k, optimizer)
            mark = "" if way == results.USUAL else f" {MARKS[said]}"
            cell(ax, i, j, SKY if said == "sooner" else INK, 0.5 * (1 - steps / design.LATE))
            ax.text(j, i, f"{_steps(steps)}{mark}", color=INK, fontsize=11, ha="center", va="center")
            facts.append(f"{optimizer}, {d_k}, {way}: {_steps(steps)}{'' if not mark else ', ' + said}")
    return show(
        fig,
        "Two tables, one for each optimizer: nine ways to scale, three widths, the mean steps to 90%, and whether "
        f"that is clearly sooner (▲) or later (▼) than 1/√dₖ. {'; '.join(facts)}.",
    )


def _steps(steps: float) -> str:
    return f"{steps:.0f}" if steps < design.LATE else f"> {design.RACE.steps}"


def plot_starts(d_k: int) -> Picture:
    """Steps to 90% of the six fixed ways, told apart by their start and their rates."""
    fig, axes = panels(
        [f"{name}, dₖ = {d_k}: steps to 90% right" for name in design.OPTIMIZERS],
        x="how fast the matrices of queries and keys learn",
        size=(10.4, 3.9),
    )
    axes[0].set_ylabel("spread of the first scores", color=INK, fontsize=10.5)
    facts = []
    for ax, optimizer in zip(axes, design.OPTIMIZERS, strict=True):
        cells(ax, SPREADS if ax is axes[0] else [""] * len(SPREADS), LEARNS)
        for i, row in enumerate(PAIRS):
            for j, way in enumerate(row):
                if not way:
                    continue
                steps = results.race_steps(d_k, optimizer, way)
                cell(ax, i, j, INK, 0.5 * (1 - steps / design.LATE))
                ax.text(j, i, f"{_steps(steps)}\n{way}", color=INK, fontsize=9.5, ha="center", va="center")
                facts.append(f"{optimizer}, {way}: {_steps(steps)}")
    return show(
        fig,
        f"Two tables of the steps to 90% at d_k = {d_k}, the spread of the first scores against how fast W_q and W_k "
        f"learn. {'; '.join(facts)}.",
    )


def plot_map(way: str = "1") -> Picture:
    """Percent right for each task and number of steps, each cell tuned for itself."""
    fig, axes = panels(
        [f"{name}, scale {way}, dₖ = {design.MAP_WIDTH}: right (%)" for name in design.OPTIMIZERS],
        x="training steps",
        size=(10.4, 3.2),
    )
    tasks, facts = [f"{place.names} names, {place.pairs} pairs" for place in design.MAP], []
    for ax, optimizer in zip(axes, design.OPTIMIZERS, strict=True):
        cells(ax, tasks if ax is axes[0] else [""] * len(tasks), [f"{steps:,}" for steps in design.MAP_STEPS])
        for i, place in enumerate(design.MAP):
            for j, steps in enumerate(design.MAP_STEPS):
                right = map_right(place.names, optimizer, steps, way)
                cell(ax, i, j, INK, (right / 100) ** 2)
                ax.text(j, i, _percent(right), color=INK, fontsize=11, ha="center", va="center")
                facts.append(f"{optimizer}, {tasks[i]}, {steps} steps: {_percent(right)}%")
    return show(fig, f"Two tables, tasks against steps; 90 or more counts as 90. {'; '.join(facts)}.")


def _percent(right: float) -> str:
    return "90 +" if right >= 100 * design.ENOUGH else f"{right:.0f}"


def map_right(names: int, optimizer: str, steps: int, way: str = "1") -> float:
    """Percent right after so many steps, tuned for that; a run counts as 90 once it's there."""
    return results.value(results.on_map(names, optimizer, way, design.MAP_STEPS.index(steps)))


def sentences_table() -> Table:
    """Each registered sentence in its own words, what was asked, and what came out."""
    found = results.outcomes()
    rows = [
        (_who(one), f"“{one.words}”" if one.claim else one.words, one.asks, *_said(found[one.name]))
        for one in REGISTERED
    ]
    return Table(("who", "says", "asked here", "came out", "where"), rows)


def _who(one: Registered) -> str:
    return f"article {one.who} ({one.claim}), line {one.line}" if one.claim else one.who


def _said(outcome: results.Outcome) -> Sequence[str]:
    kinds = {"yes": True, "no": False, "not clear": None}
    parts = {
        word: [name for name, said in outcome.cases.items() if said is kind] for word, kind in kinds.items()
    }
    told = [f"{word}: {', '.join(names)}" for word, names in parts.items() if names]
    return outcome.verdict, "; ".join(told).replace("dₖ", "d_k")
