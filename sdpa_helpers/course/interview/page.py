"""Write docs/interview.md: the whole deck, answers folded (`make interview`)."""

from pathlib import Path

from sdpa_helpers.course.generated import keep
from sdpa_helpers.course.interview.deck import all_asked, answer_to, name_of, places_of, trap_in
from sdpa_helpers.course.interview.question import LEVELS, InterviewQuestion
from sdpa_helpers.course.places import course_root
from sdpa_helpers.show.predict import rich


def as_page() -> str:
    """The deck as a Markdown page."""
    asked = all_asked()
    lines = [
        f"# Interview: {len(asked)} questions about attention",
        "",
        "From easy to hard. Answer aloud before you unfold: an answer takes two to four sentences. Beneath each one "
        "you find where it is measured, and the trap: what an article says, or what the check says to a wrong answer. "
        "The numbers are those of the [ledger](ledger.md), or computed; `make interview` writes this page again, and "
        "a test compares.",
        "",
        "In a terminal `sdpa interview` asks you, and in a notebook `sdpa.interview()`. With an interview tomorrow, "
        "take [ninety minutes](interview-90-minutes.md).",
    ]
    number = 0
    for level, name in enumerate(LEVELS):
        lines += ["", f"## {name.capitalize()}"]
        for question in (a for a in asked if a.level == level):
            number += 1
            lines += ["", *_entry(number, question)]
    return "\n".join(lines) + "\n"


def _entry(number: int, asked: InterviewQuestion) -> list[str]:
    places = "; ".join(f'<a href="../{place.file}">{rich(place.says)}</a>' for place in places_of(asked))
    trap = trap_in(asked)
    return [
        f"### {number}. {rich(asked.question)}",
        "",
        f"<details><summary>Answer · {name_of(asked.lesson)}</summary>",
        f"<p>{rich(answer_to(asked))}</p>",
        *([f"<p><strong>The trap.</strong> {rich(trap)}</p>"] if trap else []),
        f"<p><strong>Measured in</strong> {places}</p>",
        "</details>",
    ]


def write(root: Path) -> None:
    """Write the page."""
    keep(root, "docs/interview.md", as_page())


if __name__ == "__main__":
    write(course_root())
