"""Reading what was handed in: every broken file gets a reason, nothing but answers is taken."""

import json
import zipfile

import nbformat
import pytest

from sdpa_helpers.classroom.collect import find_submissions
from sdpa_helpers.classroom.listing import unpack
from sdpa_helpers.course.registry import exercises_of
from sdpa_helpers.grading import read as submission
from sdpa_helpers.grading.assemble import answer_cells
from sdpa_helpers.grading.read import Unreadable, lift, notebook_of, read_cells

NAME = "01_dot_product"
EXERCISES = exercises_of(NAME)


def code(source, **metadata):
    return {"cell_type": "code", "source": source, "metadata": metadata}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b'{"cells": [', "not valid JSON"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"[]", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"cells": ' + json.dumps([{}] * 5001).encode() + b"}", "at most 5000"),
        (b'{"cells": ' + b"1" * 5000 + b"}", "numbers that are too long"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unreadable_files_say_why(tmp_path, content, reason):
    path = tmp_path / "x.ipynb"
    path.write_bytes(content)
    with pytest.raises(Unreadable, match=reason):
        read_cells(path)


def test_a_huge_file_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "x.ipynb"
    with path.open("wb") as file:
        file.truncate(submission.MAX_NOTEBOOK_BYTES + 1)  # sparse: takes no disk
    with pytest.raises(Unreadable, match="at most 32"):
        read_cells(path)


def test_odd_cells_are_read_leniently(tmp_path):
    path = tmp_path / "x.ipynb"
    cells = ["text", None, {}, {"cell_type": "code", "source": ["a\r\n", 3, "b"], "metadata": []}]
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8-sig")
    assert [c["source"] for c in read_cells(path)] == ["", "a\nb"]


def test_answers_are_found_by_their_line_wherever_they_stand(pristine):
    cells = [
        code("\n\n  # exercise:  dot_product \ndef dot_product(q, k): ..."),
        code("x = 1"),
        code("# exercise: unknown"),
    ]
    lifted = lift(cells, EXERCISES, answer_cells(pristine))
    assert list(lifted.answers) == ["dot_product"]
    assert lifted.flags == ()


def test_the_last_attempt_counts_and_a_pasted_stub_does_not(pristine):
    stubs = answer_cells(pristine)
    older = '# exercise: best_key\ndef best_key(q, K):\n    """An older text."""\n    return NotImplemented  # here'
    cells = [
        code("# exercise: best_key\none"),
        code("# exercise: best_key\ntwo"),
        code(stubs["best_key"]),
        code(older),
    ]
    lifted = lift(cells, EXERCISES, stubs)
    assert lifted.answers["best_key"].endswith("two")
    assert [f.kind for f in lifted.flags] == ["doubled-answer"]


def defined(returned, marked=True):
    line = "# exercise: dot_product\n" if marked else ""
    return f"{line}def dot_product(q, k):\n    return {returned}"


@pytest.mark.parametrize(
    ("cells", "taken", "flags"),
    [
        (
            [defined(1), defined(2), "# exercise: dot_product\nprint(dot_product(1, 2))"],
            1,
            ["doubled-answer"],
        ),
        ([defined(1), "%%bash\n# exercise: dot_product\necho"], 0, ["doubled-answer"]),
        ([defined(1), "# exercise: dot_product"], 0, ["doubled-answer"]),
        ([defined(1), "# exercise: dot_product\ndot_product = (lambda q, k:"], 1, ["doubled-answer"]),
        (
            [defined(1, marked=False), "# exercise: dot_product\ndot_product(1, 2)"],
            0,
            ["answer-line-missing"],
        ),
        (
            ["# exercise: dot_product\nimport math", "dot_product = lambda q, k: 1"],
            1,
            ["answer-line-missing"],
        ),
        ([defined("NotImplemented"), defined(1, marked=False)], 1, ["answer-line-missing"]),
        ([defined(1, marked=False), defined("NotImplemented")], 1, []),
        (["# exercise: dot_product\n1", "from scipy import dot_product"], 0, []),
        ([defined(1), defined(2, marked=False)], 0, []),
    ],
)
def test_the_last_cell_that_defines_the_function_counts(cells, taken, flags):
    lifted = lift([code(cell) for cell in cells], EXERCISES, {})
    assert lifted.answers == {"dot_product": cells[taken]}
    assert [f.kind for f in lifted.flags] == flags


def test_a_cell_with_the_line_and_no_function_is_one_of_the_learners_own():
    cells = ["# exercise: dot_product\nimport math\nONE = 1", defined("math.fsum(q * k)", marked=False)]
    assert "import math" in lift([code(cell) for cell in cells], EXERCISES, {}).own[0]


def test_an_untouched_notebook_lifts_the_stubs(pristine):
    cells = [
        {"cell_type": c.cell_type, "source": c.source, "metadata": dict(c.metadata)} for c in pristine.cells
    ]
    stubs = answer_cells(pristine)
    lifted = lift(cells, EXERCISES, stubs)
    assert lifted.answers == stubs
    assert lifted.flags == ()


def test_an_answer_without_its_line_is_found_by_its_function(pristine):
    lifted = lift([code("def dot_product(q, k):\n    return 1")], EXERCISES, answer_cells(pristine))
    assert list(lifted.answers) == ["dot_product"]
    assert [f.kind for f in lifted.flags] == ["answer-line-missing"]


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_an_answer_in_a_cell_that_became_text_counts_and_is_told_of(kind):
    text = {**code(defined(1)), "cell_type": kind}
    lifted = lift([text], EXERCISES, {})
    assert lifted.answers == {"dot_product": defined(1)}
    assert [f.kind for f in lifted.flags] == ["not-a-code-cell"]
    assert lift([text, code(defined(2))], EXERCISES, {}).answers == {"dot_product": defined(2)}


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("import torch.nn.functional as F\nF.softmax(a, -1)", ["torch.nn.functional.softmax"]),
        ("from scipy.special import softmax as f\nf(a)", ["scipy.special.softmax"]),
        ("import sdpa_helpers as s\ns.softmax(a)", ["sdpa_helpers.softmax"]),
        ("y = !ls\nimport torch\ny = torch.eye(3)", ["torch.eye"]),
        ("import torch\nfrom scipy import special", []),
        ("# torch.softmax would do it\ny = 'torch.softmax'", []),
        ("from sdpa_helpers import check\ncheck(attention_scores)", []),
        ("def broken(:", []),
        ("(" * 5000, []),
        ("y = " + "1+" * 24_000 + "1", []),
    ],
)
def test_what_is_not_there_is_named_and_no_flag(pristine, source, named):
    lifted = lift([code(f"# exercise: attention_scores\n{source}")], EXERCISES, answer_cells(pristine))
    assert list(lifted.not_there.get("attention_scores", ())) == named
    assert lifted.flags == ()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def causal_mask(n, m):\n    return np.tri(n, m, dtype=bool)", "np.tri"),
        (
            "from numpy import tril as f\ndef causal_mask(n, m):\n    return f(np.ones((n, m), bool))",
            "np.tril",
        ),
        ("def causal_mask(n, m):\n    return np.lib._twodim_base_impl.tri(n, m)", "np.tri"),
        ("def causal_mask(n, m):\n    return getattr(np, 't' + 'ri')(n, m)", "NumPy, passed on whole:"),
        (
            "import pkgutil\ndef causal_mask(n, m):\n    return pkgutil.resolve_name('numpy:t' + 'ri')(n, m)",
            "NumPy, passed on whole:",
        ),
        ("def causal_mask(n, m):\n    return help_me(n, m)", "np.tri"),
        ("def causal_mask(n, m):\n    return np.arange(n)[:, None] >= np.arange(m)", ""),
        (
            "def causal_mask(n, m):\n    tri = np.less_equal.outer(np.arange(m), np.arange(n)).T\n    return tri",
            "",
        ),
        ("def causal_mask(n, m):\n    # as numpy.tri makes it\n    return np.ones((n, m), bool)", ""),
    ],
)
def test_what_numpy_has_ready_is_flagged(source, found):
    helpers = ["def help_me(n, m):\n    return other(n, m)", "other = lambda n, m: np.tri(n, m)"]
    cells = [*helpers, f"# exercise: causal_mask\n{source}"]
    lifted = lift([code(cell) for cell in cells], exercises_of("05_masking"), {})
    assert [f.kind for f in lifted.flags] == (["ready-made"] if found else [])
    assert all(f.message.startswith(f"causal_mask: {found}") for f in lifted.flags), lifted.flags


def test_edited_checks_and_markers_are_flagged(pristine):
    cells = [
        code("# exercise: dot_product\n#NBVAL_SKIP\ndef dot_product(q, k): return 1"),
        code("print('passed')", nbgrader={"grade_id": "dot_product-check"}),
        code("check(best_key)", nbgrader={"grade_id": "best_key-check"}),
        code("x", nbgrader="nonsense"),
    ]
    lifted = lift(cells, EXERCISES, answer_cells(pristine))
    assert sorted(f.kind for f in lifted.flags) == ["edited-check", "test-marker"]


def test_an_endless_answer_is_not_taken(pristine):
    lifted = lift([code("# exercise: dot_product\n" + "x = 1\n" * 20_000)], EXERCISES, answer_cells(pristine))
    assert lifted.answers == {}
    assert [f.kind for f in lifted.flags] == ["answer-too-long"]


# ---- finding ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("01_dot_product.ipynb", NAME),
        ("01_dot_product (1).ipynb", NAME),
        ("Copy of 01_dot_product.ipynb", NAME),
        ("01_dot_product-Copy1.ipynb", NAME),
        ("01_Dot_Product-Copy1.IPYNB", NAME),
        ("01_dot_produc\u1e97.ipynb", None),
        ("homework.ipynb", None),
    ],
)
def test_names_as_browsers_and_services_change_them(name, found):
    assert notebook_of(name, [NAME]) == found


def empty(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")


def test_folders_files_and_traps(tmp_path):
    empty(tmp_path / "ada" / f"{NAME}.ipynb")
    empty(tmp_path / "ada" / "old" / f"{NAME} (1).ipynb")
    empty(tmp_path / "ada" / ".ipynb_checkpoints" / f"{NAME}-checkpoint.ipynb")
    empty(tmp_path / "__MACOSX" / "ada" / f"._{NAME}.ipynb")
    empty(tmp_path / "bob" / "notes.ipynb")
    empty(tmp_path / f"{NAME}.ipynb")
    found, left_out = find_submissions(tmp_path, [NAME, "02_other"])
    assert [(s.student, s.notebook, s.path and s.path.name) for s in found] == [
        ("ada", NAME, f"{NAME}.ipynb"),
        ("bob", NAME, None),
    ]
    assert [f.kind for f in found[0].flags] == ["several-files"]
    assert sorted(name for name, _ in left_out) == [f"{NAME}.ipynb", "bob/notes.ipynb"]


def test_a_zip_is_unpacked_and_cannot_climb_out(tmp_path, pristine):
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(f"class/ada/{NAME}.ipynb", nbformat.writes(pristine))
        file.writestr(f"class/bob/{NAME}.ipynb", "{}")
        file.writestr("../../evil.ipynb", "{}")
        file.writestr("/etc/evil.ipynb", "{}")
        file.writestr("class/ada/virus.exe", "x")
    into = tmp_path / "into" / "here"
    into.mkdir(parents=True)
    listing = unpack(archive, into)
    found, _ = find_submissions(listing, [NAME])
    assert [s.student for s in found] == ["ada", "bob"]
    assert [name for name, _ in listing.left_out] == ["../../evil.ipynb", "/etc/evil.ipynb"]
    assert not list(tmp_path.glob("evil*"))
    assert not list(into.rglob("*.exe"))
