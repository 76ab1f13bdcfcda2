"""The archive for a room without internet: the course installs from it with the network off."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest

from editions.archive.build import Machine, build_archive, course_version, pins_of_other_patches
from sdpa_helpers.classroom.packing import SUMS, sha256

NEEDED = ("numpy", "jaxtyping", "wadler-lindig", "platformdirs", "threadpoolctl")
TO_BUILD = ("hatchling", "packaging", "pathspec", "pluggy", "trove-classifiers", "tomlkit")
EDITABLES = '''"""Stands in for the package of this name: what hatchling calls to install a folder where it lies."""

import os


class EditableProject:
    def __init__(self, name, root):
        self.name, self.root, self.paths = name, root, []

    def add_to_path(self, path):
        self.paths.append(os.path.join(self.root, path))

    def files(self):
        return [(f"_{self.name}.pth", "\\n".join(self.paths))]

    def dependencies(self):
        return []
'''


def as_wheel(installed: Distribution, folder: Path) -> None:
    """Pack an installed distribution again as the wheel that it came in, without squeezing it."""
    name, version = installed.metadata["Name"].replace("-", "_"), installed.version
    wheel = installed.read_text("WHEEL") or ""
    tag = next(line.partition(": ")[2] for line in wheel.splitlines() if line.startswith("Tag: "))
    left = ("__pycache__", "tests", "..", "INSTALLER", "REQUESTED")
    files = [f for f in installed.files or () if not set(f.parts) & {*left} and f.name not in left]
    with zipfile.ZipFile(folder / f"{name}-{version}-{tag}.whl", "w") as packed:
        for file in files:
            packed.write(str(file.locate()), file.as_posix())


def fetch(course, extras, wheels):
    """What pip would get, from what is installed here."""
    assert extras == ()
    for name in (*NEEDED, *TO_BUILD):
        as_wheel(distribution(name), wheels)
    with zipfile.ZipFile(wheels / "editables-0.5-py3-none-any.whl", "w") as packed:
        packed.writestr("editables/__init__.py", EDITABLES)
        info = "editables-0.5.dist-info"
        packed.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: editables\nVersion: 0.5\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")


@pytest.fixture(scope="module")
def archive(needs, tmp_path_factory):
    needs("hatchling")
    folder = tmp_path_factory.mktemp("archive")
    site = folder / "site"
    site.mkdir()
    (site / "index.html").write_text("the site")
    return build_archive(folder / "out", fetch, (), site)


@pytest.fixture(scope="module")
def unpacked(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("a room")  # whose name has a space
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return next(folder.iterdir())


def test_its_name_and_sum_say_what_it_is(archive):
    here = Machine.here()
    assert (
        archive.name == f"sdpa-course-{course_version()}-{here.system}-{here.machine}-python{here.python}.tar"
    )
    assert (archive.parent / SUMS).read_text() == f"{sha256(archive)}  {archive.name}\n"
    assert [path.name for path in archive.parent.iterdir() if path.is_dir()] == []


def test_it_holds_the_course_wheels_and_the_site_and_no_path_of_this_machine(unpacked):
    assert {"notebooks", "exercises", "sdpa_helpers", "wheels", "site", "install", "Makefile"} <= {
        path.name for path in unpacked.iterdir()
    }
    assert not (unpacked / "sdpa_helpers" / "classroom").exists()
    assert os.access(unpacked / "install", os.X_OK)
    for name in ("install", "install.ps1", "wheels/for.json", "wheels/fits.py"):
        text = (unpacked / name).read_text()
        assert "file:" not in text
        assert "@EXTRAS@" not in text


def _python_with_pip_linked(folder: Path) -> Path:
    """A Python whose `-m venv` links the pip that is here: to install one takes three seconds, and is not our work."""
    python, pip = folder / "python3", Path(str(distribution("pip").locate_file("pip")))
    python.write_text(f"""#!/bin/sh
[ "$1 $2" != "-m venv" ] || exec {sys.executable} -c '
import pathlib, sys, venv
venv.create(sys.argv[1], clear=True, symlinks=True, with_pip=False)
(site,) = pathlib.Path(sys.argv[1]).glob("lib/*/site-packages")
(site / "pip").symlink_to("{pip}")' "$4"
exec {sys.executable} "$@"
""")
    python.chmod(0o755)
    return python


CHECKED = """
from sdpa_helpers import check
def dot_product(q, k): return q * k
report = check(dot_product, keep=False)
print(report.passed, report.mistakes)
"""


def test_it_installs_with_the_network_off_and_names_a_mistake(unpacked, tmp_path, needs_program):
    alone = [needs_program("unshare"), "-rn"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine gives no network namespace")
    bare = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "PYTHON": str(_python_with_pip_linked(tmp_path)),
    }
    bare |= {"SDPA_HOME": str(tmp_path / "sdpa")}
    bare |= {"PIP_NO_COMPILE": "1"}  # compiled later, as far as it is used
    done = subprocess.run(
        [*alone, "sh", "install"], cwd=unpacked, env=bare, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Ready." in done.stdout
    python = unpacked / ".venv" / "bin" / "python"
    ran = subprocess.run(
        [*alone, python, "-c", CHECKED], cwd=tmp_path, env=bare, capture_output=True, text=True, check=False
    )
    assert ran.stdout.split(maxsplit=1)[:1] == ["False"], ran.stderr
    assert "not-summed" in ran.stdout


def test_wheels_for_another_python_are_refused_with_a_sentence(unpacked, tmp_path):
    folder = tmp_path / "wheels"
    folder.mkdir()
    shutil.copy(unpacked / "wheels" / "fits.py", folder)
    wanted = json.loads((unpacked / "wheels" / "for.json").read_text())
    for change, code in (({}, 0), ({"python": "3.99"}, 2), ({"machine": "abacus"}, 2)):
        (folder / "for.json").write_text(json.dumps(wanted | change))
        ran = subprocess.run(
            [sys.executable, folder / "fits.py"], capture_output=True, text=True, check=False
        )
        assert ran.returncode == code
        assert all(value in ran.stderr for value in change.values())


PIP = """\
#!/bin/sh
[ "$1 $2" = "-m venv" ] && mkdir -p "$4/bin" && cp "$0" "$4/bin/python"
[ "$1 $2" = "-m pip" ] && echo "index off: $PIP_NO_INDEX, links: $PIP_FIND_LINKS" >> "$LOG"
exit 0
"""


@pytest.mark.parametrize("with_wheels", [True, False])
def test_make_takes_wheels_that_lie_there_and_nothing_else(with_wheels, unpacked, tmp_path, needs_program):
    make, folder = needs_program("make"), tmp_path / "course"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(unpacked / name, folder)
    if with_wheels:
        (folder / "wheels").mkdir()
        shutil.copy(unpacked / "wheels" / "fits.py", folder / "wheels")
    python = tmp_path / "python3"
    python.write_text(PIP)
    python.chmod(0o755)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    variables |= {"LOG": str(tmp_path / "log"), "MAKEFLAGS": ""}
    subprocess.run(
        [make, "lab", f"PYTHON={python}"], cwd=folder, env=variables, check=True, capture_output=True
    )
    told = "index off: 1, links: wheels" if with_wheels else "index off: , links: "
    assert set((tmp_path / "log").read_text().splitlines()) == {told}


def test_versions_for_other_patches_of_python_come_along():
    pins = 'numpy==2.4\nsoup-sieve==3; python_full_version < "3.11.5"\nsoup-sieve==4; python_full_version >= "3.11.5"\n'
    assert pins_of_other_patches(pins, {"numpy", "soup_sieve"}) == ["soup-sieve==3", "soup-sieve==4"]
    assert pins_of_other_patches(pins, {"numpy"}) == []
