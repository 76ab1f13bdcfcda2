"""Python source as HTML with a class for each kind of word; `card_style` has the colours.

Nothing has to be installed for it, so it looks the same wherever a card is made.
"""

import builtins
import html
import keyword
import re

_WORDS = re.compile(
    r"""(?P<c>\#.*)
    | (?P<s>(?:(?<!\w)[bfru]{1,2})?
        (?:\"{3}[\s\S]*?\"{3} | '{3}[\s\S]*?'{3} | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'))
    | (?P<n>\b\d[\w.]*(?:(?<=e)[+-]?\d+)?)
    | (?P<d>(?<=\bdef\ )\w+ | (?<=\bclass\ )\w+)
    | (?P<w>\w+)
    | [<>&'"]""",
    re.VERBOSE,
)


def code_html(source: str) -> str:
    """Source text as a `<pre>`: keywords, strings, comments, numbers, names of functions have their classes.

    Text that is not Python comes out nearly as it is.
    """
    return f"<pre class='code' tabindex='0'><code>{words_html(source)}</code></pre>"


def words_html(source: str) -> str:
    """The same without the `<pre>`: for a line among others."""
    return _WORDS.sub(_word, source)


def _word(found: re.Match[str]) -> str:
    """The class of a word: "k" keyword, "d" a name that is defined, "b" built in, "s", "c", "n"; "" without one."""
    kind, text = found.lastgroup or "", found[0]
    if kind == "w":
        is_attribute = found.string[: found.start()].endswith(".")
        kind = "k" if keyword.iskeyword(text) else "b" if hasattr(builtins, text) and not is_attribute else ""
    return f"<span class='{kind}'>{html.escape(text)}</span>" if kind else html.escape(text)
