"""What a submission has left is removed, whatever it is."""

import errno
import math
import os

from sdpa_helpers.sandbox import scratch
from sdpa_helpers.sandbox.kernel_process import is_over


def test_folders_thousands_deep_or_closed_are_removed_and_what_links_lead_to_is_not(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    folder = tmp_path / "left"
    folder.mkdir()
    here = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(3000):
            os.mkdir("d" * 50)
            os.chdir("d" * 50)
        os.symlink(tmp_path / "precious", "link")
    finally:
        os.chdir(here)
    assert is_over(folder, 1 << 40, entries=1 << 20)  # whatever lies down there
    closed = folder / "another" / "closed"
    closed.mkdir(parents=True)
    (closed / "file").touch()
    closed.chmod(0)
    scratch.remove(folder)
    assert not folder.exists()
    assert (tmp_path / "precious" / "file").exists()


def test_what_a_folder_takes_is_counted_in_all_its_folders(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(bytes(100_000))
    assert is_over(tmp_path, 100_000)
    assert not is_over(tmp_path, 200_000)


def test_folders_with_nothing_in_them_are_counted_too(tmp_path):
    for number in range(20):
        (tmp_path / str(number)).mkdir()
    assert is_over(tmp_path, math.inf, entries=19)
    assert not is_over(tmp_path, math.inf, entries=20)
    assert is_over(tmp_path, 19 * 4096)


def test_no_more_is_looked_at_than_is_too_much(tmp_path, monkeypatch):
    looked = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked.append(path) or scandir(path))
    for number in range(20):
        (tmp_path / str(number)).mkdir()
    assert is_over(tmp_path, math.inf, entries=5)
    assert looked == [str(tmp_path)]


def test_what_cannot_be_read_is_too_much(tmp_path, monkeypatch):
    def closed(path):
        raise PermissionError(errno.EACCES, "closed", path)

    monkeypatch.setattr(os, "scandir", closed)
    assert is_over(tmp_path, math.inf)
