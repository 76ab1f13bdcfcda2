"""A course whose copies are laid."""

import pytest

from sdpa_helpers.desk.laying import lay

from .course_folder import make_course


@pytest.fixture
def root(tmp_path):
    """A course whose copies are laid."""
    make_course(tmp_path)
    lay(tmp_path)
    return tmp_path
