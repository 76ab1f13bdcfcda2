"""The edition for homework: it checks, and holds no answer to what is homework."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from typer.testing import CliRunner

from sdpa_helpers.checking.answers import sealed
from sdpa_helpers.checking.answers.observe import Watch, observe
from sdpa_helpers.checking.card.render import report_text
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, judge, truths
from sdpa_helpers.classroom.answered_by import answered_by
from sdpa_helpers.classroom.copies import copies_in
from sdpa_helpers.classroom.homework import chosen, homework
from sdpa_helpers.classroom.packing import zip_folder
from sdpa_helpers.classroom.release import release, without_buttons
from sdpa_helpers.cli.app import app
from sdpa_helpers.cli.teachers import _say_what_is_kept_back
from sdpa_helpers.course.exercise_notebook import answer_cell
from sdpa_helpers.course.registry import LESSONS, all_exercises, exercises_of
from sdpa_helpers.course.session import check
from tests.corpus import entries, function_of
from tests.environments import path_with

WITH_A_BUG = {
    "exercises/04_gradients.ipynb",
    "exercises/08_heads_and_variants.ipynb",
    "sdpa_helpers/lessons/gradients/exercises/mend_attention_backward.py",
    "sdpa_helpers/lessons/heads_and_variants/exercises/mend_multi_head_attention.py",
}
"""Code to mend that is as long as an answer, and one line away from it. The command tells a teacher."""

IN_LESSONS = {
    "notebooks/03_softmax.ipynb",
    "notebooks/04_gradients.ipynb",
    "notebooks/09_many_machines.ipynb",
    "sdpa_helpers/lessons/complexity/claims.py",
    "sdpa_helpers/lessons/gradients/experiments.py",
    "sdpa_helpers/lessons/gradients/training.py",
    "sdpa_helpers/lessons/heads_and_variants/recall.md",
    "sdpa_helpers/lessons/masking/experiments.py",
    "sdpa_helpers/lessons/softmax/experiments.py",
    "sdpa_helpers/lessons/variance_proof/experiments.py",
}
"""What the lessons themselves compute, or print, with the code of a short answer. `sdpa release` names these files."""


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Seals that are quickly made and tried; the cost is part of each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sealed, "WORK", 16)
        yield


@pytest.fixture(scope="module")
def kept_back(quick):
    return homework([])


@pytest.fixture(scope="module")
def edition(kept_back, tmp_path_factory):
    target = tmp_path_factory.mktemp("homework") / "course"
    release(target, kept_back)
    return target


INSIDE = """
import importlib, inspect, json, pkgutil, sys
import numpy as np
import sdpa_helpers
from sdpa_helpers import check, hint, solution
from sdpa_helpers.lessons import all_exercises
from sdpa_helpers.course.exercise_notebook import exercise_notebook
from sdpa_helpers.course.registry import LESSONS

def stop(name):
    raise

failed = {}
for module in pkgutil.walk_packages(sdpa_helpers.__path__, "sdpa_helpers.", onerror=stop):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        failed[module.name] = error.name

told = {}
for kind, source in json.load(sys.stdin):
    cell = {"np": np}
    exec(source, cell)
    name = source.partition("def ")[2].partition("(")[0]
    report = check(cell[name], keep=False)
    told[f"{name} {kind}"] = [report.passed, report.points, report.max_points, report.text()]
    last = [hint(cell[name]).text() for _ in range(3)][-1]
    told[f"{name} says"] = [last, solution(cell[name]).text()]
notebooks = {lesson: [c.source for c in exercise_notebook(lesson).cells] for lesson in LESSONS}
points = {name: e.max_points for name, e in all_exercises().items()}
print(json.dumps([sdpa_helpers.__file__, failed, told, notebooks, points]))
"""

WRONG = {
    "softmax": "def softmax(x, axis=-1):\n    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)\n",
    "causal_mask": "def causal_mask(n_q, n_k):\n    return np.tri(n_q, n_k, -1, dtype=bool)\n",
    "attention_backward": "def attention_backward(Q, K, V, grad_output):\n    return Q * 0, K * 0, V * 0\n",
    "attention_flops": "def attention_flops(n_q, n_k, d_k, d_v):\n    return 2 * n_q * n_k * d_k\n",
}


@pytest.fixture(scope="module")
def inside(edition):
    """What happens in the edition's own package."""
    asked = []
    for name, wrong in WRONG.items():
        head = answer_cell(all_exercises()[name], solved=True).replace("### ", "# ")
        asked += [("right", head), ("wrong", wrong), ("untouched", answer_cell(all_exercises()[name]))]
    environment = {**os.environ, "PYTHONPATH": path_with(edition), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", INSIDE]
    done = subprocess.run(
        command,
        cwd=edition,
        env=environment,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.split("\n")[-2])


def test_its_own_package_tells_right_from_wrong(inside, edition):
    file, failed, told, _, points = inside
    assert Path(file).is_relative_to(edition)
    assert not [name for name in failed if not name.startswith("sdpa_helpers.attention.")]
    assert points == {name: e.max_points for name, e in all_exercises().items()}
    for name in WRONG:
        passed, earned, most, _ = told[f"{name} right"]
        assert passed
        assert earned == most == all_exercises()[name].max_points
        passed, earned, _, text = told[f"{name} wrong"]
        assert not passed
        assert earned < most
        assert "Diagnosis" not in text
        assert "expected" in text
        assert "not attempted yet" in told[f"{name} untouched"][3]


def test_hints_stay_unless_they_are_the_answer_and_solutions_do_not(inside, kept_back):
    told = inside[2]
    assert all("not in this edition" in told[f"{name} says"][1] for name in WRONG)
    left_out = {told.exercise: told.numbers for told in kept_back.hints}
    assert all(3 in left_out[name] for name in kept_back.names if all_exercises()[name].is_made)
    for name in WRONG:
        assert left_out.get(name) == (3,)
        assert "your instructor has kept it" in told[f"{name} says"][0]


def test_each_hint_is_in_its_file_or_named_as_left_out(kept_back):
    left_out = {told.exercise: told.numbers for told in kept_back.hints}
    for name in kept_back.names:
        (text,) = (text for path, text in kept_back.texts.items() if path.endswith(f"/{name}.py"))
        hints = all_exercises()[name].hints
        there = [n for n, hint in enumerate(hints, 1) if repr(hint) in text]
        assert {*there} == {1, 2, 3} - {*left_out.get(name, ())}, name


def test_its_notebooks_are_those_that_its_package_writes(inside, edition):
    for lesson in LESSONS:
        cells = json.loads((edition / "exercises" / f"{lesson}.ipynb").read_text())["cells"]
        assert ["".join(cell["source"]) for cell in cells] == inside[3][lesson]
        assert "solution(" not in "".join(cells[0]["source"])


def test_no_file_holds_the_code_of_an_answer(edition, kept_back):
    found = dict(copies_in(edition, [all_exercises()[name] for name in kept_back.names]))
    there = {path for path in found if "/exercises/" in path or path.startswith("exercises/")}
    assert there == WITH_A_BUG
    assert set(found) - there == IN_LESSONS


def test_there_are_no_ladders_whose_lines_are_those_of_answers(edition):
    assert not [*edition.rglob("ladders.py")]


def test_stored_cards_do_not_bring_hints_and_answers_along():
    def dot_product(q, k):
        return q * k

    card = check(dot_product, keep=False)._repr_mimebundle_()
    picture = {"text/plain": "still", "text/html": "<svg></svg>"}
    stored = [new_output("display_data", dict(data)) for data in (card, picture)]
    notebook = new_notebook(cells=[new_markdown_cell("text"), new_code_cell("check(f)", outputs=stored)])
    text = nbformat.writes(notebook)
    assert "(q * k).sum()" in text
    left = without_buttons(text)
    kept = nbformat.reads(left, as_version=4).cells[1].outputs
    assert [dict(output.data) for output in kept] == [{"text/plain": card["text/plain"]}, picture]
    assert "(q * k).sum()" not in left
    assert without_buttons(left) == left


def test_what_is_looked_for_is_found(course):
    found = dict(copies_in(course / "sdpa_helpers" / "lessons" / "softmax", exercises_of("03_softmax")))
    assert "log_softmax" in found["exercises/log_softmax.md"]


def test_no_file_says_what_wrong_answers_do(edition, kept_back):
    kept = set(kept_back.names)
    said = _said(e for e in all_exercises().values() if e.name in kept)
    said -= _said(e for e in all_exercises().values() if e.name not in kept)
    lessons = edition / "sdpa_helpers" / "lessons"
    texts = [p.read_text(encoding="utf-8") for end in ("py", "md") for p in lessons.rglob(f"*.{end}")]
    everything = _letters("".join(texts))
    assert len(said) > 300
    for text in said - {""}:
        assert _letters(text) not in everything, text


def _said(exercises) -> set[str]:
    listed = list(exercises)
    factors = (
        factor for e in listed for factor in getattr(e.mistakes, "factors", ())
    )  # a page says all in its list
    options = (o for factor in factors for o in factor.options)
    return {w.says for e in listed for w in e.wrong} | {option.says for option in options}


def _letters(text: str) -> str:
    return re.sub(r"[\s\"']", "", text)


def test_no_function_that_is_left_there_is_an_answer(edition, kept_back):
    tried = 0
    for lesson in LESSONS:
        for path in sorted((edition / "sdpa_helpers" / "lessons" / lesson[3:] / "exercises").glob("*.py")):
            spec = importlib.util.spec_from_file_location("left_there", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            for function in vars(module).values():
                if getattr(function, "__module__", "") == "left_there" and callable(function):
                    tried += 1
                    for exercise in exercises_of(lesson):
                        if exercise.name not in kept_back.names:
                            continue
                        assert not _earns_all(exercise, function), (path, function, exercise.name)
    assert tried > len(all_exercises())


def _earns_all(exercise, function):
    watch = Watch(made=exercise.is_made)
    known = truths(exercise, PUBLIC_SEED)
    return all(judge(exercise, t, observe(function, t.inputs, watch)).passed for t in known)


def test_its_readme_says_what_is_homework(edition):
    text = (edition / "README.md").read_text()
    assert "Homework is `attention_scores`" in text
    assert "all of 03_softmax, all of 04_gradients" in text
    assert "other inputs" in text


def test_only_some_exercises(tmp_path, course):
    some = homework(["softmax", "06_complexity"])
    assert some.names[:4] == ("softmax", "test_cases_for_softmax", "softmax_with_temperature", "log_softmax")
    assert some.besides == (*some.names[1:4], "hunt_softmax", "mend_softmax")
    assert {e.name for e in exercises_of("06_complexity")} <= set(some.names)
    release(tmp_path / "course", some)
    lessons = tmp_path / "course" / "sdpa_helpers" / "lessons"
    for name in ("masking/exercises/shared.py", "softmax/exercises/entropy.md"):
        assert (lessons / name).read_text() == (course / "sdpa_helpers" / "lessons" / name).read_text()
    shared = (lessons / "softmax/exercises/shared.py").read_text()
    assert "def cases_of_shape" in shared  # entropy draws its cases with it
    assert "def plain_softmax" not in shared
    environment = {**os.environ, "PYTHONPATH": path_with(tmp_path / "course"), "PYTHONDONTWRITEBYTECODE": "1"}
    code = (
        "from sdpa_helpers.course.registry import find\n"
        "from sdpa_helpers.checking.diagnose import try_out\n"
        "e = find('entropy')\n"
        "print(find('softmax').sealed, e.sealed, try_out(e, e.reference).passed, len(e.wrong) > 3)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "course",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.split() == ["True", "False", "True", "True"], ran.stderr


def test_names_that_nobody_has_are_refused():
    assert chosen(["01_dot_product"]) == [e.name for e in exercises_of("01_dot_product")][1:]
    assert chosen([]) == list(all_exercises())[1:]  # the first is the demonstration of 00_start_here
    assert chosen(["dot_product"]) == ["dot_product"]
    with pytest.raises(LookupError, match="'sofmax'"):
        chosen(["sofmax"])


def test_a_zip_has_the_same_bytes_each_time(edition, tmp_path):
    packed = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        shutil.copytree(edition / "docs", tmp_path / place / "course", copy_function=shutil.copyfile)
        packed.append(zip_folder(tmp_path / place / "course").read_bytes())
    assert packed[0] == packed[1]
    assert (tmp_path / "one" / "course.zip").stat().st_size > 100


def test_people_s_right_answers_are_right_there_too(kept_back):
    """Only the numbers: what else `check` looks at is the same in both."""
    refused, tried = [], 0
    known = {name: truths(all_exercises()[name], PUBLIC_SEED) for name in kept_back.names}
    there = {name: truths(_as_it_is_there(kept_back, name), PUBLIC_SEED) for name in kept_back.names}
    for entry in entries()[::3]:
        if entry.right and entry.exercise in there:
            function = function_of(entry)
            for full, kept in zip(known[entry.exercise], there[entry.exercise], strict=True):
                if full.case.peak_bytes:
                    continue
                tried += 1
                answer = observe(function, full.inputs)
                if not judge(all_exercises()[entry.exercise], kept, answer).passed:
                    refused.append(f"{entry.exercise}: {entry.title}: {full.case.name}")
    assert tried > 1000
    assert not refused


def _as_it_is_there(kept_back, name):
    cell = {}
    path = f"sdpa_helpers/lessons/{all_exercises()[name].lesson[3:]}/exercises/{name}.py"
    exec(compile(kept_back.texts[path], path, "exec"), cell)
    return cell["EXERCISE"]


MADE = [exercise for exercise in all_exercises().values() if exercise.is_made]


@pytest.mark.parametrize("exercise", MADE, ids=lambda e: e.name)
def test_what_one_makes_is_left_to_the_instructor_s_grader(kept_back, exercise):
    there = _as_it_is_there(kept_back, exercise.name)
    assert [(c.name, c.points) for c in there.cases] == [(c.name, c.points) for c in exercise.cases]
    assert not any(case.accepts for case in there.cases)
    result = try_out(there, exercise.reference)
    text = report_text(result)
    assert (result.points, result.attempted, result.mistakes) == (0, True, ())
    assert "your instructor's grader says what it is worth" in text
    assert "right or wrong" not in text
    assert not try_out(there, lambda: NotImplemented).attempted


def test_the_commands_say_what_is_judged_and_what_answers_are_left(kept_back, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "sdpa_helpers.classroom.answered_by.answered_by", lambda *_: {"merge": ("its.merge", "b")}
    )
    _say_what_is_kept_back(kept_back, tmp_path)
    told = " ".join(capsys.readouterr().out.split())
    assert "answered by functions of the course, whose code learners can copy: merge (its.merge, b)" in told
    assert f"judged by your grader alone, as nothing there can be sealed: {MADE[0].name}" in told
    ran = CliRunner().invoke(app, ["mutants", MADE[0].name])
    assert ran.exit_code == 2
    assert "no case can miss a mutant" in " ".join(ran.output.split())


def test_functions_of_the_edition_that_answer_homework_are_found(kept_back, edition):
    """Every function that gives numbers is tried. Here on a few exercises: on all of them it takes ten seconds."""
    answered = {
        "weighted_sum": ("sdpa_helpers.course.corners._product",),
        "mend_softmax": ("sdpa_helpers.attention.softmax.softmax",),
        "merge": ("sdpa_helpers.attention.merge.merge",),
    }
    tried = [all_exercises()[name] for name in ("test_cases_for_softmax", "value_gradient", *answered)]
    assert answered_by(edition, kept_back.texts, tried) == answered


def test_the_command_refuses_what_it_does_not_know(tmp_path):
    for options, why in (
        (["--exercise", "softmax"], "it goes with --graded"),
        (["--graded", "--exercise", "sofmax"], "no exercise and no lesson called 'sofmax'"),
    ):
        ran = CliRunner().invoke(app, ["release", str(tmp_path / "course"), *options])
        assert ran.exit_code == 2
        assert why in " ".join(ran.output.split())
    assert not (tmp_path / "course").exists()
