"""The gradebook in PostgreSQL: a real server, started here from the system's package, holds what SQLite holds."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from sdpa_helpers.classroom.gradebook import write_gradebook
from sdpa_helpers.classroom.gradebook_rows import CannotWrite
from sdpa_helpers.grading.result import storable
from tests.classroom.faults import NAME, make_class, rows
from tests.classroom.test_results_folder import made_up
from tests.commands import sdpa
from tests.handing_in import POINTS


@pytest.fixture(scope="module")
def server(needs, needs_program):
    """The URL of a new, empty server that listens on a socket file alone; the folder goes with the tests."""
    needs("psycopg")
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", ":".join([os.environ["PATH"], *map(str, reversed(places))]))
        initdb, postgres = needs_program("initdb"), needs_program("postgres")
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    user = (
        pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    )  # it refuses to run as root
    os.chown(folder, user.pw_uid, user.pw_gid)
    as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": folder}
    options = {**(as_user if os.getuid() == 0 else {"cwd": folder}), "stdout": subprocess.DEVNULL}
    subprocess.run(
        [initdb, "-D", "data", "-U", "grader", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync"],
        check=True,
        **options,
    )
    arguments = ["-D", "data", "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"]
    log = (folder / "log").open("w")
    process = subprocess.Popen([postgres, *arguments], stderr=log, **options)
    try:
        deadline = time.monotonic() + 60
        while not (folder / ".s.PGSQL.5432").exists() and time.monotonic() < deadline:
            assert process.poll() is None, (folder / "log").read_text()
            time.sleep(0.05)
        yield f"postgresql+psycopg://grader@/postgres?host={folder}"
    finally:
        process.terminate()
        process.wait(30)
        log.close()
        shutil.rmtree(folder)


@pytest.fixture
def book(server):
    """The URL, with no tables from another test."""
    engine = create_engine(server)
    with engine.begin() as connection:
        connection.execute(text("drop table if exists cases, flags, results"))
    engine.dispose()
    return server


def graded(source: Path, out: Path, url: str) -> subprocess.CompletedProcess:
    options = ["--seed", "s", "--sandbox", "off", "--jobs", 2, "--gradebook", url]
    return sdpa("grade", source, "--out", out, *options)


def test_it_holds_what_sqlite_holds_and_a_regrade_replaces(hand_in, tmp_path, book):
    source, out = make_class(hand_in, tmp_path), tmp_path / "out"
    assert graded(source, out, book).returncode == 0
    sqlite = f"sqlite:///{tmp_path / 'same.db'}"
    assert graded(source, out, sqlite).returncode == 0
    first = rows(book)
    assert first == rows(sqlite)
    assert len(first["gradebook: results"]) == 7
    hand_in("bob", dot_product="def dot_product(q, k):\n    return q @ k")
    assert graded(source, out, book).returncode == 0
    second = rows(book)
    changed = set(second["gradebook: results"]) - set(first["gradebook: results"])
    assert [("'bob'" in row, f"'points': {POINTS['dot_product']}" in row) for row in changed] == [
        (True, True)
    ]
    assert {table: len(lines) for table, lines in first.items()} == {t: len(ls) for t, ls in second.items()}


def test_texts_of_any_kind_and_length_can_be_kept(book):
    strange = made_up("ada", message="\0 \ud800 \U0001f600 " + "x" * 3_000_000, reason="a\0b")
    write_gradebook(book, [storable(strange)])
    engine = create_engine(book)
    with engine.connect() as connection:
        message = connection.execute(text("select message from cases")).scalar()
    engine.dispose()
    assert message.startswith("\\x00 \\ud800 \U0001f600 x")
    assert len(message) > 3_000_000


def test_a_failure_halfway_leaves_what_was_there(book):
    write_gradebook(book, [made_up("ada"), made_up("bob")])
    before = rows(book)
    spoiled = replace(made_up("zoe"), status=None)
    with pytest.raises(CannotWrite, match="could not be written"):
        write_gradebook(book, [*(made_up(f"s{n}") for n in range(150)), made_up("ada", points=4.0), spoiled])
    assert rows(book) == before


def test_a_server_that_cannot_be_reached_costs_nothing_but_the_gradebook(hand_in, tmp_path, book):
    hand_in("ada")
    away = "postgresql+psycopg://grader:secret@127.0.0.1:1/grades"
    ran = graded(tmp_path / "in", tmp_path / "out", away)
    assert ran.returncode == 2
    said = " ".join(ran.stderr.split())
    assert "could not be written" in said
    assert "the same command goes on from there" in said
    assert "secret" not in said
    assert "Traceback" not in said
    for name in (
        "grades.csv",
        "details.csv",
        "class.html",
        f"results/ada/{NAME}.json",
        f"feedback/ada/{NAME}.html",
    ):
        assert (tmp_path / "out" / name).is_file()
    assert graded(tmp_path / "in", tmp_path / "out", book).returncode == 0
    assert len(rows(book)["gradebook: results"]) == 1


@pytest.mark.parametrize("url", ["postgres", "nosuch://x/y", "postgresql+nosuch://a:secret@b/c"])
def test_a_url_that_leads_nowhere_is_refused_before_anything_is_graded(hand_in, tmp_path, url):
    hand_in("ada")
    ran = graded(tmp_path / "in", tmp_path / "out", url)
    assert ran.returncode == 2
    assert "expected a SQLAlchemy URL" in " ".join(ran.stderr.split())
    assert "secret" not in ran.stderr
    assert not (tmp_path / "out").exists()
