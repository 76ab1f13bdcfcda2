"""Whole runs: records, resuming, options, and one broken submission among good ones."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sdpa_helpers.classroom.collect import Late
from sdpa_helpers.classroom.executors import Processes, grade_all
from sdpa_helpers.classroom.grade_folder import Batch, Unusable, grade_folder
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.grading.result_json import as_json
from sdpa_helpers.sandbox.limits import Limits
from tests.commands import sdpa
from tests.handing_in import NAME, POINTS, RIGHT, TOTAL

LIMITS = Limits(seconds=15, cell_seconds=2)


def grade_here(source, out, seed="s", **options):
    events = []
    settings = Settings(seed, LIMITS)
    batch = Batch(source, out, **options)
    summary = grade_folder(
        batch, settings, Processes(1), on_start=events.append, on_done=lambda: events.append("done")
    )
    came = sum(noted.status != "missing" for noted in summary.submissions)
    assert events == [came, *["done"] * came]
    return summary


def test_options_that_change_marks_are_remembered_and_told(hand_in, tmp_path):
    hand_in("ada", **RIGHT)
    told, batch = [], Batch(tmp_path / "in", tmp_path / "out")
    for cap in (0.5, 0.5, None):
        settings = Settings("s", LIMITS, mistake_cap=cap)
        summary = grade_folder(replace(batch, tell=told.append), settings, Processes(1))
    assert [(noted.kept, noted.again) for noted in summary.submissions] == [(False, True)]
    (only,) = told
    assert "mistake-cap was 0.5 and is off now" in only
    later = replace(batch, late=Late("penalty"))
    with pytest.raises(Unusable, match="--late penalty needs --deadline"):
        grade_folder(later, settings, Processes(1))


def test_a_folder_of_results_is_no_folder_of_submissions(hand_in, tmp_path):
    hand_in("ada")
    source = tmp_path / "in"
    with pytest.raises(Unusable, match="is the folder of submissions itself"):
        grade_here(source, source)
    grade_here(source, source / "first")
    summary = grade_here(source, source / "second")
    assert {noted.student for noted in summary.submissions} == {"ada"}
    assert [name for name, why in summary.left_out if "the --out folder of a run" in why] == ["first"]
    with pytest.raises(Unusable, match="is the --out folder of an earlier run"):
        grade_here(source / "first", tmp_path / "third")


def test_files_without_a_time_are_told_of(tmp_path, hand_in):
    path, told = hand_in("ada", **RIGHT), []
    folder = tmp_path / "moodle" / "Ada Lovelace_123456_assignsubmission_file"
    folder.mkdir(parents=True)
    path.rename(folder / path.name)
    deadline = datetime(2026, 5, 1, tzinfo=UTC)
    batch = Batch(tmp_path / "moodle", tmp_path / "out", deadline=deadline, tell=told.append)
    grade_folder(batch, Settings("s", LIMITS), Processes(1))
    assert told == [
        "1 file has no time of its own: --deadline was not applied to it; give Moodle's grading worksheet with --roster"
    ]


def test_an_exercise_that_ends_the_run_costs_only_itself(hand_in):
    path = hand_in("ada", **{**RIGHT, "dot_product": "import os\ndef dot_product(q, k):\n    os._exit(1)"})
    record = grade(Submission("ada", NAME, path), Settings("s", LIMITS))
    assert record.status == "kernel-died"
    assert record.points == TOTAL - POINTS["dot_product"]
    assert record.exercise("dot_product").cases[0].diagnosis == "kernel-died"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_an_answer_that_takes_the_output_away_costs_the_others_nothing(hand_in, stream):
    path = hand_in(
        "ada", **{**RIGHT, "dot_product": f"import sys\nsys.{stream} = None\n{RIGHT['dot_product']}"}
    )
    assert grade(Submission("ada", NAME, path), Settings("s", LIMITS)).points == TOTAL


def test_what_was_earned_before_a_timeout_counts(hand_in):
    path = hand_in(
        "ada",
        **{
            **RIGHT,
            "weighted_sum": "def weighted_sum(weights, V):\n    while weights.ndim > 2: pass\n    return weights @ V",
        },
    )
    record = grade(Submission("ada", NAME, path), Settings("s", LIMITS))
    assert record.status == "timeout"
    cases = record.exercise("weighted_sum").cases
    passed = [c.status for c in cases].index("timeout")
    assert [c.status for c in cases] == ["passed"] * passed + ["timeout"] * (len(cases) - passed)
    assert passed > 0
    assert record.points == TOTAL - sum(c.max_points for c in cases[passed:])


def test_the_time_limit_holds_for_the_whole_submission(hand_in):
    spin = "import time\nend = time.process_time() + 0.8\nwhile time.process_time() < end: pass\n"
    slow = {name: f"{spin}{source}" for name, source in RIGHT.items()}
    record = grade(
        Submission("ada", NAME, hand_in("ada", **slow)), Settings("s", Limits(seconds=2, cell_seconds=2))
    )
    assert record.status == "timeout"
    assert POINTS["dot_product"] <= record.points < TOTAL


def test_the_same_seed_gives_the_same_records_and_another_seed_other_inputs(hand_in):
    path = hand_in("ada", dot_product="def dot_product(q, k):\n    return (q * k).mean()")
    first, again, other = (
        grade(Submission("ada", NAME, path), Settings(seed, LIMITS)) for seed in ("s", "s", "t")
    )
    assert first == again
    assert first.points == other.points


def test_another_seed_draws_other_inputs(hand_in):
    """An answer that is right for some inputs alone is right in other cases then."""
    source = "def dot_product(q, k):\n    return q @ k if int(abs(float(np.ravel(q)[0])) * 1e3) % 2 else 0.0"
    path = hand_in("ada", dot_product=source)
    one, other = (grade(Submission("ada", NAME, path), Settings(seed, LIMITS)) for seed in ("s", "t"))
    assert one.exercises != other.exercises


def test_what_is_not_there_earns_nothing_unless_it_is_only_flagged(hand_in):
    source = (
        "import torch\ndef attention_scores(Q, K):\n    if Q.ndim > 2:\n"
        "        return torch.matmul(Q, K)\n    return Q @ np.swapaxes(K, -1, -2)"
    )
    path = hand_in("ada", **{**RIGHT, "attention_scores": source})
    zero = grade(Submission("ada", NAME, path), Settings("s", LIMITS))
    flag = grade(Submission("ada", NAME, path), Settings("s", LIMITS, forbidden="flag"))
    assert zero.points == TOTAL - POINTS["attention_scores"] < flag.points < TOTAL
    assert [f.kind for f in zero.flags] == [f.kind for f in flag.flags] == ["forbidden-call"]


def test_feedback_holds_no_expected_value(hand_in):
    from sdpa_helpers.checking.judging.judge import truths
    from sdpa_helpers.course.registry import find

    path = hand_in("ada", dot_product="def dot_product(q, k):\n    return 2.0 * (q @ k)")
    record = grade(Submission("ada", NAME, path), Settings("secret seed", LIMITS))
    text = json.dumps(as_json(record))
    assert "secret seed" not in text
    for truth in truths(find("dot_product"), "secret seed")[:3]:
        assert f"{float(truth.expected.array):.4g}" not in text.replace(
            f"off by {float(truth.expected.array):.3g}", ""
        )


def test_resuming_grades_only_what_changed(hand_in, tmp_path):
    source, out = tmp_path / "in", tmp_path / "out"
    hand_in("ada", **RIGHT)
    hand_in("bob")
    first = grade_here(source, out)
    before = (out / "results" / "ada" / f"{NAME}.json").stat().st_mtime_ns
    hand_in("bob", dot_product=RIGHT["dot_product"])
    second = grade_here(source, out, seed="")  # the seed is kept in the folder
    assert (first.kept, second.kept) == (0, 1)
    assert [row.total for row in second.rows] == [TOTAL, POINTS["dot_product"]]
    assert (out / "results" / "ada" / f"{NAME}.json").stat().st_mtime_ns == before
    (out / "results" / "ada" / f"{NAME}.json").write_text('{"student": "ada", "poin')  # cut off by a crash
    assert grade_here(source, out).kept == 1
    assert grade_here(source, out, fresh=True).kept == 0
    (source / "bob").rename(source / "zoe")
    assert [(file, why[:17]) for file, why in grade_here(source, out).left_out] == [
        ("results/bob", "of an earlier run")
    ]


def test_a_worker_that_is_killed_costs_one_submission_at_most(hand_in, tmp_path, monkeypatch):
    killer = "import os, signal\ndef dot_product(q, k):\n    os.kill(os.getppid(), signal.SIGKILL)"
    submissions = [Submission(n, NAME, hand_in(n, **answers)) for n, answers in
                   (("ada", RIGHT), ("kay", {**RIGHT, "dot_product": killer}), ("zoe", RIGHT))]  # fmt: skip
    attempts = grade_all(submissions, Settings("s", LIMITS), Processes(2))
    results = {done.result.student: done.result for done in attempts}
    assert results["ada"].points == results["zoe"].points == TOTAL
    assert results["kay"].status == "grader-failed"
    assert results["kay"].points == 0


@pytest.mark.parametrize("what", ["nothing", "file", "empty"])
def test_unusable_input_is_refused_with_a_sentence(tmp_path, what):
    source = tmp_path / "in"
    if what == "file":
        source.write_text("not a zip")
    if what == "empty":
        source.mkdir()
    with pytest.raises(Unusable, match=r"expected|neither"):
        grade_here(source, tmp_path / "out")


def test_the_learners_own_check_has_three_exit_codes(hand_in, tmp_path):
    right, stub = hand_in("ada", **RIGHT), hand_in("bob")
    broken = tmp_path / f"{NAME}.ipynb"
    broken.write_text("{")
    passed = sdpa("check", right)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert f"{TOTAL:g} of {TOTAL:g} points" in passed.stdout
    failed = sdpa("check", right, stub)
    assert failed.returncode == 1
    assert "NotImplemented" in failed.stdout
    assert sdpa("check", broken).returncode == 2
    assert sdpa("check", tmp_path / "absent.ipynb").returncode == 2


def test_options_that_do_not_exist_are_refused(tmp_path):
    ran = sdpa("grade", tmp_path, "--out", tmp_path / "out", "--sandbox", "perhaps")
    assert ran.returncode == 2
    assert "--sandbox perhaps is unknown" in ran.stderr


def test_the_doctor_speaks_json():
    ran = sdpa("doctor", "--json")
    report = json.loads(ran.stdout)
    assert ran.returncode == (0 if report["can_run"] else 1)
    assert {"Python", "numpy", "torch", "GPU", "triton", "kernel", "sandbox"} <= {
        f["name"] for f in report["facts"]
    }
