"""As much of PyTorch as functions for attention use, on NumPy arrays: a browser has no PyTorch.

Only what is read off the documentation of PyTorch 2: torch.Tensor's methods, torch's functions, some of
torch.nn.functional; and einops' einsum. A name that is not here raises `NotHere`, which says that this page lacks it.
"""

import contextlib
import re
import string
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

LACKS = "this page's small PyTorch has no"


class NotHere(AttributeError):
    """A name that PyTorch may have, and this page has not."""


class SmallModule(ModuleType):
    """A module that says what it lacks."""

    def __getattr__(self, name: str) -> Any:
        raise (
            AttributeError(name) if name.startswith("__") else NotHere(f"{LACKS} `{self.__name__}.{name}`")
        )


class Largest(NamedTuple):
    """What a maximum along an axis returns."""

    values: Any
    indices: Any


class Tensor(np.ndarray):
    """An array with a tensor's methods. Shapes and numbers are NumPy's."""

    def __new__(cls, values: Any) -> "Tensor":
        """A view of an array, or an array of numbers."""
        return np.asarray(values).view(cls)

    def __getattr__(self, name: str) -> Any:
        raise (AttributeError(name) if name.startswith("__") else NotHere(f"{LACKS} `Tensor.{name}`"))

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
        return Tensor(self - np.logaddexp.reduce(np.asarray(self), dim, keepdims=True))

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

    def to(self, *wanted: Any, dtype: Any = None, **_: Any) -> Any:
        """Itself: there is one device, and one kind of number, but for masks."""
        return self.bool() if np.bool_ in (dtype, *wanted) else self

    def type(self, dtype: Any) -> Any:
        """The same."""
        return self.to(dtype)

    def float(self) -> Any:
        """As numbers: a mask becomes 0 and 1."""
        return self * 1.0

    def bool(self) -> Any:
        """True where it is not 0."""
        return self.astype(np.bool_)

    def unbind(self, dim: int = 0) -> Any:
        """Its parts along an axis."""
        return tuple(map(Tensor, np.moveaxis(np.asarray(self), dim, 0)))

    def norm(self, p: Any = 2, dim: Any = None, keepdim: Any = False) -> Any:
        """The length of its vectors along an axis."""
        return Tensor(np.linalg.norm(self, p, dim, keepdim))


_ALONE = "exp sqrt tanh log logical_not isnan isinf nan_to_num square"
_WITH_ANOTHER = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "pow": "power"}
_NOTHING = "contiguous clone detach type_as half double cpu"
"""Where numbers lie is not tried here."""


def _as_method(numpys: Any) -> Any:
    return lambda *a: numpys(*a)


for _name, _numpys in ({name: name for name in _ALONE.split()} | _WITH_ANOTHER).items():
    setattr(Tensor, _name, _as_method(getattr(np, _numpys)))
for _name in _NOTHING.split():
    setattr(Tensor, _name, lambda self, *_: self)


def einsum(*tensors_and_pattern: Any) -> Tensor:
    """einops.einsum: tensors, then a pattern whose axes are words, `"... query d, ... key d -> ... query key"`.

    Pattern first: torch.einsum, whose tensors may be a list.
    """
    if isinstance(tensors_and_pattern[0], str):
        pattern, *rest = tensors_and_pattern
        return Tensor(np.einsum(pattern, *(rest[0] if isinstance(rest[0], list | tuple) else rest)))
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


def attend(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """torch.nn.functional.scaled_dot_product_attention, without dropout; a row that sees nothing is zeros."""
    if dropout_p:
        raise ValueError(
            f"dropout_p is {dropout_p}: this page tries what comes without dropout, so let it be 0"
        )
    if is_causal and attn_mask is not None:
        raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        key, value = (np.repeat(x, query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = scale * np.einsum("...qd,...kd->...qk", query, key)
    mask = np.tri(*scores.shape[-2:], dtype=bool) if is_causal else attn_mask
    if mask is not None:
        mask = np.asarray(mask)
        scores = scores + (np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask)
    return Tensor(np.where(np.isneginf(scores).all(-1, keepdims=True), 0.0, softmax(scores, -1)) @ value)


def _normalized(values: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    return values / np.maximum(values.norm(p, dim, True), eps)


def _made(function: Any) -> Any:
    def made(*a: Any, dtype: Any = None, device: Any = None, requires_grad: Any = None, **k: Any) -> Tensor:
        return Tensor(function(*a, **k)).to(dtype)

    return made


_NAMES = f"{_ALONE} abs matmul ones_like zeros_like full_like where arange outer"
"""Functions that NumPy has under the same name."""
_OTHERS = {
    "bmm": np.matmul,
    "tensor": np.array,
    "ones": lambda *shape: np.ones(_shape(shape)),
    "zeros": lambda *shape: np.zeros(_shape(shape)),
    "full": np.full,
    "cat": lambda tensors, dim=0: np.concatenate(tensors, dim),
    "stack": lambda tensors, dim=0: np.stack(tensors, dim),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
    "repeat_interleave": lambda x, repeats, dim: np.repeat(x, repeats, dim),
    "clamp": lambda x, min=None, max=None: np.clip(x, min, max),
    "logsumexp": lambda x, dim, keepdim=False: np.logaddexp.reduce(x, dim, keepdims=keepdim),
    "cumsum": lambda x, dim: np.cumsum(x, dim),
}
_METHODS = (
    "tril triu transpose permute sum mean max unsqueeze reshape masked_fill bool unbind norm log_softmax amax"
)


def _as_function(name: str) -> Any:
    return lambda x, *a, **k: getattr(x, name)(*a, **k)


def modules() -> dict[str, ModuleType]:
    """ "torch", "torch.nn", "torch.nn.functional" and "einops", made anew."""
    torch, nn, functional = (SmallModule(name) for name in ("torch", "torch.nn", "torch.nn.functional"))
    own = {name: _made(getattr(np, name)) for name in _NAMES.split()}
    own |= {name: _made(function) for name, function in _OTHERS.items()}
    own |= {name: _as_function(name) for name in _METHODS.split()}
    torch.__dict__.update(
        own, nn=nn, Tensor=Tensor, inf=np.inf, softmax=softmax, einsum=einsum, dropout=_dropped
    )
    torch.__dict__.update(no_grad=contextlib.nullcontext, finfo=np.finfo, pi=np.pi, long=int, bool=np.bool_)
    torch.__dict__.update(dict.fromkeys(("float", "float32", "float64", "float16", "bfloat16"), float))
    functional.__dict__.update(
        softmax=_softmax_somewhere, dropout=_dropped, scaled_dot_product_attention=attend
    )
    functional.__dict__.update(normalize=_normalized, log_softmax=own["log_softmax"], relu=own["relu"])
    functional.__dict__.update(elu=_made(lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))))
    nn.__dict__.update(functional=functional, Module=object, Dropout=lambda *_: _dropped)
    nn.__dict__.update(Softmax=lambda dim=None: lambda x: _softmax_somewhere(x, dim))
    einops = SmallModule("einops")
    einops.__dict__.update(einsum=einsum)
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
