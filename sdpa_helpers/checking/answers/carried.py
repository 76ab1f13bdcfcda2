"""Inputs and answers between processes: JSON with the arrays' bytes in base64; nothing is ever pickled.

`answer` runs in the kernel of a submission, next to untrusted code; `unpack_answer` believes nothing of what comes.
"""

import json
from typing import Any

import numpy as np

from sdpa_helpers.checking.answers.observe import (
    MAX_ANSWER_BYTES,
    MAX_NESTED,
    MAX_TEXT,
    Answer,
    Watch,
    observe,
)
from sdpa_helpers.checking.answers.packed_array import pack_array, unpack_array


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
    return {"array": pack_array(value), "strided": strided, "writeable": bool(value.flags.writeable)}


def _unpack_input(item: dict) -> Any:
    if "array" not in item:
        return item["plain"]
    array = unpack_array(item["array"])
    if item["strided"]:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
        wide[..., ::2] = array
        array = wide[..., ::2]
    array.flags.writeable = item["writeable"]
    return array


def pack_answer(answer: Answer) -> dict:
    """An answer as JSON data. Values over `MAX_ANSWER_BYTES` are replaced by their description."""
    if (size := bytes_of(answer)) > MAX_ANSWER_BYTES:
        answer = Answer("other", f"{answer.type_name} of {size} bytes")
    packed = {
        "kind": answer.kind,
        "type": answer.type_name[:80],
        "array": None if answer.array is None else pack_array(answer.array),
        "items": [pack_answer(item) for item in answer.items],
        "error": [
            answer.error[:80],
            *(text[:MAX_TEXT] for text in (answer.message, answer.line, answer.where)),
        ],
        "seen": {
            "changed": list(answer.changed),
            "peak_bytes": min(answer.peak_bytes, _MOST_BYTES),
            "differs": answer.differs,
        },
    }
    return packed | {"made": answer.made} if answer.kind == "made" else packed


def bytes_of(answer: Answer) -> int:
    """Bytes of all its numbers, and of what was made."""
    return (
        len(answer.made)
        + (0 if answer.array is None else answer.array.nbytes)
        + sum(map(bytes_of, answer.items))
    )


def unpack_answer(data: Any, depth: int = 0) -> Answer:
    """Read an answer from untrusted JSON data; raises ValueError for anything malformed."""
    fields = {"kind", "type", "array", "items", "error", "seen"}
    if not isinstance(data, dict) or set(data) - {"made"} != fields or depth > MAX_NESTED + 1:
        raise ValueError("an answer must have kind, type, array, items, error and seen")
    made = data.get("made", "")
    if not isinstance(made, str) or ("made" in data) != (data["kind"] == "made") or (made and depth):
        raise ValueError("what was made belongs to an answer of that kind")
    kind, type_name, array, items, error = (data[k] for k in ("kind", "type", "array", "items", "error"))
    if kind not in ("array", "number", "tuple", "none", "not-attempted", "error", "made", "other"):
        raise ValueError("unknown kind of answer")
    if not isinstance(items, list) or len(items) > 16 or not isinstance(error, list) or len(error) != 4:
        raise ValueError("malformed parts")
    if not all(isinstance(text, str) and len(text) <= MAX_TEXT for text in (type_name, *error)):
        raise ValueError("malformed text")
    values = unpack_array(array) if array is not None else None
    if kind in ("array", "number") and (values is None or (kind == "number" and values.ndim != 0)):
        raise ValueError("kind and values do not belong together")
    if values is not None and kind not in ("array", "number", "other"):
        raise ValueError("kind and values do not belong together")
    parts = tuple(unpack_answer(item, depth + 1) for item in items)
    name, message, line, where = error
    answer = Answer(
        kind, type_name, values, parts, name, message, line, where, *_unpack_seen(data["seen"]), made
    )
    if bytes_of(answer) > MAX_ANSWER_BYTES:
        raise ValueError("it is larger than an answer can be")
    return answer


_MOST_BYTES = 1 << 50


def _unpack_seen(data: Any) -> tuple[tuple[int, ...], int, bool]:
    if not isinstance(data, dict) or set(data) != {"changed", "peak_bytes", "differs"}:
        raise ValueError("seen must have changed, peak_bytes and differs")
    changed, peak, differs = data["changed"], data["peak_bytes"], data["differs"]
    if not isinstance(changed, list) or len(changed) > 16:
        raise ValueError("changed is a short list")
    if not all(type(n) is int and 0 <= n < 16 for n in changed):
        raise ValueError("changed holds positions")
    if type(peak) is not int or not 0 <= peak <= _MOST_BYTES or type(differs) is not bool:
        raise ValueError("malformed measurements")
    return tuple(changed), peak, differs


def question(function: str, packed: str, watched: str = "") -> str:
    """What a hidden check asks a kernel. watched: what to look at beside the result, see `Truth.watched`."""
    return json.dumps({"function": function, "inputs": packed, "watched": watched})


def answer(question: str, names: dict[str, Any]) -> bytes:
    """In the kernel: call what a notebook calls so, and pack what it gave."""
    asked = json.loads(question)
    function, watched = names.get(asked["function"]), asked["watched"]
    watch = Watch("memory" in watched, "twice" in watched, "made" in watched, outside=True)
    given = unpack_inputs(asked["inputs"])
    found = observe(function, given, watch) if function is not None else Answer("other", "nothing")
    return json.dumps(pack_answer(found)).encode()
