"""timings.csv: times are noted at once, and put in order at the end."""

from sdpa_helpers.classroom.timings import add_timing, read_timings, tidy_timings


def test_the_last_time_of_each_submission_is_kept_in_order(tmp_path):
    timings = tmp_path / "timings.csv"
    add_timing(timings, "zoe", "01", 1.5)
    add_timing(timings, "ada", "01", 2.0)
    add_timing(timings, "zoe", "01", 0.25)
    tidy_timings(timings, [("ada", "01"), ("kim", "01"), ("zoe", "01")])
    lines = timings.read_text().splitlines()
    assert lines == ["student,notebook,seconds", "ada,01,2.00", "kim,01,", "zoe,01,0.25"]
    tidy_timings(timings, [("zoe", "01")])
    assert read_timings(timings) == {("zoe", "01"): "0.25"}


def test_a_row_that_a_killed_grader_has_cut_off_is_passed_over(tmp_path):
    timings = tmp_path / "timings.csv"
    add_timing(timings, "ada", "01", 2.0)
    with timings.open("a") as file:
        file.write("zo")
    assert read_timings(timings) == {("ada", "01"): "2.00"}
    assert read_timings(tmp_path / "nowhere.csv") == {}


def test_names_run_as_no_formula(tmp_path):
    timings = tmp_path / "timings.csv"
    add_timing(timings, "=1+1", "01", 2.0)
    tidy_timings(timings, [("=1+1", "01")])
    assert "'=1+1,01,2.00" in timings.read_text()
