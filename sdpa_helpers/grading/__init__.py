"""Grading a folder of notebooks: read → assemble → run → judge → record → report.

`submission` reads what was handed in, `assemble` lays the answers into the pristine notebook, `runner` executes
it under nbval, `batch` brings the parts together, `record` writes the gradebook, `report` the feedback pages.
"""
