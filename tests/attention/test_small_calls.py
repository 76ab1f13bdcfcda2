"""What a small call does besides its arithmetic: it may not look around in the machine each time."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.attention import known_backends, machine

LOOKS = {"find_spec", "import_module"}  # of Python's own; what asks the system is in these modules:
SYSTEM = {"posix", "nt"}


def looks_around(function, *arguments, **options) -> list[str]:
    """The calls of the operating system, and for modules, that this call makes."""
    found = []

    def watch(frame, event, argument):
        if event == "c_call" and getattr(argument, "__module__", None) in SYSTEM:
            found.append(argument.__name__)
        if event == "call" and frame.f_code.co_name in LOOKS:
            found.append(frame.f_code.co_name)

    def call():
        sys.setprofile(watch)
        try:
            function(*arguments, **options)
        finally:
            sys.setprofile(None)

    # In a thread of its own: where Playwright has switched greenlets, Python 3.11 never returns from a profiled call.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(call).result()
    return found


@pytest.mark.parametrize("asked", ["auto", "the backend"])
def test_a_second_call_does_not_look_around(backend, kind, asked, request):
    if kind == "torch":
        torch = request.getfixturevalue("torch")
    arrays = [np.ones((2, 3, 4)) if kind == "numpy" else torch.ones(2, 3, 4) for _ in "qkv"]
    name = "auto" if asked == "auto" else backend
    sdpa.scaled_dot_product_attention(*arrays, backend=name)
    assert looks_around(sdpa.scaled_dot_product_attention, *arrays, backend=name) == []


ARGUMENTS = {
    "a mask": lambda ones: {"attn_mask": ones((3, 3)) > 0},
    "a float mask": lambda ones: {"attn_mask": ones((3, 3))},
    "causal": lambda ones: {"is_causal": True},
    "causal at the lower right": lambda ones: {"is_causal": "lower_right"},
    "a scale": lambda ones: {"scale": 0.5},
    "grouped heads": lambda ones: {"enable_gqa": True},
    "weights": lambda ones: {"return_weights": True},
    "the LSE": lambda ones: {"return_lse": True},
    "mask_mod": lambda ones: {"mask_mod": lambda b, h, i, j: j <= i},
    "score_mod": lambda ones: {"score_mod": lambda score, b, h, i, j: score + j},
}


@pytest.mark.parametrize("asked", ARGUMENTS)
def test_no_argument_makes_a_second_call_look_around(kind, asked, request):
    ones = np.ones if kind == "numpy" else request.getfixturevalue("torch").ones
    arrays, options = [ones((2, 3, 4)) for _ in "qkv"], ARGUMENTS[asked](ones)
    sdpa.scaled_dot_product_attention(*arrays, **options)
    assert looks_around(sdpa.scaled_dot_product_attention, *arrays, **options) == []


def test_the_watch_sees_what_it_is_to_see():
    machine.look_again()
    assert "find_spec" in looks_around(known_backends.is_usable, "torch")
    assert "stat" in looks_around(known_backends.backends)


def test_what_is_installed_meanwhile_is_found(monkeypatch, tmp_path):
    """pip install beside a running notebook: no new start is needed."""
    later = known_backends.Backend("numpy_formula", "numpy", needs=("beads_of_an_abacus",), install="…")
    monkeypatch.setitem(known_backends.BACKENDS, "abacus", later)
    arrays = np.ones((3, 2, 2))
    with pytest.raises(ValueError, match="not installed"):
        sdpa.scaled_dot_product_attention(*arrays, backend="abacus")
    (tmp_path / "beads_of_an_abacus.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    sdpa.scaled_dot_product_attention(*arrays, backend="abacus")
    assert "abacus" in sdpa.backends()
    machine.look_again()
