"""Lesson 05's widget: paint a mask, and see who can reach whom when several layers are stacked."""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray as Array

from sdpa_helpers.attention import causal_mask
from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import SKY, Picture
from sdpa_helpers.show.panels import Control, Drawing, Panel, State, slider, switch
from sdpa_helpers.show.svg import Canvas

GRID = Path(__file__).with_suffix(".js")

NEVER = -1
MOST = style.fullest(style.INK)  # how dark a cell may be
MOST_TOKENS, MOST_LAYERS = 7, 8  # 7 × 7 cells are 49 bits, which a number of JavaScript still holds exactly
WINDOW, PADDINGS = 2, 2

WIDTH, LEFT, TOP, CELL = 470, 62, 74, 44


def presets(n: int) -> dict[str, Bool[Array, "n n"]]:
    """Masks to begin with, True = may attend. The window includes the query itself."""
    i, j = np.indices((n, n))
    real = j < n - PADDINGS
    return {
        "causal": causal_mask(n),
        "padding": real,
        "window": (j <= i) & (i - j < WINDOW),
        "causal + padding": causal_mask(n) & real,
        "empty": np.zeros((n, n), dtype=bool),
    }


def layers_needed(mask: Bool[Array, "n n"], layers: int) -> Int[Array, "n n"]:
    """After how many layers, at most `layers`, token i can know of token j; NEVER if not.

    In a layer a token sees what the mask allows, and keeps itself by the residual path: A = mask or identity. After
    L layers it knows what the Boolean power A^L says.
    """
    known = np.eye(len(mask), dtype=bool)
    step, needed = mask | known, np.where(known, 0, NEVER)
    for layer in range(1, layers + 1):
        known = known @ step
        needed[known & (needed == NEVER)] = layer
    return needed


def leaks(needed: Int[Array, "n n"]) -> Bool[Array, "n n"]:
    """Where a token knows of a later one."""
    return np.triu(needed != NEVER, k=1)


def shortest_way(mask: Bool[Array, "n n"], start: int, end: int) -> list[int]:
    """The tokens through which `start` comes to know of `end`, both included; empty if it never does."""
    before, waiting = {start: start}, deque([start])
    while waiting and end not in before:
        i = waiting.popleft()
        for j in np.flatnonzero(mask[i]).tolist():
            if j not in before:
                before[j] = i
                waiting.append(j)
    way = [end] if end in before else []
    while way and way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]


# The control ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid(Control):
    """A square of cells to paint. A position is the mask read as a binary number, row by row."""

    size: int = 0
    """How many words the mask is over: cells in a row."""

    def index(self, value: Bool[Array, "n n"]) -> int:
        """The position with this mask.

        Raises:
            ValueError: it has another size.
        """
        mask = np.asarray(value, dtype=bool)
        if mask.shape != (self.size, self.size):
            raise ValueError(f"{self.name} has shape {mask.shape}, but must be ({self.size}, {self.size})")
        return int("".join("01"[int(cell)] for cell in mask.flat), 2)

    def value(self, index: int) -> Bool[Array, "n n"]:
        """The mask at a position."""
        bits = f"{int(index):0{self.size**2}b}"[-(self.size**2) :]
        return np.array([bit == "1" for bit in bits]).reshape(self.size, self.size)


def grid(
    name: str, label: str, words: Sequence[str], offered: dict[str, Bool[Array, "n n"]], start: str
) -> Grid:
    """A grid over these words, with masks offered by name."""
    empty = Grid("grid", name, label, size=len(words))
    facts = json.dumps(
        {"words": list(words), "presets": {title: empty.index(mask) for title, mask in offered.items()}},
        ensure_ascii=False,
    )
    return replace(empty, shown=(facts,), start=empty.index(offered[start]), file=GRID)


# The picture ------------------------------------------------------------------------------------------------


def draw_reach(words: Sequence[str], mask: Bool[Array, "n n"], layers: int, *, decoder: bool) -> Drawing:
    """Who knows of whom after some layers, with the number of layers that it takes."""
    n, needed = len(words), layers_needed(mask, layers)
    leaking = leaks(needed) & decoder
    canvas = Canvas(WIDTH, TOP + CELL * n + 58)
    canvas.text((0, 18), f"After {layers} layer{'s' * (layers > 1)}: who knows of whom", bold=True)
    canvas.text((0, 38), "row: the token that knows; column: the token it knows of", size=13)
    for j, word in enumerate(words):
        canvas.text((LEFT + CELL * (j + 0.5), TOP - 8), word, anchor="middle", size=13)
    for (i, j), layer in np.ndenumerate(needed):
        x, y = LEFT + CELL * j, TOP + CELL * i
        shown = "" if layer == NEVER else f"{layer}!" if leaking[i, j] else str(layer)
        if shown:
            if leaking[i, j]:
                canvas.box((x, y), CELL, CELL, SKY, outline=False, opacity=style.fullest(SKY))
            else:
                fade = 0.3 if layer == 0 else max(1.0 - 0.13 * (layer - 1), 0.25)
                canvas.box((x, y), CELL, CELL, "currentColor", outline=False, opacity=MOST * fade)
        canvas.text(
            (x + CELL / 2, y + 27),
            shown or "·",
            anchor="middle",
            bold=bool(leaking[i, j]),
            name=f"reach-{i}-{j}",
        )
    for k in range(n + 1):
        canvas.line((LEFT, TOP + CELL * k), (LEFT + CELL * n, TOP + CELL * k), opacity=0.3)
        canvas.line((LEFT + CELL * k, TOP), (LEFT + CELL * k, TOP + CELL * n), opacity=0.3)
    for i, word in enumerate(words):
        y = TOP + CELL * i + 27
        canvas.text((0, y), word, bold=True)
        canvas.text(
            (LEFT + CELL * n + 10, y),
            f"knows {int((needed[i] != NEVER).sum())} of {n}",
            size=13,
            name=f"knows-{i}",
        )
        if not mask[i].any():
            canvas.text((LEFT + CELL * n + 10, y + 15), "∅ empty", size=13, bold=True, name=f"empty-{i}")
    bottom = TOP + CELL * n
    canvas.text(
        (0, bottom + 26), "number: layers it takes; 0: itself, by the residual path; dot: never", size=13
    )
    canvas.text((0, bottom + 46), "blue with “!”: a leak, it knows of a later token", size=13)
    return canvas.finish("Who knows of whom over layers", sentence(words, mask, needed, leaking))


def sentence(
    words: Sequence[str], mask: Bool[Array, "n n"], needed: Int[Array, "n n"], leaking: Bool[Array, "n n"]
) -> str:
    """What the picture shows."""
    known = _several(int((needed != NEVER).sum()), "pair is", "pairs are")
    facts = [f"The mask allows {int(mask.sum())} of {mask.size} pairs; over the layers {known} connected."]
    if leaking.any():
        places = sorted((int(needed[i, j]), int(i), int(j)) for i, j in np.argwhere(leaking))
        ways = []
        for layer, i, j in dict.fromkeys((places[0], max(places, key=lambda place: place[0]))):
            ways.append(f"in layer {layer} {' → '.join(words[k] for k in shortest_way(mask, i, j))}")
        facts.append(f"{_several(len(places), 'leak', 'leaks')} into the future: {'; '.join(ways)}.")
    else:
        facts.append("No leak is marked.")
    if empty := [word for word, row in zip(words, mask, strict=True) if not row.any()]:
        facts.append(f"{_several(len(empty), 'row sees', 'rows see')} nothing: {', '.join(empty)}.")
    return " ".join(facts)


def _several(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def still_reach(words: Sequence[str]) -> Picture:
    """A causal mask with one wrong cell: one layer and three."""
    mask = presets(len(words))["causal"].copy()
    mask[1, -1] = True
    fig, axes = style.panels(
        ["after 1 layer", "after 2 layers"], x="token it knows of", y="token that knows", size=(9.6, 4.2)
    )
    facts = []
    for ax, layers in zip(axes, (1, 2), strict=True):
        needed = layers_needed(mask, layers)
        wrong = leaks(needed)
        style.heat_map(ax, np.where(needed == NEVER, np.inf, needed), words, words, digits=0, limit=3)
        for text, (i, j) in zip(ax.texts, np.ndindex(wrong.shape), strict=True):
            shown = "·" if needed[i, j] == NEVER else f"{needed[i, j]}{'!' * bool(wrong[i, j])}"
            text.set(text=shown, color=style.INK, weight="bold" if wrong[i, j] else "normal")
            if wrong[i, j]:
                style.cell(ax, i, j, style.SKY)
        facts.append(
            f"after {_several(layers, 'layer', 'layers')} {_several(int(wrong.sum()), 'leak', 'leaks')}"
        )
    return style.show(
        fig,
        f"Two heat maps for a causal mask with one wrong cell, where “{words[1]}” may see “{words[-1]}”. Each "
        f"cell tells after how many layers a token knows of another; leaks are marked: {', '.join(facts)}.",
    )


def paint_mask(words: Sequence[str]) -> Panel:
    """Paint a mask over these words: who can know of whom, over one layer and over several?

    Raises:
        ValueError: more words than the picture has room for, or fewer than 3.
    """
    if not 3 <= len(words) <= MOST_TOKENS:
        raise ValueError(f"{len(words)} words; 3 to {MOST_TOKENS} fit")

    def draw(state: State) -> Drawing:
        return draw_reach(words, state["mask"], state["layers"], decoder=state["decoder"])

    return Panel(
        "masking",
        "Who knows of whom?",
        [
            slider("layers", "layers", range(1, MOST_LAYERS + 1), 1, str),
            switch("decoder", "the future is a leak", start=True),
            grid("mask", "may attend", words, presets(len(words)), "causal"),
        ],
        draw,
        lambda: still_reach(words),
    )
