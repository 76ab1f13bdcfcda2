"""Which backends there are, and how arrays get to them and back. Which one a call gets: `choice.py`.

A new backend is one file beside this one and one line in BACKENDS. The file has a function `attention` with
the signature of `numpy_formula.attention`; it gets checked arguments and returns an `Answer`, whose weights and
LSE may be None unless they were asked for. If it does not serve every call it has `cannot(call)` too,
which returns the reason, or "": such a call goes to the backend named as its `formula`, or is refused if it names
none. What holds for all that compute in NumPy, no dropout and no gradient, it need not say: `cannot` below does.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdpa_helpers.attention import few_queries, fitting, machine, worth
from sdpa_helpers.attention.layout import BackendResult, Head
from sdpa_helpers.attention.variants.block_mask import BlockMask
from sdpa_helpers.attention.worth import Worth

if TYPE_CHECKING:
    from sdpa_helpers.attention.arguments import Kind
    from sdpa_helpers.attention.call_facts import Call
    from sdpa_helpers.attention.layout import Rule, Wants


class Backend(NamedTuple):
    """One way to compute attention, and what has to be known of it before it is loaded."""

    module: str  # beside this file; loaded when first asked for
    kind: Kind  # of the arrays that it takes
    needs: tuple[str, ...] = ()  # importable names, besides NumPy
    install: str = ""  # the command that installs them
    formula: str = ""  # the backend for calls that this one cannot serve; "": it serves all, or refuses
    worth: Worth = Worth()  # the size from which backend="auto" takes it
    needs_gpu: bool = False  # an NVIDIA one
    tiled: bool = (
        False  # one tile of scores at a time, as large as TILES in its file, or in one that it uses, says
    )
    own_passes: bool = (
        False  # its file has attention_forward and attention_backward for arrays, without autograd
    )
    transforms: tuple[str, ...] = ()  # those of TRANSFORMS that it takes
    needs_group: bool = False  # of processes: each passes its part of the sequence, so that none can stand in


# What torch may do with a function: tests/attention/test_transforms.py tries each on each backend.
TRANSFORMS = (
    "torch.func.grad",
    "torch.func.vmap",
    "torch.compile(fullgraph=True)",
    "a second derivative",
    "torch.func.jvp",
)

FEW_ROWS = 32  # one query takes the formula a third of the tiles' time, 32 queries the same
TORCH = {"needs": ("torch",), "install": "pip install torch"}

BACKENDS = {
    "numpy": Backend("numpy_formula", "numpy"),
    "numpy-tiled": Backend(
        "numpy_tiled",
        "numpy",
        formula="numpy",
        worth=Worth(130_000, rows=FEW_ROWS),
        tiled=True,
        own_passes=True,
    ),
    "numba": Backend(
        "numba_tiled",
        "numpy",
        needs=("numba", "scipy"),
        install='pip install numba scipy, or pip install -e ".[fast]"',
        formula="numpy",
        worth=Worth(
            100_000,
            loading=50_000_000,  # which takes half a second
            compiling=500_000_000,  # which takes six seconds
            rows=FEW_ROWS,
            slow_in="float64",  # its exp2 is NumPy's, called for one number at a time
        ),
        tiled=True,
        own_passes=True,
    ),
    "torch": Backend("torch_formula", "torch", **TORCH, transforms=TRANSFORMS),
    "torch-tiled": Backend(
        "torch_tiled",
        "torch",
        **TORCH,
        formula="torch",
        worth=Worth(400_000, rows=FEW_ROWS),
        tiled=True,
        transforms=TRANSFORMS[:4],
    ),
    "torch-fused": Backend("torch_fused", "torch", **TORCH, formula="torch", transforms=TRANSFORMS[:3]),
    "triton": Backend(
        "triton.launch",
        "torch",
        needs=("torch", "triton"),
        install='pip install triton, or pip install -e ".[gpu]"',
        formula="torch",
        needs_gpu=True,
        transforms=("a second derivative",),
    ),
    "ring": Backend("ring.ring", "torch", **TORCH, needs_group=True),
}


def backends() -> list[str]:
    """The names that `backend=` takes here: of the backends whose packages are installed.

    "ring" is among them once torch.distributed.init_process_group has made this process one of a group, "triton"
    where there is an NVIDIA GPU.
    """
    machine.look_again()
    return [name for name in BACKENDS if is_usable(name)]


def is_usable(name: str) -> bool:
    """Whether `backend=name` works here."""
    backend = BACKENDS.get(name)
    return (
        backend is not None
        and all(map(machine.is_installed, backend.needs))
        and (not backend.needs_group or machine.has_group())
        and (not backend.needs_gpu or machine.has_gpu())
    )


def check_usable(name: str) -> None:
    """An error if there is no backend of that name here."""
    if is_usable(name):
        return
    here = ", ".join(repr(usable) for usable in ["auto", *backends()])  # which looks again
    if is_usable(name):
        return
    backend = BACKENDS.get(name)
    if backend is None:
        raise ValueError(f"there is no backend {name!r}. Usable here: {here}")
    if not all(map(machine.is_installed, backend.needs)):
        needed = " and ".join(backend.needs)
        raise ValueError(
            f"backend {name!r} needs {needed}, which is not installed: {backend.install}. Usable here: {here}"
        )
    if backend.needs_group:
        raise ValueError(f"backend {name!r} {machine.NEEDS_GROUP}. Usable here: {here}")
    raise ValueError(
        f"backend {name!r} needs an NVIDIA GPU that torch sees, and torch.cuda.is_available() is False. For tests, "
        f"TRITON_INTERPRET=1 in the environment runs it slowly on the CPU. Usable here: {here}"
    )


def cannot(name: str, call: Call) -> str:
    """Why that backend does not serve such a call; "" when it does. Nothing else decides it."""
    if BACKENDS[name].kind == "numpy" and (reason := _numpy_cannot(call)):
        return reason
    of_its_file = getattr(_load(name), "cannot", None)
    return of_its_file(call) if of_its_file else ""


def wastes(name: str, call: Call) -> str:
    """Why that backend, though right, is slower than another for such a call; "" when it is not."""
    return _load(name).wastes(call)


def _numpy_cannot(call: Call) -> str:
    """Why no backend that computes in NumPy serves such a call."""
    if call.dropout_p > 0:
        alone = [name for name in backends() if not BACKENDS[name].needs_group]
        able = [name for name in alone if BACKENDS[name].kind == "torch"]
        return (
            f"dropout_p is {call.dropout_p}, and NumPy has no random state that a caller could seed for it. "
            f"Pass dropout_p=0, or torch tensors, or one of backend={able}"
        )
    if call.wants_gradient:
        return (
            "it computes in NumPy, through which no gradient flows, but an argument requires one. "
            "Pass backend='torch', or detached tensors (tensor.detach())"
        )
    return ""


def run(name: str, arrays: Head, rule: Rule, wants: Wants) -> BackendResult:
    """The answer of that backend, as the kind of array that the query is."""
    takes = BACKENDS[name].kind
    query = arrays.query
    given = Head(*(_convert(array, takes) for array in arrays))
    if rule.mask is not None:
        rule = rule._replace(mask=_convert(rule.mask, takes))
    if isinstance(query, np.ndarray) != (takes == "numpy"):
        rule = rule._replace(
            mask_mod=_mod_between(query, rule.mask_mod, takes),
            score_mod=_mod_between(query, rule.score_mod, takes),
        )
    attention = _load(name).attention
    with _no_autocast(query):
        given, rule = fitting.fitted(given, rule)
        if BACKENDS[name].needs_group:  # whose processes must agree on what each passes
            answer = attention(given, rule, wants)
        else:
            answer = few_queries.attend(attention, given, rule, wants, by_heads=name == "numpy")
    if BACKENDS[name].worth.loading:
        worth.remember(BACKENDS[name].module, query, rule.mask)
    return BackendResult(
        _like(query, answer.output),
        _like(query, answer.weights) if wants.return_weights else None,
        _like(query, answer.lse, answer.lse.dtype) if wants.return_lse else None,
    )


def _mod_between(query: Any, mod: Any, takes: Kind) -> Any:
    """A mod for the other kind of arrays: it is called with the kind of the query, whatever kind the backend takes."""
    if mod is None:
        return None
    if isinstance(mod, BlockMask):
        return replace(mod, mask_mod=_mod_between(query, mod.mask_mod, takes))

    def between(*arrays: Any) -> Any:
        answer = mod(*(_like(query, x, x.dtype) for x in arrays))
        return _convert(np.asarray(answer) if isinstance(answer, np.generic) else answer, takes)

    return between


def _no_autocast(query: Any) -> Any:
    """torch.autocast would round what the formula computes on its way; its dtype was seen to by `call.py`."""
    torch = sys.modules.get("torch")
    device = "cpu" if isinstance(query, np.ndarray) else query.device.type
    if torch is None or not torch.is_autocast_enabled(device):
        return nullcontext()
    return torch.autocast(device, enabled=False)


LOADED: dict[str, Any] = {}  # the files of backends, by name


def _load(name: str) -> Any:
    _make_sure_of(name)
    return LOADED[BACKENDS[name].module]


def _make_sure_of(name: str) -> bool:
    """The backend's file; of one for torch those of the others too: torch.compile looks into LOADED only once."""
    backend = BACKENDS[name]
    if backend.module not in LOADED:
        loaded = {backend.module}
        if backend.kind == "torch":
            loaded |= {x.module for x in BACKENDS.values() if x.needs == backend.needs and not x.needs_group}
        for module in sorted(loaded):
            LOADED[module] = importlib.import_module(f"sdpa_helpers.attention.{module}")
    return True


# What torch.compiler.assume_constant_result would set, without importing torch for it: these are not to be compiled.
for asked in (is_usable, _make_sure_of):
    vars(asked)["_dynamo_marked_constant"] = True


def _convert(array: Any, kind: Kind) -> Any:
    if isinstance(array, np.ndarray):
        return _numpy_to_numpy(array) if kind == "numpy" else _numpy_to_torch(array)
    return array if kind == "torch" else _torch_to_numpy(array)


def _numpy_to_numpy(array: np.ndarray) -> np.ndarray:
    # NumPy computes little with the bfloat16 of ml_dtypes; half precision is computed in float32 anyway.
    return array.astype(np.float32) if array.dtype.kind == "V" else np.asarray(array)


def _numpy_to_torch(array: np.ndarray) -> Any:
    import torch

    # A copy: torch takes no read-only, no reversed and no byte-swapped array.
    array = array.astype(array.dtype.newbyteorder("="), order="C")
    if array.dtype.kind == "V":  # bfloat16, whose two bytes torch knows by its own name only
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _torch_to_numpy(tensor: Any) -> np.ndarray:
    tensor = tensor.detach().cpu()
    if tensor.dtype.itemsize == 2:
        tensor = tensor.float()  # NumPy has no bfloat16; half precision is computed in float32 anyway
    return tensor.numpy()


def _like(query: Any, array: Any, dtype: Any = None) -> Any:
    """`array` with the kind and device of `query`, and its dtype, or its own where it is passed."""
    if (type(array), array.device, array.dtype) == (type(query), query.device, dtype or query.dtype):
        return array
    if isinstance(query, np.ndarray):
        array = array if isinstance(array, np.ndarray) else _torch_to_numpy(array)
        return array.astype(array.dtype if dtype else query.dtype, copy=False)
    if isinstance(array, np.ndarray):
        import torch

        array = torch.from_numpy(np.asarray(array, order="C"))
    return array.to(dtype=array.dtype if dtype else query.dtype, device=query.device)
