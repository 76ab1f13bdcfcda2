"""What a submission has left is removed, whatever it is."""

import os

from sdpa_helpers.sandbox import kernel_process, scratch


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
    assert kernel_process._size(folder) == 1 << 60  # whatever lies down there
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
    assert 100_000 <= kernel_process._size(tmp_path) < 200_000
