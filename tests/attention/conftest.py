"""Every backend that the package knows is tested with both kinds of arrays, or skipped by name.

A tiled backend is tested twice: with its own tiles, and with tiles so small that a matrix of five rows has several,
and edges everywhere.
"""

import functools
import importlib
import os

import pytest

from sdpa_helpers.attention import threads
from sdpa_helpers.attention.known_backends import BACKENDS
from sdpa_helpers.attention.layout import Tiles

SMALL = Tiles(queries=3, keys=2, diagonal=2)
# "ring" is tested in test_ring.py, by several processes at once; "triton" by test_triton.py, which runs these tests
# once more in a process where Triton interprets its programs.
ALONE = [
    name
    for name, known in BACKENDS.items()
    if not known.needs_group and not (known.needs_gpu and not os.environ.get("TRITON_INTERPRET"))
]


@pytest.fixture(scope="module", autouse=True)
def as_for_learners(every_core):
    """The pieces of a call are shared among real threads where BLAS has several."""


class Blas:
    """A library as threadpoolctl shows it, whose number of threads is one for the whole process."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def get_num_threads(self) -> int:
        return self.threads

    def set_num_threads(self, threads: int) -> None:
        self.threads = threads


@pytest.fixture
def blas(monkeypatch):
    """Three threads, on three cores."""
    library = Blas(3)
    monkeypatch.setattr(threads, "_libraries", lambda _: [library])
    monkeypatch.setattr(threads, "cores", functools.cache(lambda: 3))
    return library


@pytest.fixture(scope="session")
def torch(needs):
    needs("torch")
    import torch

    torch.set_num_threads(1)
    return torch


def with_tiles(names):
    """Parameters for `usable`: each backend, and each tiled one with small tiles too."""
    small = [pytest.param((name, SMALL), id=f"{name}-small") for name in names if BACKENDS[name].tiled]
    return [*(pytest.param((name, None), id=name) for name in names), *small]


OWN_TILES: dict[str, dict[str, Tiles]] = {}


def modules_with_tiles(name):
    """The backend's file, or what it uses, where its tiles are said."""
    backend = importlib.import_module(f"sdpa_helpers.attention.{BACKENDS[name].module}")
    found = [m for m in (backend, *vars(backend).values()) if "TILES" in getattr(m, "__dict__", ())]
    assert found, f"{name} is tiled, but neither it nor a module that it uses has TILES"
    return found


def constants(module):
    return {name: vars(module)[name] for name in ("TILES", "BACKWARD_TILES") if name in vars(module)}


def usable(request, needs):
    """The name of the backend in the parameter of a fixture, while its tiles are those asked for.

    For one file at most: a fixture that stays for longer gives its small tiles to tests that never asked for them.
    """
    name, tiles = request.param
    for module in BACKENDS[name].needs:
        needs(module)
    if "torch" in BACKENDS[name].needs:
        request.getfixturevalue("torch")  # on one thread: several, for tiles this small, wait for one another
    with pytest.MonkeyPatch.context() as patch:
        for module in modules_with_tiles(name) if BACKENDS[name].tiled else ():
            own = OWN_TILES.setdefault(module.__name__, constants(module))
            for constant in own:  # its own too: another fixture's small ones may still be there
                patch.setattr(module, constant, tiles or own[constant])
        yield name


@pytest.fixture(scope="module", params=with_tiles(ALONE))
def backend(request, needs):
    yield from usable(request, needs)


@pytest.fixture(scope="module", params=[pytest.param((name, None), id=name) for name in ALONE])
def own_tiles(request, needs):
    """Like `backend`, with the tiles that each has: for matrices larger than those."""
    yield from usable(request, needs)


@pytest.fixture(scope="session", params=["numpy", "torch"])
def kind(request, needs):
    if request.param == "torch":
        needs("torch")
    return request.param
