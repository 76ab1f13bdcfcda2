"""The lines of a derivation from a page in the lesson's folder, a section each:

    ## Σ e^(s − m) over A

    `f_A l_A` in f_A l_A f_B l_B

    e^(s − m) is e^(s − m_A) times e^(m_A − m), for every key of A.

    - factor-added `f_A + l_A`
      In line 1 the factor belongs to every term of the sum: it multiplies.

First what is right, in which names, and behind ", with" one that has to stand in it; then what the line is about; then
the slips that are known, each with its name, what is typed, and the sentence for the learner.
"""

import re

from sdpa_helpers.checking.kinds.derivation import Slip, Step
from sdpa_helpers.course.content import ContentEntry, Paragraph, Section, page_of

_RIGHT = re.compile(r"`([^`]+)` in ([\w ]+?)(?:, with (\w+))?")
_SLIP = re.compile(r"([\w-]+) `([^`]+)`")


def steps_of(lesson: str, name: str) -> tuple[Step, ...]:
    """The lines on a lesson's page of that name; PageError says which line of the page is not of this form."""
    return tuple(map(_step, page_of(lesson, name).sections))


def _step(section: Section) -> Step:
    first, *about = section.of(Paragraph) or [Paragraph(section.line, "")]
    found = _RIGHT.fullmatch(first.text)
    if not found:
        raise section.wrong("what is right is expected first, as `a + b` in a b", first.line)
    says = " ".join(paragraph.text for paragraph in about)
    slips = tuple(_slip(section, entry) for entry in section.of(ContentEntry))
    return Step(section.title, found[1], tuple(found[2].split()), slips, says, found[3] or "")


def _slip(section: Section, entry: ContentEntry) -> Slip:
    found = _SLIP.fullmatch(entry.text)
    if not found or not entry.says:
        raise section.wrong(
            "a slip is written as - its-name `what is typed`, and a sentence below", entry.line
        )
    return Slip(found[1], found[2], entry.says)
