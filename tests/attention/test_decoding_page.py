"""docs/decoding.md: its code runs and prints what it says, and its table is that of the results."""

import contextlib
import io
import re
import subprocess
import sys


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
    program = course / "benchmarks" / "decoding.py"
    checked = subprocess.run(
        [sys.executable, program, "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, "run: python benchmarks/decoding.py\n" + checked.stderr[-2000:]
