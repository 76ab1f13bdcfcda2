"""Answers that resemble each other: what is shown, what is not, and how long a large class takes."""

import inspect
import random
import textwrap
import time
from difflib import SequenceMatcher

import pytest

from sdpa_helpers.classroom.pages.similar import THRESHOLD, find_similar, resemblance, similar_page
from sdpa_helpers.course.registry import find
from sdpa_helpers.grading.shape import shape_of
from tests.results import result

LONG = '''\
# exercise: cosine_similarity
def cosine_similarity({q}, {k}):
    """{doc}"""
    {total} = 0.0
    {square} = 0.0
    for {i} in range(len({q})):
        {total} += {q}[{i}] * {k}[{i}]  # {comment}
        {square} += {q}[{i}] ** 2
    if {square} == 0:
        return 0.0
    return {total} / np.sqrt({square}) / np.linalg.norm({k})
'''


def written(**names):
    usual = {
        "q": "q",
        "k": "k",
        "doc": "Cosine.",
        "total": "total",
        "square": "square",
        "i": "i",
        "comment": "add",
    }
    return LONG.format(**(usual | names))


def different(number):
    rng = random.Random(number)
    names = ["np.sum", "np.dot", "max", "np.abs", "sorted", "np.einsum", "zip", "np.linalg.norm"]

    def numbers():
        return ", ".join(str(rng.randint(0, 99)) for _ in range(rng.randint(1, 6)))

    lines = [f"    x{i} = {rng.choice(names)}({rng.randint(0, 99)}, [{numbers()}])" for i in range(12)]
    return "# exercise: cosine_similarity\ndef cosine_similarity(q, k):\n" + "\n".join(
        [*lines, "    return x1"]
    )


def records(*answers, exercise="cosine_similarity"):
    return [result(f"s{i:04d}", [], answers={exercise: text}) for i, text in enumerate(answers)]


def test_other_names_and_comments_are_still_the_same_answer():
    other = written(q="a", k="b", total="t", square="norm2", i="j", comment="plus", doc="Mine!")
    assert shape_of(written()) == shape_of(other)
    found = find_similar(records(written(), other, different(1)))
    assert [(p.one.student, p.other.student, p.ratio) for p in found.pairs] == [("s0000", "s0001", 1.0)]


def test_a_changed_line_is_still_near():
    changed = written().replace("        return 0.0", "        return float(0)")
    found = find_similar(records(written(), changed, different(1)))
    assert len(found.pairs) == 1
    assert 0.9 <= found.pairs[0].ratio < 1.0


def test_different_answers_are_not_shown():
    assert find_similar(records(*(different(n) for n in range(20)))).pairs == ()


@pytest.mark.parametrize(
    "text", ["return q @ k", "def f(:\n" * 40, "x = '''\n" + "y\n" * 99, "", "\\", "\t x\n  y" * 30]
)
def test_what_is_too_short_or_no_python_is_left_alone(text):
    assert find_similar(records(text, text)).pairs == ()


def test_the_handed_out_solution_and_known_wrong_answers_are_not_held_against_anybody():
    exercise = find("cosine_similarity")
    sources = [textwrap.dedent(inspect.getsource(exercise.reference))]
    sources += [textwrap.dedent(inspect.getsource(w.function)) for w in exercise.wrong]
    for source in sources:
        if source.startswith("def "):
            long = source + "\n"
            assert find_similar(records(long, long)).pairs == ()


def test_people_with_many_answers_in_common_come_first():
    """Four planted pairs of twins with seven to four long answers alike, among people of whom any two share few."""
    rng = random.Random(0)
    exercises = [f"exercise_{n:02}" for n in range(12)]
    answers = {f"s{n:02}": {} for n in range(40)}
    for name in exercises:
        usual = [different(f"{name} {way}") for way in range(8)]  # a handful of ways to write it
        for mine in answers.values():
            mine[name] = rng.choice(usual) if rng.random() < 0.4 else different(rng.random())
    for pair in range(4):
        for name in rng.sample(exercises, 10 - pair):
            answers[f"s{2 * pair:02}"][name] = answers[f"s{2 * pair + 1:02}"][name] = different(rng.random())
    found = find_similar([result(student, [], answers=mine) for student, mine in answers.items()])
    twins = [(f"s{2 * pair:02}", f"s{2 * pair + 1:02}") for pair in range(4)]
    assert len(found.pairs) > 100
    assert [(two.one, two.other) for two in found.people[:4]] == twins
    counts = [len(two.pairs) for two in found.people]
    assert counts == sorted(counts, reverse=True)
    assert counts[3] > counts[4]
    page = similar_page(found)
    places = [page.index(f">{one} and {other}</a>") for one, other in twins]
    assert places == sorted(places)
    assert places[-1] < page.index("<pre")  # people first, their answers below
    assert page.index('id="people-1"') < page.index('id="people-4"')
    assert page.count("<details") <= 200


def test_what_many_wrote_is_one_line_not_hundreds_of_pairs():
    found = find_similar(records(*[written()] * 30))
    assert found.pairs == ()
    assert [len(students) for _, students in found.alike] == [30]
    assert "30 learners" in similar_page(found)


def test_the_page_escapes_and_shows_both_texts():
    nasty = written(comment="<script>alert(1)</script>", doc="<b>")
    page = similar_page(find_similar(records(nasty, written())))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<pre") == 2
    assert "accuses nobody" in page
    for word in ("plagiar", "cheat", "copied"):
        assert word not in page.lower()


def test_who_answered_nothing_resembles_nobody():
    assert find_similar([result("ada", []), result("ben", [])]).pairs == ()


def test_the_quick_no_agrees_with_the_slow_one():
    one, two = shape_of(different(1)).split(), shape_of(different(2)).split()
    assert resemblance(one, one) == 1.0
    assert resemblance(one, two) == 0.0
    draw, said = random.Random(0), []
    for _ in range(500):
        text = draw.choices("abcd", k=draw.randint(1, 40))
        other = [draw.choice("abcd") if draw.random() < 0.1 else token for token in text]
        ratio = SequenceMatcher(None, text, other, autojunk=False).ratio()
        said.append(resemblance(text, other))
        assert said[-1] == ratio or (said[-1] == 0.0 and ratio < THRESHOLD)
    assert 50 < said.count(0.0) < 450


def test_a_class_of_1000_takes_seconds():
    started = time.process_time()
    found = find_similar(records(*(different(n) for n in range(1000)), written(), written(q="a")))
    assert [p.ratio for p in found.pairs] == [1.0]
    assert time.process_time() - started < 20
