"""Say to Jupyter that notebooks are trusted: copies that we laid, which hold no outputs.

Jupyter trusts a notebook that it saved itself. One that we wrote would be called "Not Trusted" until then, which looks
like a fault. Where its list of trusted notebooks cannot be written nothing is lost.
"""

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

_FAILS = (OSError, ValueError, LookupError, TypeError, AttributeError, NameError, sqlite3.Error)
"""What nbformat raises for a file that is hardly a notebook, and Jupyter's list when it cannot be used."""


def trust(paths: Iterable[Path]) -> None:
    """Trust these notebooks as they are now."""
    import nbformat
    from nbformat.sign import NotebookNotary

    with contextlib.suppress(*_FAILS), NotebookNotary() as notary:
        for path in paths:
            notary.sign(nbformat.read(path, as_version=4))


def is_trusted(path: Path) -> bool:
    """Whether Jupyter trusts a notebook as it is now."""
    import nbformat
    from nbformat.sign import NotebookNotary

    with contextlib.suppress(*_FAILS), NotebookNotary() as notary:
        return bool(notary.check_signature(nbformat.read(path, as_version=4)))
    return False


@contextlib.contextmanager
def staying_trusted(path: Path) -> Iterator[None]:
    """A notebook that is trusted before its change is so afterwards."""
    before = is_trusted(path)
    yield
    if before:
        trust([path])
