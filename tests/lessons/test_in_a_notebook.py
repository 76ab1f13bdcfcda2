"""`check` where a learner calls it: any callable, cells that were changed, helpers in other cells, endless loops."""

import json
import os
import subprocess
import sys

import pytest

from sdpa_helpers.course import session
from sdpa_helpers.course.registry import find

LINE = "# exercise: dot_product\n"
RIGHT = LINE + "def dot_product(q, k):\n    return (q * k).sum()"
WRONG = LINE + "def dot_product(q, k):\n    return q * k"
SAVE = """import json, os, pathlib
os.environ["JPY_SESSION_NAME"] = str(pathlib.Path({folder!r}) / {file!r})
cells = [{{"cell_type": "code", "source": {source!r}, "execution_count": {number}}}]
pathlib.Path(os.environ["JPY_SESSION_NAME"]).write_text(json.dumps({{"cells": cells}}))
os.utime(os.environ["JPY_SESSION_NAME"], (4e9,) * 2)"""


def saved_as(source: str, folder: str, file: str, number: int | None) -> str:
    """A cell that saves the notebook, with an answer cell that has this number. The file's time tells nothing."""
    return SAVE.format(source=source, folder=folder, file=file, number=number)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the last cell of every scenario came to."""
    home = tmp_path_factory.mktemp("notebook")
    helper = "def total(x):\n    return x.sum()"
    uses_helper = LINE + "def dot_product(q, k):\n    return total(q * k)"
    scenarios = {
        "right": [RIGHT, "check(dot_product)"],
        "by name": [RIGHT, "check('dot_product')"],
        "lambda": [LINE + "dot_product = lambda q, k: (q * k).sum()", "check(dot_product)"],
        "partial": [
            LINE + "import functools\ndef f(s, q, k):\n    return s * (q * k).sum()\n"
            "dot_product = functools.partial(f, 1)",
            "check(dot_product)",
        ],
        "object": [
            LINE + "class Dot:\n    def __call__(self, q, k):\n        return (q * k).sum()\ndot_product = Dot()",
            "check(dot_product)",
        ],
        "decorated": [
            LINE + "def same(f):\n    def inner(*a):\n        return f(*a)\n    return inner\n@same\n"
            + RIGHT[len(LINE) :],
            "check(dot_product)",
        ],
        "timed": ["%%time\n" + RIGHT, "check(dot_product)"],
        "other name": [RIGHT.replace("def dot_product", "def mine"), "check(mine, exercise='dot_product')"],
        "other name, beside an answer": [WRONG, RIGHT.replace("def dot_product", "def mine")[len(LINE) :],
                                         "check(mine, exercise='dot_product')"],
        "misspelt": ["def dot_prodct(q, k):\n    return 1", "check(dot_prodct)"],
        "nameless": ["check(lambda q, k: 1)"],
        "not there": ["check('dot_product')"],
        "no function": ["check(3)"],
        "syntax error": [RIGHT, WRONG.replace("q * k", "(q * k"), "check(dot_product)"],
        "stopped before": [RIGHT, LINE + "1 / 0\n" + WRONG, "check(dot_product)"],
        "run again": [WRONG, RIGHT, RIGHT, "check(dot_product)"],
        "not run": [RIGHT, saved_as(WRONG, str(home), "a.ipynb", 2), "check(dot_product)"],
        "not run, though it ran once": [WRONG, RIGHT, saved_as(WRONG, str(home), "g.ipynb", 3),
                                        "check(dot_product)"],
        "saved as run": [WRONG, RIGHT, saved_as(RIGHT + "\n", str(home), "b.ipynb", 3), "check(dot_product)"],
        "saved before": [saved_as(WRONG, str(home), "c.ipynb", 3), RIGHT, "check(dot_product)"],
        "a save that ends late": [WRONG, RIGHT, saved_as(WRONG, str(home), "e.ipynb", 2), "check(dot_product)"],
        "a save of what was half written": [RIGHT, saved_as(WRONG, str(home), "f.ipynb", None),
                                            "check(dot_product)"],
        "no notebook": [RIGHT, saved_as(WRONG, str(home), "d.ipynb", 2),
                        "pathlib.Path(os.environ['JPY_SESSION_NAME']).write_text('{')", "check(dot_product)"],
        "helper": [helper, uses_helper, "check(dot_product)"],
        "helper of a helper": [
            "import operator\nSTART = 0",
            "def add(x):\n    return START + sum(x)",
            "total = add",
            uses_helper,
            "check(dot_product)",
        ],
        "computed": ["import numpy as np\ntotal = np.vectorize(len)\ntotal = np.sum.__call__\ntotal = eval('sum')",
                     uses_helper, "check(dot_product)"],
        "helper that needs what is computed": [
            "START = int(0)", "def total(x):\n    return START + x.sum()", uses_helper, "check(dot_product)",
        ],
        "helper of two values": [helper, "total = eval('sum')", uses_helper, "check(dot_product)"],
        "with a star": ["from math import *", LINE + "def dot_product(q, k):\n    return fsum(q * k)",
                        "check(dot_product)"],
        "from a file": [
            f"open({str(home / 'more.py')!r}, 'w').write('def total(x): return x.sum()')",
            f"%run -i {home / 'more.py'}", uses_helper, "check(dot_product)",
        ],
        "helper in an answer": [
            "# exercise: dot_product\n" + helper + "\n" + RIGHT[len(LINE) :],
            "# exercise: attention_scores\ndef attention_scores(Q, K):\n    total\n"
            "    return Q @ np.swapaxes(K, -1, -2)",
            "check(attention_scores)",
        ],
        "helper in a later answer": [
            "# exercise: attention_scores\ndef attention_scores(Q, K):\n    pass\n" + helper,
            uses_helper,
            "check(dot_product)",
        ],
        "helper not needed": [
            helper,
            LINE + "def dot_product(q, k):\n    return total(q) if q is None else (q * k).sum()",
            "check(dot_product)",
        ],
        "helper at once": [
            "plot = dict(size=3)",
            RIGHT + "\nplot['size']",
            "check(dot_product)",
        ],
        "wrong cell": [WRONG, RIGHT[len(LINE) :], "check(dot_product)"],
        "a library": [
            "# exercise: softmax\nfrom scipy.special import softmax as sm\n"
            "def softmax(x, axis=-1):\n    return sm(x, axis)",
            "check(softmax)",
        ],
        "alias elsewhere": [
            "from scipy.special import softmax as sm",
            "# exercise: softmax\ndef softmax(x, axis=-1):\n    return sm(x, axis)",
            "check(softmax)",
        ],
        "endless": [LINE + "def dot_product(q, k):\n    while True:\n        pass", "check(dot_product)"],
    }  # fmt: skip
    (home / "scenarios.json").write_text(json.dumps(scenarios))
    command = [sys.executable, "-m", "tests.lessons.run_cells", str(home / "scenarios.json")]
    surroundings = os.environ | {"IPYTHONDIR": str(home / "ipython"), "SDPA_HOME": str(home / "points")}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=surroundings)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.parametrize("way", ["right", "by name", "lambda", "partial", "object", "decorated", "timed"])
def test_anything_that_can_be_called_counts(told, way):
    report = told[way]
    assert (report["exercise"], report["passed"], report["points"]) == (
        "dot_product",
        True,
        report["max_points"],
    )
    assert report["text"].startswith("dot_product: all cases passed")
    assert report["kept"] == {"dot_product": report["points"]}


@pytest.mark.parametrize("scenario", ["other name", "other name, beside an answer"])
def test_a_function_of_another_name_is_judged_for_itself(told, scenario):
    report = told[scenario]
    assert report["text"].startswith("dot_product: all cases passed")
    assert report["points"] == report["max_points"]


@pytest.mark.parametrize(
    ("scenario", "says"),
    [
        ("misspelt", "there is no exercise called 'dot_prodct': did you mean dot_product?"),
        ("nameless", 'check(f, exercise="dot_product") does'),
        ("not there", "there is no function called dot_product here yet: run the cell that defines it"),
        ("no function", "check needs the function itself, e.g. check(dot_product); this is of type int"),
    ],
)
def test_what_a_learner_can_put_right_is_said_without_our_files(told, scenario, says):
    assert told[scenario]["error"] == "Told"
    assert says in told[scenario]["text"]
    assert "session.py" not in told[scenario]["text"]
    assert "\n" not in told[scenario]["text"]
    assert issubclass(session.Told, LookupError)


@pytest.mark.parametrize(
    ("scenario", "says"),
    [
        ("syntax error", "Your newest cell {}, In [3], has a SyntaxError in line 3: this is the verdict on"),
        ("stopped before", "Your newest cell {}, In [3], did not define `dot_product`: this is the"),
        ("not run", "The cell {} was changed and not run again: this is the verdict on what ran as In [2]"),
        (
            "not run, though it ran once",
            "The cell {} was changed and not run again: this is the verdict on what",
        ),
    ],
)
def test_an_older_version_is_not_shown_as_the_newest(told, scenario, says):
    report = told[scenario]
    assert report["text"].startswith(says.format("`# exercise: dot_product`"))
    assert says.format("<code># exercise: dot_product</code>").split("`")[0] in report["html"]
    assert report["points"] == report["max_points"]  # those of what ran


@pytest.mark.parametrize(
    "scenario",
    [
        *("run again", "saved as run", "saved before", "no notebook"),
        *("a save that ends late", "a save of what was half written"),
    ],
)
def test_the_newest_version_is_shown_without_a_word(told, scenario):
    assert told[scenario]["text"].startswith("dot_product: all cases passed")


@pytest.mark.parametrize(
    ("scenario", "says"),
    [
        (
            "computed",
            "{n} of {n} cases right, 0 points here: `total` (In [2]) is missing in a grader, which runs the answers in "
            "their order and, of other cells, only functions, classes, imports and plain values. Move it into",
        ),
        ("helper of two values", "0 points here: `total` (In [3]) is missing"),
        ("helper that needs what is computed", "0 points here: `START` (In [2]) is missing"),
        ("from a file", "0 points here: `total` is missing in a grader"),
        ("helper in a later answer", "0 points here: `total` (In [2]) is missing in a grader"),
        ("helper at once", "0 points here: `plot` (In [2]) is missing in a grader"),
        ("wrong cell", "stands in a cell without the line `# exercise: dot_product`"),
    ],
)
def test_what_a_grader_does_not_have_earns_nothing(told, scenario, says):
    report = told[scenario]
    assert says.format(n=len(find("dot_product").cases)) in report["text"]
    assert (report["passed"], report["points"], report["kept"]) == (False, 0, {})
    assert "<div class='sdpa-card sdpa-forbidden'>" in report["html"]


@pytest.mark.parametrize(
    "scenario", ["helper", "helper of a helper", "with a star", "helper in an answer", "helper not needed"]
)
def test_what_a_grader_has_too_is_not_asked_for(told, scenario):
    assert told[scenario]["passed"], told[scenario]["text"]


@pytest.mark.parametrize("scenario", ["a library", "alias elsewhere"])
def test_what_is_not_there_earns_nothing_and_is_not_kept(told, scenario):
    report = told[scenario]
    says = "0 points: `scipy.special.softmax` isn't there when it's graded: write it in NumPy"
    assert report["text"].split("\n")[0] == f"softmax: {says}"
    assert (report["passed"], report["points"], report["kept"]) == (False, 0, {})
    assert report["forbidden"] == ["scipy.special.softmax"]
    assert "<div class='sdpa-card sdpa-forbidden'>" in report["html"]
    assert "✓ softmax" not in report["html"]


def test_an_endless_loop_is_a_verdict(told):
    text = told["endless"]["text"]
    assert "stopped within a second, line 3: while True:" in text
    assert text.count("not run: the case before it had to be stopped") == 1  # said of all at once
