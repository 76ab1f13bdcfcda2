"""Which backend computes a call, and why: what `backend="auto"` decides by, and what `explain_backend` tells.

`known_backends.cannot` says which calls a backend does not serve, and why. Such calls go to the backend of the plain
formula, or are refused where that cannot serve them either. "auto" goes through AUTOMATIC, fastest first, and takes the
first that is installed, can, and is worth its trouble for a call of that size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sdpa_helpers.attention import known_backends, worth

if TYPE_CHECKING:
    from sdpa_helpers.attention.call_facts import Call
    from sdpa_helpers.attention.worth import NotWorthIt

# Fastest first, by the kind of the arrays; the formula, which serves every call, is the last. On a GPU torch's kernels
# come before our Triton ones, which nobody has timed there yet, but only for calls that they do right: those with a
# mask, or with d_v ≠ d_k, go to Triton rather than to torch-tiled, which starts a dozen kernels for each tile and head.
AUTOMATIC = {
    "numpy": ("numba", "numpy-tiled", "numpy"),
    "torch": ("torch-fused", "triton", "torch-tiled", "torch"),
}

# Where it hides much: what `wastes` of the first one's file asks.
FASTER_WITH_A_MASK = {"torch-fused": "torch-tiled"}


class Choice(NamedTuple):
    """Which backend computes a call. As text it is what `explain_backend` shows."""

    backend: str
    why: str
    others: tuple[tuple[str, str | NotWorthIt], ...]
    """Faster ones that "auto" passed over, or the one asked for: why not."""
    kind: str = ""  # of the arrays: "numpy" or "torch"

    def __str__(self) -> str:
        lines = [f"{self.backend}: {self.why}", *(f"not {name}: {why}" for name, why in self.others)]
        backend = known_backends.BACKENDS[self.backend]
        if "torch" in (backend.kind, self.kind):
            takes = [name for name in known_backends.TRANSFORMS if name in backend.transforms]
            lacks = [name for name in known_backends.TRANSFORMS if name not in backend.transforms]
            lines.append(f"it takes {', '.join(takes) or 'no transform'}")
            lines[-1] += f"; not {', '.join(lacks)}" if takes and lacks else ""
        return "\n".join(lines)


def choose(name: str, call: Call) -> Choice:
    """The backend that computes a call for which `name` was asked."""
    if name == "auto":
        return _automatic(call)
    known_backends.check_usable(name)
    reason = known_backends.cannot(name, call)
    if not reason:
        return Choice(name, "it was asked for, and takes these arguments", (), call.kind)
    formula = known_backends.BACKENDS[name].formula
    if not formula or known_backends.cannot(formula, call):
        raise _refusal(name, reason)
    return Choice(formula, f"the plain formula, in place of {name}", ((name, reason),), call.kind)


def _refusal(name: str, reason: str | NotWorthIt) -> ValueError:
    return ValueError(f"backend {name!r} cannot serve this call, and no other backend can stand in: {reason}")


def _automatic(call: Call) -> Choice:
    others: list[tuple[str, str | NotWorthIt]] = []
    for name in AUTOMATIC[call.kind]:
        reason = _why_not(name, call)
        if not reason:
            return Choice(name, "the fastest that is right for these arguments", tuple(others), call.kind)
        others.append((name, reason))
    raise _refusal(*others[-1])  # the formula's


def _why_not(name: str, call: Call) -> str | NotWorthIt:
    backend = known_backends.BACKENDS[name]
    if backend.needs_gpu and call.device != "cuda":
        return f"it is for tensors on an NVIDIA GPU, not on {call.device!r}"
    if backend.needs_gpu and call.dtype == "float32":
        return "its products of float32 matrices take three steps each, and more registers than there are"
    if not known_backends.is_usable(name):
        return f"not installed: {backend.install}"
    if reason := worth.why_not(backend.module, backend.worth, call):
        return reason
    # The cheaper question first: what a kernel cannot do may need a look at every number.
    return _wasted_beside(name, call) or known_backends.cannot(name, call)


def _wasted_beside(name: str, call: Call) -> str:
    """Why another backend is faster for this very call, where that one can do it and is worth it."""
    faster = FASTER_WITH_A_MASK.get(name)
    if not faster or call.mask != "bool" or _why_not(faster, call):
        return ""
    return known_backends.wastes(name, call)
