"""docs/decoding.md: its code runs and prints what it says, and its table is that of the results."""

import contextlib
import io
import re
import runpy


def test_the_code_runs_and_prints_what_stands_there(course):
    text = (course / "docs" / "decoding.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [language for language, _ in blocks].count("python") == 6
    names: dict = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for language, block in blocks:
            if language == "python":
                exec(block, names)
            else:
                assert printed.getvalue() == block
                printed.truncate(printed.seek(0))
    assert printed.getvalue() == ""


def test_the_page_has_the_table_of_the_results(course):
    text = (course / "docs" / "decoding.md").read_text(encoding="utf-8")
    program = runpy.run_path(str(course / "benchmarks" / "decoding.py"))
    assert text == program["filled"](text), "run: python benchmarks/decoding.py"
