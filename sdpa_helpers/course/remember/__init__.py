"""A deck to remember the course by: questions that come again just before one would forget them."""

from sdpa_helpers.course.remember.panel import remember

__all__ = ["remember"]
