"""The text of a learner's copy, to the byte as Jupyter would save it after nothing but looking.

Opening a notebook makes JupyterLab write down which kernel runs it. A copy has that already, so it is not changed by
being opened, and no dot says that it is unsaved.
"""

import functools
import hashlib
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from sdpa_helpers.checking.code.answer_cells import STARTER, answered_in, digest_of, is_untouched
from sdpa_helpers.desk.outline import text_of

_LINK = re.compile(
    r"""(?P<before>\]\(|\b(?:href|src)=["'])(?P<target>[^\s)"'#?:]+)"""
    r"""|(?P<named>^[ ]{0,3}\[[^\]]+\]:[ ]*)(?P<place>[^\s#?:]+)""",
    re.MULTILINE,
)
"""A relative address in Markdown or HTML, up to its #part: nothing with a colon."""


@functools.cache
def kernel_metadata() -> dict[str, Any]:
    """What Jupyter writes into a notebook that this machine's Python kernel runs."""
    from ipykernel.ipkernel import IPythonKernel
    from jupyter_client.kernelspec import KernelSpecManager

    name = "python3"
    spec = KernelSpecManager().get_kernel_spec(name)
    kernelspec = {"display_name": spec.display_name, "language": spec.language, "name": name}
    return {"kernelspec": kernelspec, "language_info": dict(IPythonKernel.language_info)}


def copy_of(source: Path, root: Path) -> str:
    """A notebook of the course as it is laid into work/: nothing has run, and its links lead from there."""
    notebook = json.loads(source.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
        elif cell["cell_type"] == "markdown":
            cell["source"] = relinked(text_of(cell), source.parent.name, root).splitlines(keepends=True)
    kept = {name: value for name, value in notebook["metadata"].items() if name != "widgets"}
    return as_saved(notebook | {"metadata": kept | kernel_metadata()})


def as_saved(notebook: dict[str, Any]) -> str:
    """A notebook as Jupyter writes it."""
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True, separators=(",", ": ")) + "\n"


def relinked(markdown: str, folder: str, root: Path) -> str:
    """A text of notebooks/ or exercises/ for work/: links lead one folder further up, but to what is copied too."""

    def target_from_work(found: re.Match[str]) -> str:
        before = found["before"] or found["named"]
        target = found["target"] or found["place"]
        place = posixpath.normpath(posixpath.join(folder, target))
        copied = place.endswith(".ipynb") and place.partition("/")[0] in ("notebooks", "exercises")
        if copied or target.startswith("/") or not (root / place).exists():
            return found[0]
        return f"{before}{posixpath.relpath(place, f'work/{folder}')}"

    return _LINK.sub(target_from_work, markdown)


def fingerprint(notebook: dict[str, Any]) -> str:
    """What changes when a learner edits, adds, removes or moves cells, and does not when they are run.

    KeyError, TypeError or AttributeError when this is no notebook.
    """
    parts = [[cell["cell_type"], text_of(cell), cell.get("attachments", {})] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def has_run(notebook: dict[str, Any]) -> bool:
    """Whether the file holds what running gave: nobody is to lose that without need."""
    return any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"])


def has_answers(notebook: dict[str, Any]) -> bool:
    """Whether a cell of an exercise is no stub any more, nor what it began with."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    changed = (text_of(cell) for cell in code if _begins_with(cell) != digest_of(text_of(cell)))
    return any(answered_in(source) and not is_untouched(source) for source in changed)


def _begins_with(cell: dict[str, Any]) -> Any:
    """The digest of the code that an answer cell began with; None for a stub."""
    return (cell.get("metadata") or {}).get(STARTER)
