"""What the editions take from npm is there for every process that asks, also when all ask at once."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import editions.npm

ASKS = "import npm, sys; sys.exit(not (npm.npm_folder() / 'small' / 'index.js').is_file())"


def test_processes_that_ask_at_once_all_find_it(tmp_path, needs_program):
    needs_program("npm")
    shutil.copy(editions.npm.__file__, tmp_path)
    package = tmp_path / "small"
    package.mkdir()
    (package / "package.json").write_text(json.dumps({"name": "small", "version": "1.0.0"}))
    (package / "index.js").write_text("")
    _npm(package, "pack", "--pack-destination", str(tmp_path))
    (tmp_path / "package.json").write_text(json.dumps({"dependencies": {"small": "file:small-1.0.0.tgz"}}))
    _npm(tmp_path, "install", "--package-lock-only", "--offline")

    asking = [subprocess.Popen([sys.executable, "-c", ASKS], cwd=tmp_path) for _ in range(6)]
    assert [one.wait(timeout=120) for one in asking] == [0] * 6
    assert not list((tmp_path / "node_modules").glob(".small-*")), "one install, none cut off"


def _npm(folder: Path, *words: str) -> None:
    subprocess.run(["npm", *words, "--silent"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
