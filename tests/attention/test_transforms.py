"""What torch may do with a call: every transform that a backend is said to take gives what the formula gives."""

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.attention.known_backends import BACKENDS, TRANSFORMS

from .cases import make

HERE = [name for name, known in BACKENDS.items() if known.transforms and not known.needs_gpu]
PAIRS = [(name, transform) for name in HERE for transform in TRANSFORMS]


@pytest.fixture
def arrays(torch):
    """Long enough for the fused kernel also while nobody can look at the numbers."""
    return [torch.tensor(x) for x in make(3, 2, n_q=18, n_k=18, d_k=4, d_v=4).arrays]


def attend(backend, **options):
    return lambda *arrays: sdpa.scaled_dot_product_attention(*arrays, **options, backend=backend)


def transformed(torch, transform, function, query, key, value):
    """A number or tensor that this transform makes of the function."""
    if transform == "torch.func.grad":
        return torch.func.grad(lambda key: function(query, key, value).sin().sum())(key)
    if transform == "torch.func.vmap":
        return torch.func.vmap(function, in_dims=(None, 1, 0))(query[0], key.movedim(0, 1), value)
    if transform == "torch.compile(fullgraph=True)":
        torch._dynamo.reset()
        leaf = query.clone().requires_grad_()
        output = torch.compile(function, fullgraph=True, backend="aot_eager")(leaf, leaf, value)
        return torch.autograd.grad(output.sin().sum(), leaf)[0]
    if transform == "a second derivative":
        leaf = key.clone().requires_grad_()
        (first,) = torch.autograd.grad(function(query, leaf, value).sin().sum(), leaf, create_graph=True)
        return torch.autograd.grad(first.sin().sum(), leaf)[0]
    return torch.func.jvp(lambda key: function(query, key, value), (key,), (value,))[1]


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize(("backend", "transform"), PAIRS)
def test_what_a_backend_is_said_to_take(torch, arrays, backend, transform):
    function = attend(backend, is_causal=True)
    if transform not in BACKENDS[backend].transforms:
        with pytest.raises((NotImplementedError, RuntimeError)):
            transformed(torch, transform, function, *arrays)
        return
    computed = transformed(torch, transform, function, *arrays)
    if transform == "torch.compile(fullgraph=True)":
        leaf = arrays[0].clone().requires_grad_()
        output = attend("torch", is_causal=True)(leaf, leaf, arrays[2])
        (expected,) = torch.autograd.grad(output.sin().sum(), leaf)
    else:
        expected = transformed(torch, transform, attend("torch", is_causal=True), *arrays)
    torch.testing.assert_close(computed, expected)


def test_explain_backend_says_which(torch, arrays):
    text = str(sdpa.explain_backend(*arrays))
    assert (
        "it takes torch.func.grad, torch.func.vmap, torch.compile(fullgraph=True); not a second deriv" in text
    )
    assert "it takes" not in str(sdpa.explain_backend(*(x.numpy() for x in arrays)))
    assert str(sdpa.explain_backend(*arrays, backend="numpy-tiled")).endswith("\nit takes no transform")


MASKED = {
    "of the mask alone": lambda vmap, f, q, k, v, m: vmap(lambda m: f(q[0], k[0], v[0], m))(m),
    "of all": lambda vmap, f, q, k, v, m: vmap(f)(q, k, v, m),
    "of a vector": lambda vmap, f, q, k, v, m: vmap(lambda k, m: f(q[0, 0], k, v[0, 0], m))(k[:, 0], m[:, 0]),
    "of two axes": lambda vmap, f, q, k, v, m: vmap(vmap(f, in_dims=(0, 0, 0, None)))(q, k, v, m),
    "of a gradient": lambda vmap, f, q, k, v, m: vmap(grad_of_value(f), in_dims=(None, 0, None, 0))(
        q[0], k, v[0], m
    ),
    "in a gradient": lambda vmap, f, q, k, v, m: grad_of_value(vmap(f, in_dims=(0, None, 0, 0)))(
        q, k[0], v, m
    ),
}


def grad_of_value(function):
    from torch.func import grad

    return grad(lambda q, k, v, m: function(q, k, v, m).sin().sum(), argnums=(0, 1, 2))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("name", MASKED)
def test_tiles_in_vmap(torch, arrays, name):
    """Whatever of the arguments has the axis, and together with gradients."""
    mask = torch.tensor(np.random.default_rng(1).random((3, 18, 18)) < 0.7)
    ours, expected = (
        MASKED[name](torch.func.vmap, attend(backend), *arrays, mask) for backend in ("torch-tiled", "torch")
    )
    torch.testing.assert_close(ours, expected)


def test_grouped_heads_in_vmap(torch, arrays):
    query, key, value = arrays

    def found(backend):
        function = attend(backend, enable_gqa=True)
        gradients = grad_of_value(lambda query, key, value, _: function(query, key, value))
        return torch.func.vmap(gradients, (0, 0, None, None))(query, key[:, :1], value[0], None)

    torch.testing.assert_close(found("torch-tiled"), found("torch"))


def test_traced_there_is_no_look_at_numbers(torch, arrays):
    """Where the fused kernel's faults cannot be looked for, it is not taken."""
    query, key, value = arrays
    mask = torch.zeros(18, 18, dtype=query.dtype)
    seen = []

    def explained(query, key, mask):
        seen.append(str(sdpa.explain_backend(query, key, value, mask)))
        return sdpa.scaled_dot_product_attention(query, key, value, mask).sum()

    torch.func.grad(explained)(query, key, mask)
    assert "torch: the fastest" in seen[0]
    assert "a traced mask shows no numbers" in seen[0]
    value = value[:, :, :5]
    torch.func.grad(explained)(query, key[:, :, :5], None)
    assert "not torch-fused: with fewer than 16 keys" in seen[1]
