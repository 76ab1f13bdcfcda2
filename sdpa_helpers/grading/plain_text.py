"""Text from outside as a terminal may show it: nothing in it moves the cursor, hides, turns or colours anything."""

import unicodedata


def plain(text: str) -> str:
    r"""The text with its lines; any other character that does not show is written out, e.g. \x1b or \u202e."""
    return "".join(c if c == "\n" else _shown(c) for c in text)


def one_line(text: str) -> str:
    r"""The same on one line, for names and paths: a newline is written out too."""
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    if character == "\t" or unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")
