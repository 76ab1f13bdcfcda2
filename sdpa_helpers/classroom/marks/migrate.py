"""Bring marks.db to the tables of today, from every version there ever was, by Alembic: all of it or nothing."""

from pathlib import Path
from sqlite3 import Connection

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import create_engine, event, inspect
from sqlalchemy.exc import DBAPIError

BEFORE_ALEMBIC = "1"
"""What a file is that has marks and no version."""


def migrate(marks_db: Path, to: str = "head") -> None:
    """Bring a file, or a new one, to a version. Raises ValueError when that cannot be done; it is then as it was."""
    engine = create_engine(f"sqlite:///{marks_db.resolve()}", connect_args={"timeout": 20})
    event.listen(engine, "connect", _leave_transactions_to_us)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("begin immediate"))
    try:
        with engine.begin() as connection:
            config = Config()
            config.set_main_option(
                "script_location", str(Path(__file__).parent / "migrations").replace("%", "%%")
            )
            config.attributes["connection"] = connection
            tables = inspect(connection).get_table_names()
            if "marks" in tables and "alembic_version" not in tables:
                command.stamp(config, BEFORE_ALEMBIC)
            command.upgrade(config, to)
    except CommandError as error:
        raise ValueError(f"a later version of this course wrote them ({error}): use that one") from error
    except DBAPIError as error:
        raise ValueError(str(error.orig)) from error
    finally:
        engine.dispose()


def _leave_transactions_to_us(connection: Connection, _record: object) -> None:
    """Python's driver would end the transaction at the first change of a table."""
    connection.isolation_level = None
