"""The claims that lesson 01 runs: what a dot product measures, what softmax makes of it, and the shapes."""

import numpy as np

from sdpa_helpers.attention import causal_mask, scaled_dot_product_attention, softmax
from sdpa_helpers.course.claim import Claim, Numbers, always, holds, not_shown_if, right_if
from sdpa_helpers.lessons.dot_product import experiments

# The input of the lesson: four queries, the keys of five words, and their values.
_Q = np.array([[1, 0, 0], [1, 0, -1], [0, 1, 0], [0, 0, 1]], dtype=float)
_K = np.array([[0, 0, 0], [1, 0, -0.5], [0, 2, 0], [0, 0, 2], [2, 0, 2]], dtype=float)
_V = np.array([[0, 1], [4, 0], [1, 4], [2, 2], [5, 3]], dtype=float)
_PAGES = np.array([0.92, 0.15, 0.78, 0.45])
_PAIR, _THREE = np.array([[1, 0], [0, 1]]), np.array([[1, 0], [1, 1], [0, 1]])


def _all_of(part: str, whole: str):
    return right_if(lambda v: v[part] == v[whole] > 0)


def _near(a: float, b: float, within: float = 1e-9) -> bool:
    return abs(a - b) < within


def _accepted(n_q: int = 4, n_k: int = 5, n_v: int = 5, d_q: int = 3, d_k: int = 3, d_v: int = 2) -> bool:
    """Whether attention takes arrays of these sizes, and then gives an output of (n_q, d_v)."""
    rng = np.random.default_rng(0)
    query, key, value = (rng.standard_normal(shape) for shape in ((n_q, d_q), (n_k, d_k), (n_v, d_v)))
    try:
        return scaled_dot_product_attention(query, key, value).shape == (n_q, d_v)
    except ValueError:
        return False


# Vectors -----------------------------------------------------------------------------------------------------


def _length_against_angle() -> Numbers:
    rng = np.random.default_rng(1)
    agree = 0
    for d in range(2, 102):
        a, b = rng.standard_normal((2, d))
        long_a, long_b, across = (np.linalg.norm(v) for v in (a, b, a - b))
        cosine = (long_a**2 + long_b**2 - across**2) / (
            2 * long_a * long_b
        )  # from the triangle's three sides
        agree += np.isclose(a @ b, long_a * long_b * cosine, rtol=1e-9)
    return {"pairs": 100, "agree": agree}


def _scores_at_angles() -> Numbers:
    return {
        "same_way": float(experiments.score_at(0)),
        "same_way_short": float(experiments.score_at(0, 0.1, 0.1)),
        "long_at_60": float(experiments.score_at(60, 1, 5)),
        "perpendicular": float(np.array([1.0, 0.0]) @ np.array([0.0, 1.0])),
        "at_100": float(experiments.score_at(100)),
        "opposed": float(experiments.score_at(180)),
        "weight_of_zero": softmax(_K @ _Q[0])[0],
    }


def _equal_scores() -> Numbers:
    first, second = _THREE[:2] @ _PAIR[0]
    cosines = _THREE[:2] @ _PAIR[0] / np.linalg.norm(_THREE[:2], axis=-1)
    return {"score_1": first, "score_2": second, "cosine_1": cosines[0], "cosine_2": cosines[1]}


def _matching(ours: np.ndarray, printed: list[list[float]]) -> Numbers:
    return {"printed": ours.size, "matching": np.isclose(ours, printed, atol=1e-12).sum()}


# Weights -----------------------------------------------------------------------------------------------------


def _not_in_proportion() -> Numbers:
    light, heavy = softmax(np.array([1.0, 2.0]))
    weights = softmax(np.array([1.0, 0.0, -3.0]))
    return {"score_ratio": 2, "weight_ratio": heavy / light, "of_zero": weights[1], "of_minus_3": weights[2]}


def _on_itself() -> Numbers:
    cat = softmax(_K @ _K.T)[1]
    return {"itself": cat[1], "others": cat.sum() - cat[1]}


def _values_inside() -> Numbers:
    S = _Q @ _K.T
    outside = [(softmax(S) @ (factor * _V))[0, 0] for factor in (1, 10)]
    inside = [softmax(S @ (factor * _V))[0, 0] for factor in (1, 10)]
    return {
        "outside": outside[0],
        "outside_10": outside[1],
        "inside": inside[0],
        "inside_10": inside[1],
    }


def _pages() -> Numbers:
    weights, sharper = softmax(_PAGES), softmax(10 * _PAGES)
    kept = sum((np.argsort(w) == np.argsort(_PAGES)).all() for w in (weights, sharper))
    return {"kept": kept, "tried": 2, "first": weights[0], "first_10": sharper[0], "last": weights.min()}


def _row_of_weights() -> Numbers:
    row = np.array([0.05, 0.60, 0.25, 0.05, 0.03, 0.02])
    return {"total": row.sum(), "smallest": row.min()}


def _dependence() -> Numbers:
    weights = softmax(_K @ _Q[0])
    without = softmax(_K[:4] @ _Q[0]) @ _V[:4]
    alike = np.vstack([_V[:4], without])
    return {
        "weight": weights[4],
        "moved": np.abs(weights @ _V - without).max(),
        "moved_alike": np.abs(weights @ alike - without).max(),
    }


def _pronoun() -> Numbers:
    weights = experiments.weights_of_random_models(n_words=7, asks=5)
    low, middle, high = np.percentile(weights[:, 0], [5, 50, 95])
    first = (weights.argmax(axis=-1) == 0).mean()
    return {"low": low, "middle": middle, "high": high, "share_first": first, "equal_share": 1 / 7}


def _hull() -> Numbers:
    outputs = experiments.outputs_of_random_queries(_K, _V)
    outside = experiments.distance_outside(experiments.convex_hull(_V), outputs) > 1e-9
    return {"outputs": len(outputs), "inside": (~outside).sum()}


def _all_values_count() -> Numbers:
    weights = softmax(_Q @ _K.T)
    moves = 0
    for j in range(5):
        changed = _V.copy()
        changed[j] += 1
        moves += ((weights @ changed - weights @ _V) > 1e-6).all(axis=-1).sum()
    return {"pairs": weights.size, "positive": (weights > 0).sum(), "moves": moves, "total": weights[0].sum()}


# Shapes ------------------------------------------------------------------------------------------------------


def _score_shapes() -> Numbers:
    cross = scaled_dot_product_attention(_Q, _K, _V, return_weights=True)[1].shape
    own = scaled_dot_product_attention(_K, _K, _V, return_weights=True)[1].shape
    return {"rows": cross[0], "columns": cross[1], "own_rows": own[0], "own_columns": own[1]}


def _all_pairs() -> Numbers:
    S = _Q @ _K.T
    agree = sum(
        S[i, j] == sum(a * b for a, b in zip(_Q[i], _K[j], strict=True)) for i, j in np.ndindex(S.shape)
    )
    return {"n_q": len(_Q), "n_k": len(_K), "pairs": S.size, "agree": agree}


def _widths() -> Numbers:
    widths = range(1, 7)
    return {
        "tried": len(widths),
        "d_k": _K.shape[-1],
        "query_widths": sum(_accepted(d_q=d) for d in widths),
        "the_query_width": next(d for d in widths if _accepted(d_q=d)),
        "value_widths": sum(_accepted(d_v=d) for d in widths),
    }


def _three_shapes() -> Numbers:
    broken = [_accepted(d_q=4), _accepted(d_k=4), _accepted(n_v=4), _accepted(n_k=4)]
    return {"as_stated": _accepted(), "broken": len(broken), "refused": len(broken) - sum(broken)}


def _sources() -> Numbers:
    elsewhere = np.random.default_rng(0).standard_normal((5, 2))
    taken = scaled_dot_product_attention(_Q, _K, elsewhere).shape == (4, 2)
    return {"elsewhere_taken": taken, "shorter_taken": _accepted(n_v=4)}


def _heads() -> Numbers:
    rng = np.random.default_rng(0)
    query, key, value = rng.standard_normal((3, 2, 3, 5, 4))  # (batch, heads, n, d_k) = (2, 3, 5, 4)
    shape = scaled_dot_product_attention(query, key, value, return_weights=True)[1].shape
    return dict(zip(("batch", "heads", "rows", "columns"), shape, strict=True)) | {"n": query.shape[-2]}


def _steps() -> Numbers:
    moved = experiments.moved_without_each_step(_Q, _K, _V, causal_mask(4, 5))
    return {
        "announced": 4,
        "numbered": len(moved),
        "matter": sum(distance > 0.01 for distance in moved.values()),
        "least": min(moved.values()),
    }


_square_only_alone = holds(
    lambda v: v["own_rows"] == v["own_columns"], lambda v: v["rows"] == v["columns"]
)  # square for self-attention; square whatever the queries are?

CLAIMS = (
    Claim(
        1,
        "A",
        "Scaled dot-product attention is the core of every transformer.",
        "01_dot_product, More claims, checked",
        "True of the model of 2017 and its direct line. Models called transformers also do without it: FNet "
        "compares no keys, linear attention has no softmax.",
        None,
        always("needs a condition"),
        kind="history",
        source="Vaswani et al. 2017; Lee-Thorp et al. 2021, arXiv:2105.03824; Katharopoulos et al. 2020, "
        "arXiv:2006.16236",
    ),
    Claim(
        2,
        "A",
        "Scores become weights through softmax, and the weights mix the values.",
        "01_dot_product, From a dictionary to attention",
        "{inside:.0f} of {outputs:.0f} outputs lie in the convex hull of the values, as mixtures must.",
        _hull,
        _all_of("inside", "outputs"),
    ),
    Claim(
        4,
        "A",
        "d_k is the number of coordinates of a key.",
        "01_dot_product, Five words, four questions",
        "With keys of width {d_k:.0f}, {query_widths:.0f} of {tried:.0f} query widths works ({the_query_width:.0f}); "
        "of the value widths {value_widths:.0f} of {tried:.0f} do.",
        _widths,
        right_if(
            lambda v: v["query_widths"] == 1 and v["the_query_width"] == v["d_k"] and v["value_widths"] > 1
        ),
    ),
    Claim(
        5,
        "A",
        "A key gets attention in proportion to its dot product with the query.",
        "01_dot_product, Find the error in this article",
        "Scores 1 and 2: weight ratio {weight_ratio:.3f}, not {score_ratio:.0f}. Among the scores 1, 0, −3 the zero "
        "gets {of_zero:.3f} and the negative one {of_minus_3:.3f}: the weight is proportional to exp(score).",
        _not_in_proportion,
        right_if(lambda v: _near(v["weight_ratio"], v["score_ratio"], 0.01)),
    ),
    Claim(
        6,
        "A",
        "A large positive dot product means that two vectors point the same way.",
        "01_dot_product, Length and angle",
        "A key of length 1 in the same direction scores {same_way:.1f}; a key of length 5, 60° off, scores "
        "{long_at_60:.1f}.",
        _scores_at_angles,
        holds(lambda v: v["same_way"] > 0, lambda v: v["same_way"] >= v["long_at_60"]),
    ),
    Claim(
        7,
        "A",
        "A dot product near zero means that the vectors have nothing in common.",
        "01_dot_product, Length and angle",
        "Perpendicular: {perpendicular:.2f}. The same direction, but lengths of 0.1: {same_way_short:.2f}, near zero "
        "as well. And a key that scores 0 still gets weight {weight_of_zero:.3f} in the lesson's first row.",
        _scores_at_angles,
        holds(lambda v: abs(v["perpendicular"]) < 0.05, lambda v: abs(v["same_way_short"]) > 0.05),
    ),
    Claim(
        8,
        "A",
        "A negative dot product means opposite directions.",
        "01_dot_product, Length and angle",
        "At 180° unit vectors score {opposed:.2f}, but at 100° already {at_100:.3f}: negative is any angle above 90°.",
        _scores_at_angles,
        holds(lambda v: v["opposed"] < 0, lambda v: v["at_100"] >= 0),
    ),
    Claim(
        9,
        "A",
        "The product of Q and Kᵀ holds every pair of a query and a key.",
        "01_dot_product, All pairs at once",
        "{agree:.0f} of {pairs:.0f} entries equal the dot product of their pair ({n_q:.0f} queries, {n_k:.0f} keys).",
        _all_pairs,
        _all_of("agree", "pairs"),
    ),
    Claim(
        18,
        "A",
        "The scores form a square matrix with the sequence length on both sides.",
        "01_dot_product, All pairs at once",
        "Self-attention over five words: {own_rows:.0f} × {own_columns:.0f}. Four queries and five keys: "
        "{rows:.0f} × {columns:.0f}.",
        _score_shapes,
        _square_only_alone,
    ),
    Claim(
        54,
        "C",
        "Each token decides how much to look at the others.",
        "01_dot_product, More claims, checked",
        "At itself too: cat gives itself {itself:.2f} and all others together {others:.2f}.",
        _on_itself,
        holds(lambda v: v["others"] > 0, lambda v: v["itself"] == 0),
    ),
    Claim(
        56,
        "C",
        "Softmax acts on the scores and must not act on the values.",
        "01_dot_product, More claims, checked",
        "Values ten times as large: an output of {outside:.2f} becomes {outside_10:.2f}. With the values inside the "
        "softmax it goes from {inside:.2f} to {inside_10:.2f}: the content is lost.",
        _values_inside,
        right_if(
            lambda v: (
                _near(v["outside_10"], 10 * v["outside"]) and not _near(v["inside_10"], 10 * v["inside"])
            )
        ),
    ),
    Claim(
        57,
        "C",
        "The attention matrix is n × n.",
        "01_dot_product, All pairs at once",
        "Self-attention over five words: {own_rows:.0f} × {own_columns:.0f}. Four queries and five keys: "
        "{rows:.0f} × {columns:.0f}.",
        _score_shapes,
        _square_only_alone,
    ),
    Claim(
        58,
        "C",
        "Six printed weights form a row of attention.",
        "01_dot_product, More claims, checked",
        "They add up to {total:.2f} and the smallest is {smallest:.2f}, so they can be one. No model gave them.",
        _row_of_weights,
        right_if(lambda v: _near(v["total"], 1, 0.005) and v["smallest"] > 0),
    ),
    Claim(
        59,
        "C",
        "The weights show which word depends on which, and the grammar of the sentence.",
        "01_dot_product, More claims, checked",
        "Taking away dogs, of weight {weight:.2f}, moves the output by {moved:.2f}; with another value and the same "
        "weight by {moved_alike:.2f}: so a weight alone does not say. The article measures nothing; how far weights "
        "explain is debated (Jain and Wallace 2019, arXiv:1902.10186; Wiegreffe and Pinter 2019, arXiv:1908.04626).",
        _dependence,
        not_shown_if(lambda v: v["moved"] > 0.01 > v["moved_alike"]),
    ),
    Claim(
        60,
        "C",
        "A pronoun attends strongly to the name it refers to.",
        "01_dot_product, More claims, checked",
        "2000 random models, 7 words: the pronoun gives the name between {low:.2f} and {high:.2f} in nine of ten "
        "(middle {middle:.2f}, equal share {equal_share:.2f}), and most of all in {share_first:.1%}. Only training can "
        "make it so; the article names no model.",
        _pronoun,
        not_shown_if(lambda v: v["low"] < v["equal_share"] < v["high"]),
        relative=1e-4,
        stand_in="models that have learned nothing; a trained one is not in this course",
    ),
    Claim(
        61,
        "C",
        "Softmax ranks the pages that a search found.",
        "01_dot_product, More claims, checked",
        "The order is kept {kept:.0f} times of {tried:.0f}. But the same ranking goes with a weight of {first:.2f} or "
        "{first_10:.2f} for the first page, and the last of four still gets {last:.2f}.",
        _pages,
        holds(lambda v: v["kept"] == v["tried"], lambda v: _near(v["first"], v["first_10"])),
    ),
    Claim(
        65,
        "C",
        "Q is n_q × d_k, K is n_k × d_k and V is n_k × d_v.",
        "01_dot_product, From a dictionary to attention",
        "These sizes work, with an output of n_q × d_v; {refused:.0f} of {broken:.0f} arrays that break one of the "
        "equalities are refused.",
        _three_shapes,
        right_if(lambda v: v["as_stated"] == 1 and v["refused"] == v["broken"] > 0),
    ),
    Claim(
        66,
        "C",
        "Keys and values are equally many because they come from the same source.",
        "01_dot_product, More claims, checked",
        "Equally many they must be: one value fewer is taken {shorter_taken:.0f} times of 1. But values from another "
        "source are taken {elsewhere_taken:.0f} time of 1: the matrix product asks for it, not the source.",
        _sources,
        holds(lambda v: v["shorter_taken"] == 0, lambda v: v["elsewhere_taken"] == 0),
    ),
    Claim(
        67,
        "C",
        "d_v need not equal d_k.",
        "01_dot_product, From a dictionary to attention",
        "With d_k = {d_k:.0f}, {value_widths:.0f} of {tried:.0f} value widths work.",
        _widths,
        _all_of("value_widths", "tried"),
    ),
    Claim(
        68,
        "C",
        "A dot product is the product of both lengths and the cosine of the angle.",
        "01_dot_product, Length and angle",
        "{agree:.0f} of {pairs:.0f} pairs in 2 to 101 dimensions agree, the angle taken from the triangle's sides.",
        _length_against_angle,
        _all_of("agree", "pairs"),
    ),
    Claim(
        69,
        "C",
        "Vectors in the same direction have a high, positive dot product.",
        "01_dot_product, More claims, checked",
        "Positive: {same_way:.2f} for length 1. High only if they are long: {same_way_short:.2f} for lengths of 0.1, "
        "where a long key at 60° has {long_at_60:.2f}.",
        _scores_at_angles,
        holds(lambda v: v["same_way"] > 0, lambda v: v["same_way_short"] >= v["long_at_60"]),
    ),
    Claim(
        70,
        "C",
        "Perpendicular vectors have dot product zero, opposite ones a negative one.",
        "01_dot_product, Length and angle",
        "At 90°: {perpendicular:.2f}; at 180°: {opposed:.2f}.",
        _scores_at_angles,
        right_if(lambda v: _near(v["perpendicular"], 0) and v["opposed"] < 0),
    ),
    Claim(
        71,
        "C",
        "The scores have the shape n_q × n_k.",
        "01_dot_product, All pairs at once",
        "{n_q:.0f} queries and {n_k:.0f} keys give {rows:.0f} × {columns:.0f}.",
        lambda: {**_score_shapes(), "n_q": len(_Q), "n_k": len(_K)},
        right_if(lambda v: (v["rows"], v["columns"]) == (v["n_q"], v["n_k"])),
    ),
    Claim(
        72,
        "C",
        "For two queries and three keys in the plane it prints six scores, ones and zeros.",
        "01_dot_product, More claims, checked",
        "{matching:.0f} of {printed:.0f} agree.",
        lambda: _matching(_PAIR @ _THREE.T, [[1, 1, 0], [0, 1, 1]]),
        _all_of("matching", "printed"),
    ),
    Claim(
        73,
        "C",
        "In that example the first query is similar to the first two keys, both with score 1.",
        "01_dot_product, More claims, checked",
        "Scores {score_1:.0f} and {score_2:.0f}, but cosines {cosine_1:.2f} and {cosine_2:.2f}: the second key is 45° "
        "off and longer.",
        _equal_scores,
        holds(lambda v: v["score_1"] == v["score_2"] > 0, lambda v: _near(v["cosine_1"], v["cosine_2"])),
    ),
    Claim(
        91,
        "C",
        "The output is a weighted average of all the values.",
        "01_dot_product, From a dictionary to attention",
        "Without a mask {positive:.0f} of {pairs:.0f} weights are positive, and a row adds up to {total:.2f}.",
        _all_values_count,
        right_if(lambda v: v["positive"] == v["pairs"] and _near(v["total"], 1)),
    ),
    Claim(
        92,
        "C",
        "From two printed rows of weights and three values it gets four output numbers.",
        "01_dot_product, More claims, checked",
        "{matching:.0f} of {printed:.0f} agree.",
        lambda: _matching(
            np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]) @ np.array([[1, 0], [0, 1], [1, 1]]),
            [[0.8, 0.3], [0.2, 0.9]],
        ),
        _all_of("matching", "printed"),
    ),
    Claim(
        116,
        "D",
        "Queries and keys have the same length, and the scores are square.",
        "01_dot_product, All pairs at once",
        "In self-attention ({own_rows:.0f} × {own_columns:.0f}); otherwise not ({rows:.0f} × {columns:.0f}).",
        _score_shapes,
        _square_only_alone,
    ),
    Claim(
        139,
        "E",
        "Attention has four steps, and all of them matter.",
        "01_dot_product, More claims, checked",
        "It announces {announced:.0f} and numbers {numbered:.0f}. Each of the {matter:.0f} matters: without one the "
        "output of the lesson's example moves by {least:.2f} or more.",
        _steps,
        right_if(lambda v: v["announced"] == v["numbered"] == v["matter"]),
    ),
    Claim(
        140,
        "E",
        "With batches and heads, inputs of (b, h, n, d_k) give scores of (b, h, n, n).",
        "01_dot_product, All pairs at once",
        "Inputs (2, 3, 5, 4) give weights ({batch:.0f}, {heads:.0f}, {rows:.0f}, {columns:.0f}).",
        _heads,
        right_if(lambda v: (v["batch"], v["heads"], v["rows"], v["columns"]) == (2, 3, v["n"], v["n"])),
    ),
    Claim(
        149,
        "E",
        "Each output blends all values.",
        "01_dot_product, From a dictionary to attention",
        "Without a mask: a change of one value moves one output in {moves:.0f} of {pairs:.0f} pairs.",
        _all_values_count,
        _all_of("moves", "pairs"),
    ),
)
