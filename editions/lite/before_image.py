"""What Python runs before an image of its memory is made for JupyterLite's kernel: the kernel, and one check."""

import linecache
import re
import sqlite3

import piplite.piplite
import pyodide_kernel

from sdpa_helpers import check, hint, progress, solution
from sdpa_helpers.course import session


def softmax(x, axis=-1):
    """A wrong answer."""
    return x


check(softmax, keep=False).html()
session._mistakes.clear()
session._last_hints.clear()
# The answer; references keep their text.
_ = [linecache.cache.pop(name) for name in [*linecache.cache] if name.startswith("<")]
re.purge()
del _, check, hint, linecache, piplite, progress, pyodide_kernel, re, session, softmax, solution, sqlite3
__import__("gc").collect()
