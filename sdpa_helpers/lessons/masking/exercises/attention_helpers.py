"""What the page of `attention` draws, and what its entries call: too long to stand in them."""

import numpy as np

from sdpa_helpers.checking.exercise import read_only
from sdpa_helpers.lessons.masking.exercises.shared import LEVELS


def unit(X):
    length = np.linalg.norm(X, axis=-1, keepdims=True)
    return X / np.where(length == 0, 1.0, length)


def turned(x):
    """The last two axes swapped."""
    return np.swapaxes(x, -1, -2)


def one_more_key(mask):
    wider = mask.copy()
    wider[..., 1:] |= mask[..., :-1]
    return wider


def softmax_with_another_factor(Q, K, weights):
    """Whether log-weights are linear in QKᵀ with a slope that is not 1/√d_k."""
    if not np.all(weights > 0):
        return False
    scores, logs = Q @ turned(K), np.log(weights)
    scores = (scores - scores.mean(axis=-1, keepdims=True)).ravel()
    logs = (logs - logs.mean(axis=-1, keepdims=True)).ravel()
    if not (scores @ scores > 0 and logs @ logs > 0):
        return False
    slope = (scores @ logs) / (scores @ scores)
    return bool(np.allclose(logs, slope * scores, atol=1e-6) and abs(slope * np.sqrt(Q.shape[-1]) - 1) > 1e-6)


def draw(rng, n_q, n_k, d_k, d_v, *batch):
    return (
        rng.normal(size=(*batch, n_q, d_k)),
        rng.normal(size=(*batch, n_k, d_k)),
        rng.normal(size=(*batch, n_k, d_v)),
    )


def large(rng):
    """Rows of scaled scores around 1000, −1000, 200 and −200."""
    Q, K, V = draw(rng, 4, 6, 5, 3, 2)
    Q *= 4  # far enough apart for weights below a thousandth
    Q[..., 0] = np.array([1000.0, -1000.0, 200.0, -200.0]) * np.sqrt(5)
    K[..., 0] = 1.0
    K[..., 2, 0] = -1.0  # in a row, too, scores lie far apart
    return Q, K, V


def causal(rng):
    """A square causal mask; one key is the zero vector."""
    Q, K, V = draw(rng, 6, 6, 5, 3)
    K[2] = 0.0
    return tuple(map(read_only, (Q, K, V, np.tri(6, dtype=bool))))


def zero_scores(rng):
    """Half of the keys are at right angles to every query. The values are such that with 0 for each hidden score
    the output is nearly 0: then a hidden score of −1e-9 can be told from one of 0."""
    Q, K, V = draw(rng, 3, 6, 4, 2)
    Q[:, 2:], K[:3, :2] = 0.0, 0.0
    mask = np.tri(3, 6, k=2, dtype=bool)
    scores = Q @ K.T / 2 * mask
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    if_zero = e / e.sum(axis=-1, keepdims=True)
    V = V - np.linalg.pinv(if_zero) @ (if_zero @ V) + 1e-4 * rng.uniform(1, 2, size=2)
    return Q, K, V, mask


def giants(rng):
    """Scaled scores far below zero where the mask allows, far above where it hides."""
    Q, K, V = draw(rng, 4, 6, 5, 3, 2, 3)
    mask = np.broadcast_to(np.arange(6) % 2 == rng.integers(2), (2, 1, 4, 6)).copy()
    Q[..., 0] = LEVELS * np.sqrt(5)
    K[..., 0] = np.where(mask[:, :, 0, :], -1.0, 1.0)
    return Q, K, V, mask
