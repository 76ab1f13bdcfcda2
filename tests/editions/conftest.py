"""The site, built once for all tests that look at it, and served."""

import contextlib
import fcntl
import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from editions.browser.fetch import Unobtainable
from editions.museum.build import build_museum
from editions.site.build import STEPS
from tests.conftest import absent

NEEDS = {
    "try": ("pyodide",),
    "lite": ("pyodide",),
    "search": ("pages", "pyodide", "try", "mistakes"),
    "keeper": ("pages", "pyodide", "try"),
}
"""What a step would build itself: here once for all processes."""
SHOWN = ("03_softmax",)
"""Of the museum's two thousand mistakes: those of one lesson. `test_museum` builds all of them by night."""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which a folder is served, without a slash at its end."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))
    )
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory) -> Path:
    """Where the site goes: one folder for all processes that run tests."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if base.name.startswith("popen-") else base) / "built-site"


@pytest.fixture(scope="session")
def built_site(site_folder, needs, needs_program) -> Callable[..., Path]:
    """`built_site("pages", "try")` is the site's folder with at least these steps built, each once per machine."""

    def build(*steps: str) -> Path:
        for module in ("sphinx", "myst_nb", "sphinx_book_theme"):
            needs(module)
        needs_program("npm")
        site_folder.mkdir(parents=True, exist_ok=True)
        needed = [first for step in steps for first in NEEDS.get(step, ())]
        for step in dict.fromkeys([*needed, *steps]):
            done = site_folder.with_name(f"built-{step}")
            with open(site_folder.with_name(f"building-{step}"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not done.exists():
                    try:
                        if step == "mistakes":
                            build_museum(site_folder / step, SHOWN)
                        else:
                            STEPS[step](site_folder)
                    except Unobtainable:
                        absent("Pyodide's wheels (no package index, and none in the cache)")
                    done.touch()
        return site_folder

    return build


@pytest.fixture(scope="session")
def site_address(site_folder) -> Iterator[str]:
    """The site's address; ask `built_site` for what has to be there."""
    site_folder.mkdir(parents=True, exist_ok=True)
    with served(site_folder) as address:
        yield address
