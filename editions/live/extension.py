"""A Sphinx extension: the scripts and styles of what moves, and the addresses of the sections that decide claims.

The site's conf.py names it among its extensions; it writes its own files into `_static/` and needs nothing else.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from editions.ledger.page import anchored, is_heading
from editions.live.scripts import live_script

HERE = Path(__file__).parent

STYLES = (HERE / "live.css", HERE.parent / "ledger" / "ledger.css")
SCRIPTS = (HERE.parent / "ledger" / "ledger.js", HERE / "tables.js")
"""Each is added to those pages that have something for it."""

NEEDS = {
    "ledger.js": 'class="ledger"',
    "tables.js": "",
    "live.js": "data-key=",
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", add_to_page)
    for style in STYLES:
        app.add_css_file(style.name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_files(app: Sphinx) -> None:
    """Scripts and styles into `_static/` of the site."""
    static = Path(app.outdir) / "_static"
    static.mkdir(parents=True, exist_ok=True)
    for file in (*STYLES, *SCRIPTS):
        (static / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    (static / "live.js").write_text(live_script(), encoding="utf-8")


def add_to_page(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """A page gets the scripts that it needs, and the ledger the addresses of the sections that it names."""
    body = context.get("body", "")
    for script, mark in NEEDS.items():
        if mark in body:
            app.add_js_file(script, loading_method="defer")
    if 'href="where:' in body:
        context["body"] = anchored(
            body, lambda lesson, heading: section_address(app, pagename, lesson, heading)
        )


def section_address(app: Sphinx, page: str, lesson: str, heading: str) -> str:
    """The address, from a page, of the section of a lesson that has this heading.

    Raises:
        LookupError: the lesson has no such section.
    """
    target = f"lessons/{lesson}"
    for reference in app.env.tocs[target].findall(nodes.reference):
        if is_heading(reference.astext(), heading):
            return app.builder.get_relative_uri(page, target) + (reference["anchorname"] or "")
    raise LookupError(f"the ledger names {heading!r} in {lesson}, which has no such section")
