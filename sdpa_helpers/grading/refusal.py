"""The one error that the command line expects."""


class Refusal(Exception):
    """A command cannot do what it was asked; the text says why, and what to change."""
