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


def test_of_two_who_sweep_at_once_one_has_the_folder_and_a_killed_sweepers_is_the_nexts(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(scratch.tempfile, "gettempdir", lambda: str(tmp_path))
    left = tmp_path / "sdpa-run-4194304.1-abcd"  # the largest process number there can be, and one more
    (left / "deep" / "er").mkdir(parents=True)
    with monkeypatch.context() as killed:
        killed.setattr(scratch, "remove", lambda taken: None)
        scratch.sweep()
    (taken,) = tmp_path.iterdir()
    assert taken.name.startswith(f"sdpa-swept-{os.getpid()}.")
    assert (taken / "deep" / "er").exists()
    scratch.sweep()
    assert taken.exists()  # its sweeper still runs
    taken.rename(tmp_path / "sdpa-swept-4194304.1-abcd")
    scratch.sweep()
    assert not list(tmp_path.iterdir())


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
