"""Call a learner's function and describe what it gave: the one thing that runs next to untrusted code.

`observe` turns whatever comes back into an `Answer`: plain data, no behaviour. `pack`/`unpack` carry inputs
and answers between processes as JSON with the arrays' bytes in base64; nothing is ever pickled. This module
needs NumPy alone, because the grader copies it into the kernel in which a submission runs. Nothing here
knows what the right answer is.
"""

import base64
import json
import linecache
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

MIME = "application/vnd.sdpa.answer+json"
MAX_ANSWER_BYTES = 8 << 20
MAX_TEXT = 400
_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_DTYPES += ("float16", "float32", "float64", "complex64", "complex128")


@dataclass(frozen=True)
class Answer:
    """What a function returned, or how it failed."""

    kind: str
    """ "array", "number" (0-d), "tuple", "none", "not-attempted", "error", or "other" (`type_name` says what)."""
    type_name: str = ""
    array: np.ndarray | None = None
    """The values, of an "array" and a "number"."""
    items: tuple["Answer", ...] = ()
    """The parts of a "tuple"."""
    error: str = ""
    """The exception's type, for "error"."""
    message: str = ""
    """Its text."""
    line: str = ""
    """The learner's line in which it was raised."""


NOT_ATTEMPTED = Answer("not-attempted")


def observe(function: Callable | None, arguments: tuple) -> Answer:
    """Call `function(*arguments)` and describe the result; never raises for what the function does."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return describe(function(*arguments))  # type: ignore[misc]
    except NotImplementedError:
        return NOT_ATTEMPTED
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split()).encode("utf-8", "backslashreplace").decode()[:MAX_TEXT]
        return Answer("error", error=type(error).__name__, message=text, line=_line_of(error, function))


def describe(value: Any) -> Answer:
    """Turn a value into an `Answer`."""
    name = type(value).__name__
    if value is NotImplemented or value is Ellipsis:
        return NOT_ATTEMPTED
    if value is None:
        return Answer("none", name)
    if isinstance(value, tuple):
        return Answer("tuple", name, items=tuple(describe(item) for item in value[:16]))
    if not isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        module = type(value).__module__.partition(".")[0]
        return Answer("other", name if module == "builtins" else f"{module}.{name}")
    try:
        array = np.array(value)  # a plain copy: subclasses lose their behaviour here
    except (OverflowError, ValueError):
        return Answer("other", name)
    if array.dtype.name not in _DTYPES:
        return Answer("other", f"{name} of dtype {array.dtype.name[:40]}")
    return Answer("number" if array.ndim == 0 else "array", name, array=array)


def _line_of(error: BaseException, function: Any) -> str:
    """The deepest line of the learner's own file in the traceback, e.g. "line 3: return q @ k"."""
    home = getattr(getattr(function, "__code__", None), "co_filename", None)
    found, step = "", error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == home:
            source = linecache.getline(str(home), step.tb_lineno).strip()
            found = f"line {step.tb_lineno}: {source}"[:MAX_TEXT] if source else f"line {step.tb_lineno}"
        step = step.tb_next
    return found


# ---- between processes ----------------------------------------------------------------------------------


def pack_inputs(arguments: tuple) -> str:
    """Inputs of a case as JSON text; keeps read-only flags and non-contiguous layouts."""
    return json.dumps([_pack_input(value) for value in arguments])


def unpack_inputs(text: str) -> tuple:
    """The inverse of `pack_inputs`: every call returns fresh arrays."""
    return tuple(_unpack_input(value) for value in json.loads(text))


def _pack_input(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return {"plain": value}
    strided = not value.flags.c_contiguous
    return {"array": _pack_array(value), "strided": strided, "writeable": bool(value.flags.writeable)}


def _unpack_input(item: dict) -> Any:
    if "array" not in item:
        return item["plain"]
    array = _unpack_array(item["array"])
    if item["strided"]:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
        wide[..., ::2] = array
        array = wide[..., ::2]
    array.flags.writeable = item["writeable"]
    return array


def _pack_array(array: np.ndarray) -> dict:
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    data = base64.b64encode(little.tobytes()).decode("ascii")
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def _unpack_array(item: Any) -> np.ndarray:
    """Decode an array from untrusted JSON; raises ValueError for anything that is not exactly one."""
    if not isinstance(item, dict) or set(item) != {"dtype", "shape", "data"}:
        raise ValueError("an array must have dtype, shape and data")
    dtype, shape, data = item["dtype"], item["shape"], item["data"]
    if not isinstance(dtype, str) or dtype not in _DTYPES or not isinstance(data, str):
        raise ValueError("unknown dtype or data")
    if not isinstance(shape, list) or len(shape) > 16 or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("a shape is a list of sizes")
    raw = base64.b64decode(data, validate=True)
    return np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)


def pack_answer(answer: Answer) -> dict:
    """An answer as JSON data. Values over `MAX_ANSWER_BYTES` are replaced by their description."""
    if answer.array is not None and answer.array.nbytes > MAX_ANSWER_BYTES:
        answer = Answer("other", f"{answer.type_name} of {answer.array.nbytes} bytes")
    return {
        "kind": answer.kind,
        "type": answer.type_name[:80],
        "array": None if answer.array is None else _pack_array(answer.array),
        "items": [pack_answer(item) for item in answer.items],
        "error": [answer.error[:80], answer.message[:MAX_TEXT], answer.line[:MAX_TEXT]],
    }


def unpack_answer(data: Any, depth: int = 0) -> Answer:
    """Read an answer from untrusted JSON data; raises ValueError for anything malformed."""
    if not isinstance(data, dict) or set(data) != {"kind", "type", "array", "items", "error"} or depth > 2:
        raise ValueError("an answer must have kind, type, array, items and error")
    kind, type_name, array, items, error = (data[k] for k in ("kind", "type", "array", "items", "error"))
    if kind not in ("array", "number", "tuple", "none", "not-attempted", "error", "other"):
        raise ValueError("unknown kind of answer")
    if not isinstance(items, list) or len(items) > 16 or not isinstance(error, list) or len(error) != 3:
        raise ValueError("malformed parts")
    if not all(isinstance(text, str) and len(text) <= MAX_TEXT for text in (type_name, *error)):
        raise ValueError("malformed text")
    values = _unpack_array(array) if array is not None else None
    if (kind in ("array", "number")) != (values is not None) or (kind == "number" and values.ndim != 0):  # type: ignore[union-attr]
        raise ValueError("kind and values do not belong together")
    return Answer(kind, type_name, values, tuple(unpack_answer(item, depth + 1) for item in items), *error)


def report(function: Any, nonce: str, inputs: str) -> None:
    """Run in the kernel by a hidden check cell: call the learner's function, publish what it gave."""
    from IPython.display import display

    answer = observe(function, unpack_inputs(inputs)) if function is not None else Answer("other", "nothing")
    display({MIME: {"nonce": nonce, "answer": pack_answer(answer)}}, raw=True)
