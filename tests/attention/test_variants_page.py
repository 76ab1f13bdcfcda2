"""docs/variants.md: its code runs, prints what it says, and its lines are those of mods.py."""

import inspect
import re
import runpy

from sdpa_helpers.attention.variants import mods

from . import pages


def page(course) -> str:
    return (course / "docs" / "variants.md").read_text(encoding="utf-8")


def test_the_code_runs_and_prints_what_stands_there(course, torch):
    assert pages.run(page(course)) == 5


def test_every_ready_made_mod_is_there_with_its_line(course):
    """As far as the line is one: what is looked up is named apart."""
    rows = re.findall(r"^\| `(\w+)[^|]*\| `(.*?)` \|", page(course), re.MULTILINE)
    lines = {name: line.replace("\\|", "|") for name, line in rows}
    assert len(lines) == 9
    for name, line in lines.items():
        source = inspect.getsource(getattr(mods, name))
        looked_up = {"here": "ids", "of_sequence(length, b, j)": "length[b]"}
        for long, short in {
            **looked_up,
            "of_sequence(lengths, b, j)": "lengths[b]",
            "captured(slopes, like=score)": "slopes",
            "captured(table, like=score)": "table",
            "distance": "(j - i)",
            "(j - i).clip(-far, far) + far": "clip(j - i)",
        }.items():
            source = source.replace(long, short)
        assert line in source, f"{name}: {line}"


def test_the_tables_are_those_of_the_results(course, torch, needs):
    needs("numba")
    text = page(course)
    program = runpy.run_path(str(course / "benchmarks" / "variants.py"))
    assert text == program["filled"](text), "run: python benchmarks/variants.py --page"
