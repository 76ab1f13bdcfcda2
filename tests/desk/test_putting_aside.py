"""An exercise gets its stub back, and no answer is lost."""

import json

import nbformat
import pytest

from sdpa_helpers.desk import putting_aside
from sdpa_helpers.desk.laying import lay, lines_on
from sdpa_helpers.desk.putting_aside import KEPT_IN, put_aside, reset_saved
from sdpa_helpers.desk.trusting import staying_trusted
from sdpa_helpers.desk.where import DeskProblem

from .course_folder import SOFTMAX, WORDS, edit, make_course, sources

ANSWER = '# exercise: softmax\ndef softmax(x):\n    """```"""\n    return x'


@pytest.fixture
def root(tmp_path):
    """A course in which softmax is answered."""
    make_course(tmp_path)
    lay(tmp_path)
    edit(tmp_path / "work/exercises/03_softmax.ipynb", lambda cells: cells[1].update(source=ANSWER))
    return tmp_path


def exercise(root):
    return sources(root / "work/exercises/03_softmax.ipynb")


def test_the_saved_notebook_gets_the_stub_and_the_answer_is_kept(root):
    before = exercise(root)
    done = reset_saved(root, "softmax")
    assert exercise(root) == [before[0], SOFTMAX, *before[2:]]
    assert done.kept == f"work/{KEPT_IN}"
    kept = (root / done.kept).read_text()
    assert kept.startswith("# Answers put aside\n")
    assert f"\n````python\n{ANSWER}\n````\n" in kept
    assert lines_on(lay(root)) == []  # it is as it was laid


def test_what_was_kept_before_stays(root):
    reset_saved(root, "softmax")
    first = (root / "work" / KEPT_IN).read_text()
    edit(root / "work/exercises/03_softmax.ipynb", lambda cells: cells[1].update(source=ANSWER + " * 2"))
    reset_saved(root, "softmax")
    assert (root / "work" / KEPT_IN).read_text().startswith(first)
    assert "return x * 2" in (root / "work" / KEPT_IN).read_text()


def test_an_untouched_stub_leaves_nothing_to_keep(root):
    reset_saved(root, "softmax")
    before = (root / "work" / KEPT_IN).read_bytes()
    assert reset_saved(root, "softmax").kept is None
    assert (root / "work" / KEPT_IN).read_bytes() == before


def test_several_answers_are_all_kept_and_one_stub_is_left(root):
    other = ANSWER.replace("return x", "return 2 * x")
    edit(
        root / "work/exercises/03_softmax.ipynb",
        lambda cells: cells.append(dict(cells[1], source=other, id="b")),
    )
    reset_saved(root, "softmax")
    kept = (root / "work" / KEPT_IN).read_text()
    assert ANSWER in kept
    assert other in kept
    assert exercise(root).count(SOFTMAX) == 1
    assert other not in exercise(root)


def test_a_deleted_answer_cell_comes_back_above_its_check(root):
    edit(root / "work/exercises/03_softmax.ipynb", lambda cells: cells.pop(1))
    assert reset_saved(root, "softmax").kept is None
    assert exercise(root)[1:3] == [SOFTMAX, "check(softmax)"]


def test_an_answer_in_words_is_reset_too(root):
    words = WORDS.replace("*Write your answer here.*", "Because of the variance.")
    edit(root / "work/exercises/03_softmax.ipynb", lambda cells: cells[3].update(source=words))
    done = reset_saved(root, "why_scale")
    assert exercise(root)[3] == WORDS
    assert f"```markdown\n{words}\n```" in (root / done.kept).read_text()


def test_for_an_open_document_no_notebook_is_written(root):
    before = (root / "work/exercises/03_softmax.ipynb").read_bytes()
    done = put_aside(root, "softmax", "# exercise: softmax\nnot saved yet")
    assert done.source == SOFTMAX
    assert "not saved yet" in (root / done.kept).read_text()
    assert ANSWER in (root / put_aside(root, "softmax", None).kept).read_text()
    assert (root / "work/exercises/03_softmax.ipynb").read_bytes() == before


def test_unknown_names_are_told_with_near_ones(root):
    with pytest.raises(DeskProblem, match="no exercise called 'sofmax'; did you mean softmax"):
        reset_saved(root, "sofmax")
    with pytest.raises(DeskProblem, match="there are: softmax, why_scale"):
        reset_saved(root, "zebra")


def test_an_answer_that_cannot_be_kept_stays_where_it_is(root):
    (root / "work" / KEPT_IN).mkdir()
    before = exercise(root)
    with pytest.raises(DeskProblem, match="cannot be kept"):
        reset_saved(root, "softmax")
    assert exercise(root) == before


def test_an_answer_is_kept_before_the_stub_is_written(root, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(putting_aside, "replace_file", stopped)
    with pytest.raises(KeyboardInterrupt):
        reset_saved(root, "softmax")
    assert ANSWER in (root / "work" / KEPT_IN).read_text()
    assert ANSWER in exercise(root)


@pytest.mark.parametrize("text", [None, "{", "[]"])
def test_a_notebook_that_is_not_there_or_is_none_is_told(root, text):
    place = root / "work/exercises/03_softmax.ipynb"
    place.unlink()
    if text is not None:
        place.write_text(text)
    with pytest.raises(DeskProblem, match=r"sdpa lab|left alone"):
        reset_saved(root, "softmax")


def test_every_exercise_of_the_course_has_a_stub(course):
    from sdpa_helpers.course.exercise_notebook import answer_cell
    from sdpa_helpers.course.registry import all_exercises, all_written

    for name, one in all_exercises().items():
        assert "".join(putting_aside.stub_of(course, name).cell["source"]) == answer_cell(one)
    for name in all_written():
        assert putting_aside.stub_of(course, name).cell["cell_type"] == "markdown"


def test_pictures_that_were_pasted_into_words_are_kept(root):
    words = {
        "source": "<!-- exercise: why_scale -->\n![p](attachment:p.png)",
        "attachments": {"p.png": {"image/png": "AAAA"}},
    }
    edit(root / "work/exercises/03_softmax.ipynb", lambda cells: cells[3].update(words))
    reset_saved(root, "why_scale")
    assert "\n![p.png](data:image/png;base64,AAAA)\n" in (root / "work" / KEPT_IN).read_text()


def test_a_cell_with_two_answers_is_not_thrown_out_for_one(root):
    edit(
        root / "work/exercises/03_softmax.ipynb",
        lambda cells: cells[1].update(source="# exercise: softmax\n# exercise: entropy\nboth"),
    )
    before = exercise(root)
    with pytest.raises(DeskProblem, match="the cell of softmax answers entropy too"):
        reset_saved(root, "softmax")
    assert exercise(root) == before


@pytest.mark.parametrize("minor", [0, 4])
def test_a_notebook_of_an_earlier_format_stays_valid(root, minor):
    place = root / "work/exercises/03_softmax.ipynb"
    notebook = json.loads(place.read_text())
    for cell in notebook["cells"]:
        del cell["id"]
    place.write_text(json.dumps(notebook | {"nbformat_minor": minor}))
    reset_saved(root, "softmax")
    nbformat.validate(json.loads(place.read_text()))
    assert exercise(root)[1] == SOFTMAX


def test_a_stub_does_not_take_the_id_of_a_cell_that_lost_its_line(root):
    place = root / "work/exercises/03_softmax.ipynb"
    edit(place, lambda cells: cells[1].update(source="def softmax(x): return x"))
    reset_saved(root, "softmax")
    ids = [cell["id"] for cell in json.loads(place.read_text())["cells"]]
    assert len(ids) == len(set(ids)) == 5


def test_what_is_hardly_a_notebook_is_reset_and_not_trusted(root):
    place = root / "work/exercises/03_softmax.ipynb"
    place.write_text(json.dumps({"cells": json.loads(place.read_text())["cells"]}))
    with staying_trusted(place):
        reset_saved(root, "softmax")
    assert exercise(root)[1] == SOFTMAX


def test_a_damaged_notebook_of_the_course_is_said_and_keeps_no_other_away(root):
    (root / "exercises/01_dot_product.ipynb").write_text("<<<<<<< HEAD")
    assert put_aside(root, "softmax", "mine").source == SOFTMAX
    with pytest.raises(DeskProblem, match=r"01_dot_product\.ipynb cannot be read as a notebook"):
        put_aside(root, "dot_product", "mine")


@pytest.mark.parametrize("place", [f"work/{KEPT_IN}", "work/exercises", "work"])
def test_nothing_is_kept_or_reset_through_a_link(root, place, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "mine"
    if (root / place).exists():
        (root / place).rename(elsewhere)
    else:
        elsewhere.write_text("my own file\n")
    (root / place).symlink_to(elsewhere)
    before = everything(elsewhere)
    if place != "work/exercises":  # which the button in an open notebook does not touch
        with pytest.raises(DeskProblem, match="by a link: nothing is written there"):
            put_aside(root, "softmax", "mine")
    with pytest.raises(DeskProblem, match="by a link: nothing is written there"):
        reset_saved(root, "softmax")
    assert everything(elsewhere) == before


def everything(place):
    return {path: path.read_bytes() for path in (place, *place.rglob("*")) if path.is_file()}
