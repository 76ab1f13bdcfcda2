"""Which installed files a kernel gets to see, however they were installed."""

import os
import shutil
import sys

import pytest

from sdpa_helpers.course import checkup
from sdpa_helpers.sandbox import choose_level, installed, visible_files
from sdpa_helpers.sandbox.choose_level import CannotTry, choose
from sdpa_helpers.sandbox.fork_servers import CannotStart
from sdpa_helpers.sandbox.visible_files import EMPTY, KernelPackage


@pytest.fixture
def lay(tmp_path, monkeypatch):
    """lay(folder, name, files, requires) installs a distribution into a folder of packages, and gives the folder."""

    def go(folder, name, files, requires=(), record=True, **facts):
        site = tmp_path / folder
        monkeypatch.syspath_prepend(str(site))
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        for file in files:
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            (site / file).touch()
        lines = [f"Name: {name}", *(f"Requires-Dist: {line}" for line in requires)]
        (info / "METADATA").write_text(
            "\n".join(lines) + "\n\nRequires-Dist: what its long description says\n"
        )
        if record:
            (info / "RECORD").write_text("".join(f"{f},,\n" for f in (*files, f"{info.name}/METADATA")))
        for fact, text in facts.items():
            (info / f"{fact}.json").write_text(text)
        return site

    installed._entries.cache_clear()
    yield go
    installed._entries.cache_clear()


def test_a_closure_follows_what_is_required_here(lay, tmp_path):
    pure = lay(
        "lib/site-packages",
        "beads",
        (
            "beads/__init__.py",
            "beads/deep/er.py",
            "one.py",
            "__pycache__/one.cpython-311.pyc",
            "../../bin/beads",
        ),
        ("Frame_Work>=1", "absent", 'windows; sys_platform == "no such"', 'plotting; extra == "plots"'),
    )
    for left_out in ("windows", "plotting", "other"):
        lay("lib/site-packages", left_out, (f"{left_out}.py",))
    compiled = lay(
        "lib64/site-packages",
        "frame_work",
        ("_frame.abi3.so", "frame.libs/a.so", "frame/x.py"),
        ('beads; python_version >= "3"',),
    )
    expected = {
        pure: ("beads", "one.py", "__pycache__/one.cpython-311.pyc", "beads-1.0.dist-info"),
        compiled: ("_frame.abi3.so", "frame.libs", "frame", "frame_work-1.0.dist-info"),
    }
    assert set(installed.places(("beads",))) == {
        str(f / name) for f, names in expected.items() for name in names
    }
    assert installed.top_level_names(("beads",)) == {"beads", "one", "_frame", "frame"}
    files, names = installed.others(("beads",))
    assert names == {"windows", "plotting", "other"}
    assert str(pure / "other.py") in files
    older = tmp_path / "python3.9/site-packages"  # what another Python has is not its own, whatever the name
    (older / "beads").mkdir(parents=True)
    (older / "beads/__init__.py").touch()
    seen = installed.others(("beads",), (str(older), str(pure), str(tmp_path / "nowhere")))
    assert seen == (sorted([*files, str(older / "beads/__init__.py")]), names)


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ({"record": False}, "without a list of its files"),
        ({"direct_url": '{"url": "file:///src", "dir_info": {"editable": true}}'}, "pip install -e"),
    ],
)
def test_what_cannot_be_told_is_said_with_what_to_do(lay, way, said):
    lay("site-packages", "beads", ("beads.py",), **way)
    with pytest.raises(CannotStart, match=f"{said}.*: pip install --force-reinstall beads"):
        installed.places(("beads",))
    assert "beads" in installed.top_level_names(("beads",)), "without a sandbox its name is all that is asked"


def test_files_that_are_links_to_a_store_are_in_no_view(lay, tmp_path):
    site = lay("site-packages", "beads", ("beads/__init__.py",))
    (tmp_path / "store.py").touch()
    (site / "beads/__init__.py").unlink()
    (site / "beads/__init__.py").symlink_to(tmp_path / "store.py")
    assert "UV_LINK_MODE=copy" in choose_level.fault("warm", KernelPackage(distributions=("beads",)))
    (site / "beads/__init__.py").unlink()
    os.link(tmp_path / "store.py", site / "beads/__init__.py")  # as conda and uv do it: a file like any other
    installed.refuse_links(("beads",))
    shutil.move(site / "beads", tmp_path)
    (site / "beads").symlink_to(tmp_path / "beads")
    assert str(site / "beads") in installed.places(("beads",)), (
        "without a sandbox it is imported all the same"
    )
    with pytest.raises(CannotStart, match="force-reinstall beads"):
        installed.refuse_links(("beads",))


@pytest.mark.parametrize("wanted", ["off", "auto", "require"])
def test_nothing_is_graded_with_a_library_that_is_not_there(wanted):
    with pytest.raises(CannotTry, match=r"no-such-library is not installed .*: pip install no-such-library"):
        choose(wanted, KernelPackage(distributions=("no_such.library",)))


def test_the_doctor_says_what_keeps_a_sandbox_from_being_tried(monkeypatch):
    def unlisted(_):
        raise CannotStart("numpy came without a list: install it anew")

    monkeypatch.setattr(choose_level, "places", unlisted)
    fact = checkup._sandbox()
    assert fact.value.startswith("none could be tried out")
    assert fact.help == "numpy came without a list: install it anew"


def test_numpy_and_ipython_need_no_other_library():
    names, (_, others) = installed.top_level_names(EMPTY.distributions), installed.others(EMPTY.distributions)
    assert names >= {"numpy", "IPython", "traitlets"}
    assert others >= {"matplotlib", "pytest", "nbval", "jaxtyping", "platformdirs"}
    assert names.isdisjoint(others | {"torch", "scipy", "sympy", "numba", "mpmath", "pip"})


def test_of_the_interpreters_own_folder_the_standard_library_is_seen(tmp_path, monkeypatch):
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    lib = tmp_path / "lib"
    for folder in (
        f"{version}/json",
        f"{version}/site-packages/torch",
        "python3.99/json",
        "pypy3.10/json",
        "tk",
    ):
        (lib / folder).mkdir(parents=True)
    for file in ("libpython.so", f"{version}/os.py", "python3.99/os.py"):
        (lib / file).touch()
    (lib / "python3").symlink_to(version)
    (tmp_path / "share").mkdir()
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "base_exec_prefix", str(tmp_path))
    monkeypatch.setattr(visible_files.sysconfig, "get_path", lambda name: str(lib / version))
    shown, covered = visible_files.shown.__wrapped__(), visible_files.covered.__wrapped__()
    below = [path for path in shown if visible_files.lies_in(path, str(tmp_path))]
    assert below == [str(lib)]
    hidden = {f"{version}/site-packages", "python3.99", "pypy3.10"}
    assert {path for path in covered if visible_files.lies_in(path, str(lib))} == {
        str(lib / h) for h in hidden
    }
    seen = {os.path.relpath(path, lib) for path in visible_files.apart_from(str(lib), covered)}
    assert seen == {"libpython.so", "tk", f"{version}/json", f"{version}/os.py"}
