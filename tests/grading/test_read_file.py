"""Files made to be hard to read: each costs what it must, and nothing else."""

import copy
import json
import random

import pytest

from sdpa_helpers.grading import read_file as reader
from sdpa_helpers.grading import reading_box, readings
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission, Unreadable
from sdpa_helpers.grading.read_file import UNREAD, read_file
from sdpa_helpers.grading.reading_box import BoxLimits
from tests.handing_in import NAME, RIGHT

WORDS = "02_variance_proof"
ANSWER = "# exercise: dot_product\ndef dot_product(q, k):\n    return q @ k\n"
boxes_only = pytest.mark.skipif(not reading_box.FORKS, reason="no box on this platform")


def code(source):
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}


def words(source):
    return {"cell_type": "markdown", "source": source, "metadata": {}}


@pytest.fixture
def saved(tmp_path):
    """Writes cells into a notebook and gives its path."""

    def save(*cells):
        path = tmp_path / "x.ipynb"
        path.write_text(json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}))
        return path

    return save


@pytest.mark.parametrize(
    "cell",
    [
        words(" " * 300_000),
        words("<!--" + " " * 300_000),
        words("# exercise:" + "\t" * 300_000 + "x"),
        words("\n" * 300_000),
        code("x = 1" + "\n" * 49_000),
        code("#" + " " * 49_000),
        code("\n".join("x = %time y" for _ in range(1000))),
    ],
    ids=["spaces", "comment", "tabs", "lines", "lines of code", "hash", "magics"],
)
def test_long_cells_of_nothing_are_read_at_once(saved, cell):
    """In a quarter of the time that there is; by backtracking each took from seconds to hours."""
    answer = words("<!-- exercise: proof_in_words -->\nBecause.")
    line = {**cell, "source": "# exercise: scaled_scores\n" + cell["source"]}
    found = read_file(saved(cell, answer, line), WORDS, BoxLimits(cpu_seconds=1))
    assert found.words.answers == {"proof_in_words": "Because."}
    assert [f.kind for f in found.words.flags] == []
    assert UNREAD not in {f.kind for f in found.lifted.flags}


@boxes_only
def test_an_answer_that_cannot_be_analysed_is_flagged_and_taken(saved, monkeypatch):
    really, hard = reader.analyse, f"# exercise: dot_product\n{RIGHT['dot_product']}"

    def endless(exercise, taken):
        while exercise.name == "dot_product":
            pass
        return really(exercise, taken)

    monkeypatch.setattr(reader, "analyse", endless)
    easy = [code(f"# exercise: {name}\n{RIGHT[name]}") for name in ("attention_scores", "weighted_sum")]
    found = read_file(saved(code(hard), *easy), NAME, BoxLimits(cpu_seconds=1)).lifted
    assert found.answers["dot_product"] == hard
    assert [(f.kind, f.message) for f in found.flags if f.kind == UNREAD] == [
        (UNREAD, "dot_product: this could not be read within 1 seconds of computing time: please look")
    ]
    assert set(found.shapes) == {"attention_scores", "weighted_sum"}
    assert all(found.shapes.values())


@boxes_only
def test_boxes_are_not_without_end(saved, monkeypatch):
    def hopeless(exercise, taken):
        raise MemoryError

    begun = []
    really = reader.boxed
    monkeypatch.setattr(reader, "boxed", lambda read, limits: begun.append(1) or really(read, limits))
    monkeypatch.setattr(reader, "analyse", hopeless)
    found = read_file(saved(*(code(f"# exercise: {name}\n{RIGHT[name]}") for name in RIGHT)), NAME).lifted
    assert len(begun) == reader.MAX_BOXES
    assert [f.kind for f in found.flags] == [UNREAD] * len(RIGHT)
    assert set(found.answers) == set(RIGHT)


@boxes_only
def test_a_file_that_takes_too_much_memory_is_unreadable(tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_text('{"cells":[' + "[]," * 3_000_000 + "[]]}")
    with pytest.raises(Unreadable, match="within 8 MB of memory"):
        read_file(path, NAME, BoxLimits(memory_mb=8, cpu_seconds=20))


@boxes_only
@pytest.mark.parametrize("ended", ["time", "memory", "deadline", "too-much", "failed"])
def test_whatever_ends_the_first_box_a_sentence_says_what_to_do(saved, monkeypatch, ended):
    monkeypatch.setattr(reader, "boxed", lambda read, limits: reading_box.Boxed((), ended))
    with pytest.raises(Unreadable, match=r"could not be read.*Clear all outputs"):
        read_file(saved(code(ANSWER)), NAME)


def test_the_form_of_nbformat_3_is_read(tmp_path):
    path = tmp_path / "x.ipynb"
    cells = [
        {"cell_type": "code", "input": [*ANSWER.splitlines(keepends=True)], "outputs": []},
        {"cell_type": "heading", "level": 2, "source": "A heading"},
        3,
    ]
    odd = [None, {"cells": 3}, {"cells": [{"cell_type": 1}]}]
    path.write_text(json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}, *odd]}))
    assert read_file(path, NAME).lifted.answers == {"dot_product": ANSWER}


def test_what_was_read_survives_the_way_back_and_nothing_else_does(saved):
    path = saved(code(ANSWER), code("import math"), words("\udc00"))
    found = read_file(path, NAME).lifted
    assert found.shapes["dot_product"].startswith(
        "def name ( name , name ) : NEWLINE INDENT return name @ name"
    )
    taken = {"answers": {}, "others": [], "flags": []}
    for wrong in (
        [],
        {"answers": {}},
        taken | {"more": 1},
        taken | {"answers": {"unknown": ""}},
        taken | {"answers": {"dot_product": 3}},
        taken | {"answers": {"dot_product": "x" * 50_001}},
        taken | {"others": ["x"] * 5001},
        taken | {"others": ["x" * 50_000] * 11},
        taken | {"flags": [{"kind": "a"}]},
        {"unreadable": 3},
    ):
        with pytest.raises(readings.NotAReading):
            readings.taken_from_json(wrong, {"dot_product"})
    shown = {"not_there": [], "clues": [], "shape": "", "names": [], "flags": []}
    assert readings.analysis_from_json(shown).shape == ""
    for wrong in (
        shown | {"clues": [{"kind": "none", "line": ""}]},
        shown | {"shape": "x" * 200_000},
        shown | {"not_there": ["x"] * 101},
        shown | {"hidden": ["x"] * 101},
        shown | {"names": ["x"] * 61},
    ):
        with pytest.raises(readings.NotAReading):
            readings.analysis_from_json(wrong)


# ---- fuzz -------------------------------------------------------------------------------------------------


def mutated(original: bytes, rng: random.Random) -> bytes:
    """Bytes changed, cut out or doubled, or a piece of the JSON replaced by something else."""
    if rng.random() < 0.5:
        data = bytearray(original)
        for _ in range(rng.randint(1, 20)):
            at = rng.randrange(len(data) + 1) % max(1, len(data))
            how = rng.randrange(4)
            if how == 0:
                data[at : at + 1] = bytes([rng.randrange(rng.choice([128, 128, 128, 256]))])
            elif how == 1:
                del data[at : at + rng.randint(1, 500)]
            elif how == 2:
                data[at:at] = bytes([rng.choice(b'[]{}",:\\\x00 9')]) * rng.choice([1, 1, 50, 20_000])
            else:
                data[at:at] = data[: rng.randint(1, 2000)]
        return bytes(data)
    notebook = json.loads(original)
    for _ in range(rng.randint(1, 5)):
        _change(notebook, rng)
    return json.dumps(notebook).encode()


def _change(notebook: dict, rng: random.Random) -> None:
    odd = [None, 3, "", [], {}, [[]], "x = " * 9000, " " * 60_000, "\n" * 50_000, "\udcff", {"a": {"b": []}}, -0.0,
           "(" * 5000, "'''", "\\\n" * 3000, "f'{" * 900, "if 1:\n " * 90, [ANSWER] * 300]  # fmt: skip
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not cells or rng.random() < 0.1:
        notebook[rng.choice(["cells", "worksheets", "metadata", "nbformat"])] = rng.choice(odd)
        return
    at = rng.randrange(len(cells))
    cell = cells[at]
    how = rng.randrange(4)
    if how == 0 or not isinstance(cell, dict):
        cells[at] = copy.deepcopy(rng.choice(odd))
    elif how == 1:
        cell[rng.choice(["source", "metadata", "cell_type", "outputs", "input"])] = copy.deepcopy(
            rng.choice(odd)
        )
    elif how == 2 and isinstance(cell.get("source"), list | str):
        text = "".join(str(line) for line in cell["source"])
        where = rng.randint(0, len(text))
        cell["source"] = text[:where] + str(rng.choice(odd)) + text[where:]
    else:
        cells[at:at] = [copy.deepcopy(rng.choice(cells)) for _ in range(rng.choice([1, 20, 2000]))]


def how_it_is_read(path, lesson: str) -> str:
    """ "read", "refused" with a sentence, or what else became of it."""
    try:
        found = read_file(path, lesson)
    except Unreadable as refused:
        return "refused" if str(refused).endswith(".") else f"no sentence: {refused}"
    unread = [flag.message for flag in (*found.lifted.flags, *found.words.flags) if flag.kind == UNREAD]
    return " ".join(unread) or "read"


@pytest.mark.parametrize("number", range(20))
def test_a_mutated_notebook_is_read_or_refused_with_a_sentence(course, tmp_path, number):
    rng = random.Random(number)
    lesson = rng.choice([NAME, WORDS, "03_softmax"])
    original = (course / rng.choice(["exercises", "solutions"]) / f"{lesson}.ipynb").read_bytes()
    path = tmp_path / f"{lesson}.ipynb"
    path.write_bytes(mutated(original, rng))
    assert how_it_is_read(path, lesson) in ("read", "refused")


def test_a_file_that_is_gone_is_unreadable_too(tmp_path):
    result = grade(Submission("ada", NAME, tmp_path / "gone.ipynb"), Settings("s"))
    assert (result.status, result.points) == ("unreadable", 0)
