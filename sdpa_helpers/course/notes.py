"""What a learner is told besides a verdict: a note, a hint, and a sentence about what they can put right."""

import html
from dataclasses import dataclass

from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.highlight import code_html
from sdpa_helpers.checking.card.render import Hint, Shown, code_spans, framed, hint_buttons


class Told(LookupError):
    """Something a learner can put right. In a notebook its sentence is shown alone, without our files around it."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True, repr=False)
class Note(Shown):
    """A heading and a text."""

    heading: str
    body: str
    is_code: bool = False

    def text(self) -> str:
        """The note as plain text."""
        return f"{self.heading}\n\n{self.body}"

    def html(self) -> str:
        """The note as a card."""
        body = code_html(self.body) if self.is_code else f"<p>{code_spans(self.body)}</p>"
        return styled(framed(f"<strong>{html.escape(self.heading)}</strong>{body}"))


@dataclass(frozen=True, repr=False)
class HintNote(Shown):
    """One hint, and behind buttons those that come after it."""

    exercise: str
    hint: Hint
    coming: tuple[Hint, ...]

    def text(self) -> str:
        """The hint as plain text."""
        left = self.hint.of - self.hint.number
        more = f"{left} more: run this cell again" if left else "the last one"
        return f"{self._heading} ({more})\n\n{self.hint.text}"

    def html(self) -> str:
        """The hint as a card."""
        ways = f"<div class='ways'>{hint_buttons(self.coming)}</div>" if self.coming else ""
        heading = f"<strong>{html.escape(self._heading)}</strong>"
        return styled(framed(f"{heading}<p>{code_spans(self.hint.text)}</p>{ways}"))

    @property
    def _heading(self) -> str:
        return f"{self.exercise}: hint {self.hint.number} of {self.hint.of}"
