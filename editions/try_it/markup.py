"""Markdown with formulas, as prompts have it, to HTML with MathML."""

import json
import re
import subprocess
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from editions.npm import npm_folder

_FORMULA = re.compile(r'<(span|div) class="math (inline|block)">(.*?)</\1>', re.DOTALL)


def html_of(texts: list[str]) -> list[str]:
    """The HTML of some Markdown texts, their formulas as MathML; raw HTML in them is shown, not obeyed."""
    markdown = (
        MarkdownIt("commonmark", {"html": False}).enable("table").use(dollarmath_plugin, renderer=_kept)
    )
    pages = [markdown.render(text) for text in texts]
    formulas = [
        (json.loads(_unescaped(f[3])), f[2] == "block") for page in pages for f in _FORMULA.finditer(page)
    ]
    mathml = iter(mathml_of(formulas))
    drawn = [_FORMULA.sub(lambda _: next(mathml), page) for page in pages]
    return [page.replace("<pre>", '<pre tabindex="0">') for page in drawn]  # wide code scrolls, by keys too


def _kept(tex: str, options: dict[str, bool]) -> str:
    # Its tags come from the plugin; JSON keeps line ends and quotes until the formulas are set, all at once.
    return json.dumps(tex).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _unescaped(text: str) -> str:
    return text.strip().replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")


def mathml_of(formulas: list[tuple[str, bool]]) -> list[str]:
    """The MathML of [(TeX, whether it stands on a line of its own)], by MathJax in Node."""
    npm_folder()
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("formulas.mjs"))],
        input=json.dumps(formulas),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)
