"""The interview in a terminal: a question, time to answer, then our answer, the trap, and where it is measured."""

from collections.abc import Callable, Sequence
from textwrap import fill

from sdpa_helpers.course.interview.deck import answer_to, name_of, places_of, trap_in
from sdpa_helpers.course.interview.question import LEVELS, InterviewQuestion
from sdpa_helpers.show.predict import plain


def ask(asked: Sequence[InterviewQuestion], say: Callable[[str], None], read: Callable[[str], str]) -> None:
    """Ask one after the other; `say` prints, `read` waits for a line. q or no more input ends."""
    for number, question in enumerate(asked, 1):
        head = f"{number} of {len(asked)} · {LEVELS[question.level]} · {name_of(question.lesson)}"
        say(f"{head}\n\n{_wrapped(question.question)}\n")
        if _ends(read, "Answer aloud. Enter shows ours, q ends: "):
            return
        say(f"\n{as_text(question)}\n")
        if number < len(asked) and _ends(read, "Enter goes on, q ends: "):
            return


def as_text(asked: InterviewQuestion) -> str:
    """What there is to say once it was answered."""
    trap = trap_in(asked)
    parts = [_wrapped(answer_to(asked)), _wrapped(f"The trap. {trap}") if trap else ""]
    parts.append(_wrapped(f"Measured in {'; '.join(place.says for place in places_of(asked))}."))
    return "\n\n".join(filter(None, parts))


def _wrapped(text: str) -> str:
    return fill(plain(text), 100)


def _ends(read: Callable[[str], str], prompt: str) -> bool:
    try:
        return read(prompt).strip().lower() in ("q", "quit", "exit")
    except (EOFError, RuntimeError):  # the second where there is no input at all
        return True
