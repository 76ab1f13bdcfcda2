"""Text as HTML."""

import html
import re


def code_spans(text: str) -> str:
    """Text as HTML: escaped, with `code` between backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
