"""Fixtures of several files: a room that is open."""

import pytest

from tests.classroom.rooms import opened


@pytest.fixture
def server(tmp_path):
    with opened(tmp_path / "room.sqlite") as found:
        yield found
