"""The digest of the code that grades: it changes with the code, and with nothing else."""

import pytest

from sdpa_helpers.grading.own_code import code_for, digest_of, own_code


def write(root, text, ending="\n"):
    for part in ("checking", "grading", "classroom"):
        (root / part).mkdir(parents=True, exist_ok=True)
    (root / "checking" / "a.py").write_bytes(text.replace("\n", ending).encode())
    return root


def test_the_digest_is_that_of_the_code_on_every_machine(tmp_path):
    here = write(tmp_path / "here", "x = 1\ny = 2\n")
    there = write(tmp_path / "there", "x = 1\ny = 2\n", "\r\n")
    (there / "checking" / "__pycache__").mkdir()
    (there / "checking" / "__pycache__" / "a.pyc").write_text("x")
    (there / "classroom" / "page.py").write_text("pages are not marks")
    assert digest_of(here) == digest_of(there)


def test_a_line_a_name_or_a_file_changes_it(tmp_path):
    package = write(tmp_path, "x = 1\n")
    seen = {digest_of(package)}
    write(package, "x = 2\n")
    seen.add(digest_of(package))
    (package / "grading" / "b.py").write_text("")
    seen.add(digest_of(package))
    (package / "grading" / "b.py").rename(package / "grading" / "c.py")
    seen.add(digest_of(package))
    assert len(seen) == 4


def test_ours_is_known():
    assert len(own_code()) == 32


def lesson(root, name, text="x = 1"):
    (root / "lessons" / name / "exercises").mkdir(parents=True, exist_ok=True)
    (root / "lessons" / name / "exercises" / "page.md").write_text(text)
    (root / "lessons" / name / "figures.py").write_text(text)


@pytest.mark.parametrize(
    "names_masking",
    [
        "from sdpa_helpers.lessons.masking.exercises.ways import WAYS",
        "title: Heads\nuses: shared, masking/shared\n",
    ],
)
def test_of_a_lesson_it_is_that_of_its_own_pages_and_the_engine(tmp_path, names_masking):
    package = write(tmp_path, "x = 1\n")
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "__init__.py").write_text("")
    for name in ("masking", "softmax", "heads"):
        lesson(package, name)
    lesson(package, "heads", names_masking)

    def seen():
        return [digest_of(package, name) for name in ("softmax", "masking", "heads")]

    before = seen()
    assert len({*before}) == 3
    lesson(package, "softmax", "another case")
    after = seen()
    assert after[0] != before[0]
    assert after[1:] == before[1:]
    lesson(package, "masking", "another case")  # what heads are made with
    assert seen()[0] == after[0]
    assert not {*seen()[1:]} & {*after[1:]}
    for engine in (package / "checking" / "a.py", tmp_path / "lessons" / "__init__.py"):
        now = seen()
        engine.write_text("y = 2")
        assert not {*seen()} & {*now}


def test_ours_of_two_lessons_are_two():
    assert len({own_code(), code_for("softmax"), code_for("masking")}) == 3
