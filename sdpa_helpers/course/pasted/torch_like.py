"""As much of PyTorch as functions for attention use, on NumPy arrays: a browser has no PyTorch.

Only what is read off the documentation of PyTorch 2: torch.Tensor's methods, torch's functions and
torch.nn.functional's softmax; and einops' einsum. A name that is not here raises AttributeError, as a misspelt one
would.
"""

import contextlib
import re
import string
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np


class Largest(NamedTuple):
    """What a maximum along an axis returns."""

    values: Any
    indices: Any


class Tensor(np.ndarray):
    """An array with a tensor's methods. Shapes and numbers are NumPy's."""

    def __new__(cls, values: Any) -> "Tensor":
        """A view of an array, or an array of numbers."""
        return np.asarray(values).view(cls)

    @property
    def device(self) -> Any:
        """Where it is."""
        return "cpu"

    def size(self, dim: int | None = None) -> Any:  # type: ignore[override]
        """The shape, or one number of it."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """How many axes it has."""
        return self.ndim

    def transpose(self, *axes: int) -> Any:  # type: ignore[override]
        """Two axes change places."""
        first, second = axes
        return np.swapaxes(self, first, second)

    @property
    def mT(self) -> Any:
        """The last two axes change places."""
        return np.swapaxes(self, -1, -2)

    def permute(self, *axes: Any) -> Any:
        """The axes in another order."""
        return Tensor(np.asarray(self).transpose(axes[0] if len(axes) == 1 else axes))

    def view(self, *shape: Any, **_: Any) -> Any:  # type: ignore[override]
        """The same numbers in another shape."""
        if shape and isinstance(shape[0], type):
            return super().view(*shape)
        return self.reshape(*shape)

    def expand(self, *shape: int) -> Any:
        """Axes of length 1 repeated; −1 leaves a length as it is."""
        own = (1,) * (len(shape) - self.ndim) + self.shape
        return Tensor(np.broadcast_to(self, [a if b == -1 else b for a, b in zip(own, shape, strict=True)]))

    def unsqueeze(self, dim: int) -> Any:
        """With one more axis, of length 1."""
        return Tensor(np.expand_dims(self, dim))

    def masked_fill(self, mask: Any, value: float) -> Any:
        """A copy with `value` where the mask is True."""
        return Tensor(np.where(np.asarray(mask, bool), value, self))

    def masked_fill_(self, mask: Any, value: float) -> Any:
        """The same in place."""
        self[np.broadcast_to(np.asarray(mask, bool), self.shape)] = value
        return self

    def softmax(self, dim: int, **_: Any) -> Any:
        """exp over its sum along an axis, as stable as PyTorch's."""
        return softmax(self, dim)

    def log_softmax(self, dim: int, **_: Any) -> Any:
        """Its logarithm."""
        shifted = self - _largest(self, dim)
        return Tensor(shifted - np.log(np.exp(shifted).sum(dim, keepdims=True)))

    def amax(self, dim: Any = None, keepdim: bool = False) -> Any:
        """The largest number along an axis."""
        return Tensor(np.asarray(self).max(axis=dim, keepdims=keepdim))

    def max(self, dim: Any = None, keepdim: bool = False, **numpys: Any) -> Any:  # type: ignore[override]
        """The largest number, or along an axis (values, indices)."""
        if numpys or dim is None:
            return Tensor(np.asarray(self).max(**numpys))
        places = np.asarray(self).argmax(dim)
        places = np.expand_dims(places, dim) if keepdim else places
        return Largest(self.amax(dim, keepdim), places)

    def sum(self, dim: Any = None, keepdim: bool = False, **numpys: Any) -> Any:  # type: ignore[override]
        """The sum along an axis."""
        return Tensor(np.asarray(self).sum(**({"axis": dim, "keepdims": keepdim} | numpys)))

    def mean(self, dim: Any = None, keepdim: bool = False, **numpys: Any) -> Any:  # type: ignore[override]
        """The mean along an axis."""
        return Tensor(np.asarray(self).mean(**({"axis": dim, "keepdims": keepdim} | numpys)))

    def tril(self, diagonal: int = 0) -> Any:
        """The part on and below a diagonal."""
        return Tensor(np.tril(self, diagonal))

    def triu(self, diagonal: int = 0) -> Any:
        """The part on and above a diagonal."""
        return Tensor(np.triu(self, diagonal))

    def matmul(self, other: Any) -> Any:
        """The product of matrices."""
        return self @ other

    def exp(self) -> Any:
        """exp of each number."""
        return np.exp(self)

    def contiguous(self) -> Any:
        """Itself: where numbers lie is not tried here."""
        return self

    def to(self, *_: Any, **__: Any) -> Any:
        """Itself: there is one device, and one kind of number."""
        return self

    def logical_not(self) -> Any:
        """True where it is 0."""
        return np.logical_not(self)

    def float(self) -> Any:
        """As numbers: a mask becomes 0 and 1."""
        return self * 1.0

    def bool(self) -> Any:
        """True where it is not 0."""
        return self.astype(bool)


def einsum(*tensors_and_pattern: Any) -> Tensor:
    """einops.einsum: tensors, then a pattern whose axes are words, `"... query d, ... key d -> ... query key"`."""
    *tensors, pattern = tensors_and_pattern
    axes = dict.fromkeys(re.findall(r"\w+", pattern))
    letter = dict(zip(axes, string.ascii_letters, strict=False))
    return Tensor(np.einsum(re.sub(r"\w+", lambda axis: letter[axis[0]], pattern), *tensors))


def _softmax_somewhere(values: Any, dim: int | None = None, **_: Any) -> Tensor:
    """torch.nn.functional.softmax: without `dim` it takes the first axis of 0, 1 and 3, else the second."""
    implied = 0 if np.ndim(values) in (0, 1, 3) else 1
    return softmax(values, implied if dim is None else dim)


def softmax(values: Any, dim: int, **_: Any) -> Tensor:
    """torch.softmax: a row that is −∞ throughout is NaN, as it is there."""
    raised = np.exp(values - _largest(values, dim))
    return Tensor(raised / raised.sum(axis=dim, keepdims=True))


def _largest(values: Any, dim: int) -> np.ndarray:
    return np.max(np.asarray(values), axis=dim, keepdims=True)


def _dropped(values: Any, *_: Any, **__: Any) -> Any:
    """Dropout, while nothing is trained."""
    return values


def _made(function: Any) -> Any:
    return lambda *a, dtype=None, device=None, **k: Tensor(function(*a, **k))


def modules() -> dict[str, ModuleType]:
    """ "torch", "torch.nn", "torch.nn.functional" and "einops", made anew."""
    torch, nn, functional = (ModuleType(name) for name in ("torch", "torch.nn", "torch.nn.functional"))
    functional.__dict__.update(softmax=_softmax_somewhere, dropout=_dropped)
    functional.__dict__.update(log_softmax=lambda x, dim, **_: Tensor(x).log_softmax(dim))
    nn.__dict__.update(functional=functional, Module=object, Dropout=lambda *_: _dropped)
    nn.__dict__.update(Softmax=lambda dim=None: lambda x: _softmax_somewhere(x, dim))
    torch.__dict__.update(
        nn=nn,
        Tensor=Tensor,
        inf=np.inf,
        float32=float,
        float64=float,
        float16=float,
        long=int,
        softmax=softmax,
    )
    torch.__dict__["bool"] = bool
    torch.tril = Tensor.tril  # type: ignore[attr-defined]
    torch.triu = Tensor.triu  # type: ignore[attr-defined]
    for name in ("exp", "sqrt", "log", "matmul", "einsum", "ones_like", "zeros_like", "abs"):
        setattr(torch, name, _made(getattr(np, name)))
    for name, numpys in (
        ("bmm", np.matmul),
        ("arange", np.arange),
        ("tensor", np.array),
        ("where", np.where),
    ):
        setattr(torch, name, _made(numpys))
    torch.ones = _made(lambda *shape: np.ones(_shape(shape)))  # type: ignore[attr-defined]
    torch.zeros = _made(lambda *shape: np.zeros(_shape(shape)))  # type: ignore[attr-defined]
    torch.transpose = lambda x, a, b: x.transpose(a, b)  # type: ignore[attr-defined]
    torch.sum = lambda x, dim=None, keepdim=False: x.sum(dim, keepdim)  # type: ignore[attr-defined]
    torch.max = lambda x, dim=None, keepdim=False: x.max(dim, keepdim)  # type: ignore[attr-defined]
    torch.no_grad = contextlib.nullcontext  # type: ignore[attr-defined]
    einops = ModuleType("einops")
    einops.einsum = einsum  # type: ignore[attr-defined]
    return {module.__name__: module for module in (torch, nn, functional, einops)}


def _shape(given: tuple[Any, ...]) -> Any:
    return given[0] if len(given) == 1 and isinstance(given[0], tuple) else given


@contextlib.contextmanager
def imported() -> Iterator[None]:
    """While it lasts, `import torch` gives these modules, whether PyTorch is installed or not."""
    before = {name: sys.modules.get(name) for name in modules()}
    sys.modules.update(modules())
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
