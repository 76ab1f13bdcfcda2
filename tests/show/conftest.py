"""Scripts of the panels, run by node without a page."""

import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def in_node(needs_program) -> Callable[[Iterable[Path], str, Any], Any]:
    """`in_node(files, "softmax(data)", [0, 1])` is the value of an expression after these scripts."""
    node = needs_program("node")

    def evaluate(files: Iterable[Path], expression: str, data: Any = None) -> Any:
        script = [
            "globalThis.window = {};",
            *(file.read_text(encoding="utf-8") for file in files),
            f"const data = {json.dumps(data)};",  # Python writes NaN and Infinity as JavaScript does
            f"const found = {expression};",
            "const plain = (key, x) => (typeof x === 'number' && !Number.isFinite(x) ? String(x) : x);",
            "process.stdout.write(JSON.stringify(found, plain));",
        ]
        ran = subprocess.run(
            [node, "-"], input="\n".join(script), capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr[-2000:]
        return json.loads(ran.stdout)

    return evaluate
