"""What a lesson's cell shows that did not run, because something that it needs is not here."""

import html
import sys

from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.render import Shown, framed
from sdpa_helpers.course.needs import WORDS


class NotRun(Shown):
    """One sentence that says what is absent and why this cell needs it, and one that says how to get it."""

    def __init__(self, what: str, through: str, direct: bool) -> None:
        in_browser = sys.platform == "emscripten"
        lacks = f"{WORDS[what]}, which {'a browser does not have' if in_browser else 'is not installed here'}"
        if direct:
            self.why = f"This cell needs {lacks}, so it did not run."
        else:
            self.why = f"This cell did not run: “{through}” comes from a cell that needs {lacks}."
        if in_browser:
            self.then = (
                "The lesson's page on the site shows what came out where it ran. The other cells run here."
            )
        else:
            self.then = (
                'To install it: pip install "sdpa-helpers[lab]". The lesson\'s other cells run without it.'
            )

    def text(self) -> str:
        """Both sentences."""
        return f"{self.why} {self.then}"

    def html(self) -> str:
        """The same in the frame of a card."""
        return styled(framed(f"<p>{html.escape(self.why)}</p><p class='quiet'>{html.escape(self.then)}</p>"))
