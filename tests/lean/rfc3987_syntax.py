"""In place of the package of this name, where tests run: importing it fails, which jsonschema allows for.

The package builds 38 parsers of web addresses when it is imported, which takes a second or two. nbformat, JupyterLab
and nbgrader load it through jsonschema for a check that no notebook asks for, and tests start a hundred processes
that load one of these. `make test` puts this folder on their path; what learners start is without it.
"""

raise ImportError("left out in tests")
