"""What a reader of written answers looks for: for those who mark, not in the student edition."""

import importlib
from dataclasses import dataclass
from functools import cache

from sdpa_helpers.lessons.registry import LESSONS, WRITTEN


@dataclass(frozen=True)
class Guide:
    """How to decide on one criterion. says: what earns its points. beware: the misconception to look for."""

    says: str
    beware: str


@cache
def guides(lesson: str) -> dict[str, dict[str, Guide]]:
    """Exercise → criterion's key → guide, for a notebook; {} where nothing is answered in words."""
    if lesson not in WRITTEN:
        return {}
    return importlib.import_module(f"sdpa_helpers.classroom.rubrics.{LESSONS[lesson]}").GUIDES
