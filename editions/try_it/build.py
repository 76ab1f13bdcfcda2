"""Write the light pages: one for each exercise, and the list of all."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from editions.browser.runtime import LOCK, build_runtime
from editions.look.pages import templates_in, write_look
from editions.museum.exhibits import NOT_HERE
from editions.npm import bundled, npm_folder
from editions.try_it.kinds import KINDS, WAYS, kind_of, ways_of
from editions.try_it.markup import html_of
from editions.try_it.sums import behind_the_wall, files_js
from editions.try_it.words import in_a_page, names_js
from sdpa_helpers.checking.code.answer_cells import answered_in
from sdpa_helpers.checking.kinds.written_exercise import WrittenExercise
from sdpa_helpers.course.exercise_notebook import exercise_notebook
from sdpa_helpers.course.registry import LESSONS, all_exercises, sheet_of

HERE = Path(__file__).parent
PASTED = """def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return torch.softmax(scores, dim=-1) @ v
"""
"""What stands in the page for pasted functions until somebody pastes one: no scale, and a fill that is a number."""


@dataclass(frozen=True)
class LightPage:
    """One exercise, as its page shows it."""

    name: str
    lesson: str
    title: str
    number: int
    of: int
    points: float
    minutes: int
    difficulty: int
    kind: str
    """What one does: one of KINDS."""
    way: str
    """How far into its lesson it belongs: one of WAYS."""
    first: str
    """The text its cell begins with; "" where it is answered in words."""
    prompt: str
    """HTML."""
    before: str
    after: str
    """The names of the neighbors in the lesson, or ""."""
    next: str
    """The page to which the card of a right answer leads."""
    known: tuple[str, ...] = ()
    """The mistakes that have an address in the museum."""
    earlier: tuple[str, ...] = ()
    """The exercises of its lesson before it: their answers run first, as the cells above it do in a notebook."""

    @property
    def data(self) -> dict[str, object]:
        """What the page's script needs."""
        about: dict[str, object] = {"name": self.name, "lesson": self.lesson, "first": self.first}
        more = {"points": self.points, "next": self.next, "known": self.known, "earlier": self.earlier}
        return about | more


def build_try(into: Path) -> None:
    """Write the pages into a folder. They know each file of Python, in ../pyodide, by its sum; it is made if missing.

    Raises:
        editions.browser.fetch.Unobtainable: it was missing, and a wheel for it could not be had.
    """
    pyodide = into.parent / "pyodide"
    if not (pyodide / LOCK).is_file():
        build_runtime(pyodide)
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(HERE / "static", into)
    write_look(into.parent)
    files = behind_the_wall(into, pyodide)
    (into / "files.js").write_text(files_js(files), encoding="utf-8")
    bundled(HERE / "editor.js", into / "editor.js")
    shutil.copy(npm_folder() / "@codemirror" / "view" / "LICENSE", into / "editor-LICENSE")
    (into / "names.js").write_text(names_js(), encoding="utf-8")
    pages = light_pages()
    templates = templates_in(HERE / "templates")
    templates.globals |= {"kinds": KINDS, "ways": WAYS}
    for page in pages:
        text = templates.get_template("exercise.html").render(
            page=page, data=_script_json(page.data), frame=files[0].sum
        )
        (into / f"{page.name}.html").write_text(text, encoding="utf-8")
    text = templates.get_template("yours.html").render(frame=files[0].sum, example=PASTED)
    (into / "yours.html").write_text(text, encoding="utf-8")
    lessons = [
        (lesson, sheet_of(lesson), [page for page in pages if page.lesson == lesson]) for lesson in LESSONS
    ]
    text = templates.get_template("index.html").render(lessons=lessons)
    (into / "index.html").write_text(text, encoding="utf-8")
    for lesson in LESSONS:
        notebook = json.dumps(exercise_notebook(lesson), ensure_ascii=False, indent=1)
        _made(into / "notebooks" / f"{lesson}.ipynb").write_text(notebook + "\n", encoding="utf-8")


def light_pages() -> list[LightPage]:
    """All exercises of the course in their order."""
    prompts = {lesson: _prompts(lesson) for lesson in LESSONS}
    made = iter(html_of([text for lesson in LESSONS for text in prompts[lesson].values()]))
    pages = []
    for lesson in LESSONS:
        exercises, first, ways = sheet_of(lesson).exercises, _first_texts(lesson), ways_of(lesson)
        names = ["", *(one.name for one in exercises), ""]
        for number, one in enumerate(exercises, 1):
            text = "" if isinstance(one, WrittenExercise) else first[one.name]
            about = (one.name, lesson, one.title or one.name, number, len(exercises), one.max_points)
            rest = (one.minutes, one.difficulty, kind_of(one), ways[one.name], text, next(made))
            beside = (names[number - 1], names[number + 1])
            onward = f"{names[number + 1]}.html" if names[number + 1] else _after(lesson)
            pages.append(LightPage(*about, *rest, *beside, onward, _known(one.name), tuple(names[1:number])))
    return pages


def _known(exercise: str) -> tuple[str, ...]:
    own = all_exercises().get(exercise)
    return (
        () if own is None or exercise.startswith(NOT_HERE) else tuple({wrong.name: 0 for wrong in own.wrong})
    )


def _after(lesson: str) -> str:
    """Where a lesson's last exercise leads: to the next lesson's in the list."""
    return f"index.html#{LESSONS[min(LESSONS.index(lesson) + 1, len(LESSONS) - 1)]}"


def _prompts(lesson: str) -> dict[str, str]:
    """The text above each answer, by the exercise's name, without its heading and what it is worth."""
    found = {}
    for cell in exercise_notebook(lesson).cells:
        if cell["id"].endswith("-prompt"):
            heading, _worth, text = cell.source.split("\n\n", 2)
            found[heading.lstrip("# ")] = _on_a_page(text)
    return found


def _on_a_page(prompt: str) -> str:
    """A notebook's prompt for a page of one exercise: other exercises are not below it, but on pages of their own."""
    prompt = in_a_page(prompt).replace(") below, which", "), which")
    prompt = re.sub(r"\]\(\.\./notebooks/(\w+)\.ipynb", r"](../lessons/\1.html", prompt)
    return re.sub(r"\]\(#(\w+)\)", r"](\1.html)", prompt)


def _first_texts(lesson: str) -> dict[str, str]:
    """The answer cells of a lesson's exercise notebook as they are handed out, by exercise."""
    cells = [cell for cell in exercise_notebook(lesson).cells if cell.cell_type == "code"]
    return {name: cell.source for cell in cells for name in answered_in(cell.source)}


def _made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _script_json(data: object) -> str:
    """JSON that may stand inside a <script>."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
