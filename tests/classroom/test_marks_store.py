"""marks.db: rows that are added and never changed, and files of every earlier version."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import astuple

import pytest

from sdpa_helpers.classroom.marks.migrate import migrate
from sdpa_helpers.classroom.marks.store import (
    VERSION,
    AnswerKey,
    CannotKeep,
    Mark,
    account,
    append,
    counting,
    read,
)

MARK = Mark("ada", "03_softmax", "entropy", "d", change=2.0, reason="Right but for the sign.", who="anna")

BEFORE_ALEMBIC = """
create table marks (
  id integer primary key, student text not null, notebook text not null, exercise text not null,
  digest text not null, given text not null, adjusted real not null, points real, comment text not null,
  saved text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
create index marks_of_an_answer on marks (student, notebook, exercise, digest);
"""
"""As the course wrote it until there were versions."""
OLD_ROWS = """
insert into marks (student, notebook, exercise, digest, given, adjusted, points, comment, saved) values
  ('ada', '02_variance_proof', 'proof_in_words', 'd', '["sum"]', 0.0, 6.0, '', '2026-05-01T10:00:00Z'),
  ('ada', '02_variance_proof', 'proof_in_words', 'd', '["sum"]', -0.5, 5.5, 'Why?', '2026-05-01T10:00:00Z'),
  ('ben', '02_variance_proof', 'proof_in_words', 'e', '[]', 0.0, null, 'Say more.', '2026-05-02T10:00:00Z');
"""
ADAS = Mark(
    "ada", "02_variance_proof", "proof_in_words", "d", 6.0, when="2026-05-01T10:00:00.000Z", met=("sum",)
)


@pytest.fixture
def db(tmp_path):
    return tmp_path / "marks.db"


def run(db, script):
    with closing(sqlite3.connect(db)) as database:
        database.executescript(script)


def test_a_row_says_who_when_to_whom_how_much_and_why(db):
    (added,) = append(db, [MARK])
    assert added.who == "anna"
    assert added.when.endswith("Z")
    assert len(added.when) == len("2026-05-01T21:59:07.123Z")
    assert (added.learner, added.exercise, added.change, added.reason) == (
        "ada", "entropy", 2.0, "Right but for the sign."
    )  # fmt: skip
    assert read(db) == (added,)
    (nameless,) = append(db, [Mark("ben", "03_softmax", "entropy", points=3.0)])
    assert nameless.who == account() != ""


def test_nothing_is_ever_changed_and_the_last_row_counts(db):
    first, second = (
        append(db, [mark])[0] for mark in (MARK, Mark(*astuple(MARK.key), points=7.0, who="ben"))
    )
    assert read(db) == (first, second)
    assert counting(read(db)) == {AnswerKey("ada", "03_softmax", "entropy", "d"): second}


def test_all_are_added_or_none(db):
    append(db, [MARK])
    with pytest.raises(CannotKeep):
        append(db, [MARK, Mark("ben", "03_softmax", None)])  # type: ignore
    assert len(read(db)) == 1


def test_a_clock_that_was_put_back_changes_no_order(db):
    append(db, [Mark(*astuple(MARK.key), points=1.0, when="2999-01-01T00:00:00.000Z")])
    append(db, [Mark(*astuple(MARK.key), points=2.0)])
    assert [mark.points for mark in read(db)] == [1.0, 2.0]


def test_no_file_is_no_marks_and_none_is_made(db):
    assert read(db) == ()
    assert not db.exists()


def make_nothing(db):
    db.touch()


def make_before_alembic(db):
    run(db, BEFORE_ALEMBIC + OLD_ROWS)


def make_version_1(db):
    migrate(db, "1")
    run(db, OLD_ROWS)


def make_version_2(db):
    append(
        db,
        [
            ADAS,
            Mark(*astuple(ADAS.key), 5.5, -0.5, "Why?", when=ADAS.when, met=("sum",)),
            Mark("ben", "02_variance_proof", "proof_in_words", "e", reason="Say more.", who="x"),
        ],
    )


@pytest.mark.parametrize("make", [make_before_alembic, make_version_1, make_version_2])
def test_every_earlier_version_is_read_and_written_to(db, make):
    make(db)
    first, second, third = read(db)
    assert (first.key, first.points, first.met, first.when) == (ADAS.key, 6.0, ("sum",), ADAS.when)
    assert (second.key, second.points, second.change, second.reason) == (ADAS.key, 5.5, -0.5, "Why?")
    assert (third.learner, third.points, third.reason) == ("ben", None, "Say more.")
    if make is not make_version_2:
        assert {mark.who for mark in read(db)} == {""}
    append(db, [MARK])
    assert len(read(db)) == 4
    assert counting(read(db))[ADAS.key].points == 5.5


@pytest.mark.parametrize("make", [make_nothing, make_before_alembic, make_version_1])
def test_every_way_leads_to_the_same_tables(db, tmp_path, make):
    make(db)
    append(db, [MARK])
    append(tmp_path / "new.db", [MARK])
    assert tables(db) == tables(tmp_path / "new.db")


def tables(db):
    with closing(sqlite3.connect(db)) as database:
        assert database.execute("select version_num from alembic_version").fetchall() == [(VERSION,)]
        return database.execute("select name, sql from sqlite_master order by name").fetchall()


def test_a_migration_that_fails_leaves_the_file_as_it_was(db):
    run(db, BEFORE_ALEMBIC + OLD_ROWS + "create table requests (x text);")  # in the way of version 2
    before = db.read_bytes()
    with pytest.raises(CannotKeep, match="requests"):
        read(db)
    assert db.read_bytes() == before


def test_a_file_of_a_later_version_or_of_another_kind_is_refused_and_kept(db, tmp_path):
    append(db, [MARK])
    run(db, "update alembic_version set version_num = '999'")
    before = db.read_bytes()
    with pytest.raises(CannotKeep, match="a later version of this course"):
        read(db)
    with pytest.raises(CannotKeep, match="a later version of this course"):
        append(db, [MARK])
    assert db.read_bytes() == before
    other = tmp_path / "other.db"
    other.write_text("no database" * 100)
    with pytest.raises(CannotKeep, match="not a database"):
        read(other)


def test_reading_marks_needs_no_sqlalchemy(db):
    append(db, [MARK])
    code = (
        "import sys; from pathlib import Path; from sdpa_helpers.classroom.marks.store import read; "
        f"print(len(read(Path({str(db)!r}))), 'sqlalchemy' in sys.modules, 'alembic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False False\n"
