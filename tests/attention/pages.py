"""A page of docs/ whose Python blocks are run, one after the other, as a reader would."""

import contextlib
import io
import re


def run(text: str) -> int:
    """Run the blocks of code in one namespace; what they print must be the text block after it. How many there were."""
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names: dict = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for language, block in blocks:
            if language == "python":
                exec(block, names)
            else:
                assert printed.getvalue() == block
                printed.truncate(printed.seek(0))
    assert printed.getvalue() == ""
    return [language for language, _ in blocks].count("python")
