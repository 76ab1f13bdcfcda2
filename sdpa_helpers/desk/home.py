"""Where Jupyter and the course keep what is a user's own, when the home folder cannot be written: in work/.

Jupyter stops there with a traceback, matplotlib and IPython warn in the middle of a lesson, and points would be lost.
"""

import contextlib
import os
from pathlib import Path

from sdpa_helpers.course import saved
from sdpa_helpers.desk.where import HOME, DeskProblem, refuse_links, work_of


def move_in(root: Path) -> bool:
    """Put into this process's environment, for folders that cannot be made or written, others in work/.

    Returns whether there were such folders. Raises DeskProblem when work/ cannot be written either.
    """
    own = work_of(root) / HOME
    moved = {name: str(own / name.lower()) for name, place in _kept().items() if not _can_be_written(place)}
    if not moved:
        return False
    refuse_links(root, own)
    try:
        own.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DeskProblem(
            f"neither your home folder nor {own.parent} can be written ({error.strerror or error}), and Jupyter needs "
            "a place for its own files. Give yourself the right to write in one of them, then start again"
        ) from error
    os.environ |= moved
    return True


def _kept() -> dict[str, Path]:
    from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir

    home = Path.home()
    return {
        "JUPYTER_CONFIG_DIR": Path(jupyter_config_dir()),
        "JUPYTER_DATA_DIR": Path(jupyter_data_dir()),
        "JUPYTER_RUNTIME_DIR": Path(jupyter_runtime_dir()),
        "IPYTHONDIR": Path(os.environ.get("IPYTHONDIR") or home / ".ipython"),
        "MPLCONFIGDIR": Path(os.environ.get("MPLCONFIGDIR") or home / ".cache" / "matplotlib"),
        "SDPA_HOME": saved.home(),
    }


def _can_be_written(place: Path) -> bool:
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        probe = place / f".sdpa-{os.getpid()}"
        probe.touch()
        probe.unlink()
        return True
    return False
