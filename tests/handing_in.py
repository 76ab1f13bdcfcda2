"""What tests hand in and expect of it, taken from the exercises of lesson 01 as they stand in the package.

The fixture `hand_in`, in conftest.py, writes the notebook.
"""

import inspect

from sdpa_helpers.course.registry import exercises_of

NAME = "01_dot_product"
"""The notebook that is handed in."""
POINTS = {exercise.name: exercise.max_points for exercise in exercises_of(NAME)}
"""What each of its exercises is worth."""
TOTAL = sum(POINTS.values())
CASES = sum(len(exercise.cases) for exercise in exercises_of(NAME))
"""The cases of all its exercises together."""
RIGHT = {exercise.name: inspect.getsource(exercise.reference).rstrip() for exercise in exercises_of(NAME)}
"""A right answer to each: the reference's own source."""
