"""Marks and feedback for other systems. A new one is a file here with a function `export(order)`, and a line below."""

EXPORTS = {
    "canvas": "sdpa_helpers.classroom.exports.canvas",
    "canvas-feedback": "sdpa_helpers.classroom.exports.canvas_feedback",
    "moodle": "sdpa_helpers.classroom.exports.moodle",
    "jupyterhub": "sdpa_helpers.classroom.exports.jupyterhub",
    "moodle-feedback": "sdpa_helpers.classroom.exports.moodle_feedback",
    "gradescope": "sdpa_helpers.classroom.exports.gradescope",
    "nbgrader": "sdpa_helpers.classroom.exports.nbgrader",
}
"""Name on the command line → module, imported when it is asked for."""
