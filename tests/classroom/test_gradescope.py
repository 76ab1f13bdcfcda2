"""The Gradescope autograder, run here in Gradescope's layout: its marks are those of `sdpa grade`."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sdpa_helpers.classroom.gradescope.packing_list import (
    PROGRAMS,
    Assignment,
    CannotZip,
    requirements,
    write_autograder,
)
from tests.commands import sdpa
from tests.environments import path_with
from tests.handing_in import NAME, RIGHT, TOTAL

SEED = "only for this test"
WRONG = "def dot_product(q, k):\n    return q * k"


def machine(folder: Path, **more: float) -> Path:
    """Gradescope's machine after setup.sh: /autograder, elsewhere."""
    folder.mkdir(exist_ok=True)
    archive = write_autograder(folder / "autograder.zip", Assignment((NAME,), sandbox="off", **more), SEED)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder / "source")
    shutil.copy(folder / "source" / "run_autograder", folder / "run_autograder")
    (folder / "submission").mkdir()
    (folder / "venv").symlink_to(Path(sys.prefix), target_is_directory=True)
    return folder


def run(root: Path) -> dict:
    """results.json after run_autograder."""
    environment = {k: v for k, v in os.environ.items() if k != "SDPA_SEED"} | {"PYTHONPATH": path_with()}
    done = subprocess.run(
        ["bash", str(root / "run_autograder")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert SEED not in done.stdout + done.stderr
    return json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))


def by_sdpa_grade(notebook: Path, folder: Path) -> bytes:
    """results.json as `sdpa grade` and `sdpa export` make it."""
    (folder / "in" / "learner").mkdir(parents=True)
    shutil.copy(notebook, folder / "in" / "learner" / f"{NAME}.ipynb")
    out = folder / "out"
    sdpa("grade", folder / "in", "--out", out, "--sandbox", "off", SDPA_SEED=SEED).check_returncode()
    sdpa("export", out, "--to", "gradescope").check_returncode()
    return (folder / "out/export/gradescope/learner/results.json").read_bytes()


def test_marks_are_those_of_sdpa_grade_to_the_byte_whatever_the_file_is_called(hand_in, tmp_path):
    notebook = hand_in("ada", **{**RIGHT, "dot_product": WRONG})
    root = machine(tmp_path)
    shutil.copy(notebook, root / "submission" / "my homework (1).ipynb")
    found = run(root)
    assert (root / "results/results.json").read_bytes() == by_sdpa_grade(notebook, tmp_path / "class")
    assert 0 < found["score"] < TOTAL
    assert any(
        test["status"] == "failed" and "adds the products up" in test["output"] for test in found["tests"]
    )
    assert not (root / "source" / "seed").exists()
    assert SEED not in (root / "results" / "grader.log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "Hand in 01_dot_product.ipynb; this was no notebook."),
        ({"a.ipynb": "{}", "b.ipynb": "{}"}, "Hand in 01_dot_product.ipynb; this was a.ipynb, b.ipynb."),
        ({"01_dot_product.ipynb": "no JSON"}, ""),
        (
            {"a\n.ipynb": "{}", b"\xff.ipynb".decode(errors="surrogateescape"): "{}"},
            "Hand in 01_dot_product.ipynb; this was a\\n.ipynb, \\udcff.ipynb.",
        ),
    ],
)
def test_what_cannot_be_graded_gets_a_reason_and_no_points(tmp_path, files, told):
    root = machine(tmp_path)
    for name, text in files.items():
        (root / "submission" / name).write_text(text, encoding="utf-8")
    found = run(root)
    assert found["score"] == 0
    if told:
        assert found["output"] == told
    else:
        assert all(test["score"] == 0 and test["output"] for test in found["tests"])
        assert len(found["tests"]) > 10


def test_two_notebooks_of_one_name_are_refused_and_a_machine_grades_once(hand_in, tmp_path):
    notebook, root = hand_in("ada", **RIGHT), machine(tmp_path)
    for folder in ("first", "second"):
        (root / "submission" / folder).mkdir()
        shutil.copy(notebook, root / "submission" / folder / f"{NAME}.ipynb")
    assert "several of the same name" in run(root)["output"]
    assert "graded already" in run(root)["output"]


SPY = """
def dot_product(q, k):
    import pathlib
    seen = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        for name in ("environ", "cmdline"):
            try:
                seen.append((process / name).read_bytes())
            except OSError:
                pass
    for place in pathlib.Path({root!r}).rglob("*"):
        try:
            seen.append(place.read_bytes()[:100_000]) if place.is_file() else None
        except OSError:
            pass
    pathlib.Path({told!r}).write_text(str(any(({seed!r}).encode() in text for text in seen)) + str(len(seen) > 10))
    while True:
        pass
"""


def test_code_that_looks_for_the_seed_and_never_ends_finds_none_and_gets_a_result(hand_in, tmp_path):
    root = machine(tmp_path / "there", timeout=2.5)
    told = tmp_path / "told"
    # Not by its whole: the answer's own text would be found.
    spy = SPY.format(root=str(root / "source"), told=str(told), seed="SEED").replace(
        "'SEED'", repr(SEED[:9]) + "+" + repr(SEED[9:])
    )
    shutil.copy(hand_in("ada", **{**RIGHT, "dot_product": spy}), root / "submission" / f"{NAME}.ipynb")
    found = run(root)
    assert told.read_text(encoding="utf-8") == "FalseTrue"
    assert found["score"] < TOTAL
    assert len(found["tests"]) > 10


def test_a_grader_that_fails_says_so_to_the_learner(tmp_path):
    root = machine(tmp_path)
    (root / "source" / "settings.json").write_text("{", encoding="utf-8")
    assert run(root)["output"] == "The grader itself failed. Your file is kept: tell your instructor."


def test_the_zip_is_the_same_bytes_each_time_and_its_programs_can_be_run(tmp_path):
    paths = [write_autograder(tmp_path / f"{n}.zip", Assignment((NAME,)), SEED) for n in "ab"]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    held = {entry.filename: entry.external_attr >> 16 for entry in zipfile.ZipFile(paths[0]).infolist()}
    assert {name for name, mode in held.items() if mode & 0o111} == set(PROGRAMS)
    for name in PROGRAMS:
        (tmp_path / name).write_bytes(zipfile.ZipFile(paths[0]).read(name))
        subprocess.run(["bash", "-n", str(tmp_path / name)], check=True)
    assert not [name for name in held if "solutions" in name or name.endswith((".ipynb", ".pyc"))]


def test_what_is_installed_there_is_pinned_and_without_torch(course, tmp_path):
    import tomllib

    project = tomllib.loads((course / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = requirements(project)
    assert not {*project["optional-dependencies"]["torch"]} & {*wanted}
    pinned = {
        line.partition("==")[0].lower() for line in (course / "constraints.txt").read_text().splitlines()
    }
    names = {line.split(">")[0].split("=")[0].strip().lower() for line in wanted}
    assert names <= pinned
    assert {"sqlalchemy", "nbval", "numpy"} <= names


def test_what_is_no_notebook_of_the_course_is_refused(tmp_path):
    with pytest.raises(CannotZip, match="no exercises of 13_nothing"):
        write_autograder(tmp_path / "a.zip", Assignment(("13_nothing",)))
    (tmp_path / "there.zip").touch()
    with pytest.raises(CannotZip, match="exists"):
        write_autograder(tmp_path / "there.zip", Assignment((NAME,)))
