"""What a reader of answers in words looks for, and model answers: for those who mark, not in the student edition."""

import importlib
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from sdpa_helpers.course.registry import folder_of, written_of


@dataclass(frozen=True)
class Guide:
    """How to decide on one criterion. says: what earns its points. beware: the misconception to look for."""

    says: str
    beware: str


@cache
def guides(lesson: str) -> dict[str, dict[str, Guide]]:
    """Exercise → criterion's key → guide, for a notebook; {} where nothing is answered in words."""
    return _rubric(lesson).GUIDES if written_of(lesson) else {}


@cache
def model_answers(lesson: str) -> dict[str, str]:
    """Exercise → a model answer, for a notebook; {} where nothing is answered in words."""
    return _rubric(lesson).MODEL_ANSWERS if written_of(lesson) else {}


def _rubric(lesson: str) -> ModuleType:
    return importlib.import_module(f"sdpa_helpers.classroom.rubrics.{folder_of(lesson)}")
