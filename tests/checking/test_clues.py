"""What the source of an answer shows: a clue with its line."""

import pytest

from sdpa_helpers.checking.code.clues import clues


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("return Q @ K.T", "transpose-all"),
        ("return Q @ K.transpose()", "transpose-all"),
        ("return Q @ K", "no-transpose"),
        ("return Q.sum(axis=0)", "literal-axis"),
        ("return np.log(Q, where=Q > 0)", "where-without-out"),
        ("Q /= 2", "writes-argument"),
        ("Q[K > 0] = 0", "writes-argument"),
        ("return np.where(K, Q, -1e9)", "finite-fill"),
        ("K = K or True", "truth-of-array"),
        ("return np.squeeze(Q)", "squeeze"),
        ("return Q.astype(np.float32)", "float32"),
        ("x = 1", "no-return"),
    ],
)
def test_a_clue_is_found_with_its_line(line, kind):
    found = clues(f"def scores(Q, K):\n    {line}\n", "scores")
    assert kind in {c.kind for c in found}
    place = "line 1" if kind == "no-return" else "line 2"
    assert next(c for c in found if c.kind == kind).line.startswith(place)


@pytest.mark.parametrize(
    "line",
    [
        "return Q @ np.swapaxes(K, -1, -2)",
        "return Q.sum(axis=-1, where=Q > 0)",
        "return np.log(Q, where=Q > 0, out=np.zeros_like(Q))",
        "Q = Q / 2; Q += 1; return Q",
        "return Q if K is None else K",
    ],
)
def test_what_is_fine_gives_no_clue(line):
    assert {clue.kind for clue in clues(f"def scores(Q, K):\n    {line}\n", "scores")} <= {
        "read",
        "log",
    }


def test_source_that_cannot_be_read_gives_no_clue():
    assert clues("def scores(", "scores") == ()
    assert clues("x = 1\n" * 30_000, "scores") == ()
    assert clues("lambda Q, K: Q @ K.T,", "scores") != ()
