"""What a box reads, as JSON and back: every type and every size is checked, for it comes from hostile text."""

from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import Any, get_args

from sdpa_helpers.checking.code.answer_cells import MAX_ANSWER_CHARACTERS
from sdpa_helpers.checking.code.clues import Clue, Kind
from sdpa_helpers.grading.lift_words import MAX_CHARACTERS, Words
from sdpa_helpers.grading.read import (
    LONGEST_SHOWN_NAME,
    MAX_CELLS,
    MAX_CLUES,
    MAX_OTHER_CHARACTERS,
    MAX_OWN_CELLS,
    MAX_SHOWN_NAMES,
    Analysis,
    Own,
    Taken,
    Unreadable,
)
from sdpa_helpers.grading.result import Flag
from sdpa_helpers.grading.shape import LONGEST_TOKEN, MAX_TOKENS

MAX_FLAGS = 200
"""Of one part; what is beyond is left out, and one more says so."""

MAX_NAMES = 100
"""Of what is not there, named by one answer, that are kept."""

_MAX_TEXT = 1000
_KINDS = get_args(Kind)


class NotAReading(ValueError):
    """This is not what a box was asked for."""


# ---- what counts of a file --------------------------------------------------------------------------------


def unreadable_as_json(error: Unreadable) -> Any:
    """A file from which nothing can be taken."""
    return {"unreadable": str(error)[:_MAX_TEXT]}


def taken_as_json(taken: Taken) -> Any:
    """The texts that count."""
    return {
        "answers": taken.answers,
        "others": list(taken.others),
        "flags": _flags_as_json(taken.flags),
    }


def taken_from_json(data: Any, exercises: Collection[str]) -> Taken:
    """The same back; raises Unreadable when that is what was found, NotAReading for anything else."""
    if isinstance(data, dict) and set(data) == {"unreadable"}:
        raise Unreadable(_text(data["unreadable"], _MAX_TEXT))
    answers, others, flags = _fields(data, "answers", "others", "flags")
    cells = tuple(_text(cell, MAX_ANSWER_CHARACTERS) for cell in _list(others, MAX_CELLS))
    if sum(map(len, cells)) > MAX_OTHER_CHARACTERS:
        raise NotAReading("too much beside the answers")
    return Taken(_by_exercise(answers, exercises, MAX_ANSWER_CHARACTERS), cells, _flags(flags))


def words_as_json(words: Words) -> Any:
    """The answers in words."""
    return {"answers": words.answers, "flags": _flags_as_json(words.flags)}


def words_from_json(data: Any, exercises: Collection[str]) -> Words:
    """The same back; raises NotAReading."""
    answers, flags = _fields(data, "answers", "flags")
    longest = MAX_CHARACTERS * len(r"\udc00")  # half a pair of surrogates is written out
    return Words(_by_exercise(answers, exercises, longest), _flags(flags))


def own_as_json(own: Own) -> Any:
    """The learner's own definitions."""
    return {"texts": list(own.texts), "flags": _flags_as_json(own.flags)}


def own_from_json(data: Any) -> Own:
    """The same back; raises NotAReading."""
    texts, flags = _fields(data, "texts", "flags")
    cells = tuple(_text(text, MAX_ANSWER_CHARACTERS) for text in _list(texts, MAX_OWN_CELLS))
    return Own(cells, _flags(flags))


# ---- what an answer shows ---------------------------------------------------------------------------------


def analysis_as_json(analysis: Analysis) -> Any:
    """What one answer shows."""
    return {
        "not_there": [name[:_MAX_TEXT] for name in analysis.not_there[:MAX_NAMES]],
        "clues": [asdict(clue) for clue in analysis.clues],
        "shape": analysis.shape,
        "names": list(analysis.names),
        "flags": _flags_as_json(analysis.flags),
    }


def analysis_from_json(data: Any) -> Analysis:
    """The same back; raises NotAReading."""
    absent, found, shape, names, flags = _fields(data, "not_there", "clues", "shape", "names", "flags")
    return Analysis(
        not_there=tuple(_text(name, _MAX_TEXT) for name in _list(absent, MAX_NAMES)),
        clues=tuple(map(_clue, _list(found, MAX_CLUES * len(_KINDS)))),
        shape=_text(shape, MAX_TOKENS * (LONGEST_TOKEN + 1)),
        names=tuple(_text(name, LONGEST_SHOWN_NAME) for name in _list(names, MAX_SHOWN_NAMES)),
        flags=_flags(flags),
    )


def _clue(data: Any) -> Clue:
    kind, line = _fields(data, "kind", "line")
    if kind not in _KINDS:
        raise NotAReading("no kind of clue")
    return Clue(kind, _text(line, _MAX_TEXT))


# ---- their parts ------------------------------------------------------------------------------------------


def _flags_as_json(flags: Iterable[Flag]) -> list[Any]:
    return [{"kind": flag.kind, "message": flag.message[:_MAX_TEXT]} for flag in flags][:MAX_FLAGS]


def _flags(data: Any) -> tuple[Flag, ...]:
    fields = [_fields(flag, "kind", "message") for flag in _list(data, MAX_FLAGS)]
    return tuple(Flag(_text(kind, _MAX_TEXT), _text(message, _MAX_TEXT)) for kind, message in fields)


def _by_exercise(data: Any, exercises: Collection[str], longest: int) -> dict[str, str]:
    if not isinstance(data, dict) or not set(data) <= set(exercises):
        raise NotAReading("expected texts by exercise")
    return {name: _text(text, longest) for name, text in data.items()}


def _fields(data: Any, *names: str) -> tuple[Any, ...]:
    if not isinstance(data, dict) or set(data) != set(names):
        raise NotAReading(f"expected {', '.join(names)}")
    return tuple(data[name] for name in names)


def _list(data: Any, longest: int) -> list[Any]:
    if not isinstance(data, list) or len(data) > longest:
        raise NotAReading("expected a list, and a shorter one")
    return data


def _text(data: Any, longest: int) -> str:
    if not isinstance(data, str) or len(data) > longest:
        raise NotAReading("expected text, and a shorter one")
    return data
