"""Working copies: laid, updated, and never overwritten."""

import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest

from sdpa_helpers.desk.copy_text import copy_of, kernel_metadata, relinked
from sdpa_helpers.desk.deciding import Done
from sdpa_helpers.desk.laying import lay, lines_on
from sdpa_helpers.desk.where import FOLDERS, notebooks_in

from .course_folder import annotate, done, edit, everything, make_course, new_version, run, sources

LESSON = "notebooks/03_softmax.ipynb"
NEW_LESSON = "notebooks/03_softmax.new.ipynb"


# ---- the copies ---------------------------------------------------------------------------------------------


def test_the_first_start_lays_all_and_the_second_nothing(tmp_path):
    make_course(tmp_path)
    assert lines_on(lay(tmp_path)) == ["work/: 2 lessons and 1 exercise notebook laid out."]
    before = everything(tmp_path)
    assert set(before) >= {f"work/{name}" for name in ("notebooks/00_start_here.ipynb", LESSON)}
    assert lines_on(lay(tmp_path)) == []
    assert everything(tmp_path) == before


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_copy_is_what_jupyter_would_save(course, folder):
    for path in notebooks_in(course, folder):
        text = copy_of(path, course)
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
        assert nbformat.writes(notebook) + "\n" == text, path.name
        assert notebook.metadata.keys() >= kernel_metadata().keys()
        assert notebook.metadata["language_info"]["version"] == sys.version.split()[0]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)


LINK = re.compile(r"""(?:\]\(|(?:href|src)=["'])([^)\s"'#?]+)""")


def test_every_link_of_every_copy_leads_somewhere(course):
    """Work/ is not there in a checkout: what is copied stands for the copy."""
    followed = 0
    for path in [path for folder in FOLDERS for path in notebooks_in(course, folder)]:
        for cell in json.loads(copy_of(path, course))["cells"]:
            if cell["cell_type"] != "markdown":
                continue
            for link in LINK.findall("".join(cell["source"])):
                if ":" in link:
                    continue
                place = os.path.normpath(course / "work" / path.parent.name / unquote(link))
                target = Path(place.replace(f"{course}/work/", f"{course}/"))
                assert target.exists(), f"{path}: {link}"
                followed += 1
    assert followed > 30


def test_links_of_all_kinds_are_followed_from_work(tmp_path):
    make_course(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("")
    text = (
        "[a](../docs/a.md#part) ![b](../docs/a.md 'title') <a href='../docs/a.md'>c</a>\n[d]: ../docs/a.md\n"
        "[e](../exercises/03_softmax.ipynb#x) [f](03_softmax.ipynb) [g](https://a.org/../docs/a.md) `h[0](1)` [i](#j)"
    )
    moved = relinked(text, "notebooks", tmp_path)
    assert moved == text.replace("(../docs", "(../../docs").replace("'../docs", "'../../docs").replace(
        ": ../docs", ": ../../docs"
    )


# ---- what a learner has done, and a new version ---------------------------------------------------------------


def test_what_nobody_touched_is_updated(root):
    says = new_version(root)
    run(root / "work" / LESSON)  # running is not touching
    steps = lay(root)
    assert lines_on(steps) == ["work/: 1 lesson updated."]
    assert sources(root / "work" / LESSON)[-1] == says
    assert lines_on(lay(root)) == []


def test_outputs_stay_while_there_is_no_new_version(root):
    run(root / "work" / LESSON)
    before = (root / "work" / LESSON).read_bytes()
    lay(root)
    assert (root / "work" / LESSON).read_bytes() == before


def test_another_kernel_is_written_into_copies_that_have_not_run(root, monkeypatch):
    other = {"language_info": {"name": "python", "version": "3.99"}}
    monkeypatch.setattr("sdpa_helpers.desk.copy_text.kernel_metadata", lambda: other)
    ran = root / "work/exercises/03_softmax.ipynb"
    edit(ran, lambda cells: cells[1].update(execution_count=1))
    assert lines_on(lay(root)) == []
    assert "3.99" in (root / "work" / LESSON).read_text()
    assert "3.99" not in ran.read_text()


TOUCHES = {
    "a source": annotate,
    "a cell more": lambda path: edit(path, lambda cells: cells.append(dict(cells[0], id="mine"))),
    "a cell less": lambda path: edit(path, lambda cells: cells.pop()),
    "another order": lambda path: edit(path, lambda cells: cells.reverse()),
    "another kind": lambda path: edit(path, lambda cells: cells[0].update(cell_type="raw")),
}


@pytest.mark.parametrize("touch", TOUCHES)
def test_what_a_learner_changed_is_never_overwritten(root, touch):
    mine = root / "work" / LESSON
    TOUCHES[touch](mine)
    before = mine.read_bytes()
    assert lines_on(lay(root)) == []  # there is nothing new
    says = new_version(root)
    (line,) = lines_on(lay(root))
    assert line == (
        "work/: you changed 1 lesson that has a new version: it lies beside yours as notebooks/03_softmax.new.ipynb. "
        "Take over what you want, then delete it."
    )
    assert mine.read_bytes() == before
    assert sources(root / "work" / NEW_LESSON)[-1] == says


def test_the_version_beside_is_brought_up_to_date_until_it_is_deleted(root):
    annotate(root / "work" / LESSON)
    new_version(root)
    lay(root)
    says = new_version(root, says="Newer still.")
    assert done(lay(root))[LESSON] is Done.BESIDE
    assert sources(root / "work" / NEW_LESSON)[-1] == says
    assert len(lines_on(lay(root))) == 1  # it is said as long as it lies there
    (root / "work" / NEW_LESSON).unlink()
    assert lines_on(lay(root)) == []
    assert not (root / "work" / NEW_LESSON).exists()
    new_version(root, says="And again.")
    assert done(lay(root))[LESSON] is Done.BESIDE


def test_a_version_beside_that_the_learner_changed_is_theirs_too(root):
    annotate(root / "work" / LESSON)
    new_version(root)
    lay(root)
    annotate(root / "work" / NEW_LESSON)
    before = (root / "work" / NEW_LESSON).read_bytes()
    new_version(root)
    (line,) = lines_on(lay(root))
    assert "work/notebooks/03_softmax.new.ipynb is yours too" in line
    assert (root / "work" / NEW_LESSON).read_bytes() == before


def test_who_takes_the_new_version_over_is_not_bothered_again(root):
    annotate(root / "work" / LESSON)
    new_version(root)
    lay(root)
    (root / "work" / LESSON).write_bytes((root / "work" / NEW_LESSON).read_bytes())
    assert lines_on(lay(root)) == []
    assert not (root / "work" / NEW_LESSON).exists()
    new_version(root)
    assert lines_on(lay(root)) == ["work/: 1 lesson updated."]


def test_files_of_the_learners_own_are_not_touched(root):
    own = [root / "work/notebooks/mine.ipynb", root / "work/notes.md", root / "work/exercises/data/a.csv"]
    for path in own:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    new_version(root)
    lay(root)
    assert [path.read_text() for path in own] == ["mine"] * 3


def test_a_deleted_copy_is_laid_again(root):
    annotate(root / "work" / LESSON)
    (root / "work" / LESSON).unlink()
    assert lines_on(lay(root)) == ["work/: 1 lesson laid out."]


def test_what_is_open_in_jupyterlab_waits(root):
    new_version(root)
    before = (root / "work" / LESSON).read_bytes()
    (line,) = lines_on(lay(root, frozenset({LESSON})))
    assert line.startswith(
        "work/notebooks/03_softmax.ipynb: there is a new version, and it is open in JupyterLab."
    )
    assert (root / "work" / LESSON).read_bytes() == before
    assert done(lay(root))[LESSON] is Done.UPDATED
