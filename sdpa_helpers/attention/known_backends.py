"""Which backends there are, and how arrays get to them and back. Which one a call gets: `choice.py`.

A new backend is one file beside this one and one line in BACKENDS. The file has a function `attention` with
the signature of `numpy_formula.attention`; it gets checked arguments and returns (output, weights), where
weights may be None unless return_weights is true. If it does not serve every call it has `cannot(call)` too,
which returns the reason, or "": such a call goes to the backend named as its `formula`, or is refused if it names
none. What holds for all that compute in NumPy, no dropout and no gradient, it need not say: `cannot` below does.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from sdpa_helpers.attention.arguments import Kind
    from sdpa_helpers.attention.call_facts import Call


class Backend(NamedTuple):
    module: str  # beside this file; loaded when first asked for
    kind: Kind  # of the arrays that it takes
    needs: tuple[str, ...] = ()  # importable names, besides NumPy
    install: str = ""  # the command that installs them
    formula: str = ""  # the backend for calls that this one cannot serve; "": it serves all, or refuses
    from_scores: int = 0  # n_q · n_k from which backend="auto" takes it: below, the formula is as fast
    needs_gpu: bool = False  # an NVIDIA one
    tiled: bool = (
        False  # one tile of scores at a time, as large as TILES in its file, or in one that it uses, says
    )
    own_passes: bool = (
        False  # its file has attention_forward and attention_backward for arrays, without autograd
    )
    needs_group: bool = False  # of processes: each passes its part of the sequence, so that none can stand in


TORCH = {"needs": ("torch",), "install": "pip install torch"}

BACKENDS = {
    "numpy": Backend("numpy_formula", "numpy"),
    "numpy-tiled": Backend(
        "numpy_tiled", "numpy", formula="numpy", from_scores=256 * 256, tiled=True, own_passes=True
    ),
    "numba": Backend(
        "numba_tiled",
        "numpy",
        needs=("numba", "scipy"),
        install='pip install numba scipy, or pip install -e ".[fast]"',
        formula="numpy",
        from_scores=2048 * 2048,  # the first time it compiles for seconds, and loading it takes a part of one
        tiled=True,
        own_passes=True,
    ),
    "torch": Backend("torch_formula", "torch", **TORCH),
    "torch-tiled": Backend(
        "torch_tiled", "torch", **TORCH, formula="torch", from_scores=256 * 256, tiled=True
    ),
    "torch-fused": Backend("torch_fused", "torch", **TORCH, formula="torch"),
    "triton": Backend(
        "triton.launch",
        "torch",
        needs=("torch", "triton"),
        install='pip install triton, or pip install -e ".[gpu]"',
        formula="torch",
        needs_gpu=True,
    ),
    "ring": Backend("ring.ring", "torch", **TORCH, needs_group=True),
}


def backends() -> list[str]:
    """The names that `backend=` takes here: of the backends whose packages are installed.

    "ring" is among them once torch.distributed.init_process_group has made this process one of a group, "triton"
    where there is an NVIDIA GPU.
    """
    return [name for name in BACKENDS if is_usable(name)]


def is_usable(name: str) -> bool:
    """Whether `backend=name` works here."""
    backend = BACKENDS.get(name)
    return (
        backend is not None
        and all(map(_is_installed, backend.needs))
        and (has_group() or not backend.needs_group)
        and (has_gpu() or not backend.needs_gpu)
    )


def check_usable(name: str) -> None:
    """An error if there is no backend of that name here."""
    if is_usable(name):
        return
    here = ", ".join(repr(usable) for usable in ["auto", *backends()])
    if name in BACKENDS and BACKENDS[name].needs_gpu and all(map(_is_installed, BACKENDS[name].needs)):
        raise ValueError(
            f"backend {name!r} needs an NVIDIA GPU that torch sees, and torch.cuda.is_available() is False. For tests, "
            f"TRITON_INTERPRET=1 in the environment runs it slowly on the CPU. Usable here: {here}"
        )
    if name in BACKENDS and BACKENDS[name].needs_group and all(map(_is_installed, BACKENDS[name].needs)):
        raise ValueError(
            f"backend {name!r} needs a process group: start the program with torchrun --nproc-per-node=N and call "
            f'torch.distributed.init_process_group("gloo"), or "nccl" on GPUs. Usable here: {here}'
        )
    if name in BACKENDS:
        needed = " and ".join(BACKENDS[name].needs)
        raise ValueError(
            f"backend {name!r} needs {needed}, which is not installed: {BACKENDS[name].install}. "
            f"Usable here: {here}"
        )
    raise ValueError(f"there is no backend {name!r}. Usable here: {here}")


def cannot(name: str, call: Call) -> str:
    """Why that backend does not serve such a call; "" when it does. Nothing else decides it."""
    if BACKENDS[name].kind == "numpy":
        if call.dropout_p > 0:
            able = [usable for usable in backends() if BACKENDS[usable].kind == "torch"]
            return (
                f"dropout_p is {call.dropout_p}, and NumPy has no random state that a caller could seed for it. "
                f"Pass dropout_p=0, or torch tensors, or one of backend={able}"
            )
        if call.wants_gradient:
            return (
                "it computes in NumPy, through which no gradient flows, but an argument requires one. "
                "Pass backend='torch', or detached tensors (tensor.detach())"
            )
    of_its_file = getattr(_load(name), "cannot", None)
    return of_its_file(call) if of_its_file else ""


def run(
    name: str, query: Any, key: Any, value: Any, *, attn_mask: Any, return_weights: bool, **options: Any
) -> tuple[Any, Any]:
    """(output, weights) of that backend, as the kind of array that `query` is."""
    takes = BACKENDS[name].kind
    output, weights = _load(name).attention(
        *(_convert(array, takes) for array in (query, key, value)),
        attn_mask=None if attn_mask is None else _convert(attn_mask, takes),
        return_weights=return_weights,
        **options,
    )
    return _like(query, output), _like(query, weights) if return_weights else None


def _is_installed(module: str) -> bool:
    """Found, but not imported: importing torch takes a second or more."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # an import hook that forbids it; a half-made module
        return False


def has_group() -> bool:
    """Whether this process is one of several that torch.distributed has joined. torch is not imported for it."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    return distributed is not None and distributed.is_available() and distributed.is_initialized()


def has_gpu() -> bool:
    """Whether Triton's programs can run here: on an NVIDIA GPU, or interpreted (TRITON_INTERPRET=1).

    torch knows; but it is imported to be asked only where there is a card, which its device file shows.
    """
    if os.environ.get("TRITON_INTERPRET", "").lower() in ("1", "true", "on", "yes", "y"):
        return True
    cards = (*Path("/dev").glob("nvidia[0-9]*"), *Path("/dev").glob("dxg"))  # the second in Windows' Linux
    if not _is_installed("torch") or ("torch" not in sys.modules and not cards):
        return False
    import torch

    return torch.version.cuda is not None and torch.cuda.is_available()


def _load(name: str) -> Any:
    return importlib.import_module(f"sdpa_helpers.attention.{BACKENDS[name].module}")


def _convert(array: Any, kind: Kind) -> Any:
    if isinstance(array, np.ndarray):
        return np.asarray(array) if kind == "numpy" else _numpy_to_torch(array)
    return array if kind == "torch" else _torch_to_numpy(array)


def _numpy_to_torch(array: np.ndarray) -> Any:
    import torch

    # A copy: torch takes no read-only, no reversed and no byte-swapped array.
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C"))


def _torch_to_numpy(tensor: Any) -> np.ndarray:
    tensor = tensor.detach().cpu()
    if tensor.dtype.itemsize == 2:
        tensor = tensor.float()  # NumPy has no bfloat16; half precision is computed in float32 anyway
    return tensor.numpy()


def _like(query: Any, array: Any) -> Any:
    """`array` with the kind, dtype and device of `query`."""
    if isinstance(query, np.ndarray):
        array = array if isinstance(array, np.ndarray) else array.numpy()
        return array.astype(query.dtype, copy=False)
    if isinstance(array, np.ndarray):
        import torch

        array = torch.from_numpy(np.ascontiguousarray(array))
    return array.to(dtype=query.dtype, device=query.device)
