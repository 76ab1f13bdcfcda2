"""Lesson 05, masking: its figures. They draw what `experiments` computes."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from numpy import ndarray as Array

from sdpa_helpers.lessons.masking.experiments import future_weight
from sdpa_helpers.show.figures import (
    INK,
    PAPER,
    WEIGHT,
    Picture,
    bars,
    cell,
    cells,
    figure,
    heat_map,
    legend,
    panels,
    show,
    write,
)


def plot_scores_and_weights(
    scores: Float[Array, "n n"], weights: Float[Array, "n n"], words: Sequence[str]
) -> Picture:
    """Masked scores beside the weights that softmax makes of them."""
    fig, axes = panels(
        ["masked scores", "weights: each row adds up to 1"], x="key", y="query", size=(9.2, 3.4)
    )
    for ax, matrix, colour in zip(axes, (scores, weights), (INK, WEIGHT), strict=True):
        heat_map(ax, matrix, words, words, colour=colour)
    facts = "; ".join(
        f"{word}: " + ", ".join(write(w, 2) for w in row) for word, row in zip(words, weights, strict=True)
    )
    return show(
        fig, f"Two heat maps. Above the diagonal the scores are −∞ and the weights 0. Weights: {facts}."
    )


def _table(ax: Axes, share: Array, texts: list[list[str]], size: float = 11) -> None:
    """A table of cells, filled with these shares of ink, with texts in them; its sides are numbered."""
    cells(ax, *(list(map(str, range(n))) for n in share.shape))
    for (i, j), filled in np.ndenumerate(share):
        cell(ax, i, j, INK, float(filled))
        ax.text(j, i, texts[i][j], color=INK, fontsize=size, ha="center", va="center")
    ax.set_aspect("equal")


def _rows(mask: Bool[Array, "n_q n_k"]) -> str:
    return "/".join("".join("x" if seen else "-" for seen in row) for row in mask)


def plot_masks(masks: Mapping[str, Bool[Array, "n_q n_k"]]) -> Picture:
    """Boolean masks side by side: filled, with a dot, where the query may attend."""
    fig, axes = panels(list(masks), x="key", y="query", size=(9.6, 2.7))
    for ax, (name, mask) in zip(axes, masks.items(), strict=True):
        _table(ax, mask, np.where(mask, "●", "").tolist(), 10)
        ax.set_title(name, color=INK, fontsize=10.5, loc="left", pad=8)
    facts = "; ".join(f"{name.replace(chr(10), ' ')} {_rows(mask)}" for name, mask in masks.items())
    return show(fig, f"Masks, one row for each query, x where it may attend, - where not: {facts}.")


def plot_alignment(top_left: Bool[Array, "n_q n_k"], bottom_right: Bool[Array, "n_q n_k"]) -> Picture:
    """The two ways to lay a causal triangle into a matrix that is not square."""
    fig, axes = panels(
        ["top left: torch's is_causal", "bottom right: what a cache needs"],
        x="key (token number)",
        y="query (new token)",
        size=(8.6, 2.5),
    )
    for ax, mask in zip(axes, (top_left, bottom_right), strict=True):
        _table(ax, mask, np.where(mask, "●", "").tolist())
    return show(
        fig,
        f"Two masks for {len(top_left)} queries and {len(top_left[0])} keys, x where a query may attend. "
        f"Top left: {_rows(top_left)}. Bottom right: {_rows(bottom_right)}.",
    )


def plot_conventions(written: Mapping[str, Array], columns: int = 3) -> Picture:
    """One padding mask in every convention: equal shading means the same, whatever is written in the cells."""
    fig, ax = figure(
        "One padding mask: shaded keys may be seen",
        x="key (in each table)",
        y="sentence (in each table)",
        size=(9.2, 4.6),
    )
    tables = {name: np.reshape(mask, (-1, np.shape(mask)[-1])) for name, mask in written.items()}
    n_k = max(len(table[0]) for table in tables.values())
    sentences = max(len(table) for table in tables.values())
    high, wide = sentences + 1.2, n_k + 0.6  # the room of one table, its name included
    facts = []
    for number, (name, table) in enumerate(tables.items()):
        i, j = (number // columns) * high, (number % columns) * wide
        ax.text(j - 0.46, i - 0.62, name, color=INK, fontsize=10.5, va="bottom")
        for (row, column), entry in np.ndenumerate(table):
            visible = entry == table[0, 0]  # the first key of the first sentence is
            cell(ax, i + row, j + column, INK, 0.75 * float(visible))
            ax.text(j + column, i + row, _short(entry), color=INK, fontsize=10, ha="center", va="center")
        facts.append(f"{name}: a visible key is {_short(table[0, 0])}, a hidden one {_short(table[-1, -1])}")
    height, width = -(-len(written) // columns) * high, columns * wide
    ax.set(xlim=(-0.6, width - 1), ylim=(height - 1.6, -1.3), xticks=[], yticks=[])
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    return show(fig, f"The same padding mask, written {len(written)} times. {'; '.join(facts)}.")


def _short(entry: object) -> str:
    if isinstance(entry, np.bool_):
        return "True" if entry else "False"
    number = float(entry)  # type: ignore[arg-type]
    return "−∞" if number == -np.inf else "−3.4e38" if number < -1e38 else f"{number:g}"


def plot_masks_in_short(n: int = 4) -> Picture:
    """For the cheat card: a causal mask, a padding mask, and both."""
    causal = np.tri(n, dtype=bool)
    padding = np.tile(np.arange(n) < n - 1, (n, 1))
    fig, axes = panels(["causal", "padding", "both"], x="key", y="query", size=(4.4, 1.9))
    for ax, mask in zip(axes, (causal, padding, causal & padding), strict=True):
        _table(ax, mask, np.where(mask, "●", "").tolist(), 9)
    for ax in axes[1:]:
        ax.set_ylabel("")
    facts = f"causal {_rows(causal)}; padding {_rows(padding)}; both {_rows(causal & padding)}"
    return show(fig, f"Three masks, x where a query may attend, - where not: {facts}.")


def plot_future_weight(weights: Mapping[str, Float[Array, "n n"]], word: str) -> Picture:
    """What each misuse lets the first query put on later keys, and what its row adds up to."""
    fig, ax = figure(
        f"“{word}” may see itself alone: what does it see?",
        x="how the mask is used",
        y="weight",
        size=(9.2, 3.6),
    )
    future = [future_weight(w) for w in weights.values()]
    total = [float(w[0].sum()) for w in weights.values()]
    bars(
        ax,
        [name.replace(" ", "\n", 1) for name in weights],
        {"on the future": future, "in all": total},
        colours=(WEIGHT, PAPER),
    )
    legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    facts = "; ".join(
        f"{name}: {write(f, 2)} of {write(t, 2)}" for name, f, t in zip(weights, future, total, strict=True)
    )
    return show(
        fig, f"Bar chart of the weight that {word} puts on the future, of the weight in all. {facts}."
    )


def plot_decoding(
    whole: Float[Array, "n d_v"], others: Mapping[str, Float[Array, "n d_v"]], words: Sequence[str]
) -> Picture:
    """How far decoding step by step is from the whole text at once."""
    fig, ax = figure(
        "Decoding with a cache: distance from the right output",
        x="new token",
        y="largest difference of a coordinate",
        size=(8.0, 3.4),
    )
    distances = {name: np.abs(output - whole).max(axis=-1) for name, output in others.items()}
    bars(ax, words, distances)
    facts = "; ".join(
        f"{name}: " + ", ".join(write(d, 2) for d in distance) for name, distance in distances.items()
    )
    return show(fig, f"Bar chart of differences for the tokens {', '.join(words)}. {facts}.")


def plot_influence(influences: Mapping[str, Float[Array, "n n"]], moved: str) -> Picture:
    """Who moves whom: rows are outputs, columns the key or value that was moved."""
    fig, axes = panels([""] * len(influences), x=f"{moved} moved", y="output", size=(9.8, 2.7))
    counts = []
    for ax, (name, influence) in zip(axes, influences.items(), strict=True):
        future = np.triu(np.ones(influence.shape, dtype=bool), k=1)
        leak, allowed = future & (influence != 0), ~future & (influence != 0)
        _table(ax, leak + 0.3 * allowed, np.where(leak, "×", np.where(allowed, "·", "")).tolist(), 13)
        ax.set_title(_in_lines(name), color=INK, fontsize=10, loc="left", pad=8)
        counts.append(f"{name}: {int(leak.sum())} of {int(future.sum())}")
    return show(
        fig,
        f"One matrix for each attention; a cross marks an output that moved although the {moved} lies in its future. "
        f"Cells with a leak: {'; '.join(counts)}.",
    )


def _in_lines(name: str) -> str:
    words = name.split()
    return "\n".join(" ".join(filter(None, pair)) for pair in zip_longest(words[::2], words[1::2]))
