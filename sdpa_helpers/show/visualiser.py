"""Walk through attention, one query at a time: a picture that moves, with or without a kernel.

    walk_through()                                                # a head that was trained: "Lea?" asks
    walk_through("does Lea drink green tea")                      # vectors made from the letters
    walk_through(head="looks up", scores=score)                   # the same head with a function of yours
    walk_through(head="next letter", mask=mask)                   # one that writes, and cheats where a mask leaks
    walk_through(tokens=words, queries=questions, Q=Q, K=K, V=V)  # your own

A panel that the page draws by itself (`visualiser.js`, with its numbers in `visualiser_numbers.js`): what a cell shows
is these scripts, inlined in HTML behind a still picture. So it moves in JupyterLab, in pages that nbconvert writes
and on a static site, where nobody runs Python; where scripts are removed (GitHub, a notebook that you have not run
yet) the still stays, with its alt text. `.widget()` gives the same as an anywidget, whose state Python can read
and set.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from sdpa_helpers.attention import scaled_dot_product_attention
from sdpa_helpers.head.letters import NAME as NEXT_LETTER
from sdpa_helpers.head.letters import LetterRun, run_letters
from sdpa_helpers.head.run import RUNS, HeadRun, run
from sdpa_helpers.head.stages import Stages, pair_or_matrix
from sdpa_helpers.show.panels import TOUCH, inlined, module, still_html
from sdpa_helpers.show.trained_heads import TrainedHead, head_called, trained_heads

if TYPE_CHECKING:
    from sdpa_helpers.show.figures import Picture
    from sdpa_helpers.show.panels_model import SettingsModel

NUMBERS = Path(__file__).with_name("visualiser_numbers.js")
_PARTS = ("words", "marks", "flow", "values", "look")
SCRIPTS = (
    TOUCH,
    NUMBERS,
    *(Path(__file__).with_name(f"visualiser_{part}.js") for part in _PARTS),
    Path(__file__).with_suffix(".js"),
)
TITLE = "Walk through attention, one query at a time"
WIDTH, VALUE_WIDTH, MOST_TOKENS = 64, 3, 12  # as in the module

SENTENCE = "does Lea drink green tea"
"""What its field says when somebody leaves a trained head for words of their own."""

Scale = Literal["none", "1/√d", "1/d"]
Mask = Literal["none", "causal", "padding", "window"]


def walk_through(
    sentence: str | None = None,
    *,
    head: str = "",
    tokens: Sequence[str] | None = None,
    queries: Sequence[str] | None = None,
    Q: ArrayLike | None = None,
    K: ArrayLike | None = None,
    V: ArrayLike | None = None,
    query: int | None = None,
    step: int = 1,
    d_k: int | None = None,
    scale: Scale | None = None,
    mask: Mask | Callable | None = None,
    mask_size: int = 2,
    temperature: float = 1.0,
    attention: Callable | None = None,
    scores: Callable | None = None,
    scaled: Callable | None = None,
    weights: Callable | None = None,
) -> "Walk | HeadRun | LetterRun":
    """The visualiser, as the result of a cell; or a trained head at work with a function that you wrote.

    Args:
        sentence: up to 12 words. Their vectors come from their letters by a fixed rule and mean nothing.
        head: the name of a trained head; its words, vectors and settings are taken. Without a sentence and
            vectors it is "looks up".
            "next letter" is one that writes; it runs with or without a function of yours.
        tokens: names of the keys, for your own vectors.
        queries: names of the queries; the tokens when there are as many queries as keys.
        Q: (n_q, d_k). With Q, K and V the sentence is not used.
        K: (n_k, d_k).
        V: (n_k, d_v).
        query: which query to show first, from 0; a trained head's is the word that asks.
        step: where to begin, 1 (scores) … 5 (weighted sum).
        d_k: how many coordinates count; all of your own, 4 of the 64 that a word has.
        scale: what the scores are multiplied by: 1/√d, or what a trained head had.
        mask: which keys are hidden, by name; or your function (n_q, n_k) → bool, True = may attend.
        mask_size: how many tokens are real ("padding"), how far a query sees to either side ("window").
        temperature: divides the scores as well; from 0.1 to 5.
        attention: your function (Q, K, V) → output, or (output, weights): the head "looks up" answers with it.
        scores: yours for the first stage alone: two vectors (q, k) → a number, or (Q, K) → (n_q, n_k).
        scaled: yours for the first two stages: (Q, K) → (n_q, n_k), the scale included.
        weights: yours for the softmax alone: scores (n_q, n_k) → weights.

    Raises:
        ValueError: vectors that do not fit together, more than 12 tokens, an unknown head, scale or mask, or
            a number out of range.
        TypeError: what should be a function is none.
    """
    stages = Stages(
        attention,
        pair_or_matrix(scores) if callable(scores) else scores,
        scaled,
        weights,
        mask=mask if callable(mask) else None,
    )
    if head == NEXT_LETTER:
        return run_letters(stages)
    if stages != Stages():
        if head not in ("", RUNS):
            raise ValueError(f"the head {RUNS!r} runs a function of yours; {head!r} shows one list only")
        return run(stages)
    assert not callable(mask)
    own = Q is not None or K is not None or V is not None
    if head and own:
        raise ValueError("give a head or your own Q, K and V, not both")
    head = head or ("" if own or sentence is not None else RUNS)
    trained = head_called(head) if head else None
    if trained:
        shown = _Vectors(trained.Q, trained.K, trained.V, trained.tokens, trained.tokens)
    elif own:
        shown = _own_vectors(Q, K, V, tokens, queries)
    else:
        shown = _vectors_of(sentence or "")
        d_k = 4 if d_k is None else d_k
    wanted = {"query": query, "step": step, "d_k": d_k, "temperature": temperature, "mask_size": mask_size}
    settings = _settings(wanted | {"scale": scale, "mask": mask}, shown, trained)
    return Walk(shown.keys, shown.asked, shown.Q, shown.K, shown.V, settings, own, trained)


class _Vectors(NamedTuple):
    """What meets what, and the names of the keys and of the queries."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    keys: list[str]
    asked: list[str]


def _own_vectors(
    Q: ArrayLike | None,
    K: ArrayLike | None,
    V: ArrayLike | None,
    tokens: Sequence[str] | None,
    queries: Sequence[str] | None,
) -> _Vectors:
    q, k, v = _checked(Q, K, V)
    return _Vectors(q, k, v, *_names(tokens, queries, len(q), len(k)))


def _settings(wanted: dict[str, Any], shown: _Vectors, trained: TrainedHead | None) -> dict[str, Any]:
    """What is wanted, where it may be so; what is left open (None) is as the head was trained, or as usual."""
    width = shown.Q.shape[1]
    usual = {"query": 0, "d_k": width, "scale": "1/√d", "mask": "none"}
    if trained:
        usual |= {"query": trained.query, "scale": trained.scale, "mask": trained.mask}
    chosen = usual | {name: value for name, value in wanted.items() if value is not None}
    return {
        "query": int(_within("query", chosen["query"], 0, len(shown.Q) - 1)),
        "step": int(_within("step", chosen["step"], 1, 5)),
        "dk": int(_within("d_k", chosen["d_k"], 1, width)),
        "temperature": float(_within("temperature", chosen["temperature"], 0.1, 5)),
        "scale": _known("scale", chosen["scale"], get_args(Scale)),
        "mask": _known("mask", chosen["mask"], get_args(Mask)),
        "size": int(_within("mask_size", chosen["mask_size"], 0, MOST_TOKENS)),
        "head": trained.name if trained else "",
    }


def _vectors_of(sentence: str) -> _Vectors:
    names = sentence.split()
    if not 1 <= len(names) <= MOST_TOKENS:
        raise ValueError(f"the sentence has {len(names)} words; 1 to {MOST_TOKENS} fit")
    made = {"q": WIDTH, "k": WIDTH, "v": VALUE_WIDTH}
    q, k, v = (np.array([vector_of(word, kind, n) for word in names]) for kind, n in made.items())
    return _Vectors(q, k, v, names, names)


def vector_of(word: str, kind: str, width: int) -> list[float]:
    """What `vectorOf` in the module makes of a word: coordinates of variance 1 with two decimals."""
    whole = 0xFFFFFFFF
    state = 2166136261
    for byte in f"{kind}:{word.lower()}".encode():
        state = (state ^ byte) * 16777619 & whole

    def next_number() -> int:
        """A whole number below 2**16, as likely as any other."""
        nonlocal state
        state = (state + 0x6D2B79F5) & whole
        t = (state ^ state >> 15) * (1 | state) & whole
        t = (t + ((t ^ t >> 7) * (61 | t) & whole)) & whole ^ t
        return (t ^ t >> 14) >> 16

    def coordinate() -> float:
        """Four of them, nearly a normal number."""
        total = sum(next_number() for _ in range(4)) - 131070
        return float(np.floor(total * 17321 / 6553600 + 0.5) / 100)

    return [coordinate() for _ in range(width)]


class Numbers(NamedTuple):
    """What each step before the weights computes: matrices of queries × keys."""

    scores: np.ndarray
    scaled: np.ndarray
    masked: np.ndarray


@dataclass(frozen=True)
class Walk:
    """Attention for a few tokens, shown one query at a time."""

    tokens: list[str]
    queries: list[str]
    Q: np.ndarray = field(repr=False)
    K: np.ndarray = field(repr=False)
    V: np.ndarray = field(repr=False)
    settings: dict[str, Any]
    own: bool = False
    head: TrainedHead | None = None

    def allowed(self) -> np.ndarray:
        """(n_q, n_k), True where a query may see a key."""
        i, j = np.indices((len(self.Q), len(self.K)))
        size = self.settings["size"]
        masks = {"causal": j <= i, "padding": j < size, "window": abs(i - j) <= size}
        return masks.get(self.settings["mask"], np.ones(i.shape, dtype=bool))

    @property
    def divisor(self) -> float:
        """What the scores are divided by."""
        d = self.settings["dk"]
        return {"none": 1.0, "1/√d": d**0.5, "1/d": float(d)}[self.settings["scale"]] * self.settings[
            "temperature"
        ]

    @property
    def divisor_name(self) -> str:
        """The divisor as the picture writes it: "√d_k", "2.0 √d_k", "1"."""
        root = {"none": "", "1/√d": "√d_k", "1/d": "d_k"}[self.settings["scale"]]
        warm = "" if self.settings["temperature"] == 1 else f"{self.settings['temperature']:.1f}"
        return f"{warm} {root}".strip() or "1"

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights of all queries, with the settings at the start: what the package computes."""
        d = self.settings["dk"]
        with np.errstate(all="ignore"):  # NaN and ∞ are shown, not warned about
            return scaled_dot_product_attention(
                self.Q[:, :d],
                self.K[:, :d],
                self.V,
                self.allowed(),
                scale=1 / self.divisor,
                return_weights=True,
            )[1]

    @cached_property
    def numbers(self) -> "Numbers":
        """What the steps before the weights compute, for all queries."""
        d = self.settings["dk"]
        with np.errstate(all="ignore"):
            scores = np.array([[sum(q * k) for k in self.K[:, :d]] for q in self.Q[:, :d]])
            scaled = scores / self.divisor
        return Numbers(scores, scaled, np.where(self.allowed(), scaled, -np.inf))

    def given(self) -> dict[str, Any]:
        """What the module needs to begin."""
        begin = {"body": "walk", "title": TITLE, "sentence": SENTENCE if self.head else " ".join(self.tokens)}
        if self.own:
            vectors = {name: _plain(array) for name, array in (("Q", self.Q), ("K", self.K), ("V", self.V))}
            data = {"tokens": self.tokens, "queries": self.queries, **vectors}
        else:
            data = {"heads": [head.given() for head in trained_heads()]}
        return begin | data | self.settings

    def widget(self) -> "SettingsModel":
        """The same as an anywidget: Python can read and set query, step, mask, … while it is shown."""
        from sdpa_helpers.show.panels_model import SettingsModel

        return SettingsModel(module(*SCRIPTS), self.given(), self.settings)

    def still(self) -> "Picture":
        """The picture that stays where scripts do not run."""
        from sdpa_helpers.show.visualiser_still import Shown, draw

        scores, scaled, masked = self.numbers
        return draw(
            Shown(
                tokens=self.tokens, queries=self.queries, Q=self.Q, K=self.K, V=self.V, settings=self.settings,
                seen=self.allowed(), scores=scores, scaled=scaled, masked=masked, weights=self.weights,
                divisor=self.divisor_name, told=self.text(), about=self.head.says if self.head else "",
            )
        )  # fmt: skip

    def text(self) -> str:
        """What is shown first, in a sentence."""
        i, step, numbers = self.settings["query"], self.settings["step"], self.numbers
        values = (numbers.scores, numbers.scaled, numbers.masked, self.weights, self.weights)[step - 1][i]
        told = ", ".join(f"{token} {_written(x)}" for token, x in zip(self.tokens, values, strict=True))
        query, seen = f"The query “{self.queries[i]}”", int(self.allowed()[i].sum())
        with np.errstate(all="ignore"):
            output = ", ".join(_written(x) for x in self.weights[i] @ self.V)
        return {
            1: f"{query} meets every key: products, coordinate by coordinate, add up to scores: {told}.",
            2: f"{query} divides its scores by {self.divisor_name} = {self.divisor:.2f}: {told}.",
            3: f"{query} may see {seen} of {len(self.tokens)} keys; the others get −∞. Scores: {told}.",
            4: f"{query} gives these weights, pieces of one bar of length 1: {told}.",
            5: f"{query} gives these weights: {told}. The values, weighted, add up to the output ({output}).",
        }[step]

    def html(self) -> str:
        """The still, and a script that puts the living picture in its place. Needs no network and no kernel."""
        note = "Run this cell, and the picture moves: attention step by step, one query at a time."
        return inlined(still_html(self.still), note, self.given(), SCRIPTS)

    def __repr__(self) -> str:
        return f"{TITLE}. {self.text()}"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}


def _checked(Q: ArrayLike | None, K: ArrayLike | None, V: ArrayLike | None) -> list[np.ndarray]:
    if Q is None or K is None or V is None:
        raise ValueError("give all three of Q, K and V, or none of them and a sentence")
    arrays = [np.asarray(array, dtype=float) for array in (Q, K, V)]
    for name, array in zip("QKV", arrays, strict=True):
        if array.ndim != 2 or not array.size:
            raise ValueError(
                f"{name} has shape {array.shape}, but must have two dimensions, neither of them 0"
            )
        if len(array) > MOST_TOKENS:
            raise ValueError(f"{name} has {len(array)} rows; the picture has room for {MOST_TOKENS}")
    q, k, v = arrays
    if q.shape[1] != k.shape[1]:
        raise ValueError(f"Q has rows of {q.shape[1]} numbers and K of {k.shape[1]}: both need d_k of them")
    if len(k) != len(v):
        raise ValueError(f"K has {len(k)} rows and V has {len(v)}: every key needs one value")
    return arrays


def _names(
    tokens: Sequence[str] | None, queries: Sequence[str] | None, n_q: int, n_k: int
) -> tuple[list[str], list[str]]:
    keys = [f"k{j + 1}" for j in range(n_k)] if tokens is None else [str(token) for token in tokens]
    if queries is None:
        asked = keys if n_q == n_k else [f"q{i + 1}" for i in range(n_q)]
    else:
        asked = [str(name) for name in queries]
    for what, names, n in (("tokens", keys, n_k), ("queries", asked, n_q)):
        if len(names) != n:
            raise ValueError(f"{what} has {len(names)} names for {n} vectors")
    return keys, asked


def _written(x: float) -> str:
    if np.isinf(x):
        return "∞" if x > 0 else "−∞"
    text = "NaN" if np.isnan(x) else f"{x:.2f}"
    return text.lstrip("-") if text == "-0.00" else text.replace("-", "−")


def _known(name: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ValueError(f"{name} is {value!r}, but must be one of {known}")
    return value


def _within(name: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}, but must be from {low} to {high}")
    return value


def _plain(array: np.ndarray) -> list[list[float | str]]:
    """Lists for JSON, which knows no NaN and no infinity: those go as text."""
    return [[x if np.isfinite(x) else str(x) for x in row] for row in array.tolist()]
