"""The one place where the public address of this repository is known.

`[project.urls] Repository` in pyproject.toml, or $SDPA_REPOSITORY, e.g. https://github.com/OWNER/NAME. Without either,
links that need an address are left out: none is invented.
"""

import os
import re
import tomllib
from urllib.parse import quote

from sdpa_helpers.course.places import course_root

BRANCH = "main"
_GITHUB = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?")


def repository() -> str:
    """The address of the repository, without a slash at its end; "" where nobody has said it."""
    if given := os.environ.get("SDPA_REPOSITORY"):
        return given.rstrip("/")
    project = tomllib.loads((course_root() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project.get("urls", {}).get("Repository", "").rstrip("/")


def colab(path: str) -> str:
    """Opens a notebook of the repository in Colab, which knows GitHub alone; "" where there is no such address."""
    found = _GITHUB.fullmatch(repository())
    return (
        f"https://colab.research.google.com/github/{found[1]}/{found[2]}/blob/{BRANCH}/{path}"
        if found
        else ""
    )


def served_at() -> str:
    """Where GitHub serves the site, with a slash at its end; "" where there is no such address."""
    found = _GITHUB.fullmatch(repository())
    return f"https://{found[1].lower()}.github.io/{found[2]}/" if found else ""


def binder(path: str) -> str:
    """Opens a notebook on Binder; "" where there is no address on GitHub."""
    found = _GITHUB.fullmatch(repository())
    place = quote(f"lab/tree/{path}", safe="")
    return f"https://mybinder.org/v2/gh/{found[1]}/{found[2]}/{BRANCH}?urlpath={place}" if found else ""


def nbgitpuller(hub: str, path: str) -> str:
    """Brings the repository to a learner of a JupyterHub with nbgitpuller, and opens a notebook; "" without address."""
    if not (address := repository()):
        return ""
    folder = address.rpartition("/")[2].removesuffix(".git")
    place = quote(f"lab/tree/{folder}/{path}", safe="")
    asked = f"repo={quote(address, safe='')}&branch={BRANCH}&urlpath={place}"
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{asked}"
