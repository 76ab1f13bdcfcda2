"""MultiHeadAttention in the place of nn.MultiheadAttention: the same parameters, arguments, outputs and gradients."""

import copy
from itertools import product

import pytest

EMBED_DIM, HEADS, BATCH, N_Q, N_K = 12, 3, 2, 4, 5


@pytest.fixture
def ours(torch):
    from sdpa_helpers.attention import MultiHeadAttention

    return MultiHeadAttention


@pytest.fixture
def both(torch, ours):
    """both(batch_first=True, …) gives torch's module and ours, with the same random parameters, in float64."""

    def make(**options):
        torch.manual_seed(0)
        modules = [
            kind(EMBED_DIM, HEADS, dtype=torch.float64, **options)
            for kind in (torch.nn.MultiheadAttention, ours)
        ]
        for parameter in modules[0].parameters():
            torch.nn.init.normal_(parameter)
        modules[1].load_state_dict(modules[0].state_dict())
        return modules

    return make


def inputs(torch, batch_first=False, batched=True):
    """Query, key and value, which require gradients."""
    torch.manual_seed(1)
    shapes = [(n, BATCH, EMBED_DIM) if batched else (n, EMBED_DIM) for n in (N_Q, N_K, N_K)]
    shapes = [(b, n, d) if batch_first else (n, b, d) for n, b, d in shapes] if batched else shapes
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def answers(torch, module, arrays, **options):
    """Output, weights (or None), and the gradients of the arrays and of all parameters."""
    output, weights = module(*arrays, **options)
    loss = output.square().sum() + (0 if weights is None else weights[..., 0].square().sum())
    wanted = [*arrays, *module.parameters()]
    return output, weights, torch.autograd.grad(loss, wanted)


def masks(torch):
    """Named pairs (key_padding_mask, attn_mask) that leave every query a key."""
    generator = torch.Generator().manual_seed(2)
    hidden = torch.rand(BATCH * HEADS, N_Q, N_K, generator=generator) < 0.4
    hidden[..., 0] = False
    padding = torch.zeros(BATCH, N_K, dtype=torch.bool)
    padding[1, 3:] = True
    numbers = torch.randn(N_Q, N_K, generator=generator, dtype=torch.float64)
    return {
        "none": (None, None),
        "padding": (padding, None),
        "boolean": (None, hidden[0]),
        "boolean, of each head": (None, hidden),
        "numbers": (None, numbers),
        "padding and boolean": (padding, hidden),
        "padding and numbers": (padding.double().masked_fill(padding, -torch.inf), numbers),
    }


@pytest.mark.parametrize("which", ["none", "padding", "boolean", "boolean, of each head", "numbers",
                                   "padding and boolean", "padding and numbers"])  # fmt: skip
def test_the_same_numbers(torch, both, which):
    key_padding_mask, attn_mask = masks(torch)[which]
    for need_weights, average in ((False, True), (True, True), (True, False)):
        options = {"key_padding_mask": key_padding_mask, "attn_mask": attn_mask, "need_weights": need_weights}
        options["average_attn_weights"] = average
        arrays = inputs(torch)
        theirs, own = (answers(torch, module, arrays, **options) for module in both())
        assert (own[1] is None) == (not need_weights)
        torch.testing.assert_close(own, theirs)


@pytest.mark.parametrize(("batch_first", "batched", "bias"), list(product([False, True], repeat=3)))
def test_the_same_shapes(torch, both, batch_first, batched, bias):
    arrays = inputs(torch, batch_first, batched)
    key_padding_mask, attn_mask = masks(torch)["padding and boolean"]
    if not batched:
        key_padding_mask, attn_mask = key_padding_mask[1], attn_mask[:HEADS]
    modules = both(batch_first=batch_first, bias=bias)
    theirs, own = (
        answers(torch, module, arrays, key_padding_mask=key_padding_mask, attn_mask=attn_mask)
        for module in modules
    )
    torch.testing.assert_close(own, theirs)


def test_one_seed_makes_the_same_parameters(torch, ours):
    states = []
    for kind in (torch.nn.MultiheadAttention, ours):
        torch.manual_seed(3)
        states.append(kind(EMBED_DIM, HEADS).state_dict())
    assert list(states[0]) == list(states[1])
    torch.testing.assert_close(states[1], states[0], rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True", "ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("training", [True, False])
def test_in_a_transformer(torch, ours, training, monkeypatch):
    """In the place of torch's module, in encoder and decoder, with all masks that these pass on."""
    torch.manual_seed(4)
    theirs = torch.nn.Transformer(EMBED_DIM, HEADS - 1, 1, 1, 16, 0.0, batch_first=True, dtype=torch.float64)
    monkeypatch.setattr(torch.nn.modules.transformer, "MultiheadAttention", ours)
    own = torch.nn.Transformer(EMBED_DIM, HEADS - 1, 1, 1, 16, 0.0, batch_first=True, dtype=torch.float64)
    own.load_state_dict(theirs.state_dict())
    source, target = (torch.randn(BATCH, n, EMBED_DIM, dtype=torch.float64) for n in (N_K, N_Q))
    padding = masks(torch)["padding"][0]
    causal = torch.nn.Transformer.generate_square_subsequent_mask(N_Q, dtype=torch.float64)
    options = {"tgt_mask": causal, "src_key_padding_mask": padding, "memory_key_padding_mask": padding}
    calls = []
    monkeypatch.setattr(ours, "forward", counted(ours.forward, calls))
    with torch.set_grad_enabled(training):
        outputs = [model.train(training)(source, target, **options) for model in (theirs, own)]
    torch.testing.assert_close(outputs[1], outputs[0])
    assert len(calls) == 3  # none was passed over
    if training:
        grads = [
            torch.autograd.grad(x.square().sum(), list(m.parameters()))
            for x, m in zip(outputs, (theirs, own), strict=True)
        ]
        torch.testing.assert_close(grads[1], grads[0])


def counted(function, calls):
    def call(*args, **kwargs):
        calls.append(1)
        return function(*args, **kwargs)

    return call


def test_a_layer_of_torchs_with_ours_assigned(torch, ours):
    """In eval() without gradients too, where torch's layer would compute with the parameters alone."""
    layer = torch.nn.TransformerEncoderLayer(EMBED_DIM, 2, 16, batch_first=True, dtype=torch.float64).eval()
    patched = copy.deepcopy(layer)
    patched.self_attn = ours(EMBED_DIM, 2, batch_first=True, dtype=torch.float64)
    patched.self_attn.load_state_dict(layer.self_attn.state_dict())
    calls = []
    patched.self_attn.register_forward_pre_hook(lambda *_: calls.append(1))
    x = torch.randn(BATCH, N_Q, EMBED_DIM, dtype=torch.float64)
    with torch.no_grad():
        torch.testing.assert_close(patched(x), layer(x))
    assert calls


def test_the_hint_is_trusted_where_torch_trusts_it(torch, both):
    """With is_causal, torch takes the mask itself only where weights or padding need it."""
    arrays = [torch.randn(N_Q, BATCH, EMBED_DIM, dtype=torch.float64) for _ in range(3)]
    theirs, own = both()
    wrong = torch.zeros(N_Q, N_Q, dtype=torch.bool)
    for need_weights in (False, True):
        options = {"attn_mask": wrong, "is_causal": True, "need_weights": need_weights}
        torch.testing.assert_close(own(*arrays, **options), theirs(*arrays, **options))
    with pytest.raises(ValueError, match="pass attn_mask too"):
        own(*arrays, is_causal=True)


def test_dropout_only_while_training(torch, ours):
    module = ours(EMBED_DIM, HEADS, dropout=0.5)
    x = torch.randn(N_Q, BATCH, EMBED_DIM)
    _, weights = module(x, x, x, average_attn_weights=False)
    assert (weights == 0).any()
    _, weights = module.eval()(x, x, x)
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, N_Q))


def test_a_query_without_keys(torch, both):
    """Zeros, and finite gradients; torch's module has NaN."""
    theirs, own = both(bias=False)
    arrays = inputs(torch)
    padding = torch.tensor([[False] * N_K, [True] * N_K])
    assert theirs(*arrays, key_padding_mask=padding)[0].isnan().any()
    output, _, grads = answers(torch, own, arrays, key_padding_mask=padding)
    assert (output[:, 1] == 0).all()
    assert (output[:, 0] != 0).all()
    assert all(grad.isfinite().all() for grad in grads)


@pytest.mark.parametrize(
    "left_out", [{"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 7}, {"vdim": 7}]
)
def test_what_is_left_out_is_refused_by_name(torch, ours, left_out):
    with pytest.raises(
        ValueError, match=f"{next(iter(left_out))}=.* is not supported here; use torch.nn.Mul"
    ):
        ours(EMBED_DIM, HEADS, **left_out)


def test_wrong_numbers_for_the_constructor(torch, ours):
    with pytest.raises(ValueError, match="embed_dim is 12 and num_heads 5"):
        ours(EMBED_DIM, 5)
    with pytest.raises(TypeError, match=r"embed_dim is 12\.0, but must be an integer"):
        ours(float(EMBED_DIM), HEADS)
    for dropout in (2, -0.1, float("nan"), "a"):
        with pytest.raises(ValueError, match=r"^dropout is .*, but must be a probability"):
            ours(EMBED_DIM, HEADS, dropout=dropout)
    assert ours(EMBED_DIM, HEADS, kdim=EMBED_DIM).embed_dim == EMBED_DIM


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (
            "q1 k k",
            r"query has shape \(4, 12\) and key \(5, 2, 12\): all must be \(tokens, batch, embed_dim\)",
        ),
        ("q k1 k1", r"query has shape \(4, 2, 12\) and key \(5, 12\): all must be"),
        ("q few few", "with the same batch, got 2 and 1. batch_first=True puts the batch into dimension 0"),
        ("q k few", r"query has shape .* and value \(5, 1, 12\): they must be"),
        ("q k q", r"key has shape \(5, 2, 12\) and value \(4, 2, 12\): each token has one of both"),
        ("q4 k k", r"query has shape \(1, 4, 2, 12\), but must be \(tokens, batch, embed_dim\), or"),
        ("q narrow k", r"key has shape \(5, 2, 6\), but its last dimension must be embed_dim = 12"),
    ],
)
def test_inputs_that_torchs_module_refuses_too(torch, both, names, says):
    q, k, _ = inputs(torch)
    arrays = {
        "q": q,
        "k": k,
        "q1": q[:, 0],
        "k1": k[:, 0],
        "few": k[:, :1],
        "q4": q[None],
        "narrow": k[..., :6],
    }
    theirs, own = both()
    passed = [arrays[name] for name in names.split()]
    with pytest.raises((AssertionError, RuntimeError)):
        theirs(*passed)
    with pytest.raises(ValueError, match=says):
        own(*passed)


def test_arrays_for_tensors(torch, ours):
    x = torch.zeros(N_Q, BATCH, EMBED_DIM)
    with pytest.raises(TypeError, match="key is of type ndarray, but must be a torch tensor"):
        ours(EMBED_DIM, HEADS)(x, x.numpy(), x)
    with pytest.raises(TypeError, match="key_padding_mask is of type list, but must be a torch tensor"):
        ours(EMBED_DIM, HEADS)(x, x, x, key_padding_mask=[[False]])


@pytest.mark.parametrize(
    ("name", "shape", "dtype", "says"),
    [
        ("key_padding_mask", (BATCH, N_K), "int64", "is int64.*True = ignore this key.*key_padding_mask=mask == 0"),
        ("attn_mask", (N_Q, N_K), "int32", "is int32.*True = may not attend.*attn_mask=mask == 0"),
        ("key_padding_mask", (N_K, BATCH), "bool", r"has shape \(5, 2\), but must be \(batch, n_k\) = \(2, 5\)"),
        ("key_padding_mask", (N_K,), "bool", r"has shape \(5,\), but must be"),
        ("attn_mask", (BATCH, N_K), "bool", r"\(n_q, n_k\) = \(4, 5\) or .* pass it as key_padding_mask"),
        ("attn_mask", (BATCH, N_Q, N_K), "bool", r"= \(6, 4, 5\).*attn_mask.repeat_interleave\(num_heads, 0\)"),
        ("attn_mask", (BATCH, HEADS, N_Q, N_K), "bool", r"pass attn_mask.flatten\(0, 1\)"),
        ("attn_mask", (N_K, N_Q), "bool", r"has shape \(5, 4\)"),
    ],
)  # fmt: skip
def test_masks_that_torchs_module_refuses_too(torch, both, name, shape, dtype, says):
    theirs, own = both()
    mask = {name: torch.zeros(shape, dtype=getattr(torch, dtype))}
    with pytest.raises((AssertionError, RuntimeError)):
        theirs(*inputs(torch), **mask)
    with pytest.raises((TypeError, ValueError), match=f"^{name} .*{says}"):
        own(*inputs(torch), **mask)


def test_the_advised_masks_do_what_is_said(torch, both):
    arrays = inputs(torch)
    real = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    each = torch.rand(BATCH, N_Q, N_K) < 0.4
    each[..., 0] = False
    theirs, own = both()
    outputs = [
        own(*arrays, key_padding_mask=real == 0, attn_mask=each.repeat_interleave(HEADS, 0))[0],
        own(
            *arrays, attn_mask=((real == 0)[:, None] | each)[:, None].expand(-1, HEADS, -1, -1).flatten(0, 1)
        )[0],
    ]
    for output in outputs:
        expected = theirs(*arrays, key_padding_mask=real == 0, attn_mask=each.repeat_interleave(HEADS, 0))[0]
        torch.testing.assert_close(output, expected)
