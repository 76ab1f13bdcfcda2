"""Marks and feedback for other systems. A new one is a file here with a function `export(order)`, and a line below."""

EXPORTS = {
    "canvas": "sdpa_helpers.classroom.exports.canvas",
    "moodle": "sdpa_helpers.classroom.exports.moodle",
    "gradescope": "sdpa_helpers.classroom.exports.gradescope",
    "nbgrader": "sdpa_helpers.classroom.exports.nbgrader",
    "moodle-feedback": "sdpa_helpers.classroom.exports.moodle_feedback",
    "canvas-feedback": "sdpa_helpers.classroom.exports.canvas_feedback",
    "jupyterhub": "sdpa_helpers.classroom.exports.jupyterhub",
}
"""Name on the command line → module, imported when it is asked for."""
