"""Scripts of the panels, run by node without a page."""

from tests.show.conftest import in_node

__all__ = ["in_node"]
