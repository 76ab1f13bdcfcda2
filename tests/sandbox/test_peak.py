"""What a call holds is counted by the system, so that it makes no difference who holds it."""

import numpy as np
import pytest

from sdpa_helpers.checking.answers.observe import beyond_doubt
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.judging.judge import judge, truths
from sdpa_helpers.course.registry import find
from sdpa_helpers.grading.assemble import assemble, pristine_notebook
from sdpa_helpers.grading.run import run
from sdpa_helpers.sandbox import kernel_process
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.start import OFF

EXERCISE = find("chunked_attention")
TRUTHS = tuple(t for t in truths(EXERCISE, "peak") if t.case.peak_bytes)

IN_A_MAP = """
import mmap
import numpy as np

def chunked_attention(Q, K, V, chunk):
    shape = (*Q.shape[:-1], K.shape[-2])
    scores = np.frombuffer(mmap.mmap(-1, 8 * int(np.prod(shape)))).reshape(shape)
    np.matmul(Q, np.swapaxes(K, -1, -2), out=scores)
    scores /= np.sqrt(Q.shape[-1])
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ V
"""
IN_CHUNKS = """
import numpy as np

def chunked_attention(Q, K, V, chunk):
    parts = []
    for i in range(0, Q.shape[-2], chunk):
        scores = Q[..., i : i + chunk, :] @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        parts.append(weights @ V / weights.sum(axis=-1, keepdims=True))
    return np.concatenate(parts, axis=-2)
"""


@pytest.mark.parametrize("level", ["warm", "bubblewrap", "landlock", OFF])
@pytest.mark.parametrize(("source", "passes"), [(IN_A_MAP, False), (IN_CHUNKS, True)], ids=["map", "chunks"])
def test_a_kernel_that_holds_all_scores_is_seen_from_outside(usable, level, source, passes):
    known = {EXERCISE.name: TRUTHS}
    notebook = assemble(pristine_notebook(EXERCISE.lesson), {EXERCISE.name: source}, known, [EXERCISE.name])
    outcome = run(notebook, Limits(), level if level == OFF else usable(level))
    (verdict,) = (judge(EXERCISE, t, outcome.answers[EXERCISE.name, t.case.name]) for t in TRUTHS)
    assert (verdict.passed, verdict.fault) == (passes, "" if passes else "too-much-memory")


def test_nor_is_it_hidden_by_a_peak_that_cannot_be_forgotten(monkeypatch):
    """Under Landlock a kernel of an ordinary user shuts itself off; its peak then counts when it is a new one."""
    monkeypatch.setattr(kernel_process, "_forget_peak", lambda pid: None)
    test_a_kernel_that_holds_all_scores_is_seen_from_outside(None, OFF, IN_A_MAP, passes=False)
    test_a_kernel_that_holds_all_scores_is_seen_from_outside(None, OFF, IN_CHUNKS, passes=True)


def test_a_check_sees_it_too():
    scope = {}
    exec(IN_A_MAP, scope)
    flat = {c.verdict.case: c.verdict for c in try_out(EXERCISE, scope["chunked_attention"]).cases}
    assert flat[TRUTHS[0].case.name].fault == "too-much-memory"


def test_all_scores_stand_out_from_what_a_machine_counts_beside():
    """Half of them, or a right answer that uses all it may, differ from the limit by several megabytes."""
    Q, K, V, _ = TRUTHS[0].inputs
    scores, allowed = 8 * len(Q) * len(K), TRUTHS[0].case.peak_bytes
    on_the_way = 8 * 4 * sum(np.size(x) for x in (Q, K, V)) + 8 * 4 * len(Q) * V.shape[-1]
    assert beyond_doubt(scores - (5 << 20)) > allowed
    assert beyond_doubt(allowed + on_the_way + (4 << 20)) <= allowed
