"""What a page with one exercise starts from: Python's files, and an image of its memory once the course is loaded.

A page that starts Python from nothing spends most of its time on importing NumPy and the course, and a check spends
more on what it imports itself. That is done once, here: Node starts Python from the same files, imports all of it,
tries one exercise, and writes down the memory. `image.js` lays it back. The files travel too, for what is imported
later, and for a browser in which the image does not fit: there Python starts from nothing.

Servers are not asked to compress: what is large is packed here, and unpacked in the page.
"""

import gzip
import json
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = HERE / "image.js"
MAKER = HERE / "make_image.mjs"
WARM = HERE / "before_image.py"
"""What Python runs before the image is made."""
FOLDER = "sdpa-image-"
"""How the name of the folder begins in which an image is made; none of it gets into the image."""
PACKED = ".packed"
"""Not ".gz", which some servers unpack on the way: the page would then get another file than it expects."""
CODE = ("pyodide.asm.js", "pyodide.asm.wasm")
LIGHT = "light"
FILES = tuple(f"{name}{PACKED}" for name in (*CODE, f"{LIGHT}-files", f"{LIGHT}-memory"))
BARE_LOCK = "lock.json"
IMAGE = ("about", "header", "memory")
"""What the maker writes."""
NOT_RUN = (".pyi", ".pyx", ".pxd", ".h", ".c", ".a", ".dist-info/RECORD")
"""Endings of a wheel's files that nothing reads which runs."""
NOT_HERE = ("/tests/", "numpy/f2py/")
"""Folders of the same kind."""


def light_files(runtime: dict[str, bytes], wheels: Iterable[bytes]) -> dict[str, bytes]:
    """File name → content of SCRIPT and FILES, from Pyodide's files and the wheels.

    Raises:
        RuntimeError: Node is missing, or Python could not be started in it; the text says how.
    """
    files = {name: content for name, content in laid(wheels).items() if ".dist-info/" not in name}
    files |= {BARE_LOCK: bare_lock(runtime)}
    code = {f"{name}{PACKED}": packed(runtime[name]) for name in CODE}
    return code | {SCRIPT.name: SCRIPT.read_bytes()} | image_files(LIGHT, runtime, files, WARM, {})


def image_files(
    kind: str, runtime: Mapping[str, bytes], files: dict[str, bytes], warm: Path, env: dict[str, str]
) -> dict[str, bytes]:
    """Two packed archives: these files, and the image of a Python with them that has run the script `warm`."""
    both = {"files": archive(files), "memory": archive(_made(runtime, archive(files), warm, env))}
    return {f"{kind}-{name}{PACKED}": packed(content) for name, content in both.items()}


def bare_lock(runtime: Mapping[str, bytes]) -> bytes:
    """A lock file of the same Pyodide without packages: all are laid already."""
    return json.dumps({"info": json.loads(runtime["pyodide-lock.json"])["info"], "packages": {}}).encode()


def laid(wheels: Iterable[bytes]) -> dict[str, bytes]:
    """The files of some wheels that can be read in a page, by their paths below site-packages."""
    found = {}
    for wheel in wheels:
        with zipfile.ZipFile(BytesIO(wheel)) as opened:
            names = [name for name in opened.namelist() if not name.endswith(("/", *NOT_RUN))]
            found |= {name: opened.read(name) for name in names if not any(out in name for out in NOT_HERE)}
    return found


def archive(files: dict[str, bytes]) -> bytes:
    """Files as `image.js` reads them: four bytes for the list's length, the list as JSON, the files."""
    listed = json.dumps([[name, len(content)] for name, content in sorted(files.items())]).encode()
    return b"".join([len(listed).to_bytes(4, "little"), listed, *(files[name] for name in sorted(files))])


def packed(content: bytes) -> bytes:
    """The same bytes each time. With level 9 it would be four thousandths smaller, and take more than twice as long."""
    return gzip.compress(content, 8, mtime=0)


def _made(runtime: Mapping[str, bytes], files: bytes, warm: Path, env: dict[str, str]) -> dict[str, bytes]:
    """The image of Python's memory, by Node."""
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("node is missing: install Node.js 20 or newer")
    with tempfile.TemporaryDirectory(prefix=FOLDER) as temporary:
        folder = Path(temporary)
        needed = {name: runtime[name] for name in ("pyodide.mjs", "python_stdlib.zip", *CODE)}
        needed |= {SCRIPT.name: SCRIPT.read_bytes(), "files": files, BARE_LOCK: bare_lock(runtime)}
        for name, content in needed.items():
            (folder / name).write_bytes(content)
        command = [node, str(MAKER), temporary, json.dumps(env)]
        done = subprocess.run(command, input=warm.read_bytes(), capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(
                f"The image of Python's memory could not be made:\n{done.stderr.decode()[-2000:]}"
            )
        return {name: (folder / name).read_bytes() for name in IMAGE}
