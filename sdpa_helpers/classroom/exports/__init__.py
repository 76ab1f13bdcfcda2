"""Marks for other systems: Canvas, Moodle, Gradescope, nbgrader."""
