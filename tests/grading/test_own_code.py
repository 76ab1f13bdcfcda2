"""The digest of the code that grades: it changes with the code, and with nothing else."""

from sdpa_helpers.grading.own_code import digest_of, own_code


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
