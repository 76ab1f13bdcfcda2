"""The parts of the JupyterLite site that need no browser: what a learner finds in it, and what its kernel loads."""

import dataclasses
import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from editions.browser.our_wheel import empty_wheel, pure_wheel
from editions.browser.runtime import LOCK, ROOT, lock_bytes, our_entry
from editions.lite import contents, kernel, what_works
from sdpa_helpers.course import saved
from sdpa_helpers.course.registry import LESSONS, exercises_of
from sdpa_helpers.desk.course import course_state

COURSE_JS = Path(contents.__file__).parent / "front" / "course.js"


def test_a_learner_finds_every_notebook_and_nothing_that_has_run(tmp_path):
    contents.write_contents(ROOT, tmp_path)
    found = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.ipynb"))
    assert found == sorted(
        p.relative_to(ROOT) for f in ("notebooks", "exercises") for p in (ROOT / f).glob("*.ipynb")
    )
    cells = [cell for path in found for cell in json.loads((tmp_path / path).read_text())["cells"]]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


def test_every_exercise_has_its_stub():
    named = {exercise.name for lesson in LESSONS for exercise in exercises_of(lesson)}
    assert set(contents.desk(ROOT)["stubs"]) >= named


@pytest.fixture
def lock(tmp_path):
    """The kernel's lock file, over a small runtime."""
    pyodide = tmp_path / "pyodide"
    pyodide.mkdir()
    packages = {
        name: our_entry(name, empty_wheel(name, "1"), [name], depends)
        for name, depends in {
            "sdpa-helpers": ["ipython", "jedi", "ssl"],
            "ipython": ["jedi"],
            "jedi": ["parso"],
        }.items()
    }
    drawing = pure_wheel("matplotlib", "1", {"matplotlib/font_manager.py": b"    __version__ = 330\n"})
    (pyodide / drawing.file_name).write_bytes(drawing.content)
    packages["matplotlib"] = our_entry("matplotlib", drawing, ["matplotlib", "pylab"], [])
    packages["sdpa-lessons"] = our_entry("sdpa-lessons", empty_wheel("sdpa_lessons", "1"), [], ["matplotlib"])
    (pyodide / LOCK).write_bytes(lock_bytes({"version": "0"}, packages))
    return kernel.write_kernel(tmp_path / "lite" / "kernel", pyodide)


def test_the_kernel_finds_its_own_wheels_beside_the_runtime(lock):
    packages = json.loads(lock.read_text())["packages"]
    for name in ("pyodide-kernel", "ipykernel", "piplite", "jedi", "micropip"):
        assert (lock.parents[2] / "pyodide" / packages[name]["file_name"]).is_file()
    assert packages["sdpa-helpers"]["depends"] == ["ipython"]  # and nothing that the kernel does without


def test_the_list_of_fonts_comes_after_matplotlib_and_over_its_own(lock):
    """Pyodide's own list is of another version, so matplotlib would make one: seconds, and a red line in a lesson."""
    packages = json.loads(lock.read_text())["packages"]
    assert packages["sdpa-fonts"]["depends"] == ["matplotlib"]
    assert packages["sdpa-fonts"]["imports"] == ["matplotlib", "pylab"]
    assert packages["matplotlib"]["imports"] == []
    assert "sdpa-fonts" in packages["sdpa-lessons"]["depends"]
    with zipfile.ZipFile(lock.parents[2] / "pyodide" / packages["sdpa-fonts"]["file_name"]) as wheel:
        assert json.loads(wheel.read("matplotlib/fontlist.json"))["_version"] == 330


def test_addresses_are_relative_to_the_site(lock):
    (lock.parent / "python.js").write_text("the loader")
    told = kernel.settings(lock.parents[1], lock)
    assert told["pyodideUrl"].startswith("./kernel/python.js?v=")
    assert told["loadPyodideOptions"]["lockFileURL"] == f"./kernel/{LOCK}"


PROBE = """
import { readFileSync } from "node:fs";
const source = readFileSync(process.argv[1], "utf8").replaceAll(/^import.*$/gm, "").replaceAll("export class", "class");
const { start, points, predicted, ended, short } = JSON.parse(readFileSync(0, "utf8"));
const progressOf = new Function(source + "; return progressOf;")();
console.log(JSON.stringify(await progressOf(start, points, predicted, async ({ name }) => {
  const all = ended.includes(name);
  return { short: short ? all : null, all };
})));
"""


@pytest.mark.parametrize("ended", [[], ["00_start_here"], ["00_start_here", "01_dot_product"]])
@pytest.mark.parametrize("kept", ["nothing", "points", "predictions"])
@pytest.mark.parametrize("short", [True, False], ids=["shorts", "none"])
def test_the_side_bar_counts_as_the_desk_does(short, kept, ended, needs_program, tmp_path, monkeypatch):
    """The same files, read by JavaScript in the browser edition and by Python at home."""
    node = needs_program("node")
    monkeypatch.setenv("SDPA_HOME", str(tmp_path))
    monkeypatch.setattr("sdpa_helpers.desk.course.end_reached", lambda copy: copy.stem in ended)
    monkeypatch.setattr(
        "sdpa_helpers.desk.course.short_done", lambda copy: copy.stem in ended if short else None
    )
    start = contents.desk(ROOT)
    if kept == "points":
        saved.keep("dot_product", 5.0)
        saved.keep("attention_scores", 2.0)
    if kept == "predictions":
        for lesson in list(start["predictions"])[:2]:
            for number, name in enumerate(start["predictions"][lesson]):
                saved.keep_prediction(lesson, name, saved.Predicted(number % 3 - 1, number % 2 == 0))
    files = {name: _json(tmp_path / f"{name}.json") for name in ("progress", "predictions")}
    told = {"start": start, "points": files["progress"], "predicted": files["predictions"], "ended": ended}
    told["short"] = short
    ran = subprocess.run(
        [node, "--input-type=module", "-e", PROBE, str(COURSE_JS)],
        input=json.dumps(told), capture_output=True, text=True, check=True,
    )  # fmt: skip
    expected = json.loads(json.dumps(dataclasses.asdict(course_state(ROOT))).replace('"work/', '"'))
    for lesson in expected["lessons"]:
        lesson["changed_beside"] = False
    assert json.loads(ran.stdout) == expected


def _json(path):
    return json.loads(path.read_text()) if path.is_file() else {}


def test_the_page_names_every_cell_that_does_not_run_in_a_browser():
    lessons = {lesson.name: lesson for lesson in what_works.what_works(ROOT)}
    assert {name for name, lesson in lessons.items() if not lesson.sections} >= {
        "00_start_here",
        "01_dot_product",
    }
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        tagged = path.read_text(encoding="utf-8").count(f'"{what_works.TAG}')
        assert sum(section.cells for section in lessons[path.stem].sections) == tagged
    page = what_works.page(ROOT)
    assert all(
        section.heading.replace("&", "&amp;") in page for one in lessons.values() for section in one.sections
    )
