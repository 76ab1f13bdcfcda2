"""The walk-through without a browser: its numbers are the package's, in node as in Python; what Python refuses."""

import json
import re
from itertools import product

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.show.trained_heads import trained_heads
from sdpa_helpers.show.visualiser import NUMBERS, SENTENCE, vector_of, walk_through
from sdpa_helpers.show.visualiser_still import plane_of, two_digits

SHAPES = [(5, 5, 3, 2), (4, 5, 3, 2), (1, 1, 1, 1), (12, 12, 64, 3), (7, 3, 2, 5)]  # n_q, n_k, d_k, d_v
SCALES, MASKS, TEMPERATURES = (
    ["none", "1/√d", "1/d"],
    ["none", "causal", "padding", "window"],
    [0.1, 1.0, 5.0],
)
ATTENTION = "data.map(job => attention(...job)).map(({ output, weights }) => [output, weights])"


def allowed(mask: str, size: int, n_q: int, n_k: int) -> np.ndarray:
    """Which keys a query may see, by the package's masks."""
    distance = np.abs(np.subtract.outer(np.arange(n_q), np.arange(n_k)))
    return {
        "none": np.ones((n_q, n_k), dtype=bool),
        "causal": sdpa.causal_mask(n_q, n_k),
        "padding": np.broadcast_to(sdpa.padding_mask([min(size, n_k)], n_k), (n_q, n_k)),
        "window": distance <= size,
    }[mask]


def expected(Q, K, V, *, dk, scale, temperature, mask, size):
    """Output and weights by the package's call."""
    factor = 1 / ({"none": 1.0, "1/√d": np.sqrt(dk), "1/d": dk}[scale] * temperature)
    seen = allowed(mask, size, len(Q), len(K))
    with np.errstate(all="ignore"):
        return sdpa.scaled_dot_product_attention(
            Q[:, :dk], K[:, :dk], V, seen, scale=float(factor), return_weights=True
        )


def jobs_of_all_kinds():
    """Vectors and settings: every scale and mask, small and large, with a padding that leaves nothing."""
    rng = np.random.default_rng(0)
    for (n_q, n_k, d, d_v), scale, mask in product(SHAPES, SCALES, MASKS):
        for number, temperature in enumerate(TEMPERATURES):
            settings = {"scale": scale, "mask": mask, "temperature": temperature, "size": number * n_k // 2}
            settings["dk"] = int(rng.integers(1, d + 1))
            vectors = rng.normal(size=(n_q, d)), rng.normal(size=(n_k, d)), 3 * rng.normal(size=(n_k, d_v))
            yield *vectors, settings


def by_node(in_node, jobs):
    """(output, weights) for each job."""
    plain = [[Q.tolist(), K.tolist(), V.tolist(), settings] for Q, K, V, settings in jobs]
    return [tuple(np.array(a, dtype=float) for a in pair) for pair in in_node([NUMBERS], ATTENTION, plain)]


def test_the_numbers_equal_the_package_s(in_node):
    jobs = list(jobs_of_all_kinds())
    fully_masked = 0
    for (Q, K, V, settings), (output, weights) in zip(jobs, by_node(in_node, jobs), strict=True):
        right_output, right_weights = expected(Q, K, V, **settings)
        np.testing.assert_allclose(weights, right_weights, rtol=0, atol=1e-9)
        np.testing.assert_allclose(output, right_output, rtol=0, atol=1e-9)
        fully_masked += (right_weights == 0).all(axis=1).sum()
    assert fully_masked > 20


def test_extreme_values_return_what_the_package_returns(in_node):
    jobs = []
    for extreme, mask in product(
        [1e308, -1e308, np.inf, -np.inf, np.nan, 1e-308, 0.0], ["none", "causal", "padding"]
    ):
        Q, K, V = np.ones((3, 2)), np.ones((4, 2)), np.ones((4, 2))
        Q[1, 0] = K[2, 1] = V[0, 0] = extreme
        jobs.append((Q, K, V, {"dk": 2, "scale": "1/√d", "temperature": 1.0, "mask": mask, "size": 0}))
    for (Q, K, V, settings), (output, weights) in zip(jobs, by_node(in_node, jobs), strict=True):
        right_output, right_weights = expected(Q, K, V, **settings)
        np.testing.assert_allclose(weights, right_weights, rtol=1e-9)
        np.testing.assert_allclose(output, right_output, rtol=1e-9)


def test_softmax_and_masks_one_by_one(in_node):
    rng = np.random.default_rng(1)
    rows = [*(rng.normal(scale=s, size=n).tolist() for s in (1, 30, 800) for n in (1, 2, 9)), [-np.inf, 0.0]]
    for row, found in zip(rows, in_node([NUMBERS], "data.map(softmax)", rows), strict=True):
        np.testing.assert_allclose(found, sdpa.softmax(np.array(row)), rtol=1e-12)
    table = "data.map(([mask, size, I, J]) => I.map(i => J.map(j => mayAttend(mask, size, i, j))))"
    asked = list(product(MASKS, (0, 1, 3, 9), (1, 4), (1, 4)))
    given = [(mask, size, list(range(n_q)), list(range(n_k))) for mask, size, n_q, n_k in asked]
    for one, found in zip(asked, in_node([NUMBERS], table, given), strict=True):
        np.testing.assert_array_equal(found, allowed(*one))


def test_words_become_the_same_vectors_in_python(in_node):
    words = ["the", "Cat", "naïve", "猫", "a" * 40, "", "🙂"]
    found = in_node(
        [NUMBERS], "['q', 'k', 'v'].map(kind => data.map(word => vectorOf(word, kind, 64)))", words
    )
    assert found == [[vector_of(word, kind, 64) for word in words] for kind in "qkv"]
    many = np.array([vector_of(f"word{i}", "k", 64) for i in range(200)])
    assert abs(many.mean()) < 0.03
    assert abs(many.std() - 1) < 0.02


# ---- Python's side -----------------------------------------------------------------------------------------


def test_a_script_in_a_token_stays_text():
    html = walk_through(tokens=["</script><script>alert(1)</script>"], Q=[[1]], K=[[1]], V=[[1]]).html()
    assert html.count("</script>") == 1
    assert "<script>alert" not in html


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sentence": ""}, "0 words"),
        ({"sentence": "a " * 13}, "13 words"),
        ({"Q": [[1]]}, "all three"),
        ({"Q": [[1, 2]], "K": [[1]], "V": [[1]]}, "both need d_k"),
        ({"Q": [[1]], "K": [[1]], "V": [[1], [2]]}, "every key needs one value"),
        ({"Q": [1], "K": [[1]], "V": [[1]]}, "two dimensions"),
        ({"Q": [[1]], "K": [[1]], "V": [[1]], "tokens": ["a", "b"]}, "2 names for 1"),
        ({"mask": "casual"}, "must be one of"),
        ({"scale": "1/sqrt(d)"}, "must be one of"),
        ({"sentence": SENTENCE, "query": 5}, "query is 5, but must be from 0 to 4"),
        ({"temperature": 0}, "temperature is 0"),
        ({"d_k": 65}, "d_k is 65"),
    ],
)
def test_python_refuses_with_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        walk_through(**arguments)


def test_what_a_cell_gets_is_text_and_html_only():
    bundle = walk_through(SENTENCE, mask="causal", query=1)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/plain"].startswith("Walk through attention, one query at a time. The query “Lea”")
    assert 'aria-label="The query “Lea” meets every key' in bundle["text/html"]


def shown(walk) -> list[str]:
    """The texts of the still, without the sentence above it."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", walk.still().svg())
    return [re.sub(r"<[^>]*>", "", text) for text in texts]


def test_the_still_shows_the_numbers_of_its_step_and_of_none_later():
    walk = walk_through(SENTENCE, query=1, mask="causal")
    steps = [walk_through(SENTENCE, query=1, mask="causal", step=step) for step in range(1, 6)]
    numbers = [*walk.numbers, walk.weights, walk.weights]
    for step, (one, right) in enumerate(zip(steps, numbers, strict=True), start=1):
        there = shown(one)
        for value in right.ravel():
            assert two_digits(value) in there
        if step <= 3:
            later = {two_digits(w) for w in walk.weights[1]} - {two_digits(x) for x in right.ravel()}
            assert later
            assert not later & set(there)
        assert ("−∞" in there) == (step in (3, 4))  # at 4 as an exponent
        assert ("weights: one bar of length 1" in there) == (step == 4)
        assert ("output" in there[6:]) == (step == 5)  # the formula, which comes first, has the word as well
    np.testing.assert_allclose(numbers[1], numbers[0] / 2)


def test_the_plane_of_the_still_is_that_of_the_living_picture(in_node):
    rng = np.random.default_rng(2)
    given = [rng.normal(size=shape) * [3, 1, 0.5][: shape[1]] for shape in [(5, 3), (2, 3), (12, 3), (4, 2)]]
    found = in_node([NUMBERS], "data.map(planeOf)", [V.tolist() for V in given])
    for V, plane in zip(given, found, strict=True):
        np.testing.assert_allclose(plane, plane_of(V), atol=1e-6)


@pytest.mark.parametrize("step", range(1, 6))
def test_the_still_of_extreme_vectors_is_drawn_without_a_warning(recwarn, step):
    walk = walk_through(
        Q=[[np.nan, 1], [1e308, 1e308]], K=[[1e308, np.inf], [1, 2]], V=[[1], [np.nan]], step=step
    )
    assert "NaN" in walk.html()
    assert [str(w.message) for w in recwarn] == []


# ---- trained heads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("head", trained_heads(), ids=lambda head: head.name)
def test_a_trained_head_is_shown_with_its_own_scale_and_question(head):
    walk = walk_through(head=head.name, step=4)
    factor = {"none": 1.0, "1/√d": head.Q.shape[1] ** -0.5, "1/d": 1 / head.Q.shape[1]}[head.scale]
    _, weights = sdpa.scaled_dot_product_attention(head.Q, head.K, head.V, scale=factor, return_weights=True)
    np.testing.assert_allclose(walk.weights, weights, atol=1e-12)
    assert (walk.settings["query"], walk.settings["head"]) == (len(head.tokens) - 1, head.name)
    assert head.tokens[-1].endswith("?")
    assert head.says in walk.still().alt


def test_the_head_that_looks_up_finds_its_line_and_the_others_do_not():
    says = {head.name: walk_through(head=head.name) for head in trained_heads()}
    asked = {name: walk.tokens[-1].rstrip("?") for name, walk in says.items()}
    best = {name: walk.tokens[int(walk.weights[-1].argmax())] for name, walk in says.items()}
    assert best["looks up"].startswith(asked["looks up"] + " ")
    assert says["looks up"].weights[-1].max() > 0.99 > says["before training"].weights[-1].max()
    assert not best["sure and wrong"].startswith(asked["sure and wrong"] + " ")


def test_every_head_is_in_a_page_of_a_sentence_and_none_beside_vectors_of_ones_own():
    assert [head["name"] for head in walk_through(SENTENCE).given()["heads"]] == [
        h.name for h in trained_heads()
    ]
    assert "heads" not in walk_through(Q=[[1.0]], K=[[1.0]], V=[[1.0]]).given()
    assert len(json.dumps(walk_through(SENTENCE).given())) < 10_000  # so little more in every notebook


def test_without_a_word_the_head_that_looks_up_is_shown():
    assert walk_through().given() == walk_through(head="looks up").given()


def test_a_head_that_is_not_there_is_refused_by_name():
    with pytest.raises(ValueError, match="there is no head 'x'; there are: looks up, before training"):
        walk_through(head="x")
    with pytest.raises(ValueError, match="not both"):
        walk_through(head="looks up", Q=[[1.0]], K=[[1.0]], V=[[1.0]])
