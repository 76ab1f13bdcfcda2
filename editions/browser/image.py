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
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = HERE / "image.js"
MAKER = HERE / "make_image.mjs"
WARM = HERE / "before_image.py"
"""What Python runs before the image is made."""
PACKED = ".packed"
"""Not ".gz", which some servers unpack on the way: the page would then get another file than it expects."""
CODE = ("pyodide.asm.js", "pyodide.asm.wasm")
FILES = tuple(f"{name}{PACKED}" for name in (*CODE, "light-files", "light-memory"))
IMAGE = ("about", "header", "memory")
"""What the maker writes."""
NOT_RUN = (".pyi", ".pyx", ".pxd", ".h", ".c", ".a", ".dist-info/RECORD")
"""Endings of a wheel's files that nothing reads which runs."""
NOT_HERE = (".dist-info/", "/tests/", "numpy/f2py/")
"""Folders of the same kind."""


def image_files(runtime: dict[str, bytes], wheels: Iterable[bytes], lock: bytes) -> dict[str, bytes]:
    """File name → content of SCRIPT and FILES, from Pyodide's files, the wheels, and a lock file without packages.

    Raises:
        RuntimeError: Node is missing, or Python could not be started in it; the text says how.
    """
    files = archive({"lock.json": lock} | laid(wheels))
    memory = archive(_made({**runtime, SCRIPT.name: SCRIPT.read_bytes(), "files": files}))
    large = {name: runtime[name] for name in CODE} | {"light-files": files, "light-memory": memory}
    return {SCRIPT.name: SCRIPT.read_bytes()} | {f"{name}{PACKED}": packed(it) for name, it in large.items()}


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
    """The same bytes each time."""
    return gzip.compress(content, mtime=0)


def _made(files: dict[str, bytes]) -> dict[str, bytes]:
    """The image of Python's memory, by Node."""
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("node is missing: install Node.js 20 or newer")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in ("pyodide.mjs", "python_stdlib.zip", SCRIPT.name, "files", *CODE):
            (folder / name).write_bytes(files[name])
        command = [node, str(MAKER), temporary]
        done = subprocess.run(command, input=WARM.read_bytes(), capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(
                f"The image of Python's memory could not be made:\n{done.stderr.decode()[-2000:]}"
            )
        return {name: (folder / name).read_bytes() for name in IMAGE}
