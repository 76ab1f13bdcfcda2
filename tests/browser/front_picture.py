"""The picture that a shared link shows: the first page. `python -m tests.browser.front_picture` takes it anew."""

import functools
import http.server
import io
import tempfile
import threading
from pathlib import Path

from PIL import Image

from editions.front import page
from editions.programs import chromium_here

from .gallery import COLOURS
from .harness import chromium

SIZE = (1200, 630)
"""As those who show links want it."""
STORED = Path(page.__file__).parent / "static" / "share.png"
LESS = "header, .go { display: none !important } h1 { font-size: 43px; margin-top: 34px } .what { font-size: 20px }"
"""What a picture has no use for: nothing can be pressed in it."""


def store() -> None:
    """Take it anew."""
    with tempfile.TemporaryDirectory() as folder, chromium(chromium_here()) as browser:
        page.write_front(Path(folder))
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        shown = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light")
        shown.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        shown.add_style_tag(content=LESS)
        picture = Image.open(io.BytesIO(shown.screenshot())).convert("RGB")
        server.shutdown()
        server.server_close()
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(STORED, optimize=True)


if __name__ == "__main__":
    store()
