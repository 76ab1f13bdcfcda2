"""`check` says the line of the learner's own code whose change mends it, and the change only as the last hint."""

from sdpa_helpers.course.session import check
from tests.checking.made_up import written

CODE = """def value_gradient(weights, grad_output):
    mixed = np.einsum("...ij,...jd->...id", weights, grad_output)
    return mixed
"""


def test_the_line_comes_first_and_the_change_last():
    report = check(written(CODE, "value_gradient"), keep=False)
    told = report.text()
    assert "Where to look: one small change in line 2 lets every case pass. Look at `weights`." in told
    assert "np.swapaxes(weights, -1, -2)" not in told
    hints = [h.text for h in report.helps.hints]
    assert "np.swapaxes(weights, -1, -2)" in hints[-1]
    assert not any("np.swapaxes(weights, -1, -2)` for" in text for text in hints[:-1])


def test_an_answer_with_a_name_is_not_searched():
    code = "def best_key(q, K):\n    return int(np.argmin(np.linalg.norm(K - q, axis=1)))\n"
    assert "Where to look" not in check(written(code, "best_key"), keep=False).text()


def test_one_change_that_mends_all_denies_that_there_are_two_mistakes():
    code = """def fit_exponent(sizes, times):
    return np.polyfit(np.log10(sizes), np.log10(times), 1)[1]
"""
    told = check(written(code, "fit_exponent"), keep=False).text()
    assert "ne small change in line 2 lets every case pass" in told
    assert "logarithms" not in told
