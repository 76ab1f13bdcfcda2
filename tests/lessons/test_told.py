"""What an instructor tells of an answer stands in the learner's own check, where names.toml was handed out."""

import time

import pytest

from sdpa_helpers.checking.judging.judge import PUBLIC_SEED
from sdpa_helpers.classroom.sentences.store import Sentence, by_answer, write_sentences
from sdpa_helpers.course import saved, told
from sdpa_helpers.course.registry import find
from sdpa_helpers.course.session import check
from sdpa_helpers.course.told import FILE, LONGEST, MOST_BYTES, keep_from_room, sentence_for
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from tests.commands import sdpa

ODD = "def dot_product(q, k):\n    return np.sum(q * k) * 1.37 + 0.21"
SAYS = "You scaled it; `1.37` is <b>ours</b> & nobody's."
DRAWN = (
    "<strong>From your instructor</strong>: You scaled it; <code>1.37</code> is &lt;b&gt;ours&lt;/b&gt; &amp;"
)


@pytest.fixture(autouse=True)
def handed_out(tmp_path, monkeypatch):
    """The folder of an edition: names.toml goes in there."""
    monkeypatch.setenv("SDPA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(told, "course_root", lambda: tmp_path)
    return tmp_path / FILE


def odd(x, axis=-1):
    return x * 1.37 + 0.21


@pytest.fixture(scope="module")
def key():
    return check(odd, exercise="softmax", keep=False).result.unknown


def written(path, key, says=SAYS, exercise="softmax"):
    write_sentences(path, by_answer([Sentence(exercise, key, says, -1.0)]))


def test_a_check_says_it_to_who_gave_the_answer_and_to_nobody_else(handed_out, key):
    before = check(odd, exercise="softmax")
    written(handed_out, key)
    report = check(odd, exercise="softmax")
    assert f"\n  From your instructor: {SAYS}" in report.text()
    assert DRAWN in report.html()
    assert (report.points, report.mistakes) == (before.points, before.mistakes)
    assert "instructor" not in before.text() + before.html()
    for other in (find("softmax").reference, lambda x, axis: x + 1):
        assert check(other, exercise="softmax").told == ""


def test_what_the_room_said_goes_before_what_was_handed_out(tmp_path, handed_out, key):
    written(handed_out, key)
    written(tmp_path / "told.toml", key, "Later.")
    keep_from_room((tmp_path / "told.toml").read_text())
    assert sentence_for("softmax", key) == "Later."
    keep_from_room("version = 1\n")  # taken back
    assert sentence_for("softmax", key) == SAYS
    keep_from_room("x" * (MOST_BYTES + 1))
    keep_from_room("\ud800")
    assert sentence_for("softmax", key) == SAYS


KEY = "0123456789ab"


@pytest.mark.parametrize(
    "content",
    [
        b"\xff",
        b"softmax = 3",
        b"[softmax]\n0123456789ab = 3",
        b"[softmax.0123456789ab]\nsays = 3",
        b"[softmax.0123456789ab]\npoints = 3",
        b"[softmax.0123456789ab]\nsays = '" + b"x" * (LONGEST + 1) + b"'",
        "[softmax.0123456789ab]\nsays = '\u202eeno'".encode(),
        b'[softmax.0123456789ab]\nsays = "Two\\nlines"',
        b"[softmax.0123456789ab]\nsays = 'Fine.'\n#" + b"x" * MOST_BYTES,
        b"a = " + b"[" * 100_000,
    ],
)
def test_what_cannot_be_read_is_nothing_and_fails_no_check(handed_out, content):
    handed_out.write_bytes(content)
    assert sentence_for("softmax", KEY) == ""
    assert "instructor" not in check(odd, exercise="softmax").text()


def test_an_edit_of_the_file_counts_at_once_and_a_folder_in_its_place_is_none(handed_out):
    for says in ("One.", "Another."):
        written(handed_out, KEY, says)
        assert sentence_for("softmax", KEY) == says
    handed_out.unlink()
    handed_out.mkdir()
    assert sentence_for("softmax", KEY) == ""


def test_where_there_is_none_it_takes_less_than_a_millisecond(key, monkeypatch):
    monkeypatch.undo()  # with the search for the course's folder
    took = []
    for _ in range(20):
        began = time.perf_counter()
        assert sentence_for("softmax", key) == ""
        took.append(time.perf_counter() - began)
    assert min(took) < 1e-3


def test_the_command_says_it_too(hand_in, tmp_path):
    path = hand_in("ada", dot_product=ODD)
    before = sdpa("check", path).stdout
    assert "instructor" not in before
    given = grade(Submission("you", path.stem, path), Settings(PUBLIC_SEED)).exercise("dot_product").unknown
    written(saved.home() / FILE, given, exercise="dot_product")
    after = sdpa("check", path)
    assert after.returncode == 1
    assert [line for line in after.stdout.splitlines() if line not in before.splitlines()] == [
        f"    From your instructor: {SAYS}"
    ]
