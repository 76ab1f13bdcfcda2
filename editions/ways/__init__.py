"""Ways into the course from elsewhere: Colab, Binder, JupyterHub. docs/ways-in.md lists them all."""
