"""Write what all pages share into a site, and read templates that use it."""

import shutil
from pathlib import Path

import jinja2

from sdpa_helpers.checking.card import card_style
from sdpa_helpers.course.places import course_root
from sdpa_helpers.desk.launch import FRONT

HERE = Path(__file__).parent
ICON = course_root() / "sdpa_helpers/classroom/room/pages/icon.svg"
"""The course's; the room has it where the site is not."""

TOKENS = FRONT / "labextensions" / "sdpa-course" / "app" / "tokens.css"
"""Of JupyterLab's side, too."""


def write_look(site: Path) -> None:
    """Write `look/` into the site's folder; each step does, so that each can be built alone."""
    shutil.copytree(HERE / "static", site / "look", dirs_exist_ok=True)
    shutil.copy(ICON, site / "look")
    style = TOKENS.read_text(encoding="utf-8") + (HERE / "static" / "look.css").read_text(encoding="utf-8")
    (site / "look" / "look.css").write_text(style, encoding="utf-8")
    (site / "look" / "card.css").write_text(card_style.sheet(), encoding="utf-8")


def templates_in(folder: Path) -> jinja2.Environment:
    """The templates of a folder, which may import `look.html`."""
    loader = jinja2.FileSystemLoader([folder, HERE / "templates"])
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
