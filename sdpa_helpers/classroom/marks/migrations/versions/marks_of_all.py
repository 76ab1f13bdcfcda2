"""2: marks for any exercise, with who gave them; requests of learners."""

from alembic import op

revision, down_revision = "2", "1"

_COPY = """
insert into marks (id, learner, notebook, exercise, digest, points, change, reason, who, given_at, met)
select id, student, notebook, exercise, digest, points, adjusted, comment, '', replace(saved, 'Z', '.000Z'), given
from marks_of_words order by id
"""


def upgrade() -> None:
    """Nobody knows who gave the earlier marks: `who` is empty."""
    op.execute("drop index if exists marks_of_an_answer")
    op.rename_table("marks", "marks_of_words")
    op.execute(
        """
        create table marks (
          id integer primary key, learner text not null, notebook text not null, exercise text not null,
          digest text not null, points real, change real not null, reason text not null, who text not null,
          given_at text not null, met text not null, request text not null default '',
          settles integer not null default 0)
        """
    )
    op.execute(_COPY)
    op.drop_table("marks_of_words")
    op.execute("create index marks_of_an_answer on marks (learner, notebook, exercise, digest)")
    op.execute(
        """
        create table requests (
          id integer primary key, learner text not null, notebook text not null, exercise text not null,
          asks text not null, asked_at text not null, unique (learner, notebook, exercise, asks))
        """
    )
