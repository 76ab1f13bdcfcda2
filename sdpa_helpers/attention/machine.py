"""What this process and its machine have: packages, a group of processes, a GPU.

Looked for once: to ask the file system in every call would take longer than a small call. `look_again` forgets, so
that what was installed meanwhile is found.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from pathlib import Path

NEEDS_GROUP = (
    "needs a process group: start the program with torchrun --nproc-per-node=N and call "
    'torch.distributed.init_process_group("gloo"), or "nccl" on GPUs'
)


@functools.cache
def is_installed(module: str) -> bool:
    """Found, but not imported: importing torch takes a second or more."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # an import hook that forbids it; a half-made module
        return False


@functools.cache
def is_compiled(start: str) -> bool:
    """Whether Numba has kept machine code on disk, of files whose names start so, in a place where it does."""
    here = Path(__file__).parent
    places = [here / "__pycache__", Path(os.path.expanduser("~/.cache/numba"))]
    if os.environ.get("NUMBA_CACHE_DIR"):
        places = [Path(os.environ["NUMBA_CACHE_DIR"])]
    return any(next(place.glob(f"**/{start}*.nbi"), None) is not None for place in places)


def has_group() -> bool:
    """Whether this process is one of several that torch.distributed has joined."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    return distributed is not None and distributed.is_available() and distributed.is_initialized()


def has_gpu() -> bool:
    """Whether Triton's programs can run here: on an NVIDIA GPU, or interpreted (TRITON_INTERPRET=1).

    torch knows; but it is imported to be asked only where there is a card, which its device file shows.
    """
    if os.environ.get("TRITON_INTERPRET", "").lower() in ("1", "true", "on", "yes", "y"):
        return True
    return _torch_sees_a_gpu("torch" in sys.modules)


@functools.cache
def _torch_sees_a_gpu(it_is_loaded: bool) -> bool:
    cards = (*Path("/dev").glob("nvidia[0-9]*"), *Path("/dev").glob("dxg"))  # the second in Windows' Linux
    if not is_installed("torch") or (not it_is_loaded and not cards):
        return False
    import torch

    return torch.version.cuda is not None and torch.cuda.is_available()


def look_again() -> None:
    """Forget what was found."""
    is_installed.cache_clear()
    is_compiled.cache_clear()
    _torch_sees_a_gpu.cache_clear()
