"""Programs that editions call: what one printed, or an error that ends with its own words; and Chromium, for paper."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The names that it has: first the one without windows, which needs a quarter less to show a page."""
LAST_WORDS = 4000
"""Letters of what a program said that an error repeats."""


def output_of(
    command: Sequence[str], failed: str, error: type[Exception] = RuntimeError, **options: Any
) -> str:
    """What a program prints; `error`, which begins with `failed`, where it ends with another status than 0."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise error(f"{failed}:\n{(done.stdout + done.stderr)[-LAST_WORDS:]}")
    return done.stdout


def chromium_here() -> str | None:
    """The path of the browser, where there is one."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


@contextlib.contextmanager
def page_to_print() -> Iterator["Page"]:
    """A page of Chromium, light and without a network. Playwright's own Error where there is no Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_here(), args=["--no-sandbox"])
        yield browser.new_context(offline=True, color_scheme="light").new_page()
        browser.close()
