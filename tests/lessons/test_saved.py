"""What a learner has done, kept: also while two kernels write, and when the files are damaged."""

import json
import multiprocessing

import pytest

from sdpa_helpers.course import saved
from sdpa_helpers.course.session import progress
from sdpa_helpers.desk.course import course_state


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SDPA_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def _keep_many(who: str) -> None:
    for number in range(30):
        saved.keep(f"{who}{number}", 1.0)
        saved.keep_prediction("03_softmax", f"{who}{number}", saved.Predicted(0, True))


def test_two_kernels_that_keep_at_once_lose_nothing():
    kernels = [multiprocessing.get_context("fork").Process(target=_keep_many, args=(who,)) for who in "ab"]
    for kernel in kernels:
        kernel.start()
    for kernel in kernels:
        kernel.join()
    assert len(saved.load()) == len(saved.load_predictions()) == 60


@pytest.mark.parametrize("text", ['{"softmax": 3', "", "[]", "\x00", "[" * 100_000])
def test_a_damaged_file_is_put_aside_and_not_written_over(home, text):
    (home / "progress.json").write_text(text)
    assert saved.load() == {}
    saved.keep("entropy", 2.0)
    assert saved.load() == {"entropy": 2.0}
    assert (home / "progress.damaged.json").read_text() == text


def test_a_file_that_cannot_be_read_now_is_not_written_over(home):
    (home / "progress.json").mkdir()
    saved.keep("entropy", 2.0)
    assert (home / "progress.json").is_dir()


@pytest.mark.parametrize("points", ["NaN", "1e999", "-1e999", "9" * 400, "-5", '"3"', "null", "[[]]"])
def test_points_that_we_did_not_write_disturb_nothing(home, course, points):
    (home / "progress.json").write_text(f'{{"softmax": {points}, "entropy": 1}}')
    assert saved.load() == {"entropy": 1.0}
    assert "entropy" in str(progress())
    json.dumps([lesson.points for lesson in course_state(course).lessons], allow_nan=False)
    saved.keep("softmax", 1.0)
    assert saved.load()["softmax"] == 1.0


@pytest.mark.parametrize("option", [10**9, 4, -2, 10**400])
def test_a_choice_that_no_question_offers_is_not_kept(option):
    saved.keep_prediction("03_softmax", "one_score_rises", saved.Predicted(option, False))
    assert saved.load_predictions() == {}
    saved.keep_prediction("03_softmax", "one_score_rises", saved.Predicted(-1, False))
    saved.keep_prediction("03_softmax", "one_score_rises", saved.Predicted(1, True))
    assert [answer.option for answer in saved.load_predictions().values()] == [-1]


def test_a_damaged_lesson_leaves_the_others_in_the_side_bar(tmp_path):
    for name in ("00_start_here", "03_softmax"):
        (tmp_path / f"notebooks/{name}.ipynb").parent.mkdir(exist_ok=True)
        (tmp_path / f"notebooks/{name}.ipynb").write_text("<<<<<<< HEAD")
    assert [lesson.title for lesson in course_state(tmp_path).lessons] == ["00_start_here", "03_softmax"]
