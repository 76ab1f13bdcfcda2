"""The deck in a terminal: a question, a number, what is true, when it comes again."""

from collections.abc import Callable

from sdpa_helpers.course.remember import spacing
from sdpa_helpers.course.remember.items import Item
from sdpa_helpers.course.remember.panel import as_text, nothing_due
from sdpa_helpers.show.predict import plain


def ask(items: tuple[Item, ...], count: int, say: Callable[[str], None], read: Callable[[str], str]) -> None:
    """Ask what is due, at most `count` questions; `say` prints, `read` prompts for a line. q or no more input ends."""
    chosen = spacing.next_items(items, count)
    if not chosen:
        say(nothing_due(items))
    right = 0
    for number, item in enumerate(chosen, 1):
        say(f"{number} of {len(chosen)} · lesson {item.lesson[:2]}\n\n{as_text(item)}\n")
        answer = _answer(item, say, read)
        if answer is None:
            break
        right += answer == item.right
        due = spacing.answered(item, answer == item.right)
        say(_told(item, answer) + f"  Again on {due.astimezone():%d %B, %H:%M}.\n")
        if number == len(chosen):
            say(f"{right} of {len(chosen)} right.")


def _answer(item: Item, say: Callable[[str], None], read: Callable[[str], str]) -> int | None:
    """Which choice, from 0; None to end."""
    numbers = [str(n) for n in range(1, len(item.choices) + 1)]
    while True:
        try:
            line = read(f"{' '.join(numbers)} or q: ").strip().lower()
        except (EOFError, RuntimeError):  # the second where there is no input at all
            return None
        if line in ("q", "quit", "exit"):
            return None
        if line in numbers:
            return int(line) - 1
        say(f"Type one of {', '.join(numbers)}, or q to end.")


def _told(item: Item, answer: int) -> str:
    truth = item.choices[item.right]
    if answer == item.right:
        return f"✓ Right. {plain(truth.because)}\n"
    chosen = item.choices[answer]
    return f"✗ {plain(chosen.text)}: {plain(chosen.because)}\n✓ {plain(truth.text)}: {plain(truth.because)}\n"
