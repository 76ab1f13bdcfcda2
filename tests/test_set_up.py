"""The set-up: what is installed, by which command, in which versions; what the documents name is there."""

import itertools
import json
import os
import re
import shutil
import subprocess
import textwrap
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import sdpa_helpers
from sdpa_helpers.course.interview.deck import all_asked
from tests.environments import constraints


def declared(course) -> list[Requirement]:
    """What pyproject.toml asks for, in all extras."""
    project = tomllib.loads((course / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    return [r for r in map(Requirement, wanted) if r.name != project["name"]]


def test_there_is_one_version_for_everything_the_course_asks_for(course):
    pins = constraints(course)
    for wanted in declared(course):
        assert wanted.specifier.contains(pins[canonicalize_name(wanted.name)]), wanted


def test_the_conda_environment_has_the_same_versions(course):
    text = (course / "environment.yml").read_text()
    pins = constraints(course) | {"pytorch-cpu": constraints(course)["torch"]}
    fixed = re.findall(r"^  - ([a-z][\w-]*) ==(.*)$", text, re.MULTILINE)
    assert {name for name, _ in fixed} == {"numpy", "pytorch-cpu"}
    for name, version in fixed:
        assert version == pins[name], name
    assert re.search(r"- -c constraints.txt\n +- -e \.\[lab\]", text)


def test_ci_runs_exactly_make_test(course):
    lines = (course / ".ci" / "run").read_text().split("\n")
    assert [line.strip() for line in lines if "make" in line and not line.startswith("#")] == ["make test"]
    assert "export SDPA_REQUIRE_ALL=1" in lines


def test_make_help_lists_every_target(course, needs_program):
    make = needs_program("make")
    shown = subprocess.run([make, "help"], cwd=course, capture_output=True, text=True, check=True).stdout
    text = (course / "Makefile").read_text() + (course / "teachers.mk").read_text()
    targets = set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))
    named = set(re.findall(r"^make ([a-z-]+)", shown, re.MULTILINE))
    assert targets == named >= {"lab", "test", "grade", "help"}


FAKE_PYTHON = """\
#!/bin/sh
[ "$1 $2" = "-m venv" ] && mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && touch "$4/pip" && echo "venv" >> "$LOG"
[ "$1 $2" = "-c import pip" ] && exec test -e "${0%/bin/python}/pip"
[ "$1 $2" = "-m pip" ] && echo "pip $*" >> "$LOG"
exit 0
"""


@pytest.fixture
def make_in(course, tmp_path, needs_program):
    """make_in(folder, "lab"): what the real Makefile installs there, with a Python that only writes it down."""
    program, log, python = needs_program("make"), tmp_path / "log", tmp_path / "python3"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)

    def make(folder: Path, target: str, *more: str) -> list[str]:
        log.write_text("")
        make.said = subprocess.run(
            [program, target, f"PYTHON={python}", *more],
            cwd=folder,
            env=os.environ
            | {"LOG": str(log), "EXTRAS": "dev", "MAKEFLAGS": ""},  # not those of the run of tests
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        return log.read_text().split("\n")[:-1]

    return make


@pytest.fixture
def set_up(course, tmp_path):
    """A folder with what the Makefile reads."""
    folder = tmp_path / "course"
    folder.mkdir()
    for name in ("Makefile", "teachers.mk", "pyproject.toml", "constraints.txt"):
        shutil.copy(course / name, folder / name)
    return folder


def test_learners_get_what_they_need_and_testers_the_rest(make_in, set_up):
    made, first, installed = make_in(set_up, "lab")
    assert made == "venv"
    assert first.endswith("-c constraints.txt torch")
    assert "-c constraints.txt" in installed
    assert "dev" not in installed
    assert make_in(set_up, "lab") == []
    _, installed = make_in(set_up, "test")  # into the same environment
    assert ".[lab,dev]" in installed
    assert make_in(set_up, "lab") == make_in(set_up, "test") == []


def test_changed_requirements_are_installed_and_a_moved_course_starts_over(make_in, set_up):
    make_in(set_up, "test")
    for stamp in (set_up / ".venv").glob(".with-*"):
        os.utime(stamp, (0, 0))  # as if constraints.txt had been changed since
    assert [line[:3] for line in make_in(set_up, "lab")] == ["pip", "pip"]
    assert [line[:3] for line in make_in(set_up, "test")] == ["pip", "pip"]
    moved = set_up.rename(set_up.with_name("elsewhere"))
    assert make_in(moved, "help") == []
    assert [line[:3] for line in make_in(moved, "lab")] == ["ven", "pip", "pip"]
    assert make_in(moved, "lab") == []


def test_an_environment_that_is_linked_is_left_alone(make_in, set_up, tmp_path):
    of_another = tmp_path / "another" / ".venv"
    of_another.mkdir(parents=True)
    (of_another / ".place").write_text(str(of_another.parent))
    (set_up / ".venv").symlink_to(of_another)
    assert len(make_in(set_up, "lab")) == 3
    assert not (set_up / ".venv").is_symlink()
    assert [path.name for path in of_another.iterdir()] == [".place"]


def test_each_stage_of_the_installation_says_what_it_does_and_when(make_in, set_up):
    make_in(set_up, "lab")
    stages = re.findall(r"^\[\d+ s\] (\d of \d): \S", make_in.said, re.MULTILINE)
    assert stages == [f"{number} of 4" for number in (1, 2, 3, 4)]
    assert re.search(r"^\[\d+ s\] done$", make_in.said, re.MULTILINE)


def test_an_environment_that_was_left_half_made_is_made_anew(make_in, set_up):
    make_in(set_up, "lab")
    (set_up / ".venv/pip").unlink()
    (set_up / ".venv/.with-lab").unlink()
    assert [line[:3] for line in make_in(set_up, "lab")] == ["ven", "pip", "pip"]


@pytest.mark.parametrize("gpu", ["", "/proc/driver/nvidia/version"])
def test_the_cpu_build_of_torch_is_taken_where_its_index_is_named_and_no_gpu_is_there(make_in, set_up, gpu):
    _, torch, rest = make_in(set_up, "lab", "TORCH_INDEX=file:///there", f"GPU={gpu}")
    assert ("--extra-index-url file:///there" in torch) == (gpu == "")
    assert "file:///there" not in rest
    assert "://" not in (set_up / "Makefile").read_text()  # whose index is not ours to choose


def test_an_old_python_is_refused_with_a_sentence(set_up, needs_program, tmp_path):
    make = needs_program("make")
    old = tmp_path / "python3"
    old.write_text(
        textwrap.dedent("""\
        #!/bin/sh
        [ "$1" = "--version" ] && echo "Python 3.8.1" && exit 0
        exit 1
        """)
    )
    old.chmod(0o755)
    ran = subprocess.run(
        [make, "test", f"PYTHON={old}"], cwd=set_up, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "needs Python 3.11 or newer" in ran.stdout
    assert "3.8.1" in ran.stdout


def test_the_workflow_runs_what_ci_runs(course):
    steps = (course / ".github" / "workflows" / "test.yml").read_text()
    assert re.search(r"^ +- run: \.ci/run$", steps, re.MULTILINE)


def test_one_version_and_one_licence_everywhere(course):
    project = tomllib.loads((course / "pyproject.toml").read_text())["project"]
    citation = (course / "CITATION.cff").read_text()
    assert sdpa_helpers.__version__ == project["version"]
    assert f"\nversion: {project['version']}\n" in citation
    assert f"\n## [{project['version']}] - " in (course / "CHANGELOG.md").read_text()
    assert set(re.findall(r"^  - (MIT|CC-BY-4.0)$", citation, re.MULTILINE)) == set(
        project["license"].split(" AND ")
    )


OF_OTHERS = {"program.py", "tests/pytorch/attention/test_attention_with_cp.py"}
"""The reader's own program, and a test of Transformer Engine."""

DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/*.md"]


@pytest.mark.parametrize("pattern", DOCUMENTS)
def test_paths_in_the_documents_lead_to_something(course, pattern):
    """Links, paths in backticks, and names of Python files. Not those with a part that the reader fills in."""
    folders = ("sdpa_helpers", "editions", "tests", "benchmarks")
    python_files = {path.name for folder in folders for path in (course / folder).rglob("*.py")}
    for page in course.glob(pattern):
        text = page.read_text()
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"
        for path in re.findall(r"`((?:\.ci|sdpa_helpers|tests|docs|benchmarks)/[a-z_./]+)`", text):
            assert (course / path).exists() or path in OF_OTHERS, f"{page.name}: {path}"
        for name in re.findall(r"`(\w+\.py)`", text):
            assert name in python_files | OF_OTHERS, f"{page.name}: {name}"


def test_the_readme_is_short_and_is_for_those_who_learn(course):
    text = (course / "README.md").read_text()
    assert len(text.splitlines()) <= 90
    (block,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    assert len(block.splitlines()) == 2
    doors = re.findall(r"^- \*\*(\w+).*?\]\(([^)]+)\)", text, re.MULTILINE)
    assert doors == [
        ("Teach", "docs/instructors/README.md"),
        ("Grade", "docs/grading.md"),
        ("Build", "docs/package.md"),
        ("Contribute", "CONTRIBUTING.md"),
    ]


def test_every_page_of_the_docs_is_listed_on_their_first_one(course):
    listed = (course / "docs" / "README.md").read_text()
    for page in (course / "docs").glob("*.*"):
        if page.suffix in (".md", ".html") and page.name != "README.md":
            assert f"]({page.name})" in listed, page.name


def test_no_page_that_runs_in_a_browser_asked_another_host(course):
    """Measured; docs/ways-in.md says so."""
    medians = json.loads((course / "benchmarks" / "results" / "browser_edition.json").read_text())["medians"]
    assert {median["requests_elsewhere"] for median in medians.values()} == {0}


SPELLED = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
]


@pytest.mark.parametrize("pattern", [*DOCUMENTS, "docs/instructors/*.md"])
def test_no_document_counts_the_lessons_or_the_interview_wrongly(course, pattern):
    """A number before "lessons" is a part of them, or all: those with or without the one that has no exercises."""
    lessons, asked = len(list((course / "notebooks").glob("[0-9][0-9]_*.ipynb"))), len(all_asked())
    for page in course.glob(pattern):
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for word in re.findall(r"\b(\w+) (?:Jupyter notebooks|lessons\b(?! in))", text):
            number = (
                SPELLED.index(word.lower()) + 1
                if word.lower() in SPELLED
                else int(word)
                if word.isdigit()
                else 0
            )
            assert number in (0, lessons - 1, lessons), f"{page.name}: {word}"
        for word in re.findall(r"\b(forty|\d+)[\]\s]+(?:interview )?questions", text):
            assert asked == (40 if word == "forty" else int(word)), f"{page.name}: {word}"


def test_the_readme_says_how_to_get_the_course_before_it_says_what_to_type(course):
    text = (course / "README.md").read_text().partition("## Start\n")[2]
    assert re.search(r"(?i)download or clone this repository", text.partition("make lab")[0])


@pytest.mark.parametrize("page", ["docs/ways-in.md", "docs/instructors/day-before.md"])
def test_what_the_installation_takes_is_said_with_its_condition(course, page):
    """Measured: 1.3 GB with the CPU's build of torch, 5.1 GB with the one for GPUs."""
    text = (course / page).read_text()
    assert "1.3 GB" in text
    assert "5.1 GB" in text
    assert "TORCH_INDEX" in text


def test_on_windows_nothing_needs_a_script_that_may_be_forbidden(course):
    assert "Activate.ps1" not in (course / "docs" / "ways-in.md").read_text()


def anchors_of(page):
    """The names by which a page's headings are reached on GitHub."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("pattern", [*DOCUMENTS, "docs/instructors/*.md"])
def test_links_to_a_heading_lead_to_one(course, pattern):
    for page in course.glob(pattern):
        for path, anchor in re.findall(r"\]\(([^)#:]*(?<=\.md)|)#([^)]+)\)", page.read_text()):
            goal = page.parent / path if path else page
            assert anchor in anchors_of(goal), f"{page.name}: {path}#{anchor}"


def test_pictures_are_small(course):
    for path in (course / "docs" / "images").iterdir():
        assert path.stat().st_size <= (1_500_000 if path.suffix == ".gif" else 150_000), path.name
