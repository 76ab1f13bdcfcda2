"""What Python runs before an image of its memory is made: imports, and one check, which imports the rest."""

import json
import linecache
import re

import numpy.random

from sdpa_helpers.course import session
from sdpa_helpers.course.in_page import reply

WRONG = "def softmax(x, axis=-1):\n    return np.exp(x)\n"
reply(json.dumps({"ask": "check", "lesson": "03_softmax", "name": "softmax", "answers": {"softmax": WRONG}}))
session._mistakes.clear()
session._last_hints.clear()
# The answer; references keep their text.
_ = [linecache.cache.pop(name) for name in [*linecache.cache] if name.startswith("<")]
re.purge()
del WRONG, _, json, linecache, numpy, re, reply, session
__import__("gc").collect()
