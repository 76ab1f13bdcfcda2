"""Grade one submission: read → assemble → run → judge → result → report.

`read` takes the answers out of what was handed in (`lift_words` those in words), `assemble` lays them into the
pristine notebook, `run` executes it under nbval, `grade_one` brings the parts together.
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
