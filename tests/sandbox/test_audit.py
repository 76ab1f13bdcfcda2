"""What only shows while a notebook runs is noted, in words of ours; what ordinary code does is not."""

import re

import nbformat
import pytest

from sdpa_helpers.grading.assemble import ROLE
from sdpa_helpers.grading.run import run
from sdpa_helpers.sandbox.inside.audit import NOTES
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.start import OFF
from tests.sandbox.noted import ORDINARY, SEEN


def cells(text: str) -> dict[str, str]:
    """Name → source."""
    _, *parts = re.split(r"^# (.+)\n", text, flags=re.MULTILINE)
    return {name: source.strip() for name, source in zip(parts[::2], parts[1::2], strict=True)}


def outcome_of(sources: dict[str, str], level: str = OFF):
    """Of one notebook with all of them, each an exercise of its own."""
    setup = nbformat.v4.new_code_cell("import numpy as np", metadata={ROLE: {"role": "setup"}})
    answers = [
        nbformat.v4.new_code_cell(source, metadata={ROLE: {"role": "answer", "exercise": name}})
        for name, source in sources.items()
    ]
    return run(nbformat.v4.new_notebook(cells=[setup, *answers]), Limits(cell_seconds=20.0), level)


@pytest.fixture(scope="module")
def seen():
    return outcome_of(cells(SEEN))


@pytest.mark.parametrize("name", cells(SEEN))
def test_what_shows_only_while_it_runs_is_noted(seen, name):
    assert seen.stopped == ""
    assert set(seen.noticed.get(name, ())) <= set(NOTES)
    assert seen.noticed.get(name)


def test_every_note_is_given_by_some_cell(seen):
    """A second interpreter has no name that is the same in all editions of Python."""
    given = {note for notes in seen.noticed.values() for note in notes}
    assert set(NOTES) - given == {"started a second interpreter"}


@pytest.fixture(scope="module")
def ordinary():
    return outcome_of(cells(ORDINARY))


@pytest.mark.parametrize("name", cells(ORDINARY))
def test_ordinary_code_is_nobodys_doing(ordinary, name):
    assert name not in ordinary.cell_errors
    assert name not in ordinary.noticed


def test_a_note_comes_before_what_it_is_about():
    """The kernel ends before the call; the note has gone by then."""
    ends = "import os, sys\ndef hook(event, arguments):\n    if event == 'pickle.find_class': os._exit(0)\n"
    ends += "sys.addaudithook(hook)\nimport pickle\npickle.loads(pickle.dumps(np.tri))"
    outcome = outcome_of({"ends": ends})
    assert outcome.stopped == "kernel-died"
    assert "unpickled a function or a class (pickle)" in outcome.noticed["ends"]


@pytest.mark.parametrize("level", ["warm", "bubblewrap", "landlock"])
def test_the_hook_listens_at_every_level(usable, level):
    several = {name: cells(SEEN)[name] for name in ("exec", "getframe", "gc", "mem")}
    plain = {name: cells(ORDINARY)[name] for name in ("namedtuple", "dataclass", "magics", "imports")}
    assert outcome_of(several | plain, usable(level)).noticed.keys() == several.keys()
