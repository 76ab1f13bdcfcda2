"""What a submission's kernel sees of the course: the softmax, as in the package, and nothing else that answers."""

import ast
import types

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.grading.kernel_package import kernel_package


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package's own file, run by itself."""
    source = dict(kernel_package().files)["sdpa_helpers/__init__.py"]
    module = types.ModuleType("in_the_kernel")
    exec(compile(source, "__init__.py", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_its_softmax_is_the_courses(package, dtype, axis):
    x = (np.random.default_rng(0).normal(size=(3, 4, 5)) * 300).astype(dtype)
    x[0, 0], x[1, 2, 3] = -np.inf, -np.inf
    ours = sdpa.softmax(x, axis)
    theirs = package.softmax(x, axis)
    assert theirs.dtype == ours.dtype
    np.testing.assert_array_equal(theirs, ours)


def test_its_softmax_takes_what_the_courses_takes(package, needs):
    needs("torch")
    import torch

    x = torch.randn(3, 4)
    torch.testing.assert_close(package.softmax(x), sdpa.softmax(x))
    for other in ([1.0, 2.0], np.array([1, 2])):
        with pytest.raises(TypeError):
            package.softmax(other)
        with pytest.raises(TypeError):
            sdpa.softmax(other)


@pytest.mark.parametrize("name", ["scaled_dot_product_attention", "causal_mask", "attention", "walk_through"])
def test_the_rest_is_not_there(package, name):
    with pytest.raises(AttributeError, match="write the steps yourself"):
        getattr(package, name)


def test_no_other_source_of_the_attention_room_is_in_it():
    defined = [
        node.name
        for path, source in kernel_package().files
        if not path.startswith("sdpa_helpers/checking/")
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    ]
    report = ["__repr__", "_ipython_display_"]  # what `check` returns there
    assert sorted(defined) == sorted(["__getattr__", "_formula", "check", "softmax", *report])
