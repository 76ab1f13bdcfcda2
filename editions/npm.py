"""What the editions take from npm: installed once, by the lock file beside this module."""

import fcntl
import shutil
from functools import cache
from pathlib import Path

from editions.programs import output_of

HERE = Path(__file__).parent


class NotInstalled(RuntimeError):
    """npm is missing, or could not install; the text says what to do."""


@cache
def npm_folder() -> Path:
    """editions/node_modules, holding exactly what package-lock.json names, each file's hash compared by npm.

    Raises:
        NotInstalled: npm is not there, or it failed.
    """
    modules, lock = HERE / "node_modules", HERE / "package-lock.json"
    stamp = modules / ".package-lock.json"
    # `npm ci` begins by removing what is there: two at once take it away under each other's hands.
    with open(lock) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.stat().st_mtime < lock.stat().st_mtime:
            _install(stamp)
    return modules


def bundled(script: Path, into: Path) -> None:
    """Write a script of ours, and what it imports from npm, as one module: the same bytes on any machine."""
    command = [
        "node",
        str(npm_folder() / "esbuild" / "bin" / "esbuild"),
        script.name,
        "--bundle",
        "--format=esm",
    ]
    command += ["--minify", "--charset=utf8", "--log-level=warning", f"--outfile={into.resolve()}"]
    output_of(command, f"esbuild could not bundle {script.name}", cwd=script.parent)


def _install(stamp: Path) -> None:
    if not shutil.which("npm"):
        raise NotInstalled(
            "npm is missing. Install Node.js 20 or newer, which brings it; the editions need it"
        )
    command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    output_of(command, f"`npm ci` failed in {HERE}", NotInstalled, cwd=HERE)
    stamp.touch()
