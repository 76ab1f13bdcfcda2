"""Ways in, as far as they can be tried without the places they lead to: files, pins, links, commands."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
import yaml

from editions import address
from editions.site.source import exercise_page, lesson_page
from editions.ways.__main__ import links
from editions.ways.colab import NOTEBOOK, colab_notebook
from sdpa_helpers.course.registry import LESSONS
from tests.environments import build_wheel, constraints, environment, path_with
from tests.handing_in import POINTS, RIGHT

ADDRESS = "https://github.com/ada/attention"


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setenv("SDPA_REPOSITORY", f"{ADDRESS}/")


def test_without_an_address_no_link_is_invented(monkeypatch):
    monkeypatch.delenv("SDPA_REPOSITORY", raising=False)
    monkeypatch.setattr(address.tomllib, "loads", lambda text: {"project": {}})
    assert (address.repository(), address.colab("a"), address.binder("a")) == ("", "", "")
    assert address.nbgitpuller("https://hub.example.org", "a") == ""


def test_links_have_the_form_of_the_places(known):
    path = "exercises/03_softmax.ipynb"
    assert address.colab(path) == f"https://colab.research.google.com/github/ada/attention/blob/main/{path}"
    assert address.binder(path).startswith("https://mybinder.org/v2/gh/ada/attention/main?")
    assert parse_qs(urlsplit(address.binder(path)).query)["urlpath"] == [f"lab/tree/{path}"]
    pulled = urlsplit(address.nbgitpuller("https://hub.example.org/", path))
    assert pulled.path == "/hub/user-redirect/git-pull"
    wanted = {"repo": [ADDRESS], "branch": ["main"], "urlpath": [f"lab/tree/attention/{path}"]}
    assert parse_qs(pulled.query) == wanted
    assert links("https://hub.example.org").count("[open](") == 2 * len(LESSONS)


def test_the_sites_pages_open_elsewhere_where_an_address_is_known(known, course, monkeypatch):
    page = lesson_page(course / "notebooks/03_softmax.ipynb", set())
    assert "Open on Binder" in page
    assert "Open on Binder" in exercise_page("03_softmax")
    monkeypatch.setenv("SDPA_REPOSITORY", "https://git.example.org/ada/attention")
    assert "Open on Binder" not in lesson_page(course / "notebooks/03_softmax.ipynb", set())


def test_an_address_elsewhere_than_on_github_gets_no_link_to_colab(monkeypatch):
    monkeypatch.setenv("SDPA_REPOSITORY", "https://git.example.org/ada/attention")
    assert address.colab("a") == address.binder("a") == ""
    assert "git.example.org" in address.nbgitpuller("https://hub.example.org", "a")


# ---- Colab ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def version(course):
    return tomllib.loads((course / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def test_the_stored_notebook_is_as_it_would_be_written_today(course, version, monkeypatch):
    monkeypatch.delenv("SDPA_REPOSITORY", raising=False)
    stored = nbformat.read(course / NOTEBOOK, as_version=4)
    assert stored == colab_notebook(version, address.repository())
    assert [cell.cell_type for cell in stored.cells].count("code") == 2


def test_its_wheel_brings_no_torch_and_two_cells_give_a_verdict(course, version, needs, tmp_path):
    needs("hatchling")
    wheel = build_wheel(course, tmp_path)
    made = environment(tmp_path / "env", wheel)
    assert not {"torch", "ipywidgets", "jupyterlab", "ipykernel"} & set(made.wants)
    install, answer = (c.source for c in colab_notebook(version, ADDRESS).cells if c.cell_type == "code")
    assert f"{ADDRESS}/releases/download/v{version}/{wheel.name}" in install
    imports = install.partition("\n")[2]
    solved = answer.replace(answer[answer.index("def ") : answer.index("\n\n\ncheck")], RIGHT["dot_product"])
    assert solved != answer
    code = f"{imports}\n{solved.replace('check(dot_product)', 'print(check(dot_product).text())')}"
    (tmp_path / "cells.py").write_text(code, encoding="utf-8")
    done = made.run("cells.py", cwd=tmp_path, SDPA_HOME=str(tmp_path / "home"))
    assert f"{POINTS['dot_product']:g} of {POINTS['dot_product']:g} points" in done.stdout, done.stderr


# ---- files for other places ---------------------------------------------------------------------------------


def test_binders_environment_has_the_pins_of_the_course(course):
    pins = constraints(course)
    text = (course / ".binder/environment.yml").read_text(encoding="utf-8")
    assert f"numpy =={pins['numpy']}" in text
    assert f"pytorch-cpu =={pins['torch']}" in text
    subprocess.run(["bash", "-n", str(course / ".binder/postBuild")], check=True)
    assert os.access(course / ".binder/postBuild", os.X_OK)


def test_what_the_dockerfile_copies_is_there_and_both_targets_end_without_rights(course):
    text = (course / "Dockerfile").read_text(encoding="utf-8")
    for copied in re.findall(r"^COPY (?:--\S+ )*(.+) \S+$", text, re.MULTILINE):
        assert all((course / name).exists() for name in copied.split()), copied
    stages = dict(re.findall(r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM|\Z)", text, re.MULTILINE | re.DOTALL))
    assert set(stages) == {"base", "lab", "grade"}
    project = tomllib.loads((course / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in ("lab", "grade"):
        assert stages[name].rindex("USER learner") > stages[name].rindex("RUN ")
        assert f'-c constraints.txt -e ".[{name}]"' in stages[name]
        assert name in project["optional-dependencies"]
    ignored = (course / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv", "work", "build"} <= set(ignored)


ENGINE = """#!/bin/sh
printf '%s\\n' "$@" >> "$CALLS"
"""
CONTAINER = """
bwrap --unshare-user --unshare-net --unshare-pid --unshare-ipc --disable-userns --cap-drop ALL --uid 1000 --gid 1000
--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --setenv HOME /tmp
"""
"""What `make exam` asks an engine for, as far as it can be had without one."""


def test_make_exam_asks_for_one_container_without_network_for_what_it_grades(course, tmp_path, needs_program):
    make, engine = needs_program("make"), tmp_path / "engine"
    engine.write_text(ENGINE)
    engine.chmod(0o755)
    (tmp_path / "of all").mkdir()
    given = ["exam", f"ENGINE={engine}", f"IN={tmp_path / 'of all'}", f"OUT={tmp_path / 'my marks'}"]
    environment = {**os.environ, "CALLS": str(tmp_path / "calls")}
    subprocess.run([make, "-C", str(course), *given], env=environment, check=True, capture_output=True)
    called = (tmp_path / "calls").read_text().splitlines()
    build, run = called[: called.index("run")], called[called.index("run") :]
    assert build == ["build", "--target", "grade", "-t", "sdpa-grade", "."]
    assert {"--rm", "--read-only"} <= {*run}
    options = [*itertools.pairwise(run)]
    for option in ("--network none", "--cap-drop ALL", "--security-opt no-new-privileges", "--memory 10g"):
        assert tuple(option.split()) in options
    assert f"{tmp_path / 'of all'}:/in:ro" in run
    assert f"{tmp_path / 'my marks'}:/out" in run
    assert (tmp_path / "my marks").stat().st_mode & 0o777 == 0o700
    grades = " ".join(run[run.index("sdpa-grade") + 1 :])
    assert grades == "grade /in --out /out --sandbox require --jobs 2"
    short = subprocess.run([make, "-C", str(course), "exam"], capture_output=True, text=True, check=False)
    assert "make exam IN=" in short.stdout


def test_inside_such_a_container_a_level_of_the_sandbox_holds(needs_program):
    needs_program("bwrap")
    if subprocess.run([*CONTAINER.split(), "true"], capture_output=True, check=False).returncode:
        pytest.skip("namespaces are forbidden on this machine")
    code = "from sdpa_helpers.sandbox.choose_level import choose; print(choose('require').level)"
    here = str(Path(__file__).parents[2])  # a checkout may lie in /tmp, which is empty inside
    command = [*CONTAINER.split(), "--ro-bind", here, here, sys.executable, "-c", code]
    inside = subprocess.run(command, capture_output=True, text=True, check=True)
    assert inside.stdout.split() == ["landlock"], inside.stderr


def test_the_devcontainer_installs_what_make_lab_does(course):
    settings = json.loads((course / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert "-c constraints.txt -e '.[lab]'" in settings["postCreateCommand"]
    assert "3.11" in settings["image"]


def test_workflows_read_and_put_no_foreign_text_into_a_shell(course):
    files = [*(course / ".github/workflows").glob("*.yml")]
    files += (course / "docs/student-repository/.github/workflows").glob("*.yml")
    assert len(files) >= 3
    for path in files:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}, path
        for job in workflow["jobs"].values():
            assert all("${{" not in step.get("run", "") for step in job["steps"]), path
            if "permissions" in job:  # a job that may write runs no command of ours, nor what we install
                assert not [step for step in job["steps"] if "run" in step], path


def test_a_students_action_says_what_the_check_says(course, hand_in, tmp_path):
    notebook = hand_in(
        "ada", dot_product="def dot_product(q, k):\n    return q * k\n# ``` $(touch spoiled) `touch spoiled`"
    )
    script = course / "docs/student-repository/.github/check.sh"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    summary = tmp_path / "summary.md"
    done = subprocess.run(
        [shutil.which("sh") or "sh", str(script), str(notebook), str(tmp_path / "missing.ipynb")],
        cwd=tmp_path,
        env=os.environ | {"PATH": path, "PYTHONPATH": path_with(course), "GITHUB_STEP_SUMMARY": str(summary)},
        check=False,
    )
    text = summary.read_text(encoding="utf-8")
    assert done.returncode == 0
    assert "## 01_dot_product" in text
    assert "not-summed" in text
    assert "## missing" in text
    assert all(line.startswith(("## ", "    ")) for line in text.splitlines() if line)
    assert not (tmp_path / "spoiled").exists()


def test_the_page_of_ways_names_files_that_are_there(course):
    text = (course / "docs/ways-in.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(\.?[\w-]+/[\w./-]*|Dockerfile|environment\.yml)`", text):
        if not name.startswith(("try/", "lite/", "notebooks/")):
            assert (course / name).exists(), name
