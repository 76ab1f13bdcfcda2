"""Feedback on its way home: zips as Moodle and Canvas read them, folders for a JupyterHub, and the page itself."""

import html
import re
import zipfile
from dataclasses import replace
from pathlib import PurePath
from urllib.parse import unquote

import pytest

from sdpa_helpers.classroom.exports.export import export_folder
from sdpa_helpers.classroom.exports.order import CannotExport, Order
from sdpa_helpers.classroom.names import read_name
from sdpa_helpers.classroom.pages.feedback import feedback_page
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.grading.result import FileHandedIn, GradedExercise, LmsIdentity, NamedMistake
from tests.commands import sdpa
from tests.results import case, result

LESSON, OTHER = "03_softmax", "01_dot_product"
CODE = "def softmax(x):\n    y = <b>x</b>\n    return y"


def put(out, student, notebook=LESSON, lms=None, file="", points=0.0):
    graded = GradedExercise("softmax", "Softmax", 4.0, (case(points, 4.0, message="Off."),))
    made = result(student, [graded], notebook, lms=lms, answers={"softmax": CODE})
    files = (
        (FileHandedIn("an/earlier one.ipynb", False, False), FileHandedIn(file, True, False)) if file else ()
    )
    made = replace(made, handed_in=files)
    ResultsFolder(out).write_result(made)
    return made


def export(folder, to, **more):
    return export_folder(to, Order(ResultsFolder(folder), **more))


def inside(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


# ---- Moodle -----------------------------------------------------------------------------------------------


def as_moodle_reads(name, participants):
    """(participant, file) of an entry, as assignfeedback_file_zip_importer takes its path apart; see its source."""
    parts = name.split("/")
    if parts[-1].startswith((".", "~")):
        return None
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) < 4 or not info[1].isdigit() or int(info[1]) not in participants:
            continue
        if info[2:4] != ["assignsubmission", "file"]:
            continue
        return int(info[1]), "/".join([*info[4:5], *parts]).lstrip("/")
    return None


def test_moodle_finds_each_learner_in_the_zip(tmp_path):
    names = {"7": "Ada Lovelace", "08": "../Eve_9_assignsubmission_file_", "9": "~.hidden", "10": ""}
    for number, name in names.items():
        put(tmp_path, f"s{number}", lms=LmsIdentity("moodle", number, name))
    put(tmp_path, "s7", OTHER, lms=LmsIdentity("moodle", "7", "Ada Lovelace"))
    put(tmp_path, "nobody")
    done = export(tmp_path, "moodle-feedback")
    pages = inside(done.paths[0])
    read = sorted(as_moodle_reads(name, {7, 8, 9, 10}) for name in pages)
    assert read == [(7, "01_dot_product.html"), *((n, "03_softmax.html") for n in (7, 8, 9, 10))]
    assert all(name.count("/") == 1 and ".." not in name.split("/") for name in pages)
    assert "Ada Lovelace_7_assignsubmission_file_/03_softmax.html" in pages
    assert "s7" in pages["Ada Lovelace_7_assignsubmission_file_/03_softmax.html"]
    assert done.learners == 4
    assert done.notes == ("their files have no participant number of Moodle: nobody",)


def test_the_folders_are_those_of_moodles_own_download(tmp_path):
    lms = read_name(PurePath("Ada Lovelace_7_assignsubmission_file_", "a"), [])
    assert lms is not None
    put(tmp_path, "ada", lms=lms.sender.lms)
    (name,) = inside(export(tmp_path, "moodle-feedback").paths[0])
    assert name.startswith("Ada Lovelace_7_assignsubmission_file_/")


# ---- Canvas -----------------------------------------------------------------------------------------------


def as_canvas_reads(name):
    """(learner, attachment): the first two parts of a name that are numbers; see its source."""
    numbers = [part for part in name.split("_") if re.fullmatch(r"\d+", part)][:2]
    return tuple(numbers) if not name.startswith("._") else None


def test_canvas_finds_each_learner_and_attachment(tmp_path):
    given = {
        "lovelaceada_12_901_03_softmax.ipynb": "12",
        "hopper_LATE_13_902_03_softmax-1.ipynb": "13",
    }
    for number, (file, who) in enumerate(given.items()):
        named = read_name(PurePath(file), list(LESSONS))
        assert named is not None
        put(tmp_path, f"s{number}", lms=named.sender.lms, file=f"inner/{file}")
        assert named.sender.lms.id == who
    put(tmp_path, "7_strange", lms=LmsIdentity("canvas", "15", "x"), file="7_15_904_03_softmax.ipynb")
    put(tmp_path, "moodler", lms=LmsIdentity("moodle", "12", "x"), file="x_12_905_03_softmax.ipynb")
    put(tmp_path, "nobody")
    done = export(tmp_path, "canvas-feedback")
    pages = inside(done.paths[0])
    assert sorted(map(as_canvas_reads, pages)) == [("12", "901"), ("13", "902")]
    assert all(name.endswith(".html") and "/" not in name for name in pages)
    assert done.learners == 2
    assert done.notes == (
        "their files have no name of Canvas: 7_strange, 03_softmax, moodler, 03_softmax, nobody, 03_softmax",
    )


def test_two_files_of_one_name_are_refused(tmp_path):
    for student in ("a", "b"):
        put(
            tmp_path,
            student,
            lms=LmsIdentity("canvas", "12", "x"),
            file=f"{student}/x_12_901_03_softmax.ipynb",
        )
    with pytest.raises(CannotExport, match="the same name"):
        export(tmp_path, "canvas-feedback")
    assert not list((tmp_path / "export").glob("*"))


# ---- JupyterHub, and all ----------------------------------------------------------------------------------


def test_folders_as_nbgrader_keeps_them_with_an_index(tmp_path):
    put(tmp_path, "ada", points=4.0)
    put(tmp_path, "ada", OTHER)
    put(tmp_path, "ben & co")
    out = tmp_path / "hub"
    export(tmp_path, "jupyterhub", out=out, assignment="ps1")
    found = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.html"))
    assert found == [
        "ada/index.html", "ada/ps1/01_dot_product.html", "ada/ps1/03_softmax.html",
        "ben & co/index.html", "ben & co/ps1/03_softmax.html", "index.html",
    ]  # fmt: skip
    for page in ("index.html", "ada/index.html", "ben & co/index.html"):
        for href in re.findall(r'href="([^"]+)"', (out / page).read_text()):
            assert ((out / page).parent / unquote(html.unescape(href))).is_file()
    assert "4 of 4" in (out / "ada" / "index.html").read_text()


@pytest.mark.parametrize("to", ["moodle-feedback", "canvas-feedback"])
def test_the_same_bytes_each_time_by_the_command(tmp_path, to):
    system = to.partition("-")[0]
    put(tmp_path, "ada", lms=LmsIdentity(system, "12", "ada"), file="ada_12_901_03_softmax.ipynb")
    assert sdpa("export", tmp_path, "--to", to).returncode == 0
    path = tmp_path / "export" / f"{to}.zip"
    first = path.read_bytes()
    assert sdpa("export", tmp_path, "--to", to).returncode == 0
    assert path.read_bytes() == first
    assert [p.name for p in path.parent.iterdir()] == [path.name]


# ---- the page ---------------------------------------------------------------------------------------------


def exercise(name, *cases, mistakes=()):
    return GradedExercise(name, name.title(), sum(c.max_points for c in cases), cases, mistakes)


LONG = "You divided by the sum of the whole array, so that each row sums to less than one."


def test_what_failed_comes_first_and_what_is_done_is_a_line():
    done = exercise("done", case(2.0, 2.0))
    untouched = exercise("untouched", case(0.0, 2.0, status="not-attempted", message="Nothing is written."))
    failed = exercise(
        "failed", case(1.0, 1.0, "easy"), case(0.0, 2.0, "hard", message="2 of 3 numbers differ.")
    )
    page = feedback_page(result("ada", [done, untouched, failed], answers={"failed": CODE, "done": CODE}))
    places = [page.index(f">{name}</code>") for name in ("failed", "untouched", "done")]
    assert places == sorted(places)
    assert "1 of 2 cases passed" in page
    assert page.count("y = &lt;b&gt;x&lt;/b&gt;") == 1  # of what failed alone


def test_equal_sentences_stand_once_in_an_exercise_and_on_the_page():
    cases = [case(0.0, 1.0, name, message="Row sums differ from one.") for name in ("a", "b", "c")]
    other = case(0.0, 1.0, "d", message="NaN.")
    told = (NamedMistake("m", LONG, ("a", "b", "c", "d")),)
    one = exercise("one", *cases, other, mistakes=told)
    two = exercise("two", *cases, other, mistakes=told)
    page = feedback_page(result("ada", [one, two]))
    assert page.count(LONG) == 1
    assert 'The same as in <a href="#one"><code>one</code></a>, above.' in page
    assert page.count("Row sums differ") == 2
    assert "a; b; c" in page


@pytest.mark.parametrize(
    ("message", "marked"),
    [
        ("ValueError, line 2: `y = <b>x</b>`.", ["    y = <b>x</b>"]),
        ("It stops in line 3.", ["    return y"]),
        ("line 2: `return q @ k`", []),
        ("line 99: `x`", []),
        ("line 0", []),
        ("Nothing.", []),
    ],
)
def test_lines_are_marked_that_are_named_and_stand_there(message, marked):
    graded = exercise("softmax", case(1.0, 1.0, "a"), case(0.0, 1.0, "b", message=message))
    page = feedback_page(result("ada", [graded], answers={"softmax": CODE}))
    assert [html.unescape(line) for line in re.findall("<mark>(.*?)</mark>", page)] == marked
