"""A long search as a test: a short one in every run, all of it with `make nightly`."""

import pytest


def at_night(*values):
    """A parameter for the night."""
    return pytest.param(*values, marks=pytest.mark.nightly)


BRIEFLY_AND_AT_NIGHT = pytest.mark.parametrize(
    "at_night", [pytest.param(False, id=""), pytest.param(True, id="all", marks=pytest.mark.nightly)]
)
