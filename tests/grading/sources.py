"""The text of functions, as a learner would have it in a cell."""

import inspect
import textwrap
from collections.abc import Callable


def source_of(function: Callable) -> str:
    """A function's own text, without the indentation of where it stands."""
    return textwrap.dedent(inspect.getsource(function)).rstrip()
