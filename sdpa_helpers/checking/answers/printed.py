"""What a learner's function prints while it is tried: kept to be shown on its card, and bounded."""

import contextlib
import io
from collections.abc import Iterator

MOST = 4000
"""Characters that are kept."""


class Printed(io.StringIO):
    """Keeps the first characters and drops the rest."""

    def __init__(self, most: int = MOST) -> None:
        super().__init__()
        self.most = most

    def write(self, text: str, /) -> int:
        """Keep as much as there is room for."""
        if self.tell() <= self.most:
            super().write(text[: self.most + 1])
        return len(text)

    @property
    def text(self) -> str:
        """What was kept, with dots where that is not all."""
        kept = self.getvalue()
        return kept if len(kept) <= self.most else f"{kept[: self.most - 1]}…"


@contextlib.contextmanager
def kept(most: int = MOST) -> Iterator[Printed]:
    """What is printed meanwhile; most = 0 keeps nothing of it."""
    printed = Printed(most)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        yield printed
