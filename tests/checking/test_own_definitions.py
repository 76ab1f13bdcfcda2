"""What counts of a learner's own cells: definitions, and nothing that computes."""

import pytest

from sdpa_helpers.checking.code.own_definitions import own_definitions


def names(*cells, answered=()):
    return sorted(set().union(*(part.names for part in own_definitions(cells, answered))))


@pytest.mark.parametrize(
    ("cell", "counts"),
    [
        ("def f(x):\n    return g(x)", ["f"]),
        ("async def f(): pass", ["f"]),
        ("class A:\n    x = 1\n    y = x\n    def f(self) -> int: ...", ["A"]),
        ("import numpy.linalg\nimport torch.nn as nn\nfrom math import log as ln, exp", ["exp", "ln", "nn", "numpy"]),
        ("a = 1; b, c = -2.5, 'x'\nd: int = 2 ** 10\ne = f = [1, {2: (3, None)}]", ["a", "b", "c", "d", "e", "f"]),
        ("n = 3\ns = f'{n:.2f}'\ng = lambda x: h(x)", ["g", "n", "s"]),
        ("norm = np.linalg.norm", ["norm"]),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None", ["torch"]),
        ("%matplotlib inline\nx = 1\n!ls", ["x"]),
        ("%%time\nx = 1", ["x"]),
        ("np.sum?\nfiles = !ls\ndef f(): ...", ["f"]),
        ("@staticmethod\ndef f(): ...", ["f"]),
        # what computes
        ("x = f()", []),
        ("x = [i for i in range(3)]", []),
        ("x = {}\nx['a'] = 1", ["x"]),
        ("x = data[0]", []),
        ("x = 1 if big else 2", []),
        ("s = f'{len(name)}'", []),
        ("if True:\n    x = 1", []),
        ("for x in (1, 2): ...", []),
        ("g = lambda x=f(): x", []),
        ("x = %time y", []),
        ("print('x')", []),
        ("x: int", []),
        # no Python
        ("def f(:", []),
        ("%%bash\nx=1", []),
        ("(" * 5000, []),
        ("", []),
    ],
)  # fmt: skip
def test_definitions_count(cell, counts):
    assert names(cell) == counts


@pytest.mark.parametrize(
    ("cells", "counts"),
    [
        (["def f(): ...", "f = cached(f)"], []),
        (["f = cached(f)", "def f(): ..."], ["f"]),
        (["n = 1\nn += 1"], []),
        (["x = 1", "del x"], []),
        (["t = table", "table = load()"], []),
        (["b = a", "c = b", "a = load()"], []),
        (["c = b\nb = a\na = 1"], ["a", "b", "c"]),
        (["@cached\ndef f(): ..."], []),
        (["def cached(f): return f", "@cached\ndef f(): ..."], ["cached", "f"]),
        (["class A(Base): ..."], []),
        (["def f(x: Table): ..."], []),
        (["class A:\n    n = size\n    m = n"], []),
        (["from torch import *", "@no_grad\ndef f(): ..."], ["f"]),
        (["def softmax(x): ...", "def mine(x): return softmax(x)", "other = softmax"], ["mine"]),
    ],
)
def test_what_it_needs_at_once_must_be_there_and_its_last_value_decides(cells, counts):
    assert names(*cells, answered=["softmax"]) == counts


def run(text):
    space = {}
    exec(compile(text, "cell", "exec"), space)
    return space


def test_the_text_runs_with_lines_where_they_were():
    cell = (
        "from __future__ import annotations\nimport math; import no_such_thing\nprint('computed')\n"
        "@staticmethod\ndef f(x):\n    '''A text\n  of two lines.'''\n    return x  # as it stands\n"
        "n = (1,\n     2)\ntotal = sum(n)\nclass A: x = 'é'; y = 2\n"
    )
    (part,) = own_definitions([cell], ())
    lines = part.text.split("\n")
    assert "computed" not in part.text
    assert [lines[n] for n in (3, 4, 7)] == [cell.split("\n")[n] for n in (3, 4, 7)]
    space = run(part.text)
    assert (space["n"], space["A"].y, space["f"].__func__.__doc__) == ((1, 2), 2, "A text\n  of two lines.")
    assert "total" not in space
    assert "no_such_thing" in part.names  # it is the kernel that does not find it


def test_many_that_hang_on_each_other_take_no_square_of_time():
    chain = [f"a{n} = a{n + 1}" for n in range(20_000)]
    assert names("\n".join(chain[:3000])) == []
    assert len(names("\n".join(chain), "a20000 = 1")) == 20_001
