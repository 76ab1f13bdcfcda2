"""merge: parts of a softmax, each over some of the keys, make the whole."""

import numpy as np
import pytest

from sdpa_helpers.attention import scaled_dot_product_attention
from sdpa_helpers.attention.merge import merge

from .cases import make, to_float64, to_kind


def test_two_parts_make_the_whole(kind):
    """Also where a row sees keys of one part only, or of none."""
    seen = np.random.default_rng(2).random((5, 6)) < 0.6
    seen[0], seen[1, :4], seen[2, 4:] = False, False, False
    query, key, value = (to_kind(x, kind, "float64") for x in make(2, 3).arrays)
    mask = to_kind(seen, kind, "float64")

    def of(first, last):
        keys, values = key[..., first:last, :], value[..., first:last, :]
        return scaled_dot_product_attention(query, keys, values, mask[:, first:last], return_lse=True)

    with np.errstate(all="raise", under="ignore"):
        output, lse = merge(*of(0, 4), *of(4, 6))
    for computed, expected in zip((output, lse), of(0, 6), strict=True):
        np.testing.assert_allclose(to_float64(computed), to_float64(expected), rtol=1e-12)
    assert (lse[..., 0] == -np.inf).all()
    assert not output[..., 0, :].any()


@pytest.mark.parametrize("shift", [0.0, 1e4, -1e4])
def test_an_empty_part_changes_nothing(kind, shift):
    output = to_kind(make(3).value, kind, "float32")
    lse = output[..., 0] + shift
    for merged in (
        merge(output, lse, 0 * output, 0 * lse - np.inf),
        merge(0 * output, 0 * lse - np.inf, output, lse),
    ):
        assert (merged[0] == output).all()
        assert (merged[1] == lse).all()
        assert merged[0].dtype == merged[1].dtype == output.dtype


def test_its_gradient(torch):
    """Numerically checked; zero, and not NaN, where a part or both see no key."""
    a, b = (torch.randn(3, 2, dtype=torch.float64, requires_grad=True) for _ in "ab")
    lse = [torch.randn(3, dtype=torch.float64, requires_grad=True) for _ in "ab"]
    assert torch.autograd.gradcheck(merge, (a, lse[0], b, lse[1]))
    lse = [
        torch.full((3,), -torch.inf, requires_grad=True),
        torch.tensor([0.0, -torch.inf, 1], requires_grad=True),
    ]
    output, whole = merge(a, lse[0], b, lse[1])
    (output.sum() + whole[::2].sum()).backward()
    for part, share in zip(lse, ([0.0, 0, 0], [1.0, 0, 1]), strict=True):
        torch.testing.assert_close(part.grad, torch.tensor(share))
    assert a.grad.tolist() == [[0, 0]] * 3
    assert b.grad.tolist() == [[1, 1], [0, 0], [1, 1]]
