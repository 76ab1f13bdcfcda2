"""Ladders made from pages: the lines of an answer, and among them lines of its known mistakes."""

import ast
import builtins
import importlib
import importlib.util
import re
from collections.abc import Iterator
from functools import cache

from sdpa_helpers.checking.code.edits import RESULT, START, EditableAnswer, Edits, Pairs
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.course.code_blocks import Block, parts_in, parts_of
from sdpa_helpers.course.code_ladder import CodeLadder, WrongLine
from sdpa_helpers.course.proof_ladder import ProofLadder
from sdpa_helpers.course.registry import LESSONS, all_exercises, folder_of

EASIEST = 3
"""Difficulty from which on an exercise has a ladder."""
FEWEST = 4
"""Lines: fewer are no puzzle."""
MOST_WRONG = 4
_BLANK = range(10, 46)
"""Letters of what is left out."""


@cache
def all_ladders() -> dict[str, CodeLadder | ProofLadder]:
    """Every ladder of this edition, by the name of the exercise or question it leads to."""
    made = {name: ladder_to(exercise) for name, exercise in all_exercises().items() if not exercise.sealed}
    written = {name: one for lesson in LESSONS for name, one in _written(lesson).items()}
    return {name: one for name, one in made.items() if one is not None} | written


def has_ladder(exercise: Exercise) -> bool:
    """Whether one of them leads to this exercise. No page of another lesson is read for it."""
    return exercise.name in _written(exercise.lesson) or not (exercise.sealed or ladder_to(exercise) is None)


@cache
def _written(lesson: str) -> dict[str, CodeLadder | ProofLadder]:
    """Those that no page can give: they stand in `exercises/ladders.py` of their lesson."""
    home = f"sdpa_helpers.lessons.{folder_of(lesson)}.exercises.ladders"
    there = importlib.util.find_spec(home) is not None
    return {one.name: one for one in importlib.import_module(home).LADDERS} if there else {}


@cache
def ladder_to(exercise: Exercise) -> CodeLadder | None:
    """The ladder, or None where the answer is too short for one, or too few of its mistakes change one line."""
    pairs = exercise.mistakes
    if exercise.difficulty < EASIEST or pairs is None or exercise.starter is not None:
        return None
    try:
        right = parts_of(exercise.reference).blocks
    except ValueError:  # a statement with an `else`, or over several lines
        return None
    wrong, blanks = _wrong_lines(pairs, right), _blanks(right)
    if len(right) < FEWEST or len(wrong) < 2 or len(blanks) < 2:
        return None
    return CodeLadder(exercise.name, wrong, (blanks[0], blanks[1]))


def _wrong_lines(pairs: Pairs, right: tuple[Block, ...]) -> tuple[WrongLine, ...]:
    """Of each line one mistake that changes it alone, then another of each, as long as there is room."""
    texts = [block.text for block in right]
    of_line: dict[int, list[WrongLine]] = {}
    seen = set[str]()
    for name, edits in pairs.listed:
        changed = _changed(pairs.answer, edits, right) if name not in seen else None
        seen.add(name)
        if changed is not None and texts.count(texts[changed[0]]) == 1:
            number, text = changed
            of_line.setdefault(number, []).append(WrongLine(texts[number], text, name))
    rounds = range(max(map(len, of_line.values()), default=0))
    every = [
        of_line[number][turn] for turn in rounds for number in sorted(of_line) if turn < len(of_line[number])
    ]
    known = set().union(*(_names(line) for line in texts))
    every = [line for line in every if _names(line.text) <= known]  # a new name would give the line away
    offered = {line.text: line for line in reversed(every)}  # the first of those that read alike
    return tuple(line for line in every if offered[line.text] is line)[:MOST_WRONG]


def _changed(answer: EditableAnswer, edits: Edits, right: tuple[Block, ...]) -> tuple[int, str] | None:
    """The one line that these edits change, and how it reads then."""
    if any(edit.before in (START, RESULT) for edit in edits):
        return None
    try:
        blocks = parts_in(answer.text(edits)).blocks
    except (ValueError, SyntaxError):
        return None
    if len(blocks) != len(right):
        return None
    changed = [number for number, (old, new) in enumerate(zip(right, blocks, strict=True)) if old != new]
    if len(changed) != 1 or blocks[changed[0]].depth != right[changed[0]].depth:
        return None
    text = _tidy(blocks[changed[0]].text, right[changed[0]].text)
    return (changed[0], text) if text else None


def _tidy(text: str, right: str) -> str:
    """A wrong line without what an edit leaves behind, brackets or spaces; "" where that alone would give it away."""
    tree, body = _statement(text), text.endswith(":")
    idle = isinstance(tree, ast.Pass) or (
        isinstance(tree, ast.Assign) and ast.unparse(tree.targets[0]) == ast.unparse(tree.value)
    )
    if idle or "#" in text or ":=" in text:
        return ""
    plain = [ast.unparse(statement).partition("\n")[0] for statement in (tree, _statement(right))]
    return (
        plain[0] if (plain[1] == right or body) and not re.search(r"\de-?\d", text) else text
    )  # 1e-9 stays 1e-9


def _names(line: str) -> set[str]:
    """The names in a line, but for those of Python itself and those that live in a comprehension."""
    tree = _statement(line)
    inner = {n.id for part in ast.walk(tree) if isinstance(part, ast.comprehension) for n in ast.walk(part.target)
             if isinstance(n, ast.Name)}  # fmt: skip
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - inner - set(dir(builtins))


def _statement(line: str) -> ast.stmt:
    return ast.parse(f"{line} pass" if line.endswith(":") else line).body[0]


def _blanks(right: tuple[Block, ...]) -> list[str]:
    """An expression of each line that has one to leave out, the longest first."""
    found = [max(few, key=len) for block in right if (few := [*_expressions(block, right)])]
    return sorted(dict.fromkeys(found), key=lambda text: (-len(text), text))


def _expressions(block: Block, right: tuple[Block, ...]) -> Iterator[str]:
    """Those on the right of a line that stand nowhere else in the answer."""
    if block.text.endswith(":"):
        return
    statement = ast.parse(block.text).body[0]
    value = getattr(statement, "value", None)
    for node in ast.walk(value) if isinstance(value, ast.expr) else ():
        if not isinstance(node, ast.Call | ast.BinOp | ast.Compare):
            continue
        text = ast.get_source_segment(block.text, node) or ""
        whole = sum(other.text.count(text) for other in right) == 1 and not text.startswith("np.empty")
        if len(text) in _BLANK and whole:  # what stands in an empty array is overwritten
            yield text
