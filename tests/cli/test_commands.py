"""The command line itself: what it refuses, where it reads its choices from, what it leaves as it was."""

import json
import os
import re
import subprocess
import sys
import types
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner

from sdpa_helpers.classroom.exports import EXPORTS
from sdpa_helpers.classroom.exports.order import Exported
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.cli import grade_options
from sdpa_helpers.cli.app import app
from sdpa_helpers.cli.printing import say, say_uncut, warn
from sdpa_helpers.cli.refuse import STUDENT_EDITION, refuses
from sdpa_helpers.course import registry
from sdpa_helpers.course.registry import find
from sdpa_helpers.grading.refusal import Refusal
from tests.results import NAME, like_all, result


def sdpa(*arguments):
    ran = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return ran.exit_code, " ".join(ran.output.split())


def test_help_lists_the_commands_by_who_needs_them_a_line_each():
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).output.partition("\n\nTo ")[2]
    groups = [lines.splitlines() for lines in shown.split("\n\nTo ")]
    assert [group[0] for group in groups] == ["learn:", "teach:", "grade:", "write exercises and backends:"]
    first = [group[1].split()[0] for group in groups]
    assert first == ["lab", "release", "grade", "new"]
    assert all(re.fullmatch(r"  [a-z-]+ +[A-Z].*\.", line) for group in groups for line in group[1:])
    assert sum(len(group) - 1 for group in groups) == len(app.registered_commands) + len(
        app.registered_groups
    )


def test_one_claim_of_the_ledger_is_computed_in_front_of_a_class():
    code, said = sdpa("ledger", 18)
    assert code == 0
    assert "Claim 18, article A" in said
    assert "Verdict: needs a condition" in said
    assert sdpa("ledger", 999) == (2, "the ledger has no claim 999: it has 1 to 163")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (Refusal("Do it [another] way."), "Do it [another] way."),
        (FileNotFoundError("no course here"), "no course here"),
        (ModuleNotFoundError(name="sdpa_helpers.classroom"), STUDENT_EDITION),
        (ModuleNotFoundError(name="sdpa_helpers.classroom.exports.x"), STUDENT_EDITION),
        (ModuleNotFoundError(name="sqlalchemy"), "sqlalchemy is not installed"),
    ],
)
def test_what_is_expected_is_one_sentence_and_exit_2(error, says, capsys):
    @refuses
    def command():
        raise error

    with pytest.raises(typer.Exit) as ended:
        command()
    assert ended.value.exit_code == 2
    assert says in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("error", [KeyError("x"), ModuleNotFoundError(name="sdpa_helpers.grading.typo")])
def test_a_mistake_of_ours_is_not_dressed_up(error):
    @refuses
    def command():
        raise error

    with pytest.raises(type(error)):
        command()


@pytest.fixture
def graded(tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.write_result(result("ada", like_all(1.0)))
    return folder


def test_exports_are_those_of_the_dictionary(graded):
    assert all(name in sdpa("export", "--help")[1] for name in EXPORTS)
    status, says = sdpa("export", graded, "--to", "paper")
    assert status == 2
    assert f"--to paper is unknown; expected one of: {', '.join(EXPORTS)}" in says


def test_a_new_export_is_a_module_and_a_line(graded, monkeypatch):
    def export(order):
        learners = [r.student for r in order.results()]
        order.target("paper.txt").parent.mkdir()
        order.target("paper.txt").write_text(" ".join(learners))
        return Exported((order.target("paper.txt"),), len(learners))

    module = types.ModuleType("paper")
    module.export = export
    monkeypatch.setitem(sys.modules, "paper", module)
    monkeypatch.setitem(EXPORTS, "paper", "paper")
    assert sdpa("export", graded, "--to", "paper")[0] == 0
    assert (graded.exports / "paper.txt").read_text() == "ada"


def test_results_of_another_version_are_passed_over_aloud(graded):
    path = graded.result_path("ben", NAME)
    graded.write_result(result("ben", like_all(0.0)))
    data = json.loads(path.read_text())
    del data["form"]
    path.write_text(json.dumps(data))
    status, says = sdpa("export", graded, "--to", "canvas")
    assert status == 0
    assert "1 result passed over: this result has the form 2 or older" in says
    assert "1 learner; written" in says


UNTOUCHED = """
import sys
import sdpa_helpers.grading, sdpa_helpers.grading.kernel_package
assert "nbformat" not in sys.modules and "_pytest" not in sys.modules
from sdpa_helpers.cli.startup import import_nbval, quick_imports
with quick_imports():
    import_nbval()
assert "nbval.plugin" in sys.modules
absent = {"jsonschema", "fastjsonschema", "pygments", "jupyter_client", "ipykernel"}
assert absent.isdisjoint(name.split(".")[0] for name in sys.modules)
"""


def test_quick_imports_leave_no_trace_and_grading_makes_none(course):
    as_users_are = {**os.environ, "PYTHONPATH": str(course)}  # with the package that tests/lean stands in for
    command = [sys.executable, "-c", UNTOUCHED]
    ran = subprocess.run(command, env=as_users_are, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_mutants_of_an_exercise_are_counted_and_an_unknown_one_is_refused():
    status, says = sdpa("mutants", "largest_safe_score")
    assert status == 0
    assert re.match(r"largest_safe_score: \d+ mutants, .*, 0 pass every case and are wrong", says)
    status, says = sdpa("mutants", "largest_save_score")
    assert status == 2
    assert "there is no exercise called 'largest_save_score'" in says


def test_mutants_of_all_right_answers_are_counted():
    status, says = sdpa("mutants", "--all-styles", "temperature_for_ratio", "to_boolean")
    assert status == 0, says
    counts = [int(n) for n in re.findall(r"(\d+) mutants", says)]
    assert len(counts) == 2
    assert min(counts) > 400  # of the references alone there are a fifth


def test_a_mutant_that_survives_is_printed_on_one_line_with_an_example(monkeypatch):
    hollow = replace(find("padding_mask"), cases=find("padding_mask").cases[:1], examples=())
    monkeypatch.setattr(registry, "find", lambda name: hollow)
    status, says = sdpa("mutants", "padding_mask")
    assert status == 1
    assert re.search(r"padding_mask\.md:\d+, result", says)
    value = "np.arange(n_k) < np.asarray(lengths)[:, None]"
    assert f"return {value} → return np.squeeze({value})" in says
    assert "expected [[" in says


HOSTILE = "a\x1b[31mb\x07\x9b2J\u202ec\u200bd\ud800 [bold]e[/] :bomb:"
SHOWN = r"a\x1b[31mb\x07\x9b2J\u202ec\u200bd\ud800 [bold]e[/] :bomb:"


@pytest.mark.parametrize("printed", [say, say_uncut, warn])
def test_what_is_printed_moves_no_cursor_and_is_no_markup(printed, capsys):
    printed(HOSTILE)
    got = capsys.readouterr()
    assert (got.out + got.err).strip() == SHOWN


def test_a_refusal_shows_a_name_as_it_is(tmp_path):
    status, says = sdpa("grade", tmp_path / "a\x1b[2Jb", "--out", tmp_path / "out")
    assert status == 2
    assert r"a\x1b[2Jbdoesnotexist" in "".join(says.split())  # a long path is broken anywhere


def test_the_seed_comes_from_a_file_or_the_environment_and_leaves_it(tmp_path, monkeypatch):
    file = tmp_path / "seed"
    file.write_text("from the file\nmore\n")
    monkeypatch.setenv("SDPA_SEED", "from the environment")
    assert grade_options.read_seed(None, file) == "from the file"
    assert "SDPA_SEED" not in os.environ
    monkeypatch.setenv("SDPA_SEED", "from the environment")
    assert grade_options.read_seed(None, None) == "from the environment"
    assert grade_options.read_seed("named", None) == "named"
    assert grade_options.read_seed(None, None) == ""
    file.write_text("\n")
    for given, where in ((None, file), ("x", file), (None, tmp_path / "absent")):
        with pytest.raises(Refusal):
            grade_options.read_seed(given, where)


def test_a_name_that_no_file_can_have_is_a_sentence_and_not_an_error():
    status, says = sdpa("check", f"{'x' * 300}.ipynb")
    assert status == 2
    assert "no such file" in says
    assert sdpa("grade", "x" * 300, "--out", "y" * 300)[0] == 2


def test_rules_for_late_files_that_go_together_are_given_together(tmp_path):
    status, says = sdpa("grade", tmp_path, "--out", tmp_path / "out", "--late-penalty", "0.3")
    assert (status, "--late-penalty says what --late penalty costs: give both" in says) == (2, True)
    status, says = sdpa("grade", tmp_path, "--out", tmp_path / "out", "--late", "never")
    assert (status, "--late takes use, ignore or penalty" in says) == (2, True)
