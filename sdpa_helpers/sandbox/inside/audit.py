"""Note what a notebook does that reading its text does not show: a second reader, which forbids nothing.

Python tells a hook of what happens before it happens, and no hook can be taken out again. Who did it is told by the
frames: whose code called, and through whose. What the standard library, NumPy and IPython do on the way of ordinary
code is nobody's doing. A note is a number: the words are `NOTES`, never text of the learner's.
"""

import _thread
import gc
import os
import re
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

NOTES = (
    "ran a text as code (exec)",
    "unpickled a function or a class (pickle)",
    "unpacked compiled code (marshal)",
    "looked at the interpreter's frames",
    "put together a function out of parts",
    "went through all objects in memory (gc)",
    "called a library past Python (ctypes)",
    "hooked into the interpreter (a trace, a profile or an audit hook)",
    "started a second interpreter",
    "imported a file of its own",
    "opened its own memory (/proc)",
    "made a socket",
    "mapped a file or memory (mmap)",
)
"""What was seen, by its number."""

_RAN, _PICKLE, _MARSHAL, _FRAMES, _PARTS, _GC, _CTYPES, _HOOKS, _SECOND, _FILE, _MEMORY, _SOCKET, _MAP = (
    range(len(NOTES))
)
_ALWAYS = {
    "gc.get_objects": _GC,
    "gc.get_referrers": _GC,
    "gc.get_referents": _GC,
    "sys.settrace": _HOOKS,
    "sys.setprofile": _HOOKS,
    "sys.addaudithook": _HOOKS,
    "sys.monitoring.register_callback": _HOOKS,
    "cpython.PyInterpreterState_New": _SECOND,
    "mmap.__new__": _MAP,
}
_ARRAYS = frozenset(
    {
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "scalar"),
        ("numpy._core.numeric", "_frombuffer"),
    }
)
"""What pickle asks for when it reads an array or a number of NumPy's: (module, name)."""
_FRAME_EVENTS = ("sys._getframe", "sys._current_frames", "sys._current_exceptions")
_FRAME_ATTRIBUTES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")
_MEMORY_FILES = ("mem", "clear_refs")
_WATCHED = frozenset(
    (*_ALWAYS, *_FRAME_EVENTS, "exec", "compile", "marshal.loads", "marshal.load", "object.__getattr__")
) | {
    "pickle.find_class",
    "object.__setattr__",
    "code.__new__",
    "function.__new__",
    "open",
    "os.symlink",
    "os.link",
}
_PREFIXES = ("ctypes.", "socket.")

_IMPORTS = "<frozen importlib._bootstrap"
_IMPORTERS = (_IMPORTS, "<frozen zipimport")
_NAMES = r"[\w, ]*"
_DATACLASS_CALLS = re.compile(
    r"type|super|hash|FrozenInstanceError|_dflt_\w+|__dataclass_\w+|self\.__post_init__|(__dataclass_\w+)?\.__setattr__"
    r"|(\.)?__(create_fn|init|repr|eq|lt|le|gt|ge|hash|setattr|delattr)__"
)
_OF_THE_LIBRARY: dict[tuple[str, str], Callable[[str], object]] = {
    ("ast.py", "parse"): lambda text: True,
    ("typing.py", ""): re.compile(r"""[\w.\[\], |'"]*""").fullmatch,
    ("collections/__init__.py", "namedtuple"): re.compile(
        rf"lambda _cls, {_NAMES}: _tuple_new\(_cls, \({_NAMES}\)\)"
    ).fullmatch,
    ("timeit.py", "__init__"): re.compile(
        r"pass(\npass)?|\s*def inner[^\n]*:\s+(pass|_setup\(\))\n[^\n]*\n[^\n]*:\s+(pass|_stmt\(\))\n.*",
        re.DOTALL,
    ).fullmatch,
    ("dataclasses.py", ""): lambda text: (
        re.search(r"[\[;@\\]|\blambda\b", text) is None
        and all(_DATACLASS_CALLS.fullmatch(name) for name in re.findall(r"([\w.]+)\(", text))
    ),
}
"""Who else runs texts of its own making: (the end of the file, the function, "" for all) → whether it made this one."""
_MAGICS = ("run_line_magic", "run_cell_magic")
_RUN_WHAT_THEY_ARE_GIVEN = ("time", "timeit", "capture", "prun")
_IN_NO_TEXT = re.compile(r"get_ipython|run_(line|cell)_magic|system|getoutput|__\w+__|.*[^\x00-\x7f].*")
"""Names that Python and IPython give to what a cell does: magics, parts of classes, letters of other alphabets."""


def listen(tell: Callable[[int], None], known: tuple[str, ...]) -> Callable[[bytes], None]:
    """Begin to listen. tell: sends a note. known: where the files lie whose code is not a learner's.

    Gives what is to be called before each cell, with its text, and before each check: a note is sent once in each.
    """
    known = (*known, "<frozen ")
    told: set[int] = set()
    texts: list[bytes] = []
    ours: set[int] = set()  # threads in which the next event is this hook's own
    thread, getframe = _thread.get_ident, sys._getframe
    is_on, switch_off, switch_on = gc.isenabled, gc.disable, gc.enable

    def code_of(frame: FrameType) -> CodeType:
        me = thread()
        ours.add(me)
        code = frame.f_code
        ours.discard(me)
        return code

    def caller(depth: int) -> FrameType | None:
        ours.add(thread())
        try:
            return getframe(depth + 1)
        except ValueError:
            return None  # a thread that began with a function in C
        finally:
            ours.discard(thread())

    def those_above(frame: FrameType | None) -> list[tuple[FrameType, CodeType]]:
        """Who called, from the inside out, up to the first frame of the learner's, which is the last."""
        found = list[tuple[FrameType, CodeType]]()
        while frame is not None:
            code = code_of(frame)
            found.append((frame, code))
            if not code.co_filename.startswith(known):
                break
            frame = frame.f_back
        return found

    def learners(code: CodeType) -> bool:
        return not code.co_filename.startswith(known)

    def in_the_text(frame: FrameType) -> bool:
        """Whether a magic was called with what stands in a cell."""
        given = [frame.f_locals.get(name, "") for name in ("line", "cell")]
        whole = [part.removesuffix("\n").encode("utf-8", "replace") for part in given if type(part) is str]
        is_run = frame.f_locals.get("magic_name") in _RUN_WHAT_THEY_ARE_GIVEN
        return is_run and len(whole) == 2 and all(any(part in text for text in texts) for part in whole)

    def is_the_cells(code: Any) -> bool:
        """Whether code that IPython runs is that of the present cell, and not of one that was rewritten."""
        text = texts[-1].decode("utf-8", "replace") if texts else ""
        names = (re.sub(r"^_\w+?(?=__\w*[^_]$)", "", name) for name in _names_in(code))
        return all(name in text or _IN_NO_TEXT.fullmatch(name) for name in names)

    def ran(event: str, arguments: tuple[Any, ...], stack: list[tuple[FrameType, CodeType]]) -> bool:
        """Whether a text was run, and not as a part of running the notebook's own cells or an import.

        That one is compiled tells nothing by itself, unless it is as if it stood in a file that is known; and which one
        the library compiles for itself does.
        """
        what = arguments[0]
        if not stack or learners(stack[0][1]):
            return event == "exec" or (type(arguments[1]) is str and arguments[1].startswith(known))
        code = stack[0][1]
        file, name = code.co_filename, code.co_name
        above = [code.co_filename for _, code in stack if not learners(code)]
        if file.startswith(_IMPORTERS):
            return event == "exec" and not (type(what) is CodeType and what.co_filename.startswith(known))
        if any(file.startswith(_IMPORTERS) for file in above):
            return False
        for (end, function), made_by_it in _OF_THE_LIBRARY.items():
            if file.endswith(f"/{end}") and function in ("", name):
                return event == "compile" and type(what) in (str, bytes) and not made_by_it(_text(what))
        if event == "compile":
            return False
        if "/IPython/" not in file and not file.endswith("/codeop.py"):
            return True
        if not learners(stack[-1][1]):
            return type(what) is CodeType and not is_the_cells(what)
        frame, last = stack[-2]
        return not (last.co_name in _MAGICS and in_the_text(frame))

    def looked_at_frames(stack: list[tuple[FrameType, CodeType]]) -> bool:
        """Whether a frame comes into the learner's hands: they asked for it, or called what hands it out."""
        codes = [code for _, code in stack]
        if codes and codes[0].co_name == "namedtuple":
            return False
        while codes and codes[0].co_filename.endswith("/inspect.py"):
            codes.pop(0)
        return not codes or any(map(learners, codes[:2]))

    def seen(event: str, arguments: tuple[Any, ...], frame: FrameType | None) -> int | None:
        """The number of the note that an event is worth."""
        if event in _ALWAYS:
            return _ALWAYS[event]
        if event == "pickle.find_class":
            honest = all(type(part) is str for part in arguments)
            return None if honest and arguments in _ARRAYS else _PICKLE
        if event in ("exec", "compile"):
            return _RAN if ran(event, arguments, those_above(frame)) else None
        if event in _FRAME_EVENTS:
            return _FRAMES if looked_at_frames(those_above(frame)) else None
        if event.startswith("object."):
            if arguments[1] in _FRAME_ATTRIBUTES:
                return _FRAMES if looked_at_frames(those_above(frame)) else None
            if arguments[1] != "__code__":
                return None
        if event in ("open", "os.symlink", "os.link"):
            return opened(arguments[0], frame)
        stack = those_above(frame)
        direct = not stack or learners(stack[0][1])
        files = [code.co_filename for _, code in stack]
        if event.startswith("marshal."):
            return None if not direct and files[0].startswith(_IMPORTS) else _MARSHAL
        if event.startswith("ctypes."):
            return None if any(file.startswith(_IMPORTS) for file in files) else _CTYPES
        if event.startswith("socket."):
            return None if any("asyncio" in file for file in files[:-1]) else _SOCKET
        return _PARTS if direct else None

    def opened(path: Any, frame: FrameType | None) -> int | None:
        path = os.fsdecode(path) if type(path) is bytes else path
        if type(path) is int:
            return None
        if not isinstance(path, str):
            return _MEMORY  # something that says its name each time it is asked
        name = str.rpartition(path, "/")[2]
        if name in _MEMORY_FILES:
            return _MEMORY
        stack = those_above(frame)
        imported = bool(stack) and stack[0][1].co_filename.startswith(_IMPORTERS)
        return _FILE if imported and not str.startswith(path, known) else None

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _WATCHED and not event.startswith(_PREFIXES):
            return
        me = thread()
        if me in ours:
            ours.discard(me)
            return
        was_on = is_on()
        switch_off()  # what is collected now would run in here
        try:
            number = seen(event, arguments, caller(1))
            if number is not None and number not in told:
                tell(number)
                told.add(number)
        finally:
            if was_on:
                switch_on()

    def begin(text: bytes) -> None:
        told.clear()
        if text:
            texts.append(text)

    sys.addaudithook(hook)
    return begin


def _text(source: str | bytes) -> str:
    return source if isinstance(source, str) else source.decode("utf-8", "replace")


def _names_in(code: CodeType) -> set[str]:
    """All names that code uses, of what lies in it too."""
    inner = [part for part in code.co_consts if type(part) is CodeType]
    return {*code.co_names}.union(*map(_names_in, inner))
