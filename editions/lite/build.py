"""Build the JupyterLite site: the application, the course's notebooks and desk, and a kernel that loads no other host.

The runtime of Python is shared with the light pages, in a folder beside the site (`editions/browser/runtime.py`).
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from editions.browser.runtime import LOCK, ROOT, build_runtime
from editions.lite.contents import desk, write_contents
from editions.lite.kernel import KERNEL_EXTENSION, settings, write_image, write_kernel
from editions.lite.what_works import page
from editions.look.pages import templates_in, write_look
from editions.programs import output_of
from sdpa_helpers.desk.launch import FRONT

HERE = Path(__file__).parent
ROOM = HERE.parent / "try_it/static/room.js"
"""The light pages' own: one room for both."""
KERNEL_PLUGIN = "@jupyterlite/pyodide-kernel-extension:kernel"
EXTENSIONS = ("@jupyter-widgets/jupyterlab-manager", "anywidget", "jupyterlab_pygments")
"""From this environment: widgets, panels, colours of code."""
OURS = "sdpa-course"
EPOCH = 315532800
"""Seconds: 1980. The build is the same whenever it is made."""
AUTOSAVE_S = 10
SPARED = ("*.map", "*.LICENSE.txt", "schemas.json.gz")
SETTINGS: dict[str, Any] = {
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": AUTOSAVE_S},
    "@jupyterlab/filebrowser-extension:browser": {
        "showLastModifiedColumn": False,
        "sortNotebooksFirst": True,
    },
}


def build_lite(into: Path, pyodide: Path | None = None) -> Path:
    """Write the site into the folder `into` and give it back.

    `pyodide` is the runtime's folder, "pyodide" beside the site if not given; it is made if it is missing.

    Raises:
        RuntimeError: JupyterLite's own builder failed; the text says how.
    """
    pyodide = pyodide or into.parent / "pyodide"
    if not (pyodide / LOCK).is_file():
        build_runtime(pyodide)
    shutil.rmtree(into, ignore_errors=True)
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "lite"
        write_contents(ROOT, source / "files")
        _write_json(source / "overrides.json", course_settings())
        _run_builder(source, into, extensions(Path(temporary)))
    add_kernel_and_desk(into, pyodide)
    write_look(into.parent)
    (into / "what-works.html").write_text(page(ROOT), encoding="utf-8")
    _drop(into)
    return into


def course_settings() -> dict[str, Any]:
    """The course's settings of JupyterLab, and those of a site without a server."""
    theirs = json.loads(
        (ROOT / ".jupyter/labconfig/default_setting_overrides.json").read_text(encoding="utf-8")
    )
    return theirs | SETTINGS


def extensions(temporary: Path) -> list[Path]:
    """The folders of the extensions. Ours reads the browser's storage where the desk's own asks the server."""
    ours = temporary / OURS
    shutil.copytree(FRONT / "labextensions" / OURS, ours)
    for module in sorted((HERE / "front").glob("*.*s")):
        shutil.copy(module, ours / "app" / module.name)
    shutil.copy(ROOM, ours / "app" / ROOM.name)
    share = Path(sys.prefix) / "share/jupyter/labextensions"
    return [KERNEL_EXTENSION, *(share / name for name in EXTENSIONS), ours]


def add_kernel_and_desk(site: Path, pyodide: Path) -> None:
    """Tell the application where its kernel is, and that this is the course."""
    lock = write_kernel(site / "kernel", pyodide)
    write_image(lock, pyodide)
    bar = templates_in(HERE).from_string('{% import "look.html" as look %}{{ look.bar("../../") }}').render()
    _write_json(site / "desk.json", {**desk(ROOT), "bar": bar})
    first = site / "lab" / "index.html"  # light or dark is chosen before anything is painted
    script = '<head><script src="../../look/look.js"></script>'
    first.write_text(first.read_text(encoding="utf-8").replace("<head>", script, 1), encoding="utf-8")
    path = site / "jupyter-lite.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    data = config["jupyter-config-data"]
    data |= {
        "appName": "Attention, a course",
        "sdpaCourse": "true",
        "defaultKernelName": "python3",
        "exposeAppInBrowser": True,
    }
    data.setdefault("disabledExtensions", []).extend(["@jupyterlab/apputils-extension:announcements"])
    data.setdefault("litePluginSettings", {})[KERNEL_PLUGIN] = settings(site, lock)
    _write_json(path, config)
    _name_kernel(site)


def _name_kernel(site: Path) -> None:
    """The kernel is called python3, as everywhere: a notebook goes to and fro without being changed or asking."""
    before, after = (
        'name:"python",display_name:"Python (Pyodide)"',
        'name:"python3",display_name:"Python 3 (ipykernel)"',
    )
    static = site / "extensions/@jupyterlite/pyodide-kernel-extension/static"
    found = [path for path in static.glob("*.js") if before in path.read_text(encoding="utf-8")]
    if len(found) != 1:
        raise RuntimeError(
            f"The kernel of JupyterLite declares its name in another way than expected: {found}"
        )
    text = found[0].read_text(encoding="utf-8")
    found[0].write_text(text.replace(before, after), encoding="utf-8")


def _run_builder(source: Path, into: Path, folders: list[Path]) -> None:
    asked = {
        "apps": ["lab"],
        "contents": [str(source / "files")],
        "federated_extensions": [str(folder) for folder in folders],
        "ignore_sys_prefix": True,
        "no_libarchive": True,
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "output_dir": str(into.resolve()),
        "settings_overrides": [str(source / "overrides.json")],
        "source_date_epoch": EPOCH,
    }
    _write_json(source / "jupyter_lite_config.json", {"LiteBuildConfig": asked})
    command = [sys.executable, "-m", "jupyterlite_core.app", "build"]
    failed, environment = "JupyterLite could not be built", os.environ | {"JUPYTER_CONFIG_DIR": str(source)}
    told = output_of(command, failed, cwd=source, env=environment)
    if not (into / "lab/index.html").is_file():
        raise RuntimeError(f"{failed}:\n{told[-3000:]}")


def _drop(site: Path) -> None:
    for pattern in SPARED:
        for path in site.rglob(pattern):
            path.unlink()


def _write_json(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
