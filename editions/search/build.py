"""Make the index of the search, in pagefind/ of a built site, by Pagefind in Node."""

import json
import shutil
from pathlib import Path

from editions.npm import npm_folder
from editions.programs import output_of
from editions.search.documents import documents

HERE = Path(__file__).parent
UNUSED = ("pagefind-ui.*", "pagefind-modular-ui.*", "pagefind-component-ui.*", "pagefind-highlight.js")
"""Pagefind's own fields and lists: the site has its own, editions/site/static/search.js."""


def build_search(site: Path) -> None:
    """Index what the site's pages say, of as many as are there."""
    into = site / "pagefind"
    shutil.rmtree(into, ignore_errors=True)
    found = [{"url": one.address, "about": one.about, "content": one.html} for one in documents(site)]
    command = ["node", str(HERE / "index.mjs"), str(npm_folder()), str(into.resolve())]
    output_of(command, "Pagefind failed", input=json.dumps(found))
    for pattern in UNUSED:
        for path in into.glob(pattern):
            path.unlink()
