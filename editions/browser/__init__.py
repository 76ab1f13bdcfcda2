"""Python in the browser: Pyodide's runtime, the wheels that the course needs there, and a lock file that names them."""
