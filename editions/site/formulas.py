"""A Sphinx extension: formulas as pictures, drawn when the pages are made. No script sets them, and nothing jumps."""

import html
import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from editions.stored.formulas import Formula, draw, mathml

_DRAWN: dict[Formula, str] = {}


def setup(app: Sphinx) -> None:
    """What Sphinx has to know."""
    app.add_html_math_renderer("drawn", (_visit, None), (_visit, None))
    app.connect("env-updated", draw_all)


def draw_all(app: Sphinx, env: BuildEnvironment) -> None:
    """Draw the formulas of all pages at once: Node takes a second to start. MathML, unseen, is for screen readers."""
    pages = [env.get_doctree(name) for name in env.found_docs]
    kinds = (nodes.math, nodes.math_block)
    found = [*{_formula(node) for page in pages for kind in kinds for node in page.findall(kind)}]
    pictures, said = draw(found), mathml(found)
    for formula in found:
        tag, tex = "div" if formula.display else "span", html.escape(formula.tex)
        seen = re.sub('role="img"( aria-label="[^"]*")?', 'aria-hidden="true"', pictures[formula])
        _DRAWN[formula] = f'<{tag} class="math" data-tex="{tex}">{seen}{said[formula]}</{tag}>'


def _formula(node: nodes.Element) -> Formula:
    tex, display = node.astext().strip(), isinstance(node, nodes.math_block)
    lines = display and r"\\" in tex and not node.get("no-wrap", node.get("nowrap"))
    return Formula(rf"\begin{{split}}{tex}\end{{split}}" if lines else tex, display)


def _visit(writer: nodes.NodeVisitor, node: nodes.Element) -> None:
    writer.body.append(_DRAWN[_formula(node)])
    raise nodes.SkipNode
