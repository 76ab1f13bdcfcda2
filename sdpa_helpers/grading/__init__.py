"""Grading a folder of notebooks: read → assemble → run → judge → record → report.

`submission` reads what was handed in, `assemble` lays the answers into the pristine notebook, `runner` executes
it under nbval, `batch` brings the parts together, `record` writes the gradebook, `report` the feedback pages.

Answers in words: `written` finds them, `marks` keeps what people give for them, `marking` brings that into everything
above, `review` and its neighbours are `sdpa review`, `rubrics` says what a reader looks for.
"""

import sys


def _import_nbformat_quickly() -> None:
    """nbformat brings in jsonschema, and that an optional check of web addresses which takes a second to load."""
    optional = "rfc3987_syntax"
    if optional in sys.modules or "nbformat" in sys.modules:
        return
    sys.modules[optional] = None  # type: ignore[assignment]  # importing it fails, which jsonschema allows for
    try:
        import nbformat  # noqa: F401
    finally:
        del sys.modules[optional]


_import_nbformat_quickly()
