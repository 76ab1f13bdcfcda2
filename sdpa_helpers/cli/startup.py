"""Quick imports, for commands that run a second or two in all. Workers that are forked have what is imported here."""

import contextlib
import gc
import sys
from collections.abc import Iterator

_SLOW = "rfc3987_syntax"
"""An optional check of web addresses, which nbformat loads through jsonschema and nobody here uses: 1.5 s."""


@contextlib.contextmanager
def quick_imports() -> Iterator[None]:
    """Import in here what grading needs.

    Looking for garbage among what stays for ever takes a fifth of an import's time.
    """
    gc.disable()
    try:
        _import_nbformat()
        yield
    finally:
        gc.freeze()
        gc.enable()


def _import_nbformat() -> None:
    if _SLOW in sys.modules or "nbformat" in sys.modules:
        return
    sys.modules[_SLOW] = None  # type: ignore[assignment]  # importing it fails, which jsonschema allows for
    try:
        import nbformat  # noqa: F401
    finally:
        del sys.modules[_SLOW]
