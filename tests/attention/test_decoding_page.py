"""docs/decoding.md: its code runs and prints what it says, and its table is that of the results."""

import runpy

from . import pages


def test_the_code_runs_and_prints_what_stands_there(course):
    assert pages.run((course / "docs" / "decoding.md").read_text(encoding="utf-8")) == 5


def test_the_page_has_the_table_of_the_results(course):
    text = (course / "docs" / "decoding.md").read_text(encoding="utf-8")
    program = runpy.run_path(str(course / "benchmarks" / "decoding.py"))
    assert text == program["filled"](text), "run: python benchmarks/decoding.py"
