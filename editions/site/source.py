"""What Sphinx reads, laid from the course's notebooks and docs: nothing in it is written by hand twice."""

import ast
import html
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat

from editions.address import binder
from editions.browser import abilities
from editions.ledger import page as ledger
from editions.site.folding import CLASSES
from editions.site.links import MOVED, place_in_site, relinked, relinked_html
from editions.slides.outline import outline_path
from editions.try_it.words import in_a_page
from sdpa_helpers.classroom.course_map import FIRST
from sdpa_helpers.course.exercise_notebook import exercise_notebook
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.reading_time import checked_in
from sdpa_helpers.course.registry import DOORS, LESSONS, all_exercises

DOCS = ("*.md", "instructors/*.md")
PICTURES = (".png", ".gif", ".svg")
BOARDS = "sdpa_helpers/lessons/*/board.svg"
"""The drawings of the kit's pages."""
PLOTS = "benchmarks/results/*.png"
"""What docs/package.md shows."""
WHOLE = ("docs/cheat-sheet.html", "docs/instructors/voting-cards.html")
"""Pages that are whole as they are."""
_ASIDE = re.compile(
    r"^([#|>].*)|(?<=\S)\s\((?:[A-Z][^()]*(?:\b(?:19|20)\d\d\b[^()]*|\.)|[Aa]rticles? [A-E][^()]*|arXiv:[^()]*)\)",
    re.MULTILINE,
)
"""Sources, numbers of claims, and whole sentences, where they stand in brackets in a paragraph."""
_LONG = re.compile(r".{78}")
"""A line of code that does not fit beside a margin."""
_ASKS = re.compile(r"lesson\.(predict|recall)\(")
PAGES = Path(__file__).parent / "pages"
"""Pages of the site alone; a page here replaces one that would be laid from elsewhere."""


def lay_source(into: Path) -> None:
    """Write the source folder of the site, anew."""
    root = course_root()
    shutil.rmtree(into, ignore_errors=True)
    texts = {**_docs(root), **_exercise_pages()}
    notebooks = {f"lessons/{name}.ipynb": name for name in (FIRST, *DOORS, *LESSONS)}
    texts |= {page.relative_to(PAGES).as_posix(): page.read_text("utf-8") for page in PAGES.rglob("*.md")}
    texts["teaching.md"] = _for_teachers(texts)
    texts["offline.md"] = texts["offline.md"].replace(
        "{lessons}", "\n".join(f"- []({name})" for name in notebooks)
    )
    texts["in-the-browser.md"] = abilities.as_source(root)
    texts["ledger.md"] = ledger.as_source(ledger.entries_of(root))
    pictures = [path for path in sorted((root / "docs").rglob("*")) if path.suffix in PICTURES]
    pictures += [*sorted(root.glob(BOARDS)), *sorted(root.glob(PLOTS))]
    there = {*texts, *notebooks, *WHOLE}
    for name, text in texts.items():
        place = next((old for old, new in MOVED.items() if new == name), name)
        _write(into / name, text if (PAGES / name).is_file() else relinked(text, place, there.__contains__))
    for name, lesson in notebooks.items():
        _write(into / name, lesson_page(root / "notebooks" / f"{lesson}.ipynb", there))
    for path in pictures:
        place = into / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _docs(root: Path) -> dict[str, str]:
    """The repository's Markdown by its place in the site."""
    found = [
        path for pattern in DOCS for path in sorted((root / "docs").glob(pattern)) if path.suffix == ".md"
    ]
    found += [root / name for name in MOVED if name != "README.md" and "/" not in name]
    named = {path.relative_to(root).as_posix(): path for path in found}
    return {str(place_in_site(name)): path.read_text(encoding="utf-8") for name, path in named.items()}


def _for_teachers(texts: dict[str, str]) -> str:
    """The one door to the instructor's kit."""
    pages = (name.removesuffix(".md") for name in texts if name.startswith("docs/instructors/"))
    return texts["teaching.md"].replace("{kit}", "\n".join(sorted(pages, key=_kit_order)))


def _kit_order(page: str) -> tuple[bool, int, str]:
    """The kit's first page, the plans and what to do around them before its lessons."""
    name, first = page.rpartition("/")[2], ("README", "plans", "mail", "day-before", "room")
    return name not in first, first.index(name) if name in first else 0, name


# ---- lessons ----------------------------------------------------------------------------------------------


def lesson_page(notebook: Path, there: set[str]) -> str:
    """A lesson as Sphinx reads it: links of the site, folded headings marked, an anchor at each code cell."""
    opened = nbformat.read(notebook, as_version=4)
    place = f"notebooks/{notebook.name}"
    cells = []
    for cell in opened.cells:
        if cell.cell_type == "markdown":
            cell.source = relinked(with_asides(in_a_page(_marked(cell))), place, there.__contains__)
        elif cell.cell_type == "code":
            cells.append(_anchor(cell["id"]))
            cells += [_place_to_write(name) for name in written_in(cell.source, opened.cells)]
            own = {"hide-input": only_serves_the_page(cell.source), "wide": _LONG.search(cell.source)}
            cell.metadata["tags"] = [*cell.metadata.get("tags", ()), *filter(own.get, own)]
            for output in cell.outputs:
                if shown := output.get("data", {}).get("text/html"):
                    output.data["text/html"] = relinked_html(in_a_page(shown), place)
            cell.metadata["tags"] += [f"checks-{name}" for name in checked_in(cell)]
        cells.append(cell)
    cells.insert(1, nbformat.v4.new_markdown_cell(_raw(_ways(notebook.stem)), id="ways"))
    opened.cells = cells
    return nbformat.writes(opened)


def with_asides(text: str) -> str:
    """Markdown in which what stands in brackets for itself is marked: a wide screen shows it in the margin."""
    return _ASIDE.sub(lambda found: found[0] if found[1] else f"[{found[0]}]{{.aside}}", text)


def only_serves_the_page(source: str) -> bool:
    """Whether code is folded: it asks a question, or is imports and one line that shows something.

    What computes the answer to a question goes with it: it would tell the answer before one has guessed.
    """
    try:
        statements = [
            one for one in ast.parse(source).body if not isinstance(one, ast.Import | ast.ImportFrom)
        ]
    except SyntaxError:  # a line of IPython's own
        return False
    last = ast.unparse(statements[-1]) if statements else ""
    return bool(_ASKS.match(last)) or (len(statements) < 2 and source.startswith(("import ", "from ")))


def written_in(source: str, cells: list[Any]) -> list[str]:
    """Exercises, of those that cells check, whose answer code waits for: it begins with `def name(`, and has dots."""
    asked = [name for cell in cells for name in checked_in(cell)]
    return [name for name in asked if re.match(rf"def {name}\(", source) and "..." in source]


def _place_to_write(exercise: str) -> Any:
    """The exercise's small page, above the code of a short that it takes the place of."""
    return nbformat.v4.new_markdown_cell(_raw(_try_in_place(exercise)), id=f"try-{exercise[:50]}")


def _ways(lesson: str) -> str:
    """Where else a lesson leads, above its first section."""
    doors = [(f"../lite/lab/index.html?path=notebooks/{lesson}.ipynb", "Run it in this browser")]
    if lesson in LESSONS:
        doors.append((f"../exercises/{lesson}.html", "Exercises"))
    if outline_path(lesson).is_file():
        doors.append((f"../slides/{lesson}.html", "Slides"))
    return _bar(doors + _elsewhere(f"notebooks/{lesson}.ipynb"))


def _elsewhere(path: str) -> list[tuple[str, str]]:
    """Where a notebook opens on another's machine; nowhere while nobody has said where the repository is."""
    return [(place, "Open on Binder")] if (place := binder(path)) else []


def _bar(doors: list[tuple[str, str]]) -> str:
    return '<p class="ways">' + " ".join(f'<a href="{goal}">{text}</a>' for goal, text in doors) + "</p>"


def _marked(cell: Any) -> str:
    kind = next((name for name in CLASSES if name in cell.metadata.get("tags", ())), "")
    return f"{{.{kind}}}\n{cell.source}" if kind and cell.source.startswith("#") else cell.source


def _anchor(cell_id: str) -> Any:
    """Where a link to a cell leads; the ledger names cells."""
    text = _raw(f'<span class="cell-anchor" id="cell-{html.escape(cell_id)}"></span>')
    return nbformat.v4.new_markdown_cell(text, id=f"{cell_id[:50]}-anchor")


# ---- exercises --------------------------------------------------------------------------------------------


_TRY = (
    "Here each exercise has a small page of its own: *Try it here*, below it, opens an editor that runs your answer in "
    "this browser. Check it as often as you like. *Hint* tells a little more each time, *Solution* shows one right "
    "answer."
)
"""In the place of what a notebook says of its cells."""


def _exercise_pages() -> dict[str, str]:
    return {f"exercises/{lesson}.md": exercise_page(lesson) for lesson in LESSONS}


def exercise_page(lesson: str) -> str:
    """The exercises of a lesson: each prompt, and the light page to try it in."""
    parts = []
    for cell in exercise_notebook(lesson).cells:
        if cell["id"] == "title":
            whole = f"../lite/lab/index.html?path=exercises/{lesson}.ipynb"
            doors = [
                (whole, "The notebook, in this browser"),
                (f"../try/notebooks/{lesson}.ipynb", "Its file"),
                *_elsewhere(f"exercises/{lesson}.ipynb"),
            ]
            title, worth, how, notes = cell.source.split("\n\n", 3)
            in_words = [line for line in how.splitlines() if line.startswith("The last")]
            parts += [title, worth, "\n".join([_TRY, *in_words]), notes, _raw(_bar(doors))]
        elif cell["id"].endswith("-prompt"):
            name = cell["id"].removesuffix("-prompt").replace("-", "_")
            parts += [in_a_page(cell.source), _raw(_try_in_place(name))]
    return "\n\n".join(parts) + "\n"


def _raw(page: str) -> str:
    return f"```{{raw}} html\n{page}\n```"


def _try_in_place(name: str) -> str:
    page, worth = f"../try/{name}.html", getattr(all_exercises().get(name), "max_points", 0)
    return (
        f'<details class="try" data-name="{name}" data-worth="{worth:g}"><summary>Try it here <span></span></summary>'
        f'<p><a href="{page}">Open {name} on a page of its own</a></p></details>'
    )
