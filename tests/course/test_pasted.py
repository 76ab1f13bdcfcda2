"""Functions from elsewhere: in the style of NumPy or of PyTorch, each with what is true of it."""

import sys

import numpy as np
import pytest

from sdpa_helpers.course.pasted import torch_like
from sdpa_helpers.course.pasted.named import named

TRANSFORMER = """
import math
import torch

def attention(query, key, value, mask=None, dropout=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p = scores.softmax(dim=-1)
    if dropout is not None:
        p = dropout(p)
    return torch.matmul(p, value), p
"""
NO_MASK = (
    "def sdpa(q, k, v):\n    return F.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1) @ v\n"
)
HIDES = """
def attention(q, k, v, mask=None):
    s = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    return torch.softmax(s, -1) @ v
"""
ADDED = """
def scaled_dot_product_attention(Q, K, V, mask):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]) + mask
    largest = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ V
"""
WEIGHTS_FIRST = TRANSFORMER.replace("torch.matmul(p, value), p", "p, torch.matmul(p, value)")
ROWS = (
    "def softmax(x):\n    e = np.exp(x - x.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)\n"
)


WIDTH = (
    "def attention(q, k, v, d_k):\n    return F.softmax(q @ k.transpose(-2, -1) / d_k ** 0.5, dim=-1) @ v\n"
)
WORDS = """
from einops import einsum
def sdpa(Q, K, V):
    scores = einsum(Q, K, "... query width, ... key width -> ... query key") / Q.shape[-1] ** 0.5
    return einsum(scores.softmax(-1), V, "... query key, ... key value -> ... query value")
"""
PROJECTED = "def self_attention(x, W_q, W_k):\n    return softmax(x @ W_q @ (x @ W_k).T) @ x\n"


@pytest.mark.parametrize(
    ("source", "mistake"),
    [
        (TRANSFORMER, "attention#finite-fill-on-an-empty-row"),
        (WEIGHTS_FIRST, "attention#finite-fill-on-an-empty-row"),
        (TRANSFORMER.replace(" / math.sqrt(query.size(-1))", ""), "attention#no-scaling"),
        (HIDES, "attention#minus-infinity-minus-minus-infinity"),
        (NO_MASK.replace("dim=-1", "dim=0"), "attention#softmax-over-axis-0"),
        (ROWS.replace("x.max(-1, keepdims=True)", "x.max()"), "softmax#global-max-subtracted"),
        (
            "def softmax(vector):\n    return np.exp(vector) / sum(np.exp(vector))\n",
            "softmax#axis-always-first",
        ),
        (WIDTH.replace("d_k ** 0.5", "d_k"), "attention#divided-by-d_k"),
        (
            "def f(scores, mask):\n    w = np.exp(scores) * mask\n    return w / w.sum(-1, keepdims=True)\n",
            "masked_softmax#no-maximum-subtracted",
        ),
        (
            "def scores(q, k):\n    return q @ np.swapaxes(k, -1, -2) / q.shape[-1]\n",
            "scaled_scores#divided-by-d",
        ),
    ],
)
def test_a_mistake_gets_its_name_whatever_the_style(source, mistake):
    assert named(source).mistake == mistake


@pytest.mark.parametrize(
    "source",
    [
        NO_MASK,
        ADDED,
        ROWS,
        WIDTH,
        WORDS,
        "def softmax(logits, dim=-1):\n    return torch.softmax(logits, dim)\n",
    ],
)
def test_what_is_right_is_said_to_be(source):
    verdict = named(source)
    assert verdict.passed, verdict.card
    assert verdict.mistake == ""


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = 1", "no function of attention here"),
        ("def f(:", "Python stops in line 1 of what you pasted, “def f(:”: invalid syntax (SyntaxError)."),
        (
            "def f(q):\n    s = q\n  return s",
            "line 3 of what you pasted, “return s”: unindent does not match",
        ),
        ("import numpy\nraise SystemExit", "SystemExit"),
        ("import flax", "Take out what else is imported"),
        ("from einops import rearrange", "This page's small “einops” has no “rearrange”"),
        ("y" * 3_000_000, "characters"),
        ("s = q @ k.T", "nothing defines “q”. Paste the lines between q, k, v and the result as a function"),
        (
            "def f(q, k, v):\n    return jnp.matmul(q, v)",
            "This code uses JAX, which this page does not have.",
        ),
        (
            NO_MASK.replace("F.softmax", "F.gumbel_softmax"),
            "PyTorch has no “torch.nn.functional.gumbel_softmax”",
        ),
        (
            NO_MASK.replace("q @ k.transpose(-2, -1)", "q.cdist(k)"),
            "PyTorch has no “Tensor.cdist”. Line 2 asks for it.",
        ),
        (
            "    def forward(self, x):\n        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)\n        return q",
            "it wants “self.n_embd”, “self.c_attn”, which this page does not have. Paste the lines between q, k, v",
        ),
    ],
)
def test_what_is_no_function_gets_a_sentence(source, told):
    verdict = named(source)
    assert told in verdict.text
    assert "<your cell" not in verdict.card
    assert "sdpa-not-attempted" in verdict.card


RIGHT_BUT = "Right, except for a row that sees nothing: you return"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (HIDES.replace("mask, float", "~mask, float"), f"{RIGHT_BUT} NaN (as PyTorch"),
        (TRANSFORMER, f"{RIGHT_BUT} the mean of all values"),
        (ADDED.replace("np.where(np.isinf(largest), 0, largest)", "largest"), f"{RIGHT_BUT} NaN"),
        (
            HIDES.replace('s.masked_fill(mask, float("-inf"))', "s + mask * -1e9"),
            f"{RIGHT_BUT} what comes without",
        ),
        (
            ADDED.replace("np.swapaxes(K, -1, -2)", "K.T"),
            "Right for matrices; with a batch in front of them it ends",
        ),
        (
            "def masked_softmax(x, mask):\n    return torch.softmax(x.masked_fill(~mask, -1e9), -1)\n",
            RIGHT_BUT,
        ),
    ],
)
def test_right_but_for_one_thing_is_neither_red_nor_green(source, told):
    verdict = named(source)
    assert verdict.text.startswith(told)
    assert "sdpa-forbidden" in verdict.card
    assert not verdict.passed
    assert "<table" not in verdict.card.partition("<details")[0]


CAUSAL = """
    def attend(self, q, k, v):
        B, nh, T, hs = q.size()
        att = (q @ k.transpose(-2, -1)) * self.scale
        att = att.masked_fill(torch.tril(torch.ones(T, T)) == 0, float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        return (att @ v).transpose(1, 2).contiguous().view(B, T, nh * hs)
"""


@pytest.mark.parametrize(
    ("before", "after", "mistake"),
    [
        ("", "", ""),
        ("torch.ones(T, T))", "torch.ones(T, T), diagonal=-1)", "attention#own-position-hidden"),
        ("torch.ones(T, T))", "torch.ones(T, T), diagonal=1)", "attention#one-more-key-visible"),
        ("== 0", "== 1", "attention#mask-inverted"),
        ("torch.tril", "torch.triu", "attention#mask-transposed"),
        (" * self.scale", "", "attention#no-scaling"),
    ],
)
def test_a_causal_mask_of_its_own_is_judged_as_one(before, after, mistake):
    verdict = named(CAUSAL.replace(before, after))
    assert verdict.mistake == mistake
    assert verdict.passed == (not mistake)


BY_HEADS = """
class Attention(nn.Module):
    def __init__(self, temperature):
        self.temperature = temperature

    def forward(self, q: Tensor, k: Optional[Tensor], v, n_rep, mask) -> Tuple[Tensor, Tensor]:
        energy = torch.einsum("bqhd,bkhd->bhqk", [q, k]) / self.temperature
        p = F.softmax(energy.masked_fill(mask == 0, float("-inf")), dim=-1)
        return p.nan_to_num(), torch.einsum("bhqk,bkhd->bqhd", [p.nan_to_num(), v]).reshape(*q.shape[:2], -1)
"""


def test_a_class_is_called_with_the_axes_and_the_arguments_that_it_wants():
    verdict = named(BY_HEADS)
    assert verdict.passed, verdict.card
    assert "(batch, length, heads, width); “temperature” taken for √d_k." in verdict.text


def test_the_function_that_stands_in_the_page_gets_both_of_its_names():
    from editions.try_it.build import PASTED

    card = named(PASTED).card
    assert "Diagnosis (no-scaling)</strong>: The scores are not scaled" in card
    assert "Diagnosis (finite-fill-on-an-empty-row)</strong>: With one finite number" in card
    folded = card.partition("In use: a small trained head")[2]
    assert all(f">{name}</th>" in folded for name in ("Hal milk", "Dee?", "tea", "water"))


def test_a_softmax_of_pytorch_without_dim_takes_the_axis_that_pytorch_takes():
    card = named(NO_MASK.replace(", dim=-1", "")).card
    assert "1 of 4 cases passed" in card  # with two axes it is the last, with three or four another


def test_a_function_of_four_axes_is_asked_with_four_what_it_returns():
    source = ADDED.replace("np.swapaxes(K, -1, -2)", "K.transpose(0, 1, 3, 2)").replace(
        "return e / np.where(total == 0, 1, total) @ V",
        "w = e / np.where(total == 0, 1, total)\n    return w @ V, w",
    )
    card = named(source).card
    assert "13 of 13 cases passed" in card
    assert (
        "your mask: numbers that are added to the scores; called with (batch, heads, length, width)." in card
    )


@pytest.mark.parametrize(
    ("before", "rest"), [("", "Paste the lines between q, k, v and the result"), (ROWS, "Tried as “softmax”")]
)
def test_what_cannot_be_called_is_said_also_beside_what_can(before, rest):
    told = named(before + PROJECTED).text
    assert told.startswith(
        "“self_attention” was not tried: it wants “W_q”, “W_k”, which this page does not have."
    )
    assert rest in told


def test_an_error_names_the_line_that_was_pasted():
    assert "line 2: return q.nothing" in named("def attention(q, k, v):\n    return q.nothing\n").card


def test_pytorch_is_put_back_where_it_is_installed():
    before = sys.modules.get("torch")
    with torch_like.imported():
        import torch

        assert torch.tensor([1.0, 2.0]).softmax(-1).sum() == 1
    assert sys.modules.get("torch") is before


@pytest.mark.filterwarnings("ignore:Implicit dimension choice")
@pytest.mark.parametrize(
    "compute",
    [
        lambda t, x: t.softmax(x, -1),
        lambda t, x: x.transpose(-2, -1).contiguous().view(2, -1),
        lambda t, x: x.masked_fill(x > 0, -1e9),
        lambda t, x: x.max(dim=-1, keepdim=True).values,
        lambda t, x: x.max(-1).indices,
        lambda t, x: x.permute(2, 0, 1).unsqueeze(0).expand(3, -1, -1, -1),
        lambda t, x: t.einsum("bij,bkj->bik", x, x).tril(),
        lambda t, x: t.nn.functional.log_softmax(x, dim=1),
        lambda t, x: t.nn.functional.softmax(x),
        lambda t, x: t.nn.Softmax()(x[0]),
        lambda t, x: t.nn.functional.softmax(x[None]),
        lambda t, x: t.max(x, dim=1, keepdim=True)[0],
        lambda t, x: x.sum(dim=(0, 1)) + x.mean(-1, keepdim=True).amax(0),
        lambda t, x: t.tril(t.ones(3, 4)).bool().logical_not().float(),
        lambda t, x: t.bmm(x, x.mT).exp(),
        lambda t, x: t.ones(3, 3, dtype=t.bool).tril(-1).logical_not().to(t.float64),
        lambda t, x: t.full((2, 2), -3.0).pow(2).add(t.arange(2)).mul(0.5),
        lambda t, x: t.nn.functional.normalize(x, dim=-1) + t.nn.functional.elu(x),
        lambda t, x: t.cat(x.unbind(1), dim=-1) + t.logsumexp(x, -1)[:, :1],
        lambda t, x: t.einsum("bid, bjd -> bij", [x, x]).div(t.tanh(x[..., :3]).norm(dim=-1, keepdim=True)),
        lambda t, x: t.nn.functional.scaled_dot_product_attention(x, x, x[..., :2], is_causal=True),
        lambda t, x: t.nn.functional.scaled_dot_product_attention(x, x, x, x @ x.mT, scale=2.0),
        lambda t, x: t.nn.functional.scaled_dot_product_attention(x, x, x, x @ x.mT > 1e9),
        lambda t, x: t.nn.functional.scaled_dot_product_attention(
            x[None, :, :, None].expand(1, 2, 3, 5, 4),
            x[None, :, :1, None],
            x[None, :, :1, None],
            enable_gqa=True,
        ),
    ],
)
def test_it_computes_what_pytorch_does(compute):
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(0).normal(size=(2, 3, 4))
    ours = compute(torch_like.modules()["torch"], torch_like.Tensor(values))
    np.testing.assert_allclose(np.asarray(ours), compute(torch, torch.tensor(values)).numpy(), rtol=1e-6)
