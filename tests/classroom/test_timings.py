"""timings.csv: times are noted at once, and put in order at the end."""

from sdpa_helpers.classroom.timings import add_timing, read_timings, tidy_timings


def test_the_last_time_of_each_submission_is_kept_in_order(tmp_path):
    add_timing(tmp_path, "zoe", "01", 1.5)
    add_timing(tmp_path, "ada", "01", 2.0)
    add_timing(tmp_path, "zoe", "01", 0.25)
    tidy_timings(tmp_path, [("ada", "01"), ("kim", "01"), ("zoe", "01")])
    lines = (tmp_path / "timings.csv").read_text().splitlines()
    assert lines == ["student,notebook,seconds", "ada,01,2.00", "kim,01,", "zoe,01,0.25"]
    tidy_timings(tmp_path, [("zoe", "01")])
    assert read_timings(tmp_path) == {("zoe", "01"): "0.25"}


def test_a_row_that_a_killed_grader_has_cut_off_is_passed_over(tmp_path):
    add_timing(tmp_path, "ada", "01", 2.0)
    with (tmp_path / "timings.csv").open("a") as file:
        file.write("zo")
    assert read_timings(tmp_path) == {("ada", "01"): "2.00"}
    assert read_timings(tmp_path / "nowhere") == {}


def test_names_run_as_no_formula(tmp_path):
    add_timing(tmp_path, "=1+1", "01", 2.0)
    tidy_timings(tmp_path, [("=1+1", "01")])
    assert "'=1+1,01,2.00" in (tmp_path / "timings.csv").read_text()
