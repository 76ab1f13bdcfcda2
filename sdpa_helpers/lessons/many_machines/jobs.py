"""Lesson 09: what goes between the notebook and the processes that it starts."""

from typing import Any, NamedTuple


class Job(NamedTuple):
    """A program to run: source text, since a function of a notebook cannot be sent, and what it is called with."""

    source: str
    name: str
    arguments: tuple


class Reply(NamedTuple):
    """What came of it. `error` is a traceback, "" where there is none."""

    value: Any = None
    bytes_sent: int = 0
    messages: int = 0
    error: str = ""
