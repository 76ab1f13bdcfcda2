"""The file that is there to be read gives what the formula gives."""

from pathlib import Path

import numpy as np
import pytest

from sdpa_helpers.attention import numpy_flash, scaled_dot_product_attention

from .cases import make


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(
    ("n_q", "n_k", "tile"), [(1, 1, 1), (5, 6, 2), (7, 3, 3), (70, 130, 64), (3, 40, 64)]
)
@pytest.mark.parametrize("scale", [0.5, 300.0])
def test_equals_the_formula(n_q, n_k, tile, is_causal, scale):
    query, key, value = make(n_q=n_q, n_k=n_k, d_k=4, d_v=3).arrays
    output, lse = numpy_flash.attention(query, key, value, scale, is_causal, tile)
    expected, its_lse = scaled_dot_product_attention(
        query, key, value, is_causal=is_causal, scale=scale, backend="numpy", return_lse=True
    )
    np.testing.assert_allclose(output, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(lse, its_lse, rtol=1e-12)


def test_is_short_enough_to_be_read_aloud():
    assert len(Path(numpy_flash.__file__).read_text().splitlines()) <= 40
