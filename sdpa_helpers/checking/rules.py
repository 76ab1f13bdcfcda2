"""What an answer may use: its exercise's rules, held against its code by reading, and against what ran.

Reading says what a learner wrote, by its name; what ran (`Answer.used`) counts however it was reached. Either is enough
for a refusal. Neither is a proof; a person looks too. Allowed is NumPy, all of it: `np.logaddexp.reduce` too, for a
learner who finds that has understood the step. Nothing forbids PyTorch where an exercise is about anything but
derivatives: what is forbidden is what would be the answer.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sdpa_helpers.checking import operations
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.hidden_use import PUT_TOGETHER
from sdpa_helpers.checking.names_used import PACKAGE, Used, used_in
from sdpa_helpers.checking.ready_made import COURSE_SOFTMAX

ALLOWED = ("check", "hint", "progress")
"""What every answer may use of the course's package; a graded notebook has nothing else of it but the softmax."""

DYNAMIC = (
    "exec",
    "eval",
    "compile",
    "getattr",
    "globals",
    "vars",
    "__import__",
    "setattr",
    "importlib",
    "runpy",
    "sys.modules",
    "sys.meta_path",
    "sys._getframe",
    "get_ipython",
    "ctypes",
    "cffi",
    "gc",
    "inspect",
    "marshal",
    "pickle",
    "types.CodeType",
    "types.FunctionType",
    "builtins",
    "torch.library",
    "torch.jit",
    "torch.fx",
    "torch.compile",
    "torch.export",
    "torch._C",
    "torch._dynamo",
    "torch._decomp",
    "torch._refs",
)
"""What lets code reach things without naming them."""

TOO_DEEP = "code that is nested too deeply"


def forbidden_in(
    exercise: Exercise,
    source: str,
    given: Mapping[str, Any] | None = None,
    others: Iterable[str] = (),
    called: str = "",
) -> tuple[str, ...]:
    """What an answer uses and its exercise forbids, sorted: dotted names, and methods as ".softmax()".

    What else stands in its cell, e.g. a test, is not held against it: see `leftovers_in`. Of the course's own package
    everything is forbidden that the exercise does not allow. others: the notebook's other answer cells, from which the
    answer may take helpers. given: what names mean outside of these, where that is known. called: the function's name,
    where that is not the exercise's. Code that cannot be read gives (): whether it runs is for the kernel to say.
    """
    try:
        used = used_in(source, given, others, called or exercise.name)
    except (RecursionError, MemoryError):
        return ()
    names = {name for name in used.names if _forbids(exercise, name)}
    methods = {name for group in exercise.forbids for name in used.methods & set(group.methods)}
    shortest = {name for name in names if not _below(name.rpartition(".")[0], tuple(names))}
    return (*sorted(shortest), *(f".{m}()" if m in used.called else f".{m}" for m in sorted(methods)))


def ran_forbidden(exercise: Exercise, used: Iterable[str]) -> tuple[str, ...]:
    """What ran while an answer was tried (`Answer.used`) and its exercise forbids, in words, sorted."""
    forbids = {name for group in exercise.forbids for name in group.operations} | {operations.UNDONE}
    found = {name for name in used if name in forbids or _of_the_course(name, ())} - set(exercise.allows)
    return tuple(sorted({operations.in_words(name) for name in found}))


def hidden_in(
    exercise: Exercise,
    source: str,
    given: Mapping[str, Any] | None = None,
    others: Iterable[str] = (),
    called: str = "",
) -> tuple[str, ...]:
    """What in an answer keeps a reader from telling what it uses, in words, sorted; the arguments as above.

    It earns nothing where something is forbidden; () where nothing is.
    """
    if not exercise.forbids:
        return ()
    try:
        return tuple(sorted(used_in(source, given, others, called or exercise.name).hidden))[:MOST_HIDDEN]
    except (RecursionError, MemoryError):
        return (f"`{TOO_DEEP}`",)


MOST_HIDDEN = 3
"""So many things a verdict names."""


def dynamic_calls(source: str) -> list[str]:
    """What in `source` keeps a reader from seeing all that it uses, sorted; for a human to look at."""
    try:
        used = used_in(source)
    except (RecursionError, MemoryError):
        return [TOO_DEEP]
    found = {name for name in used.names if _below(name, DYNAMIC)}
    found |= {f"{name} = …" for name in used.patched}
    return sorted(found | _insides(used))


def leftovers_in(exercise: Exercise, source: str) -> list[str]:
    """What stands in an answer, would not be allowed, and does nothing; a sentence for each, for a human to look at."""
    try:
        used = used_in(source, answer=exercise.name)
    except (RecursionError, MemoryError):
        return []
    imported = (
        (name, line)
        for name, line in used.idle
        if line.startswith(("import ", "from ")) and _forbids(exercise, name)
    )
    called = ((name, line) for name, line in used.idle if not line.startswith(("import ", "from ")))
    say = "{}: `{}` stands in the answer cell; {}"
    found = [say.format(exercise.name, line[:80], "nothing uses it") for _, line in imported]
    found += [say.format(exercise.name, line[:80], "it did nothing") for _, line in called]
    methods = {f".{method}" for group in exercise.forbids for method in group.methods}
    beside = (line for name, line in used.beside if name in methods or _forbids(exercise, name))
    found += [say.format(exercise.name, line[:80], "the answer does not use it") for line in beside]
    return list(dict.fromkeys(found))


def _forbids(exercise: Exercise, name: str) -> bool:
    """Whether the use of a name is forbidden."""
    names = tuple(name for group in exercise.forbids for name in group.names)
    return (_below(name, names) and name not in exercise.allows) or _of_the_course(name, exercise.allows)


def reaches_for_the_course(name: str) -> bool:
    """Whether a name found leads to the course's own functions or solutions."""
    return _below(name, (PACKAGE,))


def not_allowed(right: int, cases: int, names: Iterable[str]) -> str:
    """The verdict on an answer that uses what is not allowed, the same sentence wherever it is said.

    What is right is not counted for things of the course: a grader's kernel has only the softmax.
    """
    *first, last = names
    those = f"{', '.join(first)} and {last}" if first else last
    counts = right and not any(map(_only_here, (*first, last)))
    counted = f"{right} of {cases} {_plural('case', cases)} right, " if counts else ""
    if _is_hidden(last):
        write = "the name" if all(name.endswith(PUT_TOGETHER) for name in (*first, last)) else "the steps"
        return f"{counted}0 points: {those} here can't be read: write {write} out"
    return f"{counted}0 points: {those} {'aren' if first else 'isn'}'t allowed here"


def _is_hidden(name: str) -> bool:
    """Whether this is one of the words of `hidden_in`."""
    return name.startswith(("`", "assigning to `"))


def _only_here(name: str) -> bool:
    return reaches_for_the_course(name) and name.partition(" ")[0] != COURSE_SOFTMAX


def in_words(exercise: Exercise) -> str:
    """What an answer to the exercise may use and what not: the line that closes its prompt."""
    softmax = f"NumPy, `{COURSE_SOFTMAX}`" if COURSE_SOFTMAX in exercise.allows else "NumPy"
    line = f"Allowed: {softmax} and what you write yourself."
    *first, last = [group.says for group in exercise.forbids] or [""]
    forbidden = f"{', '.join(first)} and {last}" if first else last
    return f"{line} Not allowed: {forbidden}." if forbidden else line


def _below(name: str, forbids: tuple[str, ...]) -> bool:
    return any(name == b or name.startswith(b + ".") for b in forbids)


def _of_the_course(name: str, allows: tuple[str, ...]) -> bool:
    part = name.removeprefix(PACKAGE + ".").split(".")[0]
    return name.startswith(PACKAGE + ".") and part not in ALLOWED and name not in allows


_INSIDES = (
    "__dict__",
    "__code__",
    "__closure__",
    "__globals__",
    "__wrapped__",
    "__subclasses__",
    "__builtins__",
)
"""Attributes that lead past what is offered."""


def _insides(used: Used) -> set[str]:
    """Those of them that the code asks for, of whatever."""
    asked = used.methods | {name.rpartition(".")[2] for name in used.names}
    return set(asked) & set(_INSIDES)


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"
