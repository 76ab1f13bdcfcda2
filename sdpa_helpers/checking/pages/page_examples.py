"""The prompt of a page: `{call: 5}` is "f(5) gives 25", and `{text: CODE}` is a text that the page's code writes."""

import ast
import re
from collections.abc import Callable
from typing import Any

from sdpa_helpers.checking.exercise import Example
from sdpa_helpers.checking.pages.page_text import PageText, names_in

WEIGHT = re.compile(r"\(weight (\d+)\)")
"""How much of the exercise's points a case gets: as much as others without it."""
_EXAMPLE = re.compile(r"\{(named|call|values|result): ([^{}]*)\}|\{(result)\}")
_TEXT = re.compile(r"\{text: ([^{}]*)\}")
_LEFT = re.compile(r"\{(?:call|values|named|result|text)\b(?! ?:\d)|\{\w+: ")
"""What looks like one of these and is none: another word, or no brace at its end."""

Evaluate = Callable[[int, str], Any]
"""Gets the number of a line, and an expression that stands there."""


def prompt_and_examples(page: PageText, evaluate: Evaluate) -> tuple[str, tuple[Example, ...]]:
    """The prompt as an exercise has it, with a number for each example.

    `{call: 5}` is "f(5) gives 25", and only "f(5)" with `{result}` behind it; `{result: 5}` is only "25". See
    `_about_example`.
    """
    found = list[Example]()
    order = [match[3] for match in _EXAMPLE.finditer(page.prompt)]

    def keep(match: re.Match[str]) -> str:
        del order[0]
        if match[3]:
            return f"{{result:{len(found)}}}"
        line = page.line_of(match[0])
        arguments, *about = match[2].split(" · ")
        call = _call(page, line, arguments)
        inputs = tuple(evaluate(line, ast.unparse(a)) for a in call.args)
        keywords = tuple((str(k.arg), evaluate(line, ast.unparse(k.value))) for k in call.keywords)
        form: Any = "named" if match[1] == "result" else match[1]
        found.append(Example(inputs, keywords, form=form, **_about_example(page, line, about)))
        if match[1] == "result":
            return f"{{result:{len(found)}}}"
        return f"{{inputs:{len(found)}}}" if order[:1] == ["result"] else f"{{example:{len(found)}}}"

    prompt = _EXAMPLE.sub(keep, page.prompt)
    if left := _LEFT.search(_TEXT.sub("", prompt)):
        rest = prompt[prompt.index(left[0]) :].partition("\n")[0][:40]
        raise page.wrong(
            page.line_of(left[0]),
            f"`{rest}` is none of {{call: …}}, {{values: …}}, {{named: …}}, {{result: …}}, {{result}}, {{text: …}}",
        )
    return _TEXT.sub(lambda match: evaluate(page.line_of(match[0]), match[1]), prompt), tuple(found)


def _call(page: PageText, line: int, arguments: str) -> ast.Call:
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
    except SyntaxError:
        raise page.wrong(line, f"`{arguments}` is no example: the arguments of a call are expected") from None
    assert isinstance(call, ast.Call)
    return call


def _about_example(page: PageText, line: int, texts: list[str]) -> dict[str, Any]:
    """Behind its arguments: ` · weight 0`, ` · writes x` (not the others), ` · shows 5²` (as the result)."""
    about = dict[str, Any]()
    for text in texts:
        word, _, rest = text.partition(" ")
        if word == "writes":
            about["writes"] = names_in(rest)
        elif word == "shows":
            about["shows"] = rest
        elif weight := WEIGHT.fullmatch(f"({text})"):
            about["weight"] = int(weight[1])
        else:
            raise page.wrong(
                line, f"`{text}` behind an example is none of `weight 0`, `writes x`, `shows 5²`"
            )
    return about
