"""Read an exercise from its page: Markdown with a head, a prompt, and headings for all that a check needs.

A page has, in this order: a head between `---` (name, lesson, section, difficulty, minutes, allows, ready, uses), the
title and the prompt, then `## Answer`, `## Hints`, `## Cases`, `## Always true`, `## Right too`, `## Mistakes`,
`## May live` (mutants, with the reason) and `## Helpers`. Code in it sees NumPy, what `exercise` offers to draw
inputs, the functions of `## Helpers`, and everything in the files that `uses` names, beside the page.
"""

import ast
import importlib
import importlib.util
import linecache
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sdpa_helpers.checking import exercise as parts
from sdpa_helpers.checking import standard_cases
from sdpa_helpers.checking.edits import Answer, Edits, NoEdit, Pairs, edits_in
from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer
from sdpa_helpers.checking.page_text import Item, PageText, names_in

OFFERED = {
    "np": np,
    **{
        name: getattr(parts, name)
        for name in ("Case", "read_only", "strided", "read_only_strided", "redraw", "signed")
    },
    "one_of_each": standard_cases.one_of_each,
}
"""What the code of every page sees."""

_EXAMPLE = re.compile(r"\{(named|call|values|result): ([^{}]*)\}|\{(result)\}")
_POINTS = re.compile(r"\((\d+(?:\.\d+)?) points?\)")
_PEAK = re.compile(r"\(([\d_]+) bytes\)")
"""A case that looks at the memory: how much an answer may hold at once beyond its inputs."""
_CODE = re.compile(r"`([^`]+)`")
_SHOWN = re.compile(r" · shown by ([\w-]+)")


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
        self.answer = Answer(self.text.head["name"], self.source, self.space)

    def _space(self) -> dict[str, Any]:
        module = f"sdpa_helpers.lessons.{self.home}.{self.text.head['name']}"
        space = {"__name__": module, "_as_inputs": _as_inputs, **OFFERED}
        for used in self.text.names("uses"):
            beside = self.text.path.with_name(f"{used}.py")
            if not beside.is_file():
                raise self.text.wrong(1, f"uses: there is no {used}.py beside the page")
            space |= {k: v for k, v in vars(_module(beside)).items() if not k.startswith("__")}
        self._run("Helpers", space)
        return space

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
        head, (wrong, pairs) = self.text.head, self._mistakes()
        prompt, examples = self._examples()
        return Exercise(
            name=head["name"],
            lesson=head["lesson"],
            title=self.text.title,
            prompt=prompt,
            examples=examples,
            section=head.get("section", ""),
            difficulty=self._number("difficulty"),
            minutes=self._number("minutes"),
            reference=self.reference,
            cases=tuple(self._cases()),
            wrong=wrong,
            also_right=tuple(
                self._edited(i.line, e) for i in self.text.items("Right too") for e in self._edits(i)
            ),
            hints=self._hints(),
            invariants=tuple(self._invariants()),
            allows=self.text.names("allows"),
            ready=self.text.names("ready"),
            mistakes=pairs if pairs.listed else None,
            spared=tuple(self._spared()),
        )

    def _number(self, name: str) -> int:
        if not self.text.head[name].isdecimal():
            raise self.text.wrong(
                1, f"{name}: a whole number is expected, and this came: {self.text.head[name]}"
            )
        return int(self.text.head[name])

    def _eval(self, line: int, code: str) -> Any:
        try:
            return eval(code, self.space)
        except Exception as error:
            raise self.text.wrong(line, f"`{code}` fails: {error!r}") from error

    def _examples(self) -> tuple[str, tuple[Example, ...]]:
        """`{call: 5}` is "f(5) gives 25", and only "f(5)" with `{result}` behind it; `{result: 5}` is only "25".

        See `_about_example`.
        """
        found = list[Example]()
        order = [match[3] for match in _EXAMPLE.finditer(self.text.prompt)]

        def keep(match: re.Match[str]) -> str:
            del order[0]
            if match[3]:
                return f"{{result:{len(found)}}}"
            arguments, *about = match[2].split(" · ")
            call = self._call(arguments)
            inputs = tuple(self._eval(1, ast.unparse(a)) for a in call.args)
            keywords = tuple((str(k.arg), self._eval(1, ast.unparse(k.value))) for k in call.keywords)
            form: Any = "named" if match[1] == "result" else match[1]
            found.append(Example(inputs, keywords, form=form, **self._about_example(about)))
            if match[1] == "result":
                return f"{{result:{len(found)}}}"
            return f"{{inputs:{len(found)}}}" if order[:1] == ["result"] else f"{{example:{len(found)}}}"

        return _EXAMPLE.sub(keep, self.text.prompt), tuple(found)

    def _call(self, arguments: str) -> ast.Call:
        try:
            call = ast.parse(f"f({arguments})", mode="eval").body
        except SyntaxError:
            raise self.text.wrong(
                1, f"`{arguments}` is no example: the arguments of a call are expected"
            ) from None
        assert isinstance(call, ast.Call)
        return call

    def _about_example(self, texts: list[str]) -> dict[str, Any]:
        """Behind its arguments: ` · 0 points`, ` · writes x` (not the others), ` · shows 5²` (as the result)."""
        about = dict[str, Any]()
        for text in texts:
            word, _, rest = text.partition(" ")
            if word == "writes":
                about["writes"] = names_in(rest)
            elif word == "shows":
                about["shows"] = rest
            elif points := _POINTS.fullmatch(f"({text})"):
                about["points"] = float(points[1])
            else:
                raise self.text.wrong(
                    1, f"`{text}` behind an example is none of `0 points`, `writes x`, `shows 5²`"
                )
        return about

    def _hints(self) -> tuple[str, str, str]:
        first, lines = self.text.parts["Hints"]
        hints = re.split(r"(?m)^\d\. ", "\n".join(lines))[1:]
        if len(hints) != 3:
            raise self.text.wrong(
                first, f"three hints are expected, 1., 2. and 3., and there are {len(hints)}"
            )
        one, two, three = (" ".join(hint.split()) for hint in hints)
        return one, two, three

    def _cases(self) -> Iterator[Case]:
        for item in self.text.items("Cases"):
            line, rest = item.codes[0]
            code = _CODE.search(rest)
            if not code:
                raise self.text.wrong(line, "a case needs the code that draws its inputs, between backticks")
            if not item.name:  # "and": cases that come ready-made
                yield from self._eval(line, code[1])
                continue
            about = rest[: code.start()]
            points, peak = _POINTS.search(about), _PEAK.search(about)
            if left := _PEAK.sub("", _POINTS.sub("", about)).strip():
                raise self.text.wrong(line, f"`{left}` is none of `(2 points)` and `(1000 bytes)`")
            make = self._eval(line, f"lambda rng: _as_inputs({code[1]})")
            worth, bytes_at_once = float(points[1]) if points else 1.0, int(peak[1]) if peak else 0
            yield Case(item.name, make, worth, item.says, bytes_at_once)

    def _invariant(self, code: str) -> str:
        """Code that makes the function of an invariant, which sees the inputs by their names, and `w`, the result."""
        function = ast.parse(self.source).body[0]
        assert isinstance(function, ast.FunctionDef)
        return f"lambda inputs, w: bool((lambda {ast.unparse(function.args)}: {code})(*inputs))"

    def _invariants(self) -> Iterator[Invariant]:
        for item in self.text.items("Always true"):
            line, rest = item.codes[0]
            code = _CODE.search(rest)
            if not code:
                raise self.text.wrong(line, "what is always true needs code, between backticks")
            if item.name:
                holds = self._eval(line, self._invariant(code[1]))
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
            return self.answer.edited(edits)
        except NoEdit as error:
            raise self.text.wrong(line, str(error)) from None

    def _mistakes(self) -> tuple[tuple[WrongAnswer, ...], Pairs]:
        wrong, listed = list[WrongAnswer](), list[tuple[str, Edits]]()
        for item in self.text.items("Mistakes"):
            if not item.name or not item.says:
                raise self.text.wrong(
                    item.line, "a mistake has a name, **like-this**, an edit, and a sentence below"
                )
            if item.name in {name for name, _ in listed} | {w.name for w in wrong}:
                raise self.text.wrong(
                    item.line, f"**{item.name}** stands twice; further ways begin with `or `"
                )
            rest, ways = item.codes[0][1], self._edits(item)
            self._refuse_unknown(item.line, rest)
            for edits in ways:
                self._edited(item.line, edits)
            if "· alone" not in rest:
                listed += [(item.name, edits) for edits in ways]
            clue = _SHOWN.search(rest)
            wrong += [
                WrongAnswer(
                    item.name,
                    self._edited(item.line, edits),
                    item.says,
                    item.hints,
                    clue=clue[1] if clue else "",
                    errors_tell="· errors tell" in rest,
                )
                for edits in ways[: 1 if "· alone" not in rest else None]
            ]
        return tuple(wrong), Pairs(self.answer, tuple(listed))

    def _refuse_unknown(self, line: int, rest: str) -> None:
        for said in rest.split(" · ")[1:]:
            if said.strip() not in ("alone", "errors tell") and not said.startswith("shown by "):
                raise self.text.wrong(
                    line, f"`· {said}` is none of `· alone`, `· errors tell`, `· shown by …`"
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
        text = f"{helpers}\n\n{self.source}\n\nEXERCISE = Exercise(invariants=({always}))\n"
        codes = [
            code
            for heading in ("Cases", "Right too", "Mistakes")
            for i in self.text.items(heading)
            for code in i.codes
        ]
        mentioned = {*re.findall(r"\w+", " ".join([text, *(code for _, code in codes)]))}
        imports = ["import numpy as np\n"]
        for used in self.text.names("uses"):
            names = sorted(
                mentioned & vars(_module(self.text.path.with_name(f"{used}.py"))).keys() - OFFERED.keys()
            )
            imports += (
                [f"from sdpa_helpers.lessons.{self.home}.{used} import {', '.join(names)}\n"] if names else []
            )
        return "".join([*imports, "\n\n", text])


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
