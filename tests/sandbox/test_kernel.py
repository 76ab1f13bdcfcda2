"""The sandbox's own small kernel does what a learner's Jupyter does, as far as an answer can ask for it."""

from dataclasses import replace

import pytest

from sdpa_helpers.sandbox.limits import Limits
from tests.sandbox import conftest
from tests.sandbox.conftest import a_kernel, printed_by

LIMITS = replace(conftest.LIMITS, cell_seconds=5.0)


@pytest.fixture
def kernel(warm):
    with a_kernel(warm, replace(LIMITS, subprocesses=True)) as made:
        yield made


@pytest.fixture
def run(kernel):
    """run(source) gives the outputs of a cell as (type, content)."""

    def go(source):
        asked = kernel.execute_cell_input(source)
        kernel.await_reply(asked, timeout=20)
        found = []
        while True:
            message = kernel.get_message("iopub", timeout=5)
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != asked:
                continue
            if kind != "status":
                found.append((kind, content))
            elif content["execution_state"] == "idle":
                return found

    return go


def printed(outputs):
    return "".join(content["text"] for kind, content in outputs if kind == "stream")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("print('a', end=''); import sys; print('b', file=sys.stderr)", "ab\n"),
        ("!echo from the shell", "from the shell"),
        ("%%timeit -n1 -r1\npass", "per loop"),
        ("import asyncio\nawait asyncio.sleep(0)\nprint('awaited')", "awaited"),
        ("import warnings\nwarnings.warn('look out')", "look out"),
        ("import logging\nlogging.warning('hm')", "hm"),
        (
            "import threading\nt = threading.Thread(target=print, args=('thread',)); t.start(); t.join()",
            "thread",
        ),
        (
            "import os\nif os.fork() == 0: print('child'); os._exit(0)\nprint('parent', os.wait()[1])",
            "parent 0",
        ),
        ("%matplotlib inline\nprint('went on')", "went on"),
        ("help(abs)", "absolute value"),
        ("import numpy as np\nnp.random.rand() != 0 and print('drew')", "drew"),
        ("print('\\ud800')", "?"),
        ("from IPython.display import clear_output\nclear_output()\nprint('after')", "after"),
        ("get_ipython().run_line_magic('pwd', '')\nprint(get_ipython().__class__.__name__)", "Shell"),
    ],
)
def test_what_cells_write(run, source, expected):
    outputs = run(source)
    assert [content["evalue"] for kind, content in outputs if kind == "error"] == []
    assert expected in printed(outputs)


def test_values_and_displays_come_as_data(run):
    from_value = run("import numpy as np\nnp.arange(3)")
    assert [(kind, content["data"]["text/plain"]) for kind, content in from_value] == [
        ("execute_result", "array([0, 1, 2])")
    ]
    shown = run("print('before')\ndisplay({'text/html': '<b>é</b>', 'image/png': b'\\0'}, raw=True)\nNone")
    assert [kind for kind, _ in shown] == ["stream", "display_data"]
    assert shown[1][1]["data"] == {"text/html": "<b>é</b>", "image/png": "AA=="}


@pytest.mark.parametrize(
    ("source", "name", "text"),
    [
        ("1 / 0", "ZeroDivisionError", "division by zero"),
        ("def f(:\n    pass", "SyntaxError", "line 1"),
        ("  x = 1\n y = 2", "IndentationError", "indent"),
        ("input('who? ')", "StdinNotImplementedError", "nobody to ask"),
        ("import sys\nsys.exit(3)", "SystemExit", "3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("class E(Exception):\n    def __str__(self): 1 / 0\nraise E", "E", "cannot be had"),
        ("get_ipython().run_cell = None\n1 / 0", "ZeroDivisionError", "division"),
    ],
)
def test_errors_have_a_name_and_a_text_and_the_next_cell_runs(run, source, name, text):
    (kind, content), *_ = [(k, c) for k, c in run(source) if k == "error"]
    assert (kind, content["ename"]) == ("error", name)
    assert text in content["evalue"]
    if "run_cell" not in source:
        assert printed(run("print('next')")) == "next\n"
    else:
        run("1")  # what a patched shell cannot run is an error, no end
        assert kernel_still_there(run)


def kernel_still_there(run):
    return any(kind == "error" for kind, _ in run("1"))


def test_many_lines_lose_nothing(warm):
    """Outputs wait for a reader who is slow; they are not thrown away."""
    with a_kernel(warm, LIMITS) as kernel:
        asked = kernel.execute_cell_input("for i in range(5_000): print(i, flush=True)")
        kernel.await_reply(asked, timeout=20)
        kernel.await_idle(asked, 5)
        assert kernel.incoming.messages >= 5_000


LIBRARIES = """
import asyncio, ctypes.util, multiprocessing, platform, tempfile
from concurrent.futures import ThreadPoolExecutor
import numpy as np
assert np.linalg.svd(np.ones((20, 20)))[1][0] > 19
ctypes.util.find_library("m"), platform.processor(), tempfile.TemporaryDirectory().cleanup()
await asyncio.gather(*(asyncio.to_thread(abs, n) for n in range(3)))
with ThreadPoolExecutor(8) as pool: assert sum(pool.map(abs, range(9))) == 36
try: multiprocessing.Pool(2)
except OSError as error: print(error)
"""


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_libraries_work_where_no_program_can_be_started(usable, level):
    with a_kernel(usable(level), Limits(seconds=60, cell_seconds=30)) as kernel:
        assert printed_by(kernel, LIBRARIES) in (
            "a graded notebook cannot start other programs\n",
            "[Errno 13] Permission denied\n",  # Landlock refuses the semaphore first
        )


BUFFERS = """
import os, socket
total, held = 0, []
def fill(out):
    global total
    os.set_blocking(out, False)
    try:
        while True: total += os.write(out, b"x" * 65536)
    except OSError: pass
try:
    while True:
        held += socket.socketpair()
        for end in held[-2:]:
            try: end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
            except OSError: pass
            fill(end.fileno())
except OSError: pass
for end in held[:4]: end.close()
try:
    while True: held.append(os.pipe()); fill(held[-1][1])
except OSError: pass
print(total >> 20)
"""


@pytest.mark.parametrize("level", ["warm", "landlock"])
def test_what_lies_in_buffers_of_the_system_is_little(usable, level):
    """No limit on memory counts it; it was more than a gigabyte."""
    with a_kernel(usable(level), LIMITS) as kernel:
        assert 1 <= int(printed_by(kernel, BUFFERS)) <= 32


def test_forks_of_one_server_draw_different_numbers(warm):
    drawn = set()
    for _ in range(2):
        with a_kernel(warm, LIMITS) as kernel:
            drawn.add(float(printed_by(kernel, "import numpy as np; print(np.random.rand())")))
    assert len(drawn) == 2
