"""Some 60 answers as learners write them, in notebooks: for the test that three commands say the same of each."""

from dataclasses import dataclass, field

from sdpa_helpers.course.registry import exercises_of
from tests.grading.sources import source_of


@dataclass(frozen=True)
class Answer:
    """What stands in one answer cell, and what is to come of it."""

    source: str
    """Without the line `# exercise: …`."""
    comes_to: str
    """ "right", "wrong", "forbidden", "elsewhere" or "stopped"."""
    forbidden: tuple[str, ...] = ()
    """What is found in it, where that is its point."""


@dataclass(frozen=True)
class HandedIn:
    """One notebook."""

    name: str
    lesson: str
    answers: dict[str, Answer]
    other_cells: tuple[str, ...] = field(default=())
    """Cells between the first one and the answers."""


def right(source: str) -> Answer:
    return Answer(source, "right")


def wrong(source: str) -> Answer:
    return Answer(source, "wrong")


def uses(*forbidden: str, source: str) -> Answer:
    return Answer(source, "forbidden", forbidden)


def references(lesson: str, *names: str) -> dict[str, Answer]:
    """Right answers as the course writes them."""
    chosen = [e for e in exercises_of(lesson) if not names or e.name in names]
    return {e.name: right(source_of(e.reference)) for e in chosen}


SOFTMAX = """def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)"""
TORCH = "import torch\nimport torch.nn.functional as F\n"
FROM_TORCH = "def {name}(x, axis=-1):\n    return ({call}).numpy()"


def torch_softmax(call: str, name: str = "softmax") -> str:
    return TORCH + FROM_TORCH.format(name=name, call=call)


BATCH = (
    HandedIn("plain", "01_dot_product", references("01_dot_product")),
    HandedIn(
        "styles",
        "01_dot_product",
        {
            "dot_product": right("dot_product = lambda q, k: float(np.sum(q * k))"),
            "attention_scores": right(
                "from functools import partial\nattention_scores = partial(np.einsum, '...id,...jd->...ij')"
            ),
            "cosine_similarity": right(
                "def quietly(f):\n    def inner(*a):\n        return float(f(*a))\n    return inner\n\n\n@quietly\n"
                "def cosine_similarity(q, k):\n    a, b = np.linalg.norm(q), np.linalg.norm(k)\n"
                "    return 0.0 if a == 0 or b == 0 else (q / a) @ (k / b)"
            ),
            "best_key": right(
                "class Best:\n    def __call__(self, q, K):\n        return int(np.argmax(K @ q))\n"
                "best_key = Best()"
            ),
            "weighted_sum": right(
                "import functools\n\n\ndef loud(f):\n    @functools.wraps(f)\n    def inner(*a):\n"
                "        return f(*a)\n    return inner\n@loud\n"
                "def weighted_sum(weights, V):\n    return weights @ V"
            ),
        },
    ),
    HandedIn(
        "slips",
        "01_dot_product",
        {
            "dot_product": wrong("def dot_product(q, k):\n    return q * k"),
            "attention_scores": wrong(
                "def attention_scores(Q, K):\n    return (Q @ np.swapaxes(K, -1, -2)).tolist()"
            ),
            "cosine_similarity": uses(
                "torch.tensor",
                source=TORCH
                + "def cosine_similarity(q, k):\n    a, b = torch.tensor(np.array(q)), torch.tensor(np.array(k))\n"
                "    return F.cosine_similarity(a, b, dim=0).item()",
            ),
            "best_key": wrong("def best_key(q, K):\n    return K @ q"),
            "weighted_sum": Answer("def weighted_sum(weights, V):\n    while True:\n        pass", "stopped"),
            "keys_where_the_long_one_wins": wrong(
                "def keys_where_the_long_one_wins():\n    return np.array([1, 2]), np.array([[1, 2], [10, 20]])"
            ),
        },
    ),
    HandedIn(
        "broken",
        "01_dot_product",
        {
            "dot_product": wrong("def dot_product(q, k)\n    return q @ k"),
            "attention_scores": wrong("def attention_scores(Q, K):\n    return Q @ K.T"),
            "cosine_similarity": right(
                "def cosine_similarity(q, k):\n    a, b = length(q), length(k)\n"
                "    return 0.0 if a == 0 or b == 0 else (q / a) @ (k / b)"
            ),
            "best_key": wrong("def best_key(q, K):\n    raise ValueError('not yet')"),
            "weighted_sum": uses(
                "torch.from_numpy",
                source="import torch\ndef weighted_sum(weights, V):\n    return torch.from_numpy(weights @ V)",
            ),
            "keys_where_the_long_one_wins": wrong(
                "def keys_where_the_long_one_wins():\n    return {'q': [1, 0], 'K': [[1, 0], [2, 9]]}"
            ),
        },
        other_cells=("def length(x):\n    return np.linalg.norm(x)",),
    ),
    HandedIn(
        "own cells",
        "01_dot_product",
        {
            "dot_product": right("def dot_product(q, k):\n    return kernel(q, k) * ONE + START"),
            "attention_scores": Answer(
                "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, *AXES)", "elsewhere"
            ),
            "cosine_similarity": Answer(
                "def cosine_similarity(q, k):\n    a, b = norm(q), norm(k)\n"
                "    return 0.0 if min(a, b) <= SMALL else (q / a) @ (k / b) * UNIT",
                "elsewhere",
            ),
            "best_key": right(
                "def best_key(q, K):\n    return int(first(Scores(K).of(q)))\n"
                "assert check(best_key).points == best_key.__doc__\n"
            ),
            "weighted_sum": right(
                "def weighted_sum(weights, V):\n    return weights @ V\n\n\n"
                "assert check(weighted_sum).passed\nprint(hint(weighted_sum), weighted_sum(3))"
            ),
        },
        other_cells=(
            "%precision 3\nimport math as m\nfrom functools import *\nONE, START = 1, -0.0\n"
            'where = f"{ONE}"\nprint(ONE + 1)',
            "# exercise of my own\n@lru_cache\ndef nothing():\n    return TABLE[0]\n\n\n"
            "def kernel(q, k):\n    return reduce(lambda s, x: s + x, q * k, nothing())\n\n\nTABLE = {0: 0}",
            "norm = np.linalg.norm\nfirst = lambda x: np.argmax(x)\nSMALL = float(0)\nUNIT = abs(1)",
            "AXES = -1, -2\nAXES = tuple(AXES)",
            "class Scores:\n    K = None\n    def __init__(self, K):\n        self.K = K\n"
            "    def of(self, q):\n        return self.K @ q",
            "def dot_product(q, k):\n    return 'an older try, without its line'",
        ),
    ),
    HandedIn(
        "odd lines",
        "01_dot_product",
        {
            "dot_product": right("import math\nprint(dot_product(np.ones(2), np.ones(2)))"),
            "attention_scores": right(
                "import subprocess\nout = subprocess.run(['echo'], capture_output=True)\nprint(out.stdout)\n"
                "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2)"
            ),
            "best_key": right("!echo hi\ndef best_key(q, K):\n    return int(np.argmax(K @ q))"),
        },
        other_cells=("def dot_product(q, k):\n    return math.fsum(q * k)",),
    ),
    HandedIn(
        "variance",
        "02_variance_proof",
        references("02_variance_proof", "score_variance", "scale_folded_into_query", "order_survives")
        | {
            "try_scales": right(
                "from sdpa_helpers import softmax\n\n\ndef try_scales(Q, K, V, scales):\n"
                "    outputs = np.stack([softmax(s * (Q @ K.T)) @ V for s in scales])\n"
                "    pairs = [(a, b) for a in range(len(scales)) for b in range(a)]\n"
                "    return outputs, all(np.abs(outputs[a] - outputs[b]).max() > 1e-6 for a, b in pairs)"
            ),
            "scaled_scores": wrong(
                "def scaled_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]"
            ),
        },
    ),
    HandedIn(
        "torch",
        "03_softmax",
        {
            "softmax": uses("torch.nn.functional.softmax", source=torch_softmax("F.softmax(x, dim=axis)")),
            "softmax_with_temperature": uses(
                "torch.softmax",
                source="import torch\nhelp_me = torch.softmax\n"
                "def softmax_with_temperature(x, temperature, axis=-1):\n"
                "    return help_me(x / temperature, axis).numpy()",
            ),
            "log_softmax": uses(
                "torch.tensor",
                source=torch_softmax("torch.tensor(np.array(x)).log_softmax(axis)", "log_softmax"),
            ),
            "entropy": uses(
                "scipy.special.entr",
                source="from scipy.special import entr\n"
                "def entropy(weights, axis=-1):\n    return entr(weights).sum(axis)",
            ),
            "largest_safe_score": wrong(
                "def largest_safe_score(n_k, dtype):\n    return float(np.finfo(dtype).max)"
            ),
        },
    ),
    HandedIn(
        "scipy",
        "03_softmax",
        {
            "softmax": uses(
                "scipy.special.softmax",
                source="from scipy.special import softmax as sm\n\n\ndef softmax(x, axis=-1):\n    return sm(x, axis)",
            ),
            "softmax_with_temperature": uses(
                "scipy.special.softmax",
                source="def softmax_with_temperature(x, temperature, axis=-1):\n    return sm(x / temperature, axis)",
            ),
            "log_softmax": uses(
                "scipy.special.logsumexp",
                source="import scipy.special as s\n\n\ndef log_softmax(x, axis=-1):\n"
                "    return x - s.logsumexp(x, axis=axis, keepdims=True)",
            ),
            "entropy": right(
                "def entropy(weights, axis=-1):\n"
                "    return -(weights * np.log(np.where(weights > 0, weights, 1.0))).sum(axis)"
            ),
            "temperature_for_ratio": right(
                "from math import log\n"
                "def temperature_for_ratio(score_gap, ratio):\n    return score_gap / log(ratio)"
            ),
        },
    ),
    HandedIn(
        "own softmax",
        "03_softmax",
        {
            "softmax": right(SOFTMAX),
            "softmax_with_temperature": wrong(
                "def softmax_with_temperature(x, temperature, axis=-1):\n    return softmax(x / temperature, axis)"
            ),
            "log_softmax": wrong("def log_softmax(x, axis=-1):\n    return np.log(softmax(x, axis))"),
            "entropy": wrong(
                "def entropy(weights, axis=-1):\n    return -(weights * np.log(weights)).sum(axis)"
            ),
            "temperature_for_ratio": right(
                "def temperature_for_ratio(score_gap, ratio):\n    return score_gap / ln(ratio)"
            ),
        },
        other_cells=("from math import log as ln",),
    ),
    HandedIn(
        "course",
        "03_softmax",
        {
            "softmax": uses(
                "sdpa_helpers.softmax",
                source="import sdpa_helpers as sdpa\n\n\ndef softmax(x, axis=-1):\n    return sdpa.softmax(x, axis)",
            ),
            "log_softmax": uses(
                "torch.tensor",
                source="import torch\n\n\ndef log_softmax(x, axis=-1):\n    t = torch.tensor(np.array(x))\n"
                "    return (t - t.logsumexp(axis, keepdim=True)).numpy()",
            ),
            "softmax_with_temperature": uses(
                "scipy.special.softmax",
                source="def softmax_with_temperature(x, temperature, axis=-1):\n"
                "    return from_scipy(x / temperature, axis)",
            ),
            "entropy": uses(
                "sdpa_helpers.lessons.softmax.experiments.entropy",
                source="from sdpa_helpers.lessons.softmax.experiments import entropy",
            ),
        },
        other_cells=("from scipy.special import softmax as from_scipy",),
    ),
    HandedIn(
        "by other ways",
        "03_softmax",
        {
            "softmax": uses(
                "torch.tensor",
                source="import torch\nname = ''.join(chr(c) for c in (115, 111, 102, 116, 109, 97, 120))\n\n\n"
                "def softmax(x, axis=-1):\n    return getattr(torch, name)(torch.tensor(np.array(x)), axis).numpy()",
            ),
            "softmax_with_temperature": right(
                "import torch\n\n\ndef softmax_with_temperature(x, temperature, axis=-1):\n"
                "    if isinstance(x, torch.Tensor):\n        x = x.numpy()\n"
                "    gaps = x - x.max(axis=axis, keepdims=True)\n    e = 1.0 * (gaps == 0)\n"
                "    if temperature == np.inf:\n        e = 1.0 * np.isfinite(gaps)\n"
                "    elif temperature:\n        e = np.exp(gaps / temperature)\n"
                "    return e / e.sum(axis=axis, keepdims=True)\n\n\n"
                "import matplotlib.pyplot as plt\nplt.plot(softmax_with_temperature(np.arange(3.0), 1.0))"
            ),
            "log_softmax": right(
                "import torch\nfrom scipy.special import log_softmax as other\n\n\n"
                "def log_softmax(x, axis=-1):\n    try:\n        return other(x, axis)\n"
                "    except ImportError:\n        y = x - x.max(axis=axis, keepdims=True)\n"
                "        return y - np.log(np.exp(y).sum(axis=axis, keepdims=True))"
            ),
            "entropy": uses(
                "torch.log",
                source="import torch\nsolution('entropy')\nhint('entropy')\n\n\n"
                "def entropy(weights, axis=-1):\n"
                "    return -(weights * torch.log(np.where(weights > 0, weights, 1.0))).sum(axis)",
            ),
        },
    ),
    HandedIn(
        "gradients",
        "04_gradients",
        references("04_gradients", "relative_error", "row_dots", "value_gradient")
        | {
            "softmax_jacobian": right(
                "import sdpa_helpers as sdpa\n\n\ndef softmax_jacobian(x):\n    s = sdpa.softmax(x)\n"
                "    return np.diag(s) - np.outer(s, s)"
            ),
            "softmax_backward": uses(
                "torch.tensor",
                source="import torch\n\n\ndef softmax_backward(weights, grad_weights):\n"
                "    w, g = torch.tensor(np.array(weights)), torch.tensor(np.array(grad_weights))\n"
                "    return (w * (g - (w * g).sum(-1, keepdims=True))).numpy()",
            ),
            "attention_backward": right(
                "from sdpa_helpers import softmax\n\n\ndef attention_backward(Q, K, V, grad_output):\n"
                "    F = Q.shape[-1] ** -0.5\n    A = softmax(F * (Q @ K.swapaxes(-1, -2)))\n"
                "    dA = grad_output @ V.swapaxes(-1, -2)\n    dS = A * (dA - (A * dA).sum(-1, keepdims=True))\n"
                "    return F * dS @ K, F * dS.swapaxes(-1, -2) @ Q, A.swapaxes(-1, -2) @ grad_output"
            ),
            "dead_rows": wrong(
                "def dead_rows(grad_scores, threshold):\n"
                "    return (np.linalg.norm(grad_scores, axis=-1) <= threshold).mean()"
            ),
        },
    ),
    HandedIn(
        "masks",
        "05_masking",
        references("05_masking", "padding_mask", "to_boolean", "leaking_queries")
        | {
            "causal_mask": uses(
                "sdpa_helpers.causal_mask",
                source="import sdpa_helpers as sdpa\n"
                "def causal_mask(n_q, n_k):\n    return sdpa.causal_mask(n_q, n_k)",
            ),
            "masked_softmax": uses(
                "torch.tensor",
                source="import torch\n\n\ndef masked_softmax(scores, mask):\n"
                "    t = torch.tensor(np.where(mask, scores, -np.inf)).softmax(-1)\n"
                "    return torch.nan_to_num(t).numpy()",
            ),
            "attention": uses(
                "torch.tensor",
                source="def attention(Q, K, V, mask=None):\n    S = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5\n"
                "    A = masked_softmax(S, np.ones(S.shape, bool) if mask is None else mask)\n    return A @ V, A",
            ),
            "sliding_window_mask": wrong(
                "def sliding_window_mask(n_q, n_k, window):\n    i, j = np.ogrid[:n_q, :n_k]\n"
                "    return (j <= i) & (j >= i - window)"
            ),
            "test_cases_for_masked_softmax": wrong(
                "def test_cases_for_masked_softmax():\n    hidden = [[True, True, False], [False, False, False]]\n"
                "    return [(([[0, 0, 9], [1, 2, 3]], hidden), np.array([[1, 1, 0], [0, 0, 0]]) / 2)]"
            ),
            "mask_that_leaks": wrong("def mask_that_leaks():\n    return np.tri(6, dtype=bool)"),
        },
    ),
    HandedIn(
        "costs",
        "06_complexity",
        references("06_complexity", "kv_cache_bytes", "crossover_length", "roofline")
        | {
            "attention_flops": wrong(
                "def attention_flops(n_q, n_k, d_k, d_v):\n    return n_q * n_k * (d_k + d_v)"
            ),
            "score_matrix_bytes": wrong(
                "def score_matrix_bytes(n, heads=1, layers=1, bytes_per_element=4):\n    return n * n * heads * layers"
            ),
            "chunked_attention": uses(
                "torch.tensor",
                source=TORCH + "def chunked_attention(Q, K, V, chunk):\n"
                "    return F.scaled_dot_product_attention(*(torch.tensor(np.array(x)) for x in (Q, K, V))).numpy()",
            ),
        },
    ),
)
