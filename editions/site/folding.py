"""The long way, and in it what goes deeper, are folded: heading and first paragraph stand there, the rest opens."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

CLASSES = {"core": "Open the long way", "deeper": "Go deeper", "claims": "The claims, one by one"}
"""The class of a heading → what stands on the button that opens its section."""


class Folded(nodes.General, nodes.Element):
    """Content behind a button, without scripts: browsers open it for a link into it, and for a search."""


class OneTitle(SphinxTransform):
    """A page has one title: a lesson's long way, a heading of the same level, is a section below it."""

    default_priority = 340  # once headings are sections, before anybody looks for titles

    def apply(self, **kwargs: object) -> None:
        first, *others = [node for node in self.document.children if isinstance(node, nodes.section)] or [
            None
        ]
        if first is not None:
            for section in others:
                self.document.remove(section)
                first += section


class FoldSections(SphinxPostTransform):
    """Fold the sections whose heading has one of CLASSES."""

    default_priority = 900

    def run(self) -> None:
        for section in list(self.document.findall(nodes.section)):
            if kind := _kind(section):
                _fold(section, CLASSES[kind])


def _kind(section: nodes.section) -> str:
    classes = [*section.get("classes", ()), *(section[0].get("classes", ()) if len(section) else ())]
    return next((name for name in CLASSES if name in classes), "")


def _fold(section: nodes.section, label: str) -> None:
    """Everything of a section but its title and the paragraph below it goes into a Folded."""
    kept = 2 if len(section) > 1 and isinstance(section[1], nodes.paragraph) else 1
    inside = section.children[kept:]
    if not inside:
        return
    del section.children[kept:]
    folded = Folded(label=label)
    folded += inside
    section += folded


def _open(writer: nodes.NodeVisitor, node: Folded) -> None:
    writer.body.append(f'<details class="folded"><summary>{node["label"]}</summary>\n')


def _close(writer: nodes.NodeVisitor, node: Folded) -> None:
    writer.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    """What Sphinx has to know."""
    app.add_node(Folded, html=(_open, _close))
    app.add_transform(OneTitle)
    app.add_post_transform(FoldSections)
