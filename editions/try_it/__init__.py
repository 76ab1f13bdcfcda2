"""A light page for each exercise: Python, NumPy and the course in the browser, without Jupyter or a server."""
