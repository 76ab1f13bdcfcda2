"""Both editions and the core track: what is in them, and that the same course gives the same bytes."""

import json
import os
import re
import subprocess
import sys
import zipfile

import nbformat
import pytest
from typer.testing import CliRunner

from sdpa_helpers.classroom.core_track import beyond_the_core, lessons_of_track, part_of
from sdpa_helpers.classroom.editions import EditionOrder, write_editions
from sdpa_helpers.classroom.instructors_edition import BUILT, CONTAINER, FOLDERS_TO_TEACH
from sdpa_helpers.classroom.packing import sha256, tar_folder, zip_folder
from sdpa_helpers.classroom.release import FILES
from sdpa_helpers.classroom.sentences.store import Sentence, by_answer, read_sentences, write_sentences
from sdpa_helpers.cli.app import app
from sdpa_helpers.course.registry import FIRST, LESSONS, all_exercises
from sdpa_helpers.course.tracks import STORY, sizes_of, whole_minutes
from tests.environments import path_with


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Both editions with the core track: sdpa-student-core, sdpa-instructor-core, their zips and sums."""
    folder = tmp_path_factory.mktemp("editions") / "out"
    list(write_editions(folder, EditionOrder("both", "core")))
    return folder


def names_in(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_an_instructors_sentences_go_along_without_the_points(tmp_path):
    kept = tmp_path / "names.toml"
    write_sentences(
        kept, by_answer([Sentence("softmax", "0123456789ab", "You `scaled` it.", -1.0, "scaled")])
    )
    ran = CliRunner().invoke(app, ["release", str(tmp_path / "out"), "--names", str(kept), "--zip"])
    assert ran.exit_code == 0, ran.output
    assert "names.toml" in ran.output
    told = read_sentences(tmp_path / "out" / "names.toml")
    assert [*told.values()] == [Sentence("softmax", "0123456789ab", "You `scaled` it.")]
    with zipfile.ZipFile(tmp_path / "out.zip") as packed:
        assert "out/names.toml" in packed.namelist()
    said = subprocess.run(
        [sys.executable, "-c", "from sdpa_helpers.course.told import sentence_for as told\n"
         "print(told('softmax', '0123456789ab'))"],
        cwd=tmp_path / "out", env=os.environ | {"PYTHONPATH": path_with("."), "SDPA_HOME": str(tmp_path / "home")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout == "You `scaled` it.\n"
    kept.write_text("version = 2")
    ran = CliRunner().invoke(app, ["release", str(tmp_path / "another"), "--names", str(kept)])
    assert (ran.exit_code, (tmp_path / "another").exists()) == (2, False)


def test_the_instructor_has_everything_that_learners_have_and_what_teaching_needs(both, course):
    learners, mine = names_in(both / "sdpa-student-core"), names_in(both / "sdpa-instructor-core")
    assert learners <= mine
    assert {"teachers.mk", *FILES} <= mine
    assert {f"solutions/{lesson}.ipynb" for lesson in LESSONS} <= mine
    for folder in ("sdpa_helpers/classroom/rubrics/", "tests/submissions/ada-jupyterlab/", "docs/grading.md"):
        assert any(name.startswith(folder) for name in mine), folder
        assert not any(name.startswith(folder) for name in learners), folder
    for name in ("notebooks/03_softmax.ipynb", "exercises/03_softmax.ipynb", "pyproject.toml"):
        assert (both / "sdpa-student-core" / name).read_bytes() == (
            both / "sdpa-instructor-core" / name
        ).read_bytes()
    tops = {
        name.split("/")[0] for name in (*FILES, *CONTAINER, *FOLDERS_TO_TEACH, "README.md", "teachers.mk")
    }
    assert {path.name for path in (both / "sdpa-instructor-core").iterdir()} - set(BUILT) == tops


def test_the_grader_of_the_instructor_s_edition_knows_its_targets(both, needs_program):
    make = needs_program("make")
    folder = both / "sdpa-instructor-core"
    shown = subprocess.run([make, "help"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^make (\w+)", shown, re.MULTILINE) == ["help", "lab", "clean", "grade", "exam"]
    # As a grader calls it, who is not called by a make with settings of its own.
    own = {
        name: value for name, value in os.environ.items() if name not in ("EXTRAS", "MAKEFLAGS", "MAKELEVEL")
    }
    command = [make, "-n", "grade"]
    dry = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=True)
    assert ".[lab,grade]" in dry.stdout
    assert "grade tests/submissions" in dry.stdout


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_core_lesson_is_the_core_and_nothing_else(both, course, lesson):
    path = f"notebooks/{lesson}.ipynb"
    whole = nbformat.read(course / path, as_version=4).cells
    core = nbformat.read(both / "sdpa-student-core" / path, as_version=4).cells
    kept = {name: size.cells for name, size in sizes_of(whole).items() if name in STORY}
    assert {name: size.cells for name, size in sizes_of(core).items()} == kept
    code = [cell.source for cell in whole if cell.cell_type == "code"]
    assert all(cell.source in code for cell in core if cell.cell_type == "code")
    head = core[0].source
    first = next(iter(sizes_of(core).values()))
    assert f"**{whole_minutes(first)} minutes**" in head
    assert not re.search("deeper:|claims:", head)
    text = "\n".join(cell.source for cell in core if cell.cell_type == "markdown")
    assert not re.search(r"[Ff]olded (sections|section)|called \*Deeper\*", text)
    left = set(re.findall(r"^#{1,6} (\d+)\.", text, re.MULTILINE))
    for number in re.findall(r"\b[Ss]ection (\d+)\b(?! of)", text):
        assert number in left, f"section {number} is not in this edition"


def test_links_inside_the_core_lead_to_a_heading(both):
    for path in sorted((both / "sdpa-student-core" / "notebooks").glob("*.ipynb")):
        text = "\n".join(c.source for c in nbformat.read(path, as_version=4).cells)
        for link, anchor in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", text):
            page = path.parent / link if link else path
            headings = re.findall(r"#{1,6} ([^\"\\\n]*)", page.read_text())
            assert anchor in {heading.strip().replace(" ", "-") for heading in headings}, (path.name, anchor)


def test_the_core_edition_says_which_exercises_go_beyond_it(both, course):
    beyond = beyond_the_core(course)
    assert "scale_that_was_used" in beyond["02_variance_proof"]
    assert all(all_exercises()[name].lesson == lesson for lesson, names in beyond.items() for name in names)
    assert len([name for names in beyond.values() for name in names]) < len(all_exercises()) / 5
    readme = (both / "sdpa-student-core" / "README.md").read_text()
    assert all(f"`{name}`" in readme for names in beyond.values() for name in names)
    exercises = both / "sdpa-student-core" / "exercises" / "02_variance_proof.ipynb"
    assert exercises.read_bytes() == (course / "exercises" / "02_variance_proof.ipynb").read_bytes()


def test_a_section_that_is_left_out_is_called_that_of_the_full_lesson():
    cells = [
        nbformat.v4.new_markdown_cell("# 04\n\n**9 minutes**\n\nSee section 2 and Section 1."),
        nbformat.v4.new_markdown_cell("## 1. Here"),
        nbformat.v4.new_markdown_cell("## 2. Deeper: there", metadata={"tags": ["deeper"]}),
    ]
    told = part_of("04_gradients", nbformat.v4.new_notebook(cells=cells)).cells
    assert [cell.source.split("\n")[-1] for cell in told] == [
        "See section 2 of the full lesson and Section 1.",
        "## 1. Here",
    ]


def test_the_short_edition_has_the_screens_that_open_the_lessons(course):
    whole = nbformat.read(course / "notebooks" / "03_softmax.ipynb", as_version=4)
    wanted = sizes_of(whole.cells)["short"]
    short = part_of("03_softmax", whole, ("short",)).cells
    assert len(short) == wanted.cells
    assert f"About **{whole_minutes(wanted)} minutes**\n" in short[0].source
    assert "long way" not in "".join(cell.source for cell in short)
    assert set(lessons_of_track(course, "short")) == {
        f"notebooks/{lesson}.ipynb" for lesson in (FIRST, *LESSONS)
    }


AGAIN = """
import os, sys, time
from pathlib import Path
os.umask(0o077)
from sdpa_helpers.classroom.editions import EditionOrder, write_editions
print(*(written.path for written in write_editions(Path(sys.argv[1]), EditionOrder("both", "core"))))
"""


def test_another_folder_umask_locale_and_time_zone_give_the_same_bytes(both, tmp_path):
    other = {**os.environ, "LC_ALL": "C", "LANG": "C", "TZ": "Asia/Tokyo", "PYTHONUTF8": "0"}
    other |= {"PYTHONHASHSEED": "7", "PYTHONDONTWRITEBYTECODE": "1"}
    again = tmp_path / "elsewhere with a space"
    command = [sys.executable, "-c", AGAIN, str(again)]
    done = subprocess.run(command, env=other, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sums = (both / "SHA256SUMS").read_text()
    assert (again / "SHA256SUMS").read_text() == sums
    listed = dict(reversed(line.split("  ")) for line in sums.splitlines())
    assert listed == {path.name: sha256(path) for path in again.glob("*.zip")}
    assert len(listed) == 2


def test_archives_do_not_know_when_and_by_whom_they_were_made(tmp_path):
    made = []
    for place, mode in (("one", 0o600), ("two", 0o777)):
        folder = tmp_path / place / "course"
        folder.mkdir(parents=True)
        for name in ("b.txt", "a é.txt", "install"):
            (folder / name).write_text(name)
            (folder / name).chmod(mode)
            os.utime(folder / name, (mode, mode))
        zipped = zip_folder(folder)
        tarred = tar_folder(folder, tmp_path / place / "course.tar", run=["install"])
        made.append((zipped.read_bytes(), tarred.read_bytes()))
    assert made[0] == made[1]
    with zipfile.ZipFile(zipped) as archive:
        assert archive.namelist() == ["course/a é.txt", "course/b.txt", "course/install"]
    listed = subprocess.run(["tar", "-tvf", tarred], capture_output=True, text=True, check=True).stdout
    assert listed.count("-rw-r--r--") == 2
    assert listed.count("-rwxr-xr-x") == 1


def test_the_command_says_what_does_not_go_together(tmp_path):
    for options, why in (
        (["--edition", "learner"], "student, instructor, both"),
        (["--track", "long"], "all, core, short"),
        (["--edition", "instructor", "--graded"], "--graded keeps answers from learners"),
    ):
        ran = CliRunner().invoke(app, ["release", str(tmp_path / "course"), *options])
        assert ran.exit_code == 2
        assert why in " ".join(ran.output.split())
    (tmp_path / "mine.txt").write_text("mine")
    ran = CliRunner().invoke(app, ["release", str(tmp_path), "--edition", "both"])
    assert ran.exit_code == 2
    assert "not empty" in " ".join(ran.output.split())
    assert json.dumps([path.name for path in tmp_path.iterdir()]) == '["mine.txt"]'


def test_its_readme_leads_to_what_is_there(both, course):
    """The pages of the kit are stored: `make kit` writes them."""
    readme = (both / "sdpa-instructor-core" / "README.md").read_text()
    for link in re.findall(r"\]\(([^)]+)\)", readme):
        assert (both / "sdpa-instructor-core" / link).is_file(), link
