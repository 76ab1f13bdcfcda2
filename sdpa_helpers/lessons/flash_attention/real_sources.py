"""Lesson 07: the course's own kernels to read, and Triton's in its interpreter.

    python -m sdpa_helpers.lessons.flash_attention.real_sources

is the process in which Triton interprets: that is chosen by an environment variable before Triton is loaded.
"""

import inspect
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import sdpa_helpers.attention
from sdpa_helpers.attention import numpy_flash, scaled_dot_product_attention

KERNELS = Path(sdpa_helpers.attention.__file__).parent / "triton" / "kernels.py"
"""Read as text: loading it would need Triton."""

INSTALL = 'pip install -e ".[gpu]"'


def flash_lines() -> list[str]:
    """The lines of `attention` in `numpy_flash.py`."""
    return inspect.getsource(numpy_flash.attention).splitlines()


def triton_lines(first: str, last: str) -> str:
    """Lines of the forward program in `triton/kernels.py`, from one that begins with `first` to one with `last`."""
    lines = KERNELS.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith(first))
    end = next(i for i, line in enumerate(lines) if i >= start and line.strip().startswith(last))
    return textwrap.dedent("\n".join(lines[start : end + 1]))


def interpreted() -> str:
    """Run Triton's forward program in its interpreter on 40 tokens, causal, and say how far the result is off."""
    if missing := [name for name in ("torch", "triton") if find_spec(name) is None]:
        return f"not run: {' and '.join(missing)} missing here. Install: {INSTALL}"
    command = [sys.executable, "-m", __name__]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


def main() -> None:
    """In a process with TRITON_INTERPRET=1: 40 tokens, causal, float32, against the formula in float64."""
    import torch

    rng = np.random.default_rng(7)
    arrays: list[Any] = [rng.standard_normal((1, 1, 40, 16)) for _ in range(3)]
    tensors: list[Any] = [torch.tensor(x, dtype=torch.float32) for x in arrays]
    found: Any = scaled_dot_product_attention(*tensors, is_causal=True, backend="triton")
    exact: Any = scaled_dot_product_attention(*arrays, is_causal=True, backend="numpy")
    output = found.numpy()
    print("right to 5 digits:", bool(np.abs(output - exact).max() < 1e-5))


if __name__ == "__main__":
    main()
