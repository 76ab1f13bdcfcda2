"""What `%pip` becomes."""

from .piplite import NOTHING


async def get_transformed_code(argv):
    """A line that says why nothing is installed."""
    del argv
    return f"print({NOTHING!r})"
