"""Where a link of the repository's Markdown leads in the site."""

import posixpath
import re
from collections.abc import Callable

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_HREF = re.compile(r"""(?<=href=["'])([^"']+)""")
_OUTSIDE = re.compile(r"[a-z]+:|#|/")

MOVED = {
    "README.md": "index.md",
    "docs/ledger.md": "ledger.md",
    "ARCHITECTURE.md": "docs/architecture.md",
    "CONTRIBUTING.md": "docs/contributing.md",
    "CHANGELOG.md": "docs/changelog.md",
}
"""Pages of the repository that stand elsewhere in the site."""


def place_in_site(path: str) -> str | None:
    """The file of Sphinx's source folder that shows a file of the repository; None where the site has none."""
    if path in MOVED:
        return MOVED[path]
    folder, _, name = path.partition("/")
    if folder == "notebooks" and name.endswith(".ipynb"):
        return f"lessons/{name}"
    if folder == "exercises" and name.endswith(".ipynb"):
        return f"exercises/{name.removesuffix('.ipynb')}.md"
    if folder == "docs" and name.endswith((".md", ".html", ".png", ".gif")):
        return path
    return None


def relinked(text: str, place: str, exists: Callable[[str], bool]) -> str:
    """Markdown of the repository's file `place` with its links as the site needs them.

    exists: whether a file of Sphinx's source folder will be there. What is not in the site stays as plain text.
    """
    here = posixpath.dirname(place_in_site(place) or place)

    def link(found: re.Match[str]) -> str:
        shown, target = found.groups()
        if _OUTSIDE.match(target):
            return found[0]
        path, sharp, anchor = target.partition("#")
        goal = place_in_site(posixpath.normpath(posixpath.join(posixpath.dirname(place), path)))
        if goal is None or not exists(goal):
            return shown
        if goal.endswith(".html"):  # whole as it is, and no page of Sphinx's; its place is found below
            return f'<a href="{target}">{shown}</a>'
        if goal == "index.md":  # the front page is not the README, and has no heading of it
            sharp = anchor = ""
        # JupyterLab keeps capital letters in the anchor of a heading, Sphinx does not.
        return f"[{shown}]({posixpath.relpath(goal, here or '.')}{sharp}{anchor.lower()})"

    return relinked_html(_LINK.sub(link, text), place)


def relinked_html(page: str, place: str) -> str:
    """HTML in the repository's file `place`, or printed by its cells, with its links as the site needs them."""
    here = posixpath.dirname(place_in_site(place) or place) or "."

    def link(found: re.Match[str]) -> str:
        path, sharp, anchor = found[0].partition("#")
        goal = place_in_site(posixpath.normpath(posixpath.join(posixpath.dirname(place), path)))
        if _OUTSIDE.match(found[0]) or goal is None:
            return found[0]
        return posixpath.relpath(re.sub(r"\.(md|ipynb)$", ".html", goal), here) + sharp + anchor

    return _HREF.sub(link, page)
