"""Read an exercise from its page: Markdown with a head, a prompt, and headings for all that a check needs.

A page has, in this order: a head between `---` (name, lesson, order, section, difficulty, minutes, allows, ready,
uses, remade), the title and the prompt, then `## Answer`, `## Hints`, `## Cases`, `## Always true`, `## Right too`,
`## Mistakes`, `## May live` (mutants, with the reason) and `## Helpers`. Code in it sees NumPy, what `exercise` offers
to draw inputs, the functions of `## Helpers`, and what `uses` names: everything in a file beside the page, the answer
of another page (`softmax`, or `softmax/softmax` from another lesson's folder).

Where the learner makes something, `## Criteria` stands for `## Cases`. A page that `mends` another has its cases, all
of which have to pass, and below `## Planted` the edit that the learner finds in the answer.
"""

import ast
import importlib
import importlib.util
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sdpa_helpers.checking import exercise as parts
from sdpa_helpers.checking.code.edits import EditableAnswer, Edits, NoEdit, Pairs, edits_in
from sdpa_helpers.checking.exercise import Case, Exercise, Invariant, WrongAnswer, criterion
from sdpa_helpers.checking.pages import standard_cases
from sdpa_helpers.checking.pages.page_examples import WEIGHT, prompt_and_examples
from sdpa_helpers.checking.pages.page_text import Item, PageText

OFFERED = {
    "np": np,
    **{
        name: getattr(parts, name)
        for name in ("Case", "read_only", "strided", "read_only_strided", "redraw", "signed")
    },
    "one_of_each": standard_cases.one_of_each,
}
"""What the code of every page sees."""

_PEAK = re.compile(r"\(([\d_]+) bytes\)")
"""A case that looks at the memory: how much an answer may hold at once beyond its inputs."""
_CODE = re.compile(r"`([^`]+)`")
_SHOWN = re.compile(r" · shown by ([\w-]+)")
_TREATED = re.compile(r" · see (.+?)(?= · |$)")
"""The lesson's section that treats a mistake, e.g. "4. Without the matrix", where that is not the exercise's."""


@cache
def read(path: Path) -> Exercise:
    """The exercise on a page; PageError says what is wrong with it, and where."""
    return _Page(path).exercise()


def as_module(path: Path) -> str:
    """What of a page another edition may need, as a Python file: imports, helpers, the answer, what is always true."""
    return _Page(path).as_module()


class _Page:
    """A page while its code is read."""

    def __init__(self, path: Path) -> None:
        self.text = PageText(path)
        self.shown = ["\n"] * len(self.text.lines)  # what tracebacks and `inspect` see of the page: its code
        self.space = self._space()
        self.source, _ = self.text.code("Answer")
        self.reference = self._reference()
        self.answer = EditableAnswer(self.text.head["name"], self.source, self.space)

    def _space(self) -> dict[str, Any]:
        module = f"sdpa_helpers.lessons.{self.home}.{self.text.head['name']}"
        space = {"__name__": module, "_as_inputs": _as_inputs, "exercise_of": exercise_of, **OFFERED}
        for used in self._used():
            if used.suffix == ".md":
                space[used.stem] = read(used).reference
            else:
                space |= {k: v for k, v in vars(_module(used)).items() if not k.startswith("__")}
        self._run("Helpers", space)
        return space

    def _used(self) -> list[Path]:
        """The pages and files that it names, `softmax` beside it or `softmax/softmax` in another lesson."""
        found = []
        for used in (*self.text.names("uses"), *self.text.names("mends")):
            lesson, _, name = used.rpartition("/")
            folder = self.text.path.parents[2] / lesson / "exercises" if lesson else self.text.path.parent
            ways = [folder / f"{name}{suffix}" for suffix in (".md", ".py")]
            if not any(way.is_file() for way in ways):
                raise self.text.wrong(1, f"uses: there is no {name}.md and no {name}.py in {folder}")
            found.append(next(way for way in ways if way.is_file()))
        return found

    @property
    def home(self) -> str:
        """The folder of the page as a part of the course, e.g. "softmax.exercises"."""
        return f"{self.text.path.parent.parent.name}.{self.text.path.parent.name}"

    def _run(self, heading: str, space: dict[str, Any]) -> None:
        code, first = self.text.code(heading)
        try:
            exec(compile("\n" * (first - 1) + code, str(self.text.path), "exec"), space)
        except SyntaxError as error:
            raise self.text.wrong(error.lineno or first, f"this is no Python: {error.msg}") from None
        except Exception as error:
            raise self.text.wrong(first, f"the code of `## {heading}` fails: {error!r}") from error
        self.shown[first - 1 : first - 1 + code.count("\n")] = code.splitlines(keepends=True)
        linecache.cache[str(self.text.path)] = (len(code), None, self.shown, str(self.text.path))

    def _reference(self) -> Callable:
        self._run("Answer", self.space)
        name, line = self.text.head["name"], self.text.parts["Answer"][0]
        tree = ast.parse(self.source)
        if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef) or tree.body[0].name != name:
            raise self.text.wrong(
                line, f"the answer is one function, `def {name}(…)`; what it calls goes below `## Helpers`"
            )
        return self.space[name]

    def exercise(self) -> Exercise:
        """All of it."""
        head = self.text.head
        if "order" in head:  # where it stands in its notebook: who lists a folder reads that
            self._number("order", 999)
        prompt, examples = prompt_and_examples(self.text, self._eval)
        shared: dict[str, Any] = {
            "name": head["name"],
            "lesson": head["lesson"],
            "title": self.text.title,
            "prompt": prompt,
            "examples": examples,
            "difficulty": self._number("difficulty", 5),
            "minutes": self._number("minutes", 120),
            "reference": self.reference,
            "hints": self._hints(),
        }
        if head.get("mends"):
            of = exercise_of(self.space[head["mends"].rpartition("/")[2]])
            return replace(of, **shared, starter=self._planted(), whole=True, spared=())
        wrong, pairs = self._mistakes()
        right = ((i.line, e) for i in self.text.items("Right too") for e in self._edits(i))
        return Exercise(
            **shared,
            section=head.get("section", ""),
            cases=(*self._cases(), *self._criteria()),
            wrong=wrong,
            also_right=tuple(self._edited(line, edits) for line, edits in right),
            invariants=tuple(self._invariants()),
            allows=self.text.names("allows"),
            ready=self.text.names("ready"),
            mistakes=pairs if pairs.listed else None,
            spared=tuple(self._spared()),
            remade=self._eval(self.text.line_of("remade:"), head["remade"]) if "remade" in head else None,
        )

    def _number(self, name: str, most: int) -> int:
        text = self.text.head[name]
        if not text.isdecimal() or not 1 <= int(text) <= most:
            line = self.text.line_of(f"{name}:")
            raise self.text.wrong(
                line, f"{name}: a whole number from 1 to {most} is expected, and this came: {text}"
            )
        return int(text)

    def _eval(self, line: int, code: str, around: str = "{}") -> Any:
        """The value of some code; around: what makes a function of it, where it is one."""
        try:
            compile(code.strip(), "", "eval")
            return eval(around.replace("{}", code, 1), self.space)
        except SyntaxError as error:
            raise self.text.wrong(line, f"`{code}` is no Python: {error.msg}") from None
        except Exception as error:
            raise self.text.wrong(line, f"`{code}` fails: {error!r}") from error

    def _hints(self) -> tuple[str, str, str]:
        first, lines = self.text.parts["Hints"]
        hints = re.split(r"(?m)^\d\. ", "\n".join(lines))[1:]
        if len(hints) != 3:
            raise self.text.wrong(
                first, f"three hints are expected, 1., 2. and 3., and there are {len(hints)}"
            )
        one, two, three = (" ".join(hint.split()) for hint in hints)
        return one, two, three

    def _code(self, item: Item, needed: str) -> re.Match[str]:
        """The code in an entry; an error that says what is needed where there is none."""
        line, rest = item.codes[0]
        if not (code := _CODE.search(rest)):
            raise self.text.wrong(line, needed)
        return code

    def _cases(self) -> Iterator[Case]:
        for item in self.text.items("Cases"):
            line, rest = item.codes[0]
            code = self._code(item, "a case needs the code that draws its inputs, between backticks")
            if not item.name:  # "and": cases that come ready-made
                yield from self._eval(line, code[1])
                continue
            about = rest[: code.start()]
            weight, peak = WEIGHT.search(about), _PEAK.search(about)
            if left := _PEAK.sub("", WEIGHT.sub("", about)).strip():
                raise self.text.wrong(line, f"`{left}` is none of `(weight 2)` and `(1000 bytes)`")
            make = self._eval(line, code[1], "lambda rng: _as_inputs({})")
            counts, bytes_at_once = int(weight[1]) if weight else 1, int(peak[1]) if peak else 0
            yield Case(item.name, make, counts, item.says, bytes_at_once)

    def _criteria(self) -> Iterator[Case]:
        for item in self.text.items("Criteria"):
            line, rest = item.codes[0]
            code = self._code(item, "a criterion needs the function that judges, between backticks")
            weight = WEIGHT.search(rest)
            judge = self._eval(line, code[1])
            if item.name:
                yield criterion(item.name, judge, int(weight[1]) if weight else 1, item.says)
            else:  # "and": criteria that come ready-made
                yield from judge

    def _planted(self) -> Callable:
        """The answer with the edit that the learner has to find, as code that can be shown."""
        edits = sum((edits for item in self.text.items("Planted") for edits in self._edits(item)), ())
        planted, text = self._edited(self.text.parts["Planted"][0], edits), self.answer.text(edits)
        file = planted.__code__.co_filename
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        return planted

    def _invariant(self, code: str) -> str:
        """Code that makes the function of an invariant, which sees the inputs by their names, and `w`, the result."""
        function = ast.parse(self.source).body[0]
        assert isinstance(function, ast.FunctionDef)
        return f"lambda inputs, w: bool((lambda {ast.unparse(function.args)}: {code})(*inputs))"

    def _invariants(self) -> Iterator[Invariant]:
        for item in self.text.items("Always true"):
            line, rest = item.codes[0]
            code = self._code(item, "what is always true needs code, between backticks")
            if item.name:
                holds = self._eval(line, code[1], self._invariant("{}"))
                yield Invariant(item.name, item.says, holds, tells="· tells" in rest)
            else:
                yield self._eval(line, code[1])

    def _edits(self, item: Item) -> list[Edits]:
        found = []
        for line, text in item.codes:
            try:
                found += edits_in(text)
            except NoEdit as error:
                raise self.text.wrong(line, str(error)) from None
        return found

    def _edited(self, line: int, edits: Edits) -> Callable:
        try:
            function = self.answer.edited(edits)
        except NoEdit as error:
            raise self.text.wrong(line, str(error)) from None
        # `inspect` shows it too; its text is made when somebody asks for it
        linecache.cache[function.__code__.co_filename] = (lambda: self.answer.shown(edits),)
        return function

    def _mistakes(self) -> tuple[tuple[WrongAnswer, ...], Pairs]:
        wrong, listed, lonely = list[WrongAnswer](), list[tuple[str, Edits]](), set[str]()
        functions = dict[Edits, Callable]()
        made = "Criteria" in self.text.parts
        for item in self.text.items("Mistakes"):
            if not item.name and (
                ready := _CODE.search(item.codes[0][1])
            ):  # "and": some that come ready-made
                wrong += self._eval(item.line, ready[1])
                continue
            if not item.name or not item.says:
                raise self.text.wrong(
                    item.line, "a mistake has a name, **like-this**, an edit, and a sentence below"
                )
            if (slug := "-".join(item.name.lower().split())) != item.name:
                raise self.text.wrong(item.line, f"**{item.name}**: such a name is written **{slug}**")
            if item.name in {name for name, _ in listed} | {w.name for w in wrong}:
                raise self.text.wrong(
                    item.line, f"**{item.name}** stands twice; further ways begin with `or `"
                )
            rest, ways = item.codes[0][1], self._edits(item)
            self._refuse_unknown(item.line, rest)
            functions |= {edits: self._edited(item.line, edits) for edits in ways}
            if alone := "· alone" in rest:
                lonely.add(item.name)
            if not made:  # the first way of one that stands alone is in `wrong` already
                listed += [(item.name, edits) for edits in (ways[1:] if alone else ways)]
            clue, treated = _SHOWN.search(rest), _TREATED.search(rest)
            wrong += [
                WrongAnswer(
                    item.name,
                    functions[edits],
                    item.says,
                    item.hints,
                    section=treated[1] if treated else "",
                    clue=clue[1] if clue else "",
                    errors_tell="· errors tell" in rest,
                )
                for edits in ways[: None if made else 1]
            ]
        return tuple(wrong), Pairs(self.answer, tuple(listed), frozenset(lonely), functions)

    def _refuse_unknown(self, line: int, rest: str) -> None:
        for said in rest.split(" · ")[1:]:
            if said.strip() not in ("alone", "errors tell") and not said.startswith(("shown by ", "see ")):
                raise self.text.wrong(
                    line, f"`· {said}` is none of `· alone`, `· errors tell`, `· shown by …`, `· see …`"
                )

    def _spared(self) -> Iterator[tuple[str, str]]:
        for item in self.text.items("May live"):
            found = re.fullmatch(r"`(.*)` → `(.*)`|`(.*?) ?→ (.*)`", item.codes[0][1])
            if not found or not item.says:
                raise self.text.wrong(
                    item.line, "a mutant, `before` → `after`, and below it the reason are expected"
                )
            before, after = found.groups()[:2] if found[1] is not None else found.groups()[2:]
            yield f"{before} → {after}".strip(), item.says

    def as_module(self) -> str:
        """Python with the same names, for what reads files of exercises as code."""
        helpers, _ = self.text.code("Helpers")
        invariants = [
            f"Invariant({item.name!r}, {item.says!r}, {self._invariant(code[1])}, tells={'· tells' in rest})"
            if item.name
            else code[1]
            for item in self.text.items("Always true")
            for _, rest in item.codes[:1]
            if (code := _CODE.search(rest))
        ]
        always = "".join(f"{one}, " for one in invariants)
        made = "replace()" if self.text.head.get("mends") else f"Exercise(invariants=({always}))"
        text = f"{helpers}\n\n{self.source}\n\nEXERCISE = {made}\n"
        codes = [
            code
            for heading in ("Cases", "Criteria", "Right too", "Mistakes")
            for i in self.text.items(heading)
            for code in i.codes
        ]
        mentioned = {*re.findall(r"\w+", " ".join([text, *(code for _, code in codes)]))}
        imports = ["import numpy as np\n"]
        for used in self._used():
            here = {used.stem} if used.suffix == ".md" else vars(_module(used)).keys() & mentioned
            names = sorted(here - OFFERED.keys())
            module = f"sdpa_helpers.lessons.{used.parent.parent.name}.{used.parent.name}.{used.stem}"
            imports += [f"from {module} import {', '.join(names)}\n"] if names else []
        return "".join([*imports, "\n\n", text])


def exercise_of(reference: Callable) -> Exercise:
    """The exercise of which this is the answer, as a page sees it that uses the other."""
    file = Path(reference.__code__.co_filename)
    return read(file) if file.suffix == ".md" else sys.modules[reference.__module__].EXERCISE


def _as_inputs(*values: Any) -> tuple:
    """A case's inputs: several as they are written, or one that may be a tuple of all."""
    return values[0] if len(values) == 1 and isinstance(values[0], tuple) else values


@cache
def _module(path: Path) -> Any:
    """The file beside a page: as a part of the course where it is one, else by itself."""
    inside = f"sdpa_helpers.lessons.{path.parent.parent.name}.{path.parent.name}.{path.stem}"
    if path.parents[2].name == "lessons":
        return importlib.import_module(inside)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
