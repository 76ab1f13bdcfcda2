"""Right answers to lesson 01, for tests that hand something in. The fixture `hand_in` is in conftest.py."""

RIGHT = {
    "dot_product": "def dot_product(q, k):\n    return np.sum(q * k)",
    "attention_scores": "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2)",
    "cosine_similarity": (
        "def cosine_similarity(q, k):\n    n = np.linalg.norm(q) * np.linalg.norm(k)\n"
        "    return q @ k / n if n else 0.0"
    ),
    "best_key": "def best_key(q, K):\n    return int(np.argmax(K @ q))",
    "weighted_sum": "def weighted_sum(weights, V):\n    return weights @ V",
}
