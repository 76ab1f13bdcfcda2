"""Whether the wheels beside this file are for this computer and this Python; exit 2, with a sentence, when not."""

import json
import pathlib
import platform
import sys

wanted = json.loads((pathlib.Path(__file__).parent / "for.json").read_text(encoding="utf-8"))
here = {
    "system": platform.system().lower(),
    "machine": platform.machine().lower(),
    "python": ".".join(platform.python_version_tuple()[:2]),
}
if here != wanted:
    told = "{system}, {machine}, Python {python}"
    print(
        "These wheels are for " + told.format(**wanted) + ". Here: " + told.format(**here) + ".\n"
        "With another Python: make PYTHON=python"
        + wanted["python"]
        + " lab. On another computer: use site/ in a "
        "browser, or remove the folder wheels/ to install from the internet.",
        file=sys.stderr,
    )
    sys.exit(2)
