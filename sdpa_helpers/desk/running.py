"""Which copies a running Jupyter has open: these are not replaced under somebody's hands."""

import contextlib
import json
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

PATIENCE = 1.0
"""Seconds for a server to answer; one that does not has nothing open."""


def open_in_work(work: Path) -> frozenset[str]:
    """Files, from work/, that have a kernel in a server of this user."""
    files = set()
    for server in _servers():
        for path in _sessions(server):
            with contextlib.suppress(ValueError):
                place = Path(server["root_dir"], path).resolve()
                files.add(place.relative_to(work.resolve()).as_posix())
    return frozenset(files)


def _servers() -> Iterator[dict[str, Any]]:
    from jupyter_core.paths import jupyter_runtime_dir

    for path in sorted(Path(jupyter_runtime_dir()).glob("jpserver-*.json")):
        with contextlib.suppress(OSError, ValueError):
            server = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(server, dict) and all(isinstance(server.get(k), str) for k in ("url", "root_dir")):
                yield server


def _sessions(server: dict[str, Any]) -> list[str]:
    allowed = {"Authorization": f"token {server.get('token', '')}"}
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        request = urllib.request.Request(f"{server['url']}api/sessions", headers=allowed)
        with direct.open(request, timeout=PATIENCE) as answer:
            return [
                str(session["path"]) for session in json.load(answer) if session.get("type") == "notebook"
            ]
    except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError):
        return []  # it is gone, something else listens there now, or it does not tell us
