"""Every backend that the package knows is tested with both kinds of arrays, or skipped by name."""

import pytest

from sdpa_helpers.attention.dispatch import BACKENDS


@pytest.fixture(scope="session")
def torch(needs):
    needs("torch")
    import torch

    torch.set_num_threads(1)
    return torch


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request, needs):
    for module in BACKENDS[request.param].needs:
        needs(module)
    return request.param


@pytest.fixture(scope="session", params=["numpy", "torch"])
def kind(request, needs):
    if request.param == "torch":
        needs("torch")
    return request.param
