"""Importing needs neither torch nor matplotlib, and the numpy backend works where neither is."""

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

from sdpa_helpers import attention
from sdpa_helpers.attention.known_backends import BACKENDS


def run(code: str) -> str:
    """What that program prints, in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


WITHOUT = """
import sys
sys.modules["torch"] = sys.modules["matplotlib"] = None
import numpy as np
import sdpa_helpers as sdpa
assert "numpy" in sdpa.backends() and not any("torch" in name for name in sdpa.backends())
query, key, value = np.zeros((2, 3)), np.ones((4, 3)), np.arange(4.0)[:, None]
print(sdpa.scaled_dot_product_attention(query, key, value).tolist())
print(sdpa.softmax(np.zeros(2)).tolist(), sdpa.causal_mask(2).tolist())
print(sdpa.padding_mask([1], 2).tolist())
try:
    sdpa.scaled_dot_product_attention(query, key, value, backend="torch")
except ValueError as error:
    print(error)
"""


def test_works_without_torch_and_matplotlib():
    printed = run(WITHOUT).splitlines()
    assert printed[:3] == [
        "[[1.5], [1.5]]",
        "[0.5, 0.5] [[True, False], [True, True]]",
        "[[True, False]]",
    ]
    assert printed[3].startswith("backend 'torch' needs torch, which is not installed: pip install torch")


def test_a_call_with_arrays_imports_neither():
    code = """
        import sys
        import sdpa_helpers as sdpa
        early = {"torch", "matplotlib", "numpy"} & set(sys.modules)
        import numpy as np
        from sdpa_helpers.attention import machine
        machine.has_gpu = lambda: False  # where there is a card, torch is asked about it
        sdpa.backends()
        sdpa.scaled_dot_product_attention(*np.ones((3, 2, 2)))
        print(sorted(early), sorted({"torch", "matplotlib"} & set(sys.modules)))
    """
    assert run(code) == "[] []"


ATTENTION = Path(attention.__file__).parent


def imported(path):
    """The modules below sdpa_helpers that a file imports, anywhere in it, "" for the package itself."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {
        name.removeprefix("sdpa_helpers.attention.") for name in found if name.startswith("sdpa_helpers.")
    }


def test_no_backend_imports_another():
    """What several need lies in a room of its own."""
    modules = {known.module for known in BACKENDS.values()}
    for module in modules:
        path = ATTENTION / f"{module.replace('.', '/')}.py"
        folder = [path] if path.parent == ATTENTION else path.parent.glob("*.py")
        others = modules - {module}
        for file in folder:
            borrowed = {
                other for name in imported(file) for other in others if f"{name}.".startswith(f"{other}.")
            }
            assert borrowed == set(), f"{file.name} imports from another backend"
            assert not any(f"{name}.".startswith(("known_backends.", "choice.")) for name in imported(file))


def test_the_attention_functions_import_nothing_else_of_the_course():
    for path in ATTENTION.rglob("*.py"):
        assert not {name for name in imported(path) if name.startswith("sdpa_helpers.")}, path.name


def test_every_public_name_is_there():
    code = """
        import sys
        import sdpa_helpers.attention as attention
        print(all(callable(getattr(attention, name)) for name in attention.__all__), "torch" in sys.modules)
    """
    assert run(code) == "True False"
