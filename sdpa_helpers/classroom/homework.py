"""Exercises without their answers, for `sdpa release --graded`: the files that replace those of the course.

An exercise's file is written anew from its definition: prompt with its examples, signature and docstring, hints, what
is allowed, what every right answer has in common, and the public cases as data, with sealed results. What other
files of the same folder hold goes along as far as something that is left needs it.
"""

import ast
import importlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.answers.sealed import Seal, SealedCase, seal
from sdpa_helpers.checking.exercise import Case, Exercise
from sdpa_helpers.checking.judging.difference import tolerances
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, Truth, truths
from sdpa_helpers.checking.pages.page import as_module
from sdpa_helpers.checking.pages.prompt import with_examples
from sdpa_helpers.classroom.code_slices import Source, imports_from, slice_of
from sdpa_helpers.classroom.telling_hints import telling
from sdpa_helpers.course.exercise_notebook import answer_cell
from sdpa_helpers.course.page_ladder import has_ladder
from sdpa_helpers.course.registry import HERE, LESSONS, all_exercises, exercises_of, folder_of, place_in

WITHHELD_HINT = "This hint is as good as the answer: your instructor has kept it."

_ANSWERS = ("wrong", "also_right", "mistakes", "spared", "remade")
"""Fields of an exercise that are not in the edition."""
_WRITTEN = (
    *("name", "lesson", "title", "prompt", "difficulty", "minutes", "reference", "cases", "hints"),
    *("invariants", "allows", "ready", "section", "examples", "starter", "whole", "ladder"),
)
"""Those that are written, as they are or changed."""


@dataclass(frozen=True)
class HintsLeftOut:
    """The hints of one exercise that do not go along."""

    exercise: str
    numbers: tuple[int, ...]
    """From 1 on."""

    def __str__(self) -> str:
        return f"{self.exercise} ({' and '.join(map(str, self.numbers))})"


@dataclass(frozen=True)
class Homework:
    """What an edition without some of the answers is made of."""

    names: tuple[str, ...]
    """The exercises without answers, in the order of the course."""
    besides: tuple[str, ...]
    """Those of them that nobody chose: their definitions use the answers of others."""
    hints: tuple[HintsLeftOut, ...]
    """Of those whose hints, or some, are as good as the answer."""
    texts: dict[str, str]
    """Files from the course's root → what is in them instead."""
    left_out: tuple[str, ...]
    """Files that do not go along."""

    @property
    def in_words(self) -> str:
        """What is homework, a lesson at a time: "`best_key` of 01_dot_product and all of 03_softmax"."""
        parts = []
        for lesson in LESSONS:
            every = [exercise.name for exercise in exercises_of(lesson)]
            here = [name for name in every if name in self.names]
            if here:
                which = "all" if here == every else _and([f"`{name}`" for name in here])
                parts.append(f"{which} of {lesson}")
        return _and(parts)


def _and(parts: list[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


SOLVED_AT_THE_START = "dot_product"
"""The notebook 00_start_here shows with it how a check works, and answers it: homework only where somebody says so."""


def chosen(wanted: Iterable[str]) -> list[str]:
    """The exercises that are meant by names of exercises and lessons; all but the demonstration by none.

    Raises LookupError for a name that is neither.
    """
    found: set[str] = set()
    for name in list(wanted) or LESSONS:
        if name in LESSONS:
            found |= {e.name for e in exercises_of(name)} - {SOLVED_AT_THE_START}
        elif name in all_exercises():
            found.add(name)
        else:
            raise LookupError(
                f"there is no exercise and no lesson called {name!r}; lessons: {', '.join(LESSONS)}; "
                f"exercises: {', '.join(all_exercises())}"
            )
    return [name for name in all_exercises() if name in found]


def homework(wanted: Iterable[str]) -> Homework:
    """Everything that an edition has to hold in the place of the answers to the chosen exercises."""
    names = chosen(wanted)
    sources = _sources()
    every = _with_those_that_need_them(names, sources)
    texts = {_module_of(name): _definition(all_exercises()[name], sources) for name in every}
    folders = {module.rpartition(".")[0] for module in texts}
    helpers = {m for m in sources if m.rpartition(".")[0] in folders} - {*map(_module_of, all_exercises())}
    helpers -= _answered_in_words(helpers)
    texts |= _what_is_needed_of(helpers, sources, texts)
    left_out = {*map(_file_of, helpers - texts.keys()), *map(_page_of, every)}
    return Homework(
        names=tuple(every),
        besides=tuple(name for name in every if name not in names),
        hints=tuple(HintsLeftOut(name, told) for name in every if (told := telling(all_exercises()[name]))),
        texts={_file_of(module): text for module, text in texts.items()},
        left_out=tuple(sorted(left_out)),
    )


# ---- which files --------------------------------------------------------------------------------------------


def _module_of(name: str) -> str:
    exercise = all_exercises()[name]
    return f"sdpa_helpers.lessons.{folder_of(exercise.lesson)}.exercises.{name}"


def _file_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _page_of(name: str) -> str:
    """The page of an exercise, or of the lines of one that is a file of Python; it need not be there."""
    exercise = all_exercises()[name]
    folder = f"sdpa_helpers/lessons/{folder_of(exercise.lesson)}"
    is_page = exercise.reference.__code__.co_filename.endswith(f"{name}.md")
    return f"{folder}/exercises/{name}.md" if is_page else f"{folder}/{name}.md"


def _sources() -> dict[str, Source]:
    """Every file in the exercises' folders, by the name of its module, but for those that only list the others."""
    found = {}
    for lesson in LESSONS:
        home = f"sdpa_helpers.lessons.{folder_of(lesson)}.exercises"
        folder = Path(importlib.import_module(home).__path__[0])
        for path in sorted(folder.glob("*.py")):
            if path.stem != "__init__":
                found[f"{home}.{path.stem}"] = Source.read(path.read_text(encoding="utf-8"))
        found |= {f"{home}.{page.stem}": Source.read(as_module(page)) for page in sorted(folder.glob("*.md"))}
    return found


def _answered_in_words(modules: Iterable[str]) -> set[str]:
    """Of these modules those that define a question."""
    return {module for module in modules if hasattr(importlib.import_module(module), "EXERCISE")}


def _with_those_that_need_them(names: list[str], sources: dict[str, Source]) -> list[str]:
    """The chosen exercises, and those whose definitions cannot do without one of their answers."""
    uses = {module: {m for m, _ in imports_from(source.tree, sources)} for module, source in sources.items()}
    without = {_module_of(name) for name in names}
    while more := {module for module, used in uses.items() if used & without} - without:
        without |= more
    return [name for name in all_exercises() if _module_of(name) in without]


def _what_is_needed_of(
    helpers: set[str], sources: dict[str, Source], texts: dict[str, str]
) -> dict[str, str]:
    """Those of the helping files that what is left imports from, cut down to what it imports."""
    folders = {module.rpartition(".")[0] for module in helpers}
    kept = {m: sources[m] for m in sources if m.rpartition(".")[0] in folders and m not in helpers}
    kept |= {m: Source.read(text) for m, text in texts.items()}
    needed: dict[str, set[str]] = {}
    cut: dict[str, str] = {}
    waiting = [pair for source in kept.values() for pair in imports_from(source.tree, sources)]
    while waiting:
        module, name = waiting.pop()
        if module not in helpers or name in needed.setdefault(module, set()):
            continue
        needed[module].add(name)
        cut[module] = "\n\n\n".join([_HELPERS, *slice_of(sources[module], needed[module])]) + "\n"
        waiting += imports_from(ast.parse(cut[module]), sources)
    return cut


_HELPERS = '"""What several exercises of this lesson share, as far as this edition needs it."""'


# ---- one exercise -------------------------------------------------------------------------------------------


def _definition(exercise: Exercise, sources: dict[str, Source]) -> str:
    """The text of an exercise's file without its answers, and without hints that tell them."""
    _refuse_what_is_new(exercise)
    invariants, needed = _invariants(exercise, sources[_module_of(exercise.name)])
    parts = slice_of(sources[_module_of(exercise.name)], needed, _GIVEN)
    stub = answer_cell(exercise).partition("\n")[2].partition("  # replace this line")[0]
    told = telling(exercise)
    hints = tuple(WITHHELD_HINT if n in told else hint for n, hint in enumerate(exercise.hints, 1))
    text = _FILE.format(
        number=exercise.lesson[:2],
        lesson=exercise.lesson,
        name=exercise.name,
        order=_order(exercise),
        helpers="".join(f"{part}\n\n\n" for part in parts),
        stub=stub,
        title=exercise.title,
        prompt=with_examples(exercise),
        section=exercise.section,
        difficulty=exercise.difficulty,
        minutes=exercise.minutes,
        starter=exercise.name if exercise.starter else None,
        whole=exercise.whole,
        ladder=has_ladder(exercise),
        cases="".join(f"        {_case(exercise, truth)},\n" for truth in truths(exercise, PUBLIC_SEED)),
        hints=hints,
        invariants="".join(f"        {text},\n" for text in invariants),
        allows=exercise.allows,
        ready=exercise.ready,
    )
    compile(text, exercise.name, "exec")
    return text


def _order(exercise: Exercise) -> int:
    folder = HERE / folder_of(exercise.lesson) / "exercises"
    page = folder / f"{exercise.name}.md"
    return place_in((page if page.is_file() else page.with_suffix(".py")).read_text(encoding="utf-8"))


_GIVEN = frozenset({"np", "Case", "Exercise", "Invariant"})
"""What every written file imports."""
_FILE = '''"""Lesson {number}, exercise `{name}`: homework. The answer is not in this edition."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Exercise, Invariant, sealed_case
from sdpa_helpers.checking.answers.sealed import Seal, SealedCase


{helpers}{stub}


ORDER = {order}
EXERCISE = Exercise(
    name={name!r},
    lesson={lesson!r},
    title={title!r},
    prompt={prompt!r},
    section={section!r},
    difficulty={difficulty},
    minutes={minutes},
    reference={name},
    starter={starter},
    whole={whole},
    ladder={ladder},
    cases=(
{cases}    ),
    wrong=(),
    also_right=(),
    hints={hints!r},
    invariants=(
{invariants}    ),
    allows={allows!r},
    ready={ready!r},
)
'''


def _refuse_what_is_new(exercise: Exercise) -> None:
    """A field of which nobody has said whether it gives the answer away must not be forgotten."""
    for field in fields(Exercise):
        if field.name not in (*_ANSWERS, *_WRITTEN) and getattr(exercise, field.name) != field.default:
            raise NotImplementedError(
                f"{field.name} of {exercise.name}: does it go into an edition for homework?"
            )


def _invariants(exercise: Exercise, source: Source) -> tuple[list[str], set[str]]:
    """(the invariants as they are written, the names that they use), without those that tell the answer."""
    call = next(
        node.value
        for node in source.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_named(node, "EXERCISE")
    )
    if isinstance(call.func, ast.Name) and call.func.id == "replace":
        return [], set()  # they are those of another exercise, which is left to say them
    written = next((k.value for k in call.keywords if k.arg == "invariants"), None)
    elements = written.elts if isinstance(written, ast.Tuple) else []
    if len(elements) != len(exercise.invariants):
        raise ValueError(f"{exercise.name}: its invariants are not written one by one")
    kept = [e for e, i in zip(elements, exercise.invariants, strict=True) if not i.tells]
    names = {n.id for element in kept for n in ast.walk(element) if isinstance(n, ast.Name)}
    return [ast.unparse(element) for element in kept], names


def _is_named(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def _case(exercise: Exercise, truth: Truth) -> str:
    """A case as it is written: what is said of it, its inputs, the sealed result. A criterion without its judge."""
    left_out = ("make", "sealed", "accepts", "kept", "points")
    about = {f.name: getattr(truth.case, f.name) for f in fields(Case) if f.name not in left_out}
    written = ", ".join(f"{name}={value!r}" for name, value in about.items())
    if exercise.is_made:  # what one could compare with is not one value: an instructor's grader has to look
        return f"Case(make=lambda _rng: (), kept=True, {written})"
    parts = truth.expected.items if truth.expected.kind == "tuple" else (truth.expected,)
    of = f"{exercise.name} / {truth.case.name}"
    seals = tuple(_seal(part, f"{of} / {number}") for number, part in enumerate(parts))
    sealed = SealedCase(truth.packed, seals, truth.expected.kind == "tuple")
    return f"sealed_case({sealed!r}, {written})"


def _seal(part: Answer, salt: str) -> Seal:
    assert part.array is not None
    form = (part.kind, part.type_name, part.array.dtype.name)
    return seal(form, part.array, tolerances(part.array), salt)
