"""`check` in a notebook, `sdpa check` and `sdpa grade` say the same of the same answer."""

import csv
import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from typer.testing import CliRunner

from sdpa_helpers.checking.pages.rules import not_allowed
from sdpa_helpers.cli.app import app
from sdpa_helpers.course.exercise_notebook import exercise_notebook
from sdpa_helpers.course.registry import find
from sdpa_helpers.grading.assemble import exercise_of
from tests.grading.answers_in_every_way import BATCH, HandedIn

ANSWERS = [(handed_in.name, exercise) for handed_in in BATCH for exercise in handed_in.answers]


def cells_of(handed_in: HandedIn) -> list[str]:
    """The notebook's code, in its order: its checks are left to the commands."""
    cells = [c.source for c in filled_in(handed_in).cells if c.cell_type == "code"]
    return [source for source in cells if not source.startswith(("check(", "progress("))]


def filled_in(handed_in: HandedIn) -> nbformat.NotebookNode:
    notebook = exercise_notebook(handed_in.lesson)
    for cell in notebook.cells:
        if answer := handed_in.answers.get(exercise_of(cell)):
            cell.source = f"# exercise: {exercise_of(cell)}\n{answer.source}"
    first = next(n for n, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    notebook.cells[first + 1 : first + 1] = map(nbformat.v4.new_code_cell, handed_in.other_cells)
    return notebook


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> SimpleNamespace:
    """What the three commands say: by notebook and exercise."""
    home = tmp_path_factory.mktemp("said")
    paths = {each.name: home / "in" / each.name / f"{each.lesson}.ipynb" for each in BATCH}
    for each in BATCH:
        paths[each.name].parent.mkdir(parents=True)
        nbformat.write(filled_in(each), paths[each.name])
    return SimpleNamespace(
        check=in_notebooks(home), sdpa_check=by_sdpa_check(paths), grade=by_sdpa_grade(home), out=home / "out"
    )


def in_notebooks(home: Path) -> dict[str, dict]:
    work = [{"cells": cells_of(each), "exercises": list(each.answers)} for each in BATCH]
    (home / "cells.json").write_text(json.dumps(work))
    command = [sys.executable, "-m", "tests.grading.in_a_notebook", str(home / "cells.json")]
    surroundings = os.environ | {"IPYTHONDIR": str(home / "ipython"), "SDPA_HOME": str(home / "points")}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=surroundings)
    assert ran.returncode == 0, ran.stderr[-3000:]
    reports = json.loads(ran.stdout.splitlines()[-1])
    return {each.name: said for each, said in zip(BATCH, reports, strict=True)}


def by_sdpa_check(paths: dict[str, Path]) -> dict[str, dict[str, str]]:
    """Each exercise's part of the report."""
    ran = CliRunner().invoke(app, ["check", "--timeout", "3", *map(str, paths.values())])
    assert ran.exit_code == 1, ran.output
    reports = re.split(r"^(?=\d\d_\w+: )", ran.output, flags=re.MULTILINE)[1:]
    return {
        name: {
            part.split(":")[0].strip(): part
            for part in re.split(r"^(?=  \w+: )", text, flags=re.MULTILINE)[1:]
        }
        for name, text in zip(paths, reports, strict=True)
    }


def by_sdpa_grade(home: Path) -> dict[str, dict]:
    options = ["--seed", "public", "--timeout", "3", "--sandbox", "off", "--jobs", "2"]
    ran = CliRunner().invoke(app, ["grade", str(home / "in"), "--out", str(home / "out"), *options])
    assert ran.exit_code == 0, ran.output
    return {
        each.name: json.loads((home / "out" / "results" / each.name / f"{each.lesson}.json").read_text())[
            "exercises"
        ]
        for each in BATCH
    }


@pytest.mark.parametrize(("notebook", "name"), ANSWERS)
def test_the_three_give_the_same_points_and_names(said, notebook, name):
    here, graded = said.check[notebook][name], said.grade[notebook][name]
    assert here["points"] == graded["points"], here["text"]
    assert said.sdpa_check[notebook][name].startswith(
        f"  {name}: {graded['points']:g} of {graded['max_points']:g}"
    )
    passed = [[c["case"], c["passed"], c["points"]] for c in graded["cases"]]
    if here["cases"]:
        assert [case[:3] for case in here["cases"]] == passed


@pytest.mark.parametrize(("notebook", "name"), ANSWERS)
def test_it_comes_to_what_it_is(said, notebook, name):
    answer = next(each for each in BATCH if each.name == notebook).answers[name]
    here, graded = said.check[notebook][name], said.grade[notebook][name]
    full = find(name).max_points
    assert (graded["points"] == full) is (answer.comes_to == "right")
    assert tuple(here["forbidden"]) == answer.forbidden
    if answer.comes_to in ("right", "wrong", "forbidden") and here["cases"]:
        assert [case[3] for case in here["cases"]] == [case["diagnosis"] for case in graded["cases"]]
    if answer.comes_to == "elsewhere":
        assert "missing in a grader" in here["text"]
        assert f"Move it into the cell `# exercise: {name}`" in here["text"]
    if answer.comes_to == "stopped":
        assert [case[3] for case in here["cases"][:2]] == ["timeout", "not-run"]
        assert "line 3: while True:" in here["text"]


FORBIDDEN = [(n, e) for n, e in ANSWERS if next(x for x in BATCH if x.name == n).answers[e].forbidden]


@pytest.mark.parametrize(("notebook", "name"), FORBIDDEN)
def test_what_is_forbidden_is_said_in_one_sentence_everywhere(said, notebook, name):
    here = said.check[notebook][name]
    sentence = here["withheld"]
    assert sentence.endswith(not_allowed(0, 0, here["forbidden"]))
    assert not here["passed"]
    assert f"{name}: {sentence}" in here["text"]
    assert f"cases: {sentence}." in said.sdpa_check[notebook][name]
    assert {case["message"] for case in said.grade[notebook][name]["cases"]} == {f"{sentence}."}
    lesson = next(each.lesson for each in BATCH if each.name == notebook)
    page = html.unescape((said.out / "feedback" / notebook / f"{lesson}.html").read_text())
    assert sentence in re.sub("</?code>", "`", page)


def test_the_names_of_mistakes_are_in_the_table_of_details(said):
    with (said.out / "details.csv").open() as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["student"] == "slips" and row["exercise"] == "dot_product"
        ]
    assert [row["diagnosis"] for row in rows] == [
        case[3] for case in said.check["slips"]["dot_product"]["cases"]
    ]
