"""The interview questions of a lesson: its `interview.md`, a question below each heading.

    ## kv-cache · solid ground

    What is in a KV cache, and how large is it?

    The keys and values of all earlier tokens. For 4,096 tokens that is <mib:.0f> MiB for each text.

    ```python
    mib = 2 * 4096 * 32 * 8 * 128 * 2 / 2**20
    ```

    - trap: `kv_cache_bytes`, queries-kept-too
    - measured: `kv_cache_bytes`
    - measured: claim 95
    - measured: section Decoding and the KV cache

Behind the name stands the level. `<c13.d64_n128:.0%>` is a number of claim 13 of the ledger, `<mib:.0f>` one that the
code computes. A trap is a claim that is not right as it stands (`claim 55`), a known wrong answer to an exercise, or an
answer to a prediction of the lesson (`prediction another_rate, 1/√dₖ`). It is measured in a claim, an exercise, a
section of the lesson, or one of another lesson (`10_does_scaling_matter, What came out`).
"""

import re
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from sdpa_helpers.course.content import Code, ContentEntry, Paragraph, Section, page_of
from sdpa_helpers.course.interview.question import LEVELS, Claimed, InterviewQuestion, Mistaken, Tempted, Trap

_TRAP = re.compile(r"trap: (?:claim (\d+)|`(\w+)`, ([\w-]+)|prediction (\w+), (.+))")
_MEASURED = re.compile(r"measured: (?:claim (\d+)|`(\w+)`|section (.+)|(\d\d_\w+, .+))")


@cache
def asked_in(lesson: str) -> tuple[InterviewQuestion, ...]:
    """What interviews ask about a lesson; PageError says which line of the page cannot be read."""
    return tuple(_asked(lesson, section) for section in page_of(lesson, "interview").sections)


def _asked(lesson: str, section: Section) -> InterviewQuestion:
    key, _, level = section.title.partition(" · ")
    if level not in LEVELS:
        raise section.wrong(f"`## name · level` is expected, and a level is {', '.join(LEVELS)}")
    texts, entries = section.of(Paragraph), section.of(ContentEntry)
    if len(texts) != 2 or not entries:
        raise section.wrong(
            "a question, the answer, and below them a trap and where it is measured are expected"
        )
    return InterviewQuestion(
        key,
        lesson,
        LEVELS.index(level),
        texts[0].text,
        texts[1].text,
        _trap(lesson, section, entries[0]),
        tuple(_measured(lesson, section, entry) for entry in entries[1:]),
        partial(_numbers, section) if section.of(Code) else dict,
    )


def _trap(lesson: str, section: Section, entry: ContentEntry) -> Trap:
    found = _TRAP.fullmatch(entry.text)
    if not found:
        expected = (
            "`- trap: claim 55`, ``- trap: `exercise`, its-mistake`` or `- trap: prediction name, answer`"
        )
        raise section.wrong(f"{expected} is expected", entry.line)
    claim, exercise, wrong, prediction, option = found.groups()
    if claim:
        return Claimed(int(claim))
    return Mistaken(exercise, wrong) if exercise else Tempted(lesson, prediction, option)


def _measured(lesson: str, section: Section, entry: ContentEntry) -> int | str:
    found = _MEASURED.fullmatch(entry.text)
    if not found:
        expected = "`- measured: claim 55`, ``- measured: `exercise` `` or `- measured: section Its heading`"
        raise section.wrong(f"{expected} is expected", entry.line)
    claim, exercise, own, other = found.groups()
    return int(claim) if claim else exercise or other or f"{lesson}, {own}"


def _numbers(section: Section) -> Mapping[str, Any]:
    return section.run()[0]
