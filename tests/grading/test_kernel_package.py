"""What a submission's kernel sees of the course: names that do nothing, and the softmax where an exercise allows it."""

import ast
import sys
import types

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.checking.answers import not_there
from sdpa_helpers.checking.exercise import COURSE_SOFTMAX
from sdpa_helpers.checking.judging.judge import truths
from sdpa_helpers.course.registry import exercises_of
from sdpa_helpers.grading.assemble import assemble, pristine_notebook, the_softmax
from sdpa_helpers.grading.kernel_package import kernel_package
from sdpa_helpers.grading.run import run
from sdpa_helpers.sandbox.limits import Limits


@pytest.fixture
def package(monkeypatch):
    """The package's own file, run by itself as `sdpa_helpers`, and then the cell that brings the softmax."""
    monkeypatch.setattr(not_there, "keep", lambda offered: None)
    module = types.ModuleType("sdpa_helpers")
    source = dict(kernel_package().files)["sdpa_helpers/__init__.py"]
    exec(compile(source, "__init__.py", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "sdpa_helpers", module)
    exec(the_softmax(), {})
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


@pytest.mark.parametrize("other", [[1.0, 2.0], np.array([1, 2])])
def test_its_softmax_says_what_it_takes(package, other):
    with pytest.raises(TypeError, match="must be a NumPy array of floats"):
        package.softmax(other)
    with pytest.raises(TypeError):
        sdpa.softmax(other)


@pytest.mark.parametrize("name", ["scaled_dot_product_attention", "causal_mask", "attention", "walk_through"])
def test_the_rest_is_not_there(package, name):
    with pytest.raises(not_there.NotThere, match=f"sdpa_helpers.{name}"):
        getattr(package, name)(1)


def test_nothing_of_the_attention_room_is_in_it():
    defined = [
        node.name
        for path, source in kernel_package().files
        if not path.startswith("sdpa_helpers/checking/")
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    ]
    report = ["__repr__", "_ipython_display_"]  # what `check` returns there
    assert sorted(defined) == sorted(["__getattr__", "check", *report])


SOFTMAX = "import sdpa_helpers as sdpa\ndef {}(*given):\n    return sdpa.softmax(np.zeros(2))"


@pytest.mark.parametrize(("notebook", "kind"), [("03_softmax", "error"), ("04_gradients", "array")])
def test_a_kernel_has_the_softmax_where_an_exercise_allows_it(notebook, kind):
    first = next(e for e in exercises_of(notebook) if not e.is_made)
    assert (COURSE_SOFTMAX in first.allows) == (kind == "array")
    known = {first.name: truths(first, "kernel package")}
    answers = {first.name: SOFTMAX.format(first.name)}
    outcome = run(assemble(pristine_notebook(notebook), answers, known, [first.name]), Limits())
    assert {answer.kind for answer in outcome.answers.values()} == {kind}
    assert {answer.error for answer in outcome.answers.values()} == {"NotThere" if kind == "error" else ""}
