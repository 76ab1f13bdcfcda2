"""`sdpa try`: everything that an author wants to know of an exercise, in seconds; `sdpa new`: a page to begin with."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from sdpa_helpers.checking.diagnose import passes, try_out
from sdpa_helpers.checking.exercise import Exercise, stream
from sdpa_helpers.checking.judge import PUBLIC_SEED
from sdpa_helpers.checking.prompt import with_examples
from sdpa_helpers.checking.survivors import hunt
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.lessons.places import course_root
from sdpa_helpers.lessons.registry import LESSONS, folder_of


def trial(exercise: Exercise) -> Iterator[str]:
    """Lines: the prompt, what is wrong with the page, what each mistake is told, who can't be told apart, survivors.

    A line that begins with "✗" names something to mend.
    """
    broken = list(_broken(exercise))
    yield from broken
    if broken:
        return
    yield f"# {exercise.title}  ({exercise.max_points:g} points, {exercise.minutes} minutes)"
    yield f"\n{with_examples(exercise)}"
    yield from _right_ones(exercise)
    yield from _not_always_true(exercise)
    if exercise.is_made:
        yield "What one makes is judged by criteria; its wrong answers are tried by the tests."
        return
    named = defaultdict[tuple[str, ...], list[str]](list)
    for wrong in exercise.wrong:
        result = try_out(exercise, wrong.function)
        names = tuple(mistake.name for mistake in result.mistakes)
        named[names].append(wrong.name)
        failed = sum(not case.verdict.passed for case in result.cases)
        if not failed:
            yield f"✗ {wrong.name} passes every case: add one that tells it from the answer, or move it to Right too"
            continue
        line = f"{wrong.name}: fails {failed} of {len(result.cases)} cases"
        if names == (wrong.name,):
            yield f"✓ {line}. {wrong.says}"
        else:
            yield f"✗ {line}, and is named {' and '.join(names) or 'nothing'}"
    for names, those in named.items():
        if len(those) > 1 and names:
            yield f"✗ {', '.join(those)} can't be told apart: all are named {' and '.join(names)}"
    if exercise.mistakes is not None:
        yield f"{sum(1 for _ in exercise.mistakes.deviants(2))} pairs of them are known too."
    found = hunt(exercise)
    yield f"{found.mutants} small changes of the answer were tried, {found.equivalent} of them change nothing."
    if found.survivors:
        yield "Those below pass every case: add one that tells them apart, or name them below `## May live`."
    yield from (f"✗ `{s.mutant.name}` passes every case, but {s.example}" for s in found.survivors)
    yield from (f"✗ May live: `{name}` is no survivor" for name in found.stale)


def _broken(exercise: Exercise) -> Iterator[str]:
    """Cases that can't be drawn, or that the answer itself can't do."""
    names = Counter(case.name for case in exercise.cases)
    yield from (f"✗ {times} cases are called {name!r}" for name, times in names.items() if times > 1)
    for case in exercise.cases:
        try:
            inputs = case.make(stream(PUBLIC_SEED, exercise.name, case.name))
        except Exception as error:
            yield f"✗ the inputs of the case {case.name!r} can't be drawn: {type(error).__name__}: {error}"
            continue
        if exercise.is_made:
            continue
        try:
            exercise.reference(*inputs)
        except Exception as error:
            yield f"✗ the answer itself fails in the case {case.name!r}: {type(error).__name__}: {error}"


def _not_always_true(exercise: Exercise) -> Iterator[str]:
    for case in exercise.cases if not exercise.is_made else ():
        inputs = case.make(stream(PUBLIC_SEED, exercise.name, case.name))
        result = exercise.reference(*inputs)
        for always in exercise.invariants:
            try:
                holds = always.holds(inputs, result)
            except Exception as error:
                yield f"✗ Always true: {always.name} fails in the case {case.name!r}: {type(error).__name__}: {error}"
            else:
                if not holds:
                    yield f"✗ Always true: {always.name} is not true of the answer itself in the case {case.name!r}"


def _right_ones(exercise: Exercise) -> Iterator[str]:
    for number, right in enumerate((exercise.reference, *exercise.also_right)):
        if not passes(exercise, right):
            yield f"✗ {f'right answer {number}' if number else 'the answer itself'} fails a case"


PAGE = """---
name: NAME
lesson: LESSON
section:
difficulty: 1
minutes: 5
---
# Half of each number

`NAME(x)`: every number of `x`, halved.

- `x`: numbers, any shape.
- Returns an array of the same shape.

Example: {call: [2, 6]}.

## Answer

```python
def NAME(x):
    \"\"\"Half of each number: x (any shape) -> the same shape.\"\"\"
    return x / 2
```

## Hints

1. Where to look.
2. What idea.
3. Almost the code: `x / 2`.

## Cases

- **a long row** `rng.normal(size=40)`
- **a table** `rng.normal(size=(3, 4))`
- **a table in a batch** (2 points) `rng.normal(size=(2, 3, 4))`
  What is shown when this case fails and no mistake is named.
- **one number in three axes** `rng.normal(size=(1, 1, 1))`

## Always true

- **smaller** `(abs(w) <= abs(x)).all()`
  A number became larger.

## Right too

- result: `0.5 * x`

## Mistakes

- **doubled** `x / 2` → `x * 2`
  You doubled the numbers.
  > What is half of 2?
- **another-share** `x / 2` → `x / N`, N = 3, 4
  You divided by another number than 2.
- **rounded** result: `np.round(result, N)`, N = 0, 1, 2
  You rounded the numbers.
"""
"""A page that can be tried at once, with one of each thing."""


def new_page(name: str, lesson: str = "", folder: Path | None = None) -> Path:
    """Write a page to begin with; returns where it is.

    lesson: a lesson of the course, whose folder it goes into. folder: another place, for a lesson of one's own.
    Raises Refusal for what is no name, no lesson, or there already.
    """
    if not name.isidentifier():
        raise Refusal(f"{name!r} is no name of a function: letters, digits and _ make one")
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
