"""A port that a server of a test can have."""

import socket


def free_port() -> int:
    """One that nobody listens to at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
