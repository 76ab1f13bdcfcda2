"""The museum of mistakes: every known mistake of every exercise has an address, and is shown at work."""
