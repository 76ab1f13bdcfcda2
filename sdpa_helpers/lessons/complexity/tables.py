"""Lesson 06: what was counted and measured, as lines of text that stand below an answer."""

from collections.abc import Mapping

from sdpa_helpers.lessons.complexity.experiments import Machine


def operations_table(tallies: Mapping[str, Mapping[str, int]]) -> str:
    """By way of computing: how often each operation happened."""
    width = max(map(len, tallies))
    return "\n".join(
        f"{way:{width}}  " + ", ".join(f"{name} {times}" for name, times in sorted(tally.items()))
        for way, tally in tallies.items()
    )


def roofline_table(machine: Machine, placed: Mapping[str, tuple[float, float]]) -> str:
    """How near each operation, (intensity, FLOP/s), comes to the peak and to its own place on the roof."""
    lines = [f"ridge of the measured machine: {machine.ridge:.0f} FLOPs per byte"]
    for name, (intensity, speed) in placed.items():
        roof = min(machine.peak, intensity * machine.bandwidth)
        lines.append(
            f"{name:13} {100 * speed / machine.peak:5.0f}% of the peak, {100 * speed / roof:5.0f}% of its roof"
        )
    return "\n".join(lines)
