"""`sdpa try`: everything that an author wants to know of an exercise, in seconds; `sdpa new`: a page to begin with."""

import importlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from sdpa_helpers.checking.answers.printed import kept
from sdpa_helpers.checking.authors.survivors import hunt
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.exercise import EXAMPLE, Exercise, stream
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, truths
from sdpa_helpers.checking.pages.page_text import PageText
from sdpa_helpers.checking.pages.prompt import with_examples
from sdpa_helpers.classroom.answers_as_written import answers_to, function_of
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import HERE, LESSONS, folder_of, lesson_in
from sdpa_helpers.grading.refusal import Refusal


def trial(exercise: Exercise) -> Iterator[str]:
    """Lines: the prompt, what is wrong with the page, what each mistake is told, who can't be told apart, survivors.

    A line that begins with "✗" names something to mend, and the line of the page, where it has one.
    """
    page = PageText(path) if (path := _page_of(exercise)) else None
    broken = [*_left_from_the_example(page), *_not_there(exercise, page), *_broken(exercise, page)]
    yield from broken
    if broken:
        return
    yield f"# {exercise.title}  ({exercise.max_points:g} points, {exercise.minutes} minutes)"
    yield f"\n{with_examples(exercise)}"
    examples = sum(case.name.startswith(EXAMPLE) for case in exercise.cases)
    yield f"{len(exercise.cases)} cases{f', {examples} of them from the prompt' if examples else ''}."
    yield from _right_ones(exercise, page)
    yield from _not_always_true(exercise, page)
    yield from _named(exercise, page)
    yield from _as_written(exercise)
    if exercise.is_made:
        return
    yield from _same_for_every_seed(exercise, page)
    if exercise.mistakes is not None:
        yield f"{sum(callable(d.function) for d in exercise.mistakes.deviants(2))} pairs of them are known too."
    found = hunt(exercise)
    yield f"{found.mutants} small changes of the answer were tried, {found.equivalent} of them change nothing."
    if found.survivors:
        yield "Those below pass every case: add one that tells them apart, or copy them below `## May live`, each with"
        yield "the reason why it may live in an indented line below."
    for survivor in {s.mutant.name: s for s in found.survivors}.values():
        before, after = survivor.mutant.before, survivor.mutant.after
        yield f"✗ this change passes every case, but {survivor.example}"
        yield f"- `{before}` → `{after}`" if before else f"- `→ {after}`"
    yield from (f"✗ May live: `{name}` is no survivor" for name in found.stale)


def _named(exercise: Exercise, page: PageText | None) -> Iterator[str]:
    """What each mistake is told, and those that are told alike."""
    named = defaultdict[tuple[str, ...], list[str]](list)
    for wrong in exercise.wrong:
        result = try_out(exercise, wrong.function)
        names = tuple(mistake.name for mistake in result.mistakes)
        named[names].append(wrong.name)
        failed = [case.verdict for case in result.cases if not case.verdict.passed]
        here = _line(page, f"**{wrong.name}**")
        if not failed:
            yield f"✗ {here}{wrong.name} passes every case: add a case that it fails, or move it to Right too"
            continue
        line = f"{wrong.name}: fails {len(failed)} of {len(result.cases)} cases"
        raised = [verdict.seen for verdict in failed if verdict.fault == "raised-error"]
        if names == (wrong.name,):
            yield f"✓ {line}. {wrong.says}"
        elif raised:
            yield f"✗ {here}{line}, the edit {raised[0]}"
        else:
            yield f"✗ {here}{line}, and is named {' and '.join(names) or 'nothing'}"
    for names, those in named.items():
        if len(set(those)) > 1 and names:
            yield f"✗ {', '.join(those)} can't be told apart: all are named {' and '.join(names)}"


def _as_written(exercise: Exercise) -> Iterator[str]:
    """What is made of the answers that people wrote, where some lie beside the page."""
    try:
        with kept(0):  # what they print is no word of ours
            told = [(answer, try_out(exercise, function_of(answer))) for answer in answers_to(exercise)]
    except ValueError as error:
        yield f"✗ {error}"
        return
    truly = 0
    for answer, result in told:
        names, true = {m.name for m in result.mistakes}, {name.removeprefix("?") for name in answer.names}
        truly += bool(names) and names <= true
        if answer.right != result.passed:
            said = "is right, and fails a case" if answer.right else "is wrong, and passes every case"
            yield f"✗ {answer.title!r} {said}"
        elif names - true:
            yield f"{answer.title!r} is named {' and '.join(sorted(names))}; true is {' and '.join(sorted(true))}"
    if told:
        wrong = sum(not answer.right for answer, _ in told)
        yield f"{len(told)} answers that people wrote: {wrong} of them are wrong, and {truly} of these named truly."


MOST_OF_A_TABLE = 0.2
"""Of an exercise's points: what a table of the public cases' answers may earn where the cases are drawn anew."""


def in_a_table(exercise: Exercise) -> tuple[float, tuple[str, ...]]:
    """(what such a table earns, as a share; the cases that earn it), under the middle one of five other seeds."""
    table = {truth.packed for truth in truths(exercise, PUBLIC_SEED)}
    seeds = ("secret", "another", "a third", "a fourth", "a fifth")
    found = [
        [t.case for t in truths(exercise, seed) if t.packed in table and t.case.points] for seed in seeds
    ]
    cases = sorted(found, key=lambda cases: sum(case.points for case in cases))[len(seeds) // 2]
    return sum(case.points for case in cases) / exercise.max_points, tuple(case.name for case in cases)


def _same_for_every_seed(exercise: Exercise, page: PageText | None) -> Iterator[str]:
    share, names = (0.0, ()) if exercise.whole else in_a_table(exercise)
    if share > MOST_OF_A_TABLE:
        yield (
            f"✗ {_line(page, '## Cases')}the same for every seed: {', '.join(names)}. A table of their answers earns "
            f"{share:.0%} of the points ({MOST_OF_A_TABLE:.0%} at most): draw them with `rng`, or write `(weight 0)` "
            "behind their names, for an example ` · weight 0` before its brace"
        )


def _page_of(exercise: Exercise) -> Path | None:
    path = Path(exercise.reference.__code__.co_filename)
    return path if path.suffix == ".md" else None


def _line(page: PageText | None, text: str) -> str:
    """ "line 50: ", where a text stands in the page."""
    return f"line {page.line_of(text)}: " if page and any(text in line for line in page.lines) else ""


def _left_from_the_example(page: PageText | None) -> Iterator[str]:
    """What `sdpa new` wrote and nobody has replaced, in a page that is no longer about halves."""
    if page is None or page.title == TITLE:
        return
    yield from (
        f"✗ {_line(page, text)}`{text}` stands there from the example" for text in LEFT if _line(page, text)
    )


def headings_of(lesson: str) -> list[str]:
    """The headings of a lesson's notebook; none where it isn't here."""
    path = HERE.parents[1] / "notebooks" / f"{lesson}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.is_file() else ()
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return re.findall(r"(?m)^##+ (.+?)\s*$", "\n".join(texts))


def _not_there(exercise: Exercise, page: PageText | None) -> Iterator[str]:
    lesson, home = exercise.lesson, page.path.parent.parent if page else HERE
    right = [lesson_in(home.name)] if home.parent == HERE else get_close_matches(lesson, LESSONS, 1)
    if right and lesson not in right:  # a lesson of one's own resembles none
        yield f"✗ {_line(page, f'lesson: {lesson}')}lesson: {right[0]} is expected, and this came: {lesson}"
    headings = headings_of(lesson)
    for section in dict.fromkeys((exercise.section, *(wrong.section for wrong in exercise.wrong))):
        if section and headings and section not in headings:
            near = get_close_matches(section, headings, 1, 0)[0]
            yield f"✗ {_line(page, section)}`{section}` is no heading of {lesson}.ipynb; near is `{near}`"
    for name in (*exercise.allows, *exercise.ready):
        module, _, attribute = name.rpartition(".")
        try:
            getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, ValueError):
            yield f"✗ `{name}`: there is no such function. Write it as it is imported, e.g. numpy.tril"


def _broken(exercise: Exercise, page: PageText | None) -> Iterator[str]:
    """Cases that can't be drawn, or that the answer itself can't do."""
    names = Counter(case.name for case in exercise.cases)
    yield from (f"✗ {times} cases are called {name!r}" for name, times in names.items() if times > 1)
    for case in exercise.cases:
        here = _line(page, f"**{case.name}**")
        try:
            inputs = case.make(stream(PUBLIC_SEED, exercise.name, case.name))
        except Exception as error:
            yield f"✗ {here}the inputs of the case {case.name!r} can't be drawn: {type(error).__name__}: {error}"
            continue
        if exercise.is_made:
            continue
        try:
            exercise.reference(*inputs)
        except Exception as error:
            yield f"✗ {here}the answer itself fails in the case {case.name!r}: {type(error).__name__}: {error}"


def _not_always_true(exercise: Exercise, page: PageText | None) -> Iterator[str]:
    for case in exercise.cases if not exercise.is_made else ():
        inputs = case.make(stream(PUBLIC_SEED, exercise.name, case.name))
        result = exercise.reference(*inputs)
        for always in exercise.invariants:
            here = _line(page, f"**{always.name}**")
            try:
                holds = always.holds(inputs, result)
            except Exception as error:
                yield f"✗ {here}{always.name} fails in the case {case.name!r}: {type(error).__name__}: {error}"
            else:
                if not holds:
                    yield f"✗ {here}{always.name} is not true of the answer itself in the case {case.name!r}"


def _right_ones(exercise: Exercise, page: PageText | None) -> Iterator[str]:
    written = [one for item in page.items("Right too") for one in item.codes] if page else []
    for number, right in enumerate((exercise.reference, *exercise.also_right)):
        failed = next((c.verdict for c in try_out(exercise, right).cases if not c.verdict.passed), None)
        if failed:
            after = right.__code__.co_filename.rpartition(" → ")[2]
            here = next((f"line {line}: " for line, code in written if after in code), "")
            who = f"{here}right answer {number}" if number else f"{_line(page, '## Answer')}the answer itself"
            saw = "; ".join(filter(None, (failed.seen, failed.compare)))
            yield f"✗ {who} fails the case {failed.case!r}: {saw}"


TITLE = "Halfway between two arrays"
LEFT = ("1. Where to look.", "2. What idea.", "What is shown when this case fails and no mistake is named.")
PAGE = """---
name: NAME
lesson: LESSON
section:
difficulty: 1
minutes: 5
---
# Halfway between two arrays

`NAME(x, y)`: the numbers halfway between those of `x` and `y`.

- `x`, `y`: numbers, both of the same shape.
- Returns an array of that shape.

Example: {call: [2, 6], [4, 0]}.

## Answer

```python
def NAME(x, y):
    \"\"\"Halfway between x and y (any shape) -> the same shape.\"\"\"
    return (x + y) / 2
```

## Hints

1. Where to look.
2. What idea.
3. Almost the code: `(x + y) / 2`.

## Cases

- **a long row** `rng.normal(size=40), rng.normal(size=40)`
- **a table** `rng.normal(size=(3, 4)), rng.normal(size=(3, 4))`
- **a table in a batch** (weight 2) `rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 4))`
  What is shown when this case fails and no mistake is named.
- **a column** `rng.normal(size=(3, 1)), rng.normal(size=(3, 1))`
- **one number in three axes** `rng.normal(size=(1, 1, 1)), rng.normal(size=(1, 1, 1))`

## Always true

- **between** `((np.minimum(x, y) <= w) & (w <= np.maximum(x, y))).all()`
  A number is not between the two.

## Right too

- result: `0.5 * x + 0.5 * y`

## Mistakes

- **not-halved** `(x + y) / 2` → `x + y`
  or `(x + y) / 2` → `2 * (x + y)`
  You did not halve the sum.
  > What is halfway between 2 and 2?
- **another-share** `/ 2` → `/ N`, N = 3, 4
  You divided by another number than 2.
- **x-twice** start: `y = x`
  You took the second array to be the first.
- **rounded** result: `np.round(result, N)`, N = 0, 1, 2
  You rounded the numbers.

## May live

<!-- - `before` → `after`, as `sdpa try` prints it; below it, indented, the reason why no case has to catch it. -->
"""
"""A page that can be tried at once, with one of each thing."""


def new_page(name: str, lesson: str = "", folder: Path | None = None) -> Path:
    """Write a page to begin with; returns where it is.

    lesson: a lesson of the course, whose folder it goes into. folder: another place, for a lesson of one's own.
    Raises Refusal for what is no name, no lesson, or there already.
    """
    if not name.isidentifier():
        raise Refusal(f"{name!r} is no name of a function: letters, digits and _ make one")
    if not lesson and folder is None:
        raise Refusal(
            "where does it go? `--lesson 03_softmax` names a lesson, `--folder .` a folder of your own"
        )
    if folder is None and lesson not in LESSONS:
        raise Refusal(f"there is no lesson {lesson!r}; there are: {', '.join(LESSONS)}")
    home = (
        course_root() / "sdpa_helpers" / "lessons" / folder_of(lesson) / "exercises"
        if folder is None
        else folder
    )
    path = home / f"{name}.md"
    if path.exists():
        raise Refusal(f"{path} is there already; nothing was written")
    home.mkdir(parents=True, exist_ok=True)
    path.write_text(PAGE.replace("NAME", name).replace("LESSON", lesson or "my_lesson"), encoding="utf-8")
    return path
