"""The workflows: what they call is there, their actions are pinned, and a pushed site is the one that is checked.

GitHub itself isn't here: that the jobs pass there is not shown by these tests.
"""

import re
import subprocess
import sys

import pytest
import yaml


@pytest.fixture(scope="module")
def workflows(course):
    paths = sorted((course / ".github/workflows").glob("*.yml"))
    return {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths}


@pytest.fixture(scope="module")
def publish(workflows):
    return workflows["publish"]


def steps(workflow):
    """All steps of all jobs."""
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_an_action_has_one_version_in_all_workflows(workflows):
    used = {step["uses"] for workflow in workflows.values() for step in steps(workflow) if "uses" in step}
    assert len(used) >= 7
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", name) for name in used), used
    assert len({name.split("@")[0] for name in used}) == len(used), used


def test_what_the_commands_name_is_there(workflows, course):
    targets = set(
        re.findall(
            r"^([a-z-]+):", "".join((course / n).read_text() for n in ("Makefile", "teachers.mk")), re.M
        )
    )
    for workflow in workflows.values():
        for step in steps(workflow):
            run = step.get("run", "")
            for called in re.findall(r"\bmake ([^&|\n]+)", run):
                asked = [word for word in called.split() if "=" not in word]
                assert asked, run
                assert set(asked) <= targets, run
            for path in re.findall(r"(?<![\w/])((?:\.ci|\.github|solutions|notebooks)/[\w./-]+)", run):
                assert (course / path).exists(), run
            for module in re.findall(r"python -m (editions[\w.]*)", run):
                assert (course / module.replace(".", "/") / "__main__.py").is_file(), run


def test_the_site_is_built_with_its_address_and_served_after_the_checks(publish):
    assert publish[True] == {"push": {"branches": ["main"]}, "workflow_dispatch": None}  # YAML's `on`
    jobs = publish["jobs"]
    [made] = [step for step in jobs["build"]["steps"] if "make" in step.get("run", "")]
    assert made["env"] == {"SDPA_REPOSITORY": "${{ github.server_url }}/${{ github.repository }}"}
    assert jobs["build"]["steps"][-1]["with"] == {"path": "build/site"}
    assert set(jobs["publish"]["needs"]) == {"build", "clean"}
    assert jobs["publish"]["permissions"] == {"pages": "write", "id-token": "write"}


@pytest.mark.parametrize("job", ["clean", "archive"])
def test_wheel_and_archive_meet_a_clean_machine_of_each_system(publish, job):
    about = publish["jobs"][job]
    assert about["strategy"]["matrix"]["system"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert about["strategy"]["fail-fast"] is False
    assert "matrix.system" in about["name"]
    assert all("name" in step for step in about["steps"] if "run" in step)  # a failure is read off the list


def test_a_clean_machine_sees_nothing_of_the_package_but_the_wheel(publish):
    [got] = [step for step in publish["jobs"]["clean"]["steps"] if "checkout" in step.get("uses", "")]
    assert set(got["with"]["sparse-checkout"].split()) == {".github", "exercises", "notebooks", "solutions"}


def test_the_script_of_a_clean_machine_names_the_mistake(course, tmp_path):
    script = course / ".github/clean/named.py"
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "not-summed" in done.stdout
