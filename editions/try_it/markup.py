"""Markdown with formulas, as prompts have it, to HTML with MathML."""

import re

from markdown_it import MarkdownIt

from editions.stored.formulas import mathml, put_back, take_out

_ALONE = re.compile(r'<p>(<math [^>]*display="block">.*?</math>)</p>', re.DOTALL)


def html_of(texts: list[str]) -> list[str]:
    """The HTML of some Markdown texts, their formulas as MathML; raw HTML in them is shown, not obeyed."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    held = [take_out(text) for text in texts]
    drawn = mathml(formula for _, formulas in held for formula in formulas)
    pages = [put_back(markdown.render(text), formulas, drawn) for text, formulas in held]
    alone = [_ALONE.sub(r"\1", page) for page in pages]
    return [page.replace("<pre>", '<pre tabindex="0">') for page in alone]  # wide code scrolls, by keys too
