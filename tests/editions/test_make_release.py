"""`make release`: the wheel and the source distribution have the same bytes wherever they are built."""

import os
import shutil
import subprocess
import tarfile

import pytest

from editions import release as release_module
from editions.release import CannotBuild, build_distributions, build_release, uncommitted
from sdpa_helpers.classroom.packing import SUMS, sha256


def test_another_folder_time_and_umask_give_the_same_wheel_and_sources(course, needs, tmp_path):
    needs("hatchling")
    elsewhere = tmp_path / "another place"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(
        course / "sdpa_helpers", elsewhere / "sdpa_helpers", ignore=ignore, copy_function=shutil.copyfile
    )
    for name in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "LICENSE-CONTENT",
        "CHANGELOG.md",
        "CITATION.cff",
        ".gitignore",
    ):
        shutil.copyfile(course / name, elsewhere / name)
    before = os.umask(0o077)
    try:
        build_distributions(elsewhere, tmp_path / "two")
    finally:
        os.umask(before)
    build_distributions(course, tmp_path / "one")
    made = [{p.name: sha256(p) for p in (tmp_path / place).iterdir()} for place in ("one", "two")]
    assert made[0] == made[1]
    assert {name.rpartition(".")[2] for name in made[0]} == {"whl", "gz"}
    with tarfile.open(next((tmp_path / "one").glob("*.tar.gz"))) as packed:
        tops = {name.split("/")[1] for name in packed.getnames()}
    assert tops == {
        "sdpa_helpers",
        "CHANGELOG.md",
        "CITATION.cff",
        "LICENSE",
        "LICENSE-CONTENT",
        "PKG-INFO",
        "README.md",
    } | ({"pyproject.toml", ".gitignore"})


def test_a_release_has_a_sum_for_every_file_and_what_was_built(tmp_path, monkeypatch):
    root = tmp_path / "course"
    (root / "build" / "slides").mkdir(parents=True)
    (root / "build" / "slides" / "03_softmax.html").write_text("slides")
    (root / "build" / "site").mkdir()  # begun, and not finished: no index.html
    monkeypatch.setattr(
        release_module, "build_distributions", lambda root, into: (into / "a.whl").write_text("a")
    )
    monkeypatch.setattr(release_module, "_editions", lambda made: iter(()))
    old = tmp_path / "out" / "old.zip"
    old.parent.mkdir()
    old.write_text("of an earlier version")
    *files, sums = build_release(root, tmp_path / "out")
    assert sums.name == SUMS
    assert {path.name.rpartition("-")[0] or path.name for path in files} == {"a.whl", "sdpa-slides"}
    assert sums.read_text() == "".join(f"{sha256(path)}  {path.name}\n" for path in files)
    assert not old.exists()


def test_changes_in_no_commit_are_noticed(tmp_path, needs_program):
    git = [needs_program("git"), "-c", "user.name=a", "-c", "user.email=a@b"]
    assert not uncommitted(tmp_path)
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    assert not uncommitted(tmp_path)
    (tmp_path / "new.py").write_text("")
    assert uncommitted(tmp_path)


def test_a_failed_build_says_why(tmp_path):
    with pytest.raises(CannotBuild, match="Missing `project` metadata"):
        build_distributions(tmp_path, tmp_path / "out")
