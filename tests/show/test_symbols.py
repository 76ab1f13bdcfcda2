"""Sub- and superscripts of figures, live panels and stills."""

import pytest

from sdpa_helpers.show.symbols import marked_up, with_symbols, without_mathtext


@pytest.mark.parametrize(
    ("text", "printed"), [("d_k = 4", "dₖ = 4"), ("1/√d_k", "1/√dₖ"), ("is_causal", "is_causal")]
)
def test_names_of_sizes_have_subscripts(text, printed):
    assert with_symbols(text) == printed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("a < b", "a &lt; b"),
        ("is_causal, attn_mask", "is_causal, attn_mask"),
        ("dₖ", 'd<tspan dy="0.3em" font-size="70%">k</tspan>'),
        ("d_model = 8", 'd<tspan dy="0.3em" font-size="70%">model</tspan><tspan dy="-0.21em"> = 8</tspan>'),
        ("10⁻³", '10<tspan dy="-0.5em" font-size="70%">−3</tspan>'),
        ("σₖ²", 'σ<tspan dy="0.3em" font-size="70%">k</tspan><tspan dy="-0.8em" font-size="70%">2</tspan>'),
    ],
)
def test_raised_and_lowered_letters(words, told):
    assert marked_up(words) == told


@pytest.mark.parametrize(
    ("mathtext", "words"),
    [(r"$\mathdefault{10^{-3}}$", "10⁻³"), (r"$\mathdefault{2\times10^{0}}$", "2×10⁰"), ("plain", "plain")],
)
def test_powers_of_logarithmic_axes(mathtext, words):
    assert without_mathtext(mathtext) == words
