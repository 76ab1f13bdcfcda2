"""Whole lessons in a browser, nothing installed: a JupyterLite site whose kernel is Python in the page."""
