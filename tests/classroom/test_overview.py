"""The page at the end of a run: it says the same of sixty and of five thousand, on as many lines."""

from dataclasses import replace

import pytest
from rich.console import Console

from sdpa_helpers.classroom.collect import RENAMED
from sdpa_helpers.classroom.grade_folder import Noted, Summary
from sdpa_helpers.classroom.overview import LOOK_AT, overview
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.tables import StudentRow
from sdpa_helpers.cli import printing, summary

NAME, OTHER = "01_dot_product", "03_softmax"


def noted(student, points=20.0, *flags, status="graded", notebook=NAME, given_up="", renamed=""):
    return Noted(student, notebook, status, points, 21.0, flags, 0, False, given_up, renamed)


def named(submissions):
    return [(row.noted.student, row.why) for row in overview(submissions).look_at]


def test_what_is_counted():
    found = overview(
        [
            noted("ada", 21.0, "late"),
            noted("ada", 10.0, "late", "several-files", notebook=OTHER),
            noted("bob", 0.0, status="missing"),
            noted("eve", 9.0),
            noted("zoe", 0.0, status="unreadable"),
        ]
    )
    assert (found.handed_in, found.absent, found.learners) == (4, 1, 4)
    first, second = found.notebooks
    assert (first.handed_in, first.mean, first.median, first.max_points) == (3, 15.0, 15.0, 21.0)
    assert (second.handed_in, second.mean) == (1, 10.0)
    assert found.statuses == (("graded", 3), ("missing", 1), ("unreadable", 1))
    assert found.flags == (("late", 2), ("several-files", 1))


def test_who_is_named_and_why():
    assert named([noted("ada"), noted("bob", 0.0, status="missing"), noted("eve", 20.0, "late")]) == []
    assert named(
        [
            noted("few", 3.0),
            noted("fewer", 2.0),
            noted("flagged", 20.0, "forbidden-call", "late"),
            noted("gone", 0.0, status="timeout"),
            noted("ours", 0.0, status="grader-failed", given_up="the worker ended"),
        ]
    ) == [
        ("ours", ("grader-failed",)),
        ("flagged", ("forbidden-call", "late")),
        ("gone", ("timeout",)),
        ("fewer", ("few points",)),
        ("few", ("few points",)),
    ]


def test_work_that_came_late_and_was_left_aside_is_handed_in_and_looked_at():
    aside = replace(noted("eve", 0.0, "late", status="missing"), files=2)
    found = overview([noted("ada"), aside, noted("bob", 0.0, status="missing")])
    assert (found.handed_in, found.absent) == (2, 1)
    assert (found.notebooks[0].handed_in, found.notebooks[0].mean) == (2, 20.0)
    assert [(row.noted.student, row.why) for row in found.look_at] == [("eve", ("late, not graded",))]


def test_another_name_is_counted_once_for_each_learner():
    found = overview([noted("x", 20.0, RENAMED), noted("x", 0.0, RENAMED, status="missing", notebook=OTHER)])
    assert found.flags == ((RENAMED, 1),)


def test_a_frequent_reason_crowds_out_no_rare_one():
    crowd = [noted(f"c{n:02}", 0.0, status="unreadable") for n in range(50)]
    found = overview([*crowd, noted("rare", 20.0, "forbidden-call"), noted("low", 1.0)])
    named_first, *_, named_last = [row.noted.student for row in found.look_at]
    assert (named_first, named_last) == ("rare", "low")
    assert (len(found.look_at), found.worth_a_look) == (LOOK_AT, 52)


@pytest.fixture
def printed(monkeypatch, tmp_path, capsys):
    def show(submissions, left_out=(), **options):
        narrow = Console(markup=False, emoji=False, width=80)
        for module in (printing, summary):
            monkeypatch.setattr(module, "console", narrow)
        rows = tuple(StudentRow(n.student, {n.notebook: n.points}, 21.0) for n in submissions)
        summary.show_summary(
            Summary(tuple(submissions), rows, tuple(left_out)), ResultsFolder(tmp_path), **options
        )
        return capsys.readouterr().out

    return show


def test_five_thousand_are_a_page_and_all_rows_are_all_rows(printed):
    many = [
        noted(f"s{n}", float(n % 22), "late", "forbidden-call", renamed=f"handed in as {n}")
        for n in range(5000)
    ]
    says = printed(many, [(f"{'x' * 150}{n}", "why " * 50) for n in range(2000)])
    assert len(says.splitlines()) < 75
    assert "5000 notebooks of 5000 learners" in says
    assert "… and 1990 more such lines" in says
    assert "… and 4997 more such lines" in says
    every = printed(many, all_rows=True)
    assert len(every.splitlines()) > 5000


def test_names_are_printed_as_they_are(printed):
    says = printed([noted("[bold]x[/]", 0.0)], [("a\x1b[2J", "hidden")])
    assert "[bold]x[/]" in says
    assert "\\x1b[2J" in says
    assert "\x1b" not in says
