"""The log of attempts: a line per check, none that could disturb one, and what is made of it."""

import json
import multiprocessing
import os
import tempfile

import pytest
from typer.testing import CliRunner

from sdpa_helpers.cli.app import app
from sdpa_helpers.course import attempts, saved
from sdpa_helpers.course.attempts import Attempt
from sdpa_helpers.course.predicting import asker
from sdpa_helpers.course.registry import find
from sdpa_helpers.course.session import check, progress
from sdpa_helpers.show.predict import Chosen, Option, Prediction


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SDPA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def _wrong():
    return next(wrong for wrong in find("softmax").wrong if wrong.name == "global-max-subtracted")


def test_a_check_writes_a_line_and_one_that_is_not_kept_writes_none(home):
    check(_wrong().function, exercise="softmax")
    check(find("softmax").reference, exercise="softmax")
    check(find("softmax").reference, exercise="softmax", keep=False)
    first, second = attempts.read()
    assert first.mistakes == ("global-max-subtracted",)
    assert (first.exercise, first.tries, first.minutes, first.green) == ("softmax", 1, None, False)
    assert (second.tries, second.mistakes, second.points) == (2, (), find("softmax").max_points)
    assert second.minutes == pytest.approx(0, abs=1)
    fields = [set(json.loads(line)) for line in (home / attempts.FILE).read_text().splitlines()]
    assert fields[1] == {"time", "exercise", "points", "max", "mistakes", "tries", "minutes"}


def test_an_answer_that_nobody_has_named_has_its_key_in_the_line():
    report = check(lambda x, axis: x * 1.37 + 0.21, exercise="softmax")
    (line,) = attempts.read()
    assert (line.mistakes, line.answer) == ((), report.result.unknown)
    assert len(line.answer) == 12
    kept = json.loads(line.line())
    for made_up in ("<b>", "", 7, "0" * 13, None):
        assert attempts.parsed(json.dumps(kept | {"answer": made_up}).encode()) is None


@pytest.mark.parametrize("stub", [lambda x, axis=-1: NotImplemented, lambda x, axis=-1: ...])
def test_what_nobody_has_begun_is_no_answer_to_name(stub):
    report = check(stub, exercise="softmax")
    (line,) = attempts.read()
    assert (report.result.attempted, report.result.unknown, line.answer) == (False, "", None)


def test_the_first_answer_to_a_prediction_writes_a_line_and_later_ones_none():
    asked = Prediction("sum", "2 + 3?", (Option("5", "is the sum"), Option("6", "is the product")))
    question = asker("01_dot_product", (asked,))("sum", 5)
    question.keep(Chosen(1))
    question.keep(Chosen(0))
    (line,) = attempts.read()
    assert (line.exercise, line.option, line.points, line.max) == ("01_dot_product/sum", 1, 0, 1)


def _as_nobody(folder: str, passed) -> None:
    if os.geteuid() == 0:
        os.setuid(65534)
    os.environ["SDPA_HOME"] = folder
    passed.value = attempts.log("softmax", 1, 2) is None and check(find("softmax").reference).passed


def test_a_folder_that_cannot_be_written_disturbs_nothing():
    find("softmax")
    fork = multiprocessing.get_context("fork")
    passed = fork.Value("b", False)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        child = fork.Process(target=_as_nobody, args=(folder, passed))
        child.start()
        child.join()
        assert not os.listdir(folder)
    assert passed.value


def test_a_place_that_cannot_be_written_disturbs_nothing(home, monkeypatch):
    home.write_text("a file where the folder should be")
    assert attempts.log("softmax", 1, 2) is None
    assert attempts.read() == []
    assert check(find("softmax").reference, exercise="softmax").passed
    monkeypatch.setenv("SDPA_HOME", "/proc/no-such-folder")
    assert attempts.log("softmax", 1, 2) is None


def test_a_full_disk_disturbs_nothing(home, monkeypatch):
    home.mkdir()
    (home / attempts.FILE).symlink_to("/dev/full")
    monkeypatch.setattr(attempts, "_bytes", lambda path: b"")  # what one reads there has no end
    assert attempts.log("softmax", 1, 2) is None


def _log_many(who: str) -> None:
    for _ in range(200):
        attempts.log(who, 1, 2, ("not-summed",))


def test_two_processes_at_once_lose_no_line_and_mix_none(home):
    kernels = [multiprocessing.get_context("fork").Process(target=_log_many, args=(who,)) for who in "ab"]
    for kernel in kernels:
        kernel.start()
    for kernel in kernels:
        kernel.join()
    lines = attempts.read()
    assert [sorted(a.tries for a in lines if a.exercise == who) for who in "ab"] == [[*range(1, 201)]] * 2
    assert len((home / attempts.FILE).read_text().splitlines()) == 400


def test_it_stays_small_and_tries_go_on_counting(home, monkeypatch):
    monkeypatch.setattr(attempts, "MOST_BYTES", 2_000)
    for number in range(100):
        assert attempts.log("softmax", 1, 2).tries == number + 1
    assert sum(path.stat().st_size for path in home.glob("attempts*")) < 2 * (2_000 + 200)
    assert 10 < len(attempts.read()) < 100


@pytest.mark.parametrize(
    "line",
    ["", "{", "[]", "null", '{"time": 1}', "[" * 100_000,
     '{"time":NaN,"exercise":"a","points":1,"max":1,"mistakes":[],"tries":1}',
     '{"time":1,"exercise":"def f(x): 1","points":1,"max":1,"mistakes":[],"tries":1}',
     '{"time":1,"exercise":"a","points":1,"max":1,"mistakes":["a b"],"tries":1}',
     '{"time":1,"exercise":"a","points":1,"max":1,"mistakes":[],"tries":1,"option":9}',
     '{"time":1,"exercise":"a","points":1,"max":1,"mistakes":[],"tries":true}',
     '{"time":1,"exercise":"a","points":1,"max":1,"mistakes":[],"tries":1,"code":"x"}'],
)  # fmt: skip
def test_what_is_no_line_of_ours_is_left_out(home, line):
    home.mkdir()
    (home / attempts.FILE).write_text(f"{line}\n")
    assert attempts.read() == []
    assert attempts.log("softmax", 1, 2).tries == 1
    assert len(attempts.read()) == 1


def _spent(exercise: str, minutes: float | None, option: int | None = None) -> Attempt:
    return Attempt(0, exercise, 0, 1, (), 1, minutes, option)


def test_progress_tells_what_took_longest(home):
    tried = [_spent("softmax", None), _spent("entropy", 12), _spent("softmax", 4), _spent("entropy", 9)]
    said = "25 minutes at work, 4 checks; entropy took longest, 21 minutes and 2 checks."
    assert attempts.in_words(tried) == said
    home.mkdir()
    (home / attempts.FILE).write_text("".join(f"{a.line()}\n" for a in tried))
    assert said in progress().text()
    assert said in progress().html()
    assert attempts.in_words([*tried, _spent("a/b", 50), _spent("a/b", 28, 1)]).startswith("53 minutes")
    assert attempts.in_words([_spent("softmax", 25)] * 5).startswith("2 h 5 min at work, 5 checks")


@pytest.mark.parametrize(
    "tried", [[], [_spent("softmax", 3)], [_spent("softmax", 300)], [_spent("a/b", 9, 1)]]
)
def test_little_time_says_nothing(tried):
    assert attempts.in_words(tried) == ""


def test_a_table_of_them():
    table = attempts.as_csv([Attempt(86_400.0, "softmax", 1.5, 2, ("a-b", "c"), 3, 0.5)])
    assert table.splitlines()[1] == "1970-01-02T00:00:00Z,softmax,1.5,2,a-b c,3,0.5,"
    assert saved.load() == {}


def test_the_command_writes_the_table(tmp_path):
    attempts.log("softmax", 1, 2)
    ran = CliRunner().invoke(app, ["attempts", "--csv", str(tmp_path / "log.csv")])
    assert ran.exit_code == 0
    assert (tmp_path / "log.csv").read_text().count("softmax") == 1
    assert "no five minutes" in CliRunner().invoke(app, ["attempts"]).output
    assert CliRunner().invoke(app, ["attempts", "--csv", str(tmp_path)]).exit_code == 2
