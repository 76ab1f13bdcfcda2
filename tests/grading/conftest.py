"""Notebooks as submissions: fill the handed-out exercise with answers."""

from pathlib import Path

import nbformat
import pytest

from sdpa_helpers.grading.assemble import exercise_of

RIGHT = {
    "dot_product": "def dot_product(q, k):\n    return np.sum(q * k)",
    "attention_scores": "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2)",
    "cosine_similarity": (
        "def cosine_similarity(q, k):\n    n = np.linalg.norm(q) * np.linalg.norm(k)\n"
        "    return q @ k / n if n else 0.0"
    ),
    "best_key": "def best_key(q, K):\n    return int(np.argmax(K @ q))",
    "weighted_sum": "def weighted_sum(weights, V):\n    return weights @ V",
}


@pytest.fixture(scope="session")
def pristine(course):
    return nbformat.read(course / "exercises" / "01_dot_product.ipynb", as_version=4)


@pytest.fixture
def hand_in(pristine, tmp_path):
    """hand_in("ada", dot_product="def …") writes tmp_path/in/ada/01_dot_product.ipynb and gives its path."""

    def write(student: str, **answers: str) -> Path:
        notebook = nbformat.from_dict(pristine)
        for cell in notebook.cells:
            name = exercise_of(cell)
            if name in answers:
                cell.source = f"# exercise: {name}\n{answers[name]}"
        path = tmp_path / "in" / student / "01_dot_product.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
        return path

    return write
