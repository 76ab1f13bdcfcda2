"""1: marks for answers in words, as files had them before Alembic."""

from alembic import op

revision, down_revision = "1", None


def upgrade() -> None:
    """A new file."""
    op.execute(
        """
        create table marks (
          id integer primary key, student text not null, notebook text not null, exercise text not null,
          digest text not null, given text not null, adjusted real not null, points real, comment text not null,
          saved text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')))
        """
    )
    op.execute("create index marks_of_an_answer on marks (student, notebook, exercise, digest)")
