"""Forty questions as interviews ask them, with short answers, where each is measured, and the trap in it."""

from sdpa_helpers.course.interview.begin import interview

__all__ = ["interview"]
