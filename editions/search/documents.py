"""What the search finds, read from the pages that are built: text for readers, without what surrounds it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup, Tag

AROUND = {"nav", "form", "textarea", "summary"}
"""Elements that are on a page and no part of its text: ways to other pages, and what one writes or presses."""
AROUND_CLASSES = {
    *("headerlink", "here", "ways", "try", "cell_output", "cell-anchor"),
    *("find", "example", "lived", "small", "place"),
}
"""Classes of the same, and of results of cells, tables of numbers and matrices."""
LONGEST_FORMULA = 14
"""In a line of text, once it is plain; a longer one reads as noise where its fractions are gone."""
_DRAWN = re.compile(r"<(script|style|svg)\b.*?</\1>", re.DOTALL)
"""Nine tenths of a page, and none of it words: gone before anything is parsed."""
_TEX = {
    **{r"\sqrt": "√", r"\infty": "∞", r"\top": "ᵀ", r"\cdot": "·"},
    **{r"\times": "×", r"\pm": "±", r"\|": "‖", r"\le": "≤"},
}


@dataclass(frozen=True)
class Document:
    """Something that can be found. Its headings with an id are found by themselves, below it."""

    address: str
    """In the site, without a slash before it."""
    kind: str
    """lesson, exercise, mistake, claim, page or teaching."""
    title: str
    note: str
    """What stands beside the title in a list of results."""
    body: str
    """HTML."""

    @property
    def about(self) -> tuple[str, str, str]:
        """Kind, title, and the number of the lesson that it is or is an exercise of, if any."""
        found = re.search(r"^(?:lessons/|try/.* in lesson )(\d+[a-z]?)", f"{self.address} {self.note}")
        return self.kind, self.title, found[1] if found else ""

    @property
    def html(self) -> str:
        """As Pagefind reads it."""
        return (
            '<html lang="en"><body data-pagefind-body>'
            f'<h1 data-pagefind-weight="10">{escape(self.title)}</h1>'
            f'<p data-pagefind-ignore data-pagefind-meta="note">{escape(self.note)}</p>{self.body}</body></html>'
        )


def documents(site: Path) -> Iterator[Document]:
    """All that can be found on the pages that a site has."""
    for pattern, kind, read in _PAGES:
        for path in sorted(site.glob(pattern)):
            if path.name not in ("genindex.html", "search.html"):
                page = BeautifulSoup(_DRAWN.sub("", path.read_text(encoding="utf-8")), "html.parser")
                yield from read(page, path.relative_to(site).as_posix(), kind)


def _lesson(page: Tag, address: str, kind: str) -> Iterator[Document]:
    """A page of Sphinx's that begins with the ways to its neighbors."""
    ways = page.select_one("h1 + p")
    if ways is not None and re.match("←|→|.*next:", _words(ways)):
        ways.decompose()
    return _article(page, address, kind)


def _article(page: Tag, address: str, kind: str) -> Iterator[Document]:
    """A page of Sphinx's."""
    if (text := page.select_one("article")) is not None and text.select_one("h1"):
        yield _document(text, address, kind, "")


def _exercise(page: Tag, address: str, kind: str) -> Iterator[Document]:
    """Found by its name, as it is typed; its title stands beside it."""
    if (text := page.select_one("section.prompt")) is not None and (worth := text.select_one("p.quiet")):
        name, _, told = _words(worth.extract()).partition(" · ")
        found = _document(text, address, kind, "")
        body = f"<p>{escape(found.title)}</p>{found.body}"
        yield replace(found, title=name, note=f"{found.title} · {told}", body=body)


def _room(page: Tag, address: str, kind: str) -> Iterator[Document]:
    """The mistakes of an exercise."""
    if exhibits := page.select("section.exhibit"):
        yield _document(page.select_one("main") or page, address, kind, f"{len(exhibits)} known mistakes")


def _claims(page: Tag, address: str, kind: str) -> Iterator[Document]:
    """Each row of the ledger by itself."""
    for row in page.select("table.claims tr[id]"):
        said, verdict, out = (row.select_one(part) for part in (".says", ".verdict", ".out"))
        title = row.select_one(".says > p")
        if said and verdict and out and title:
            number = str(row["id"]).removeprefix("claim-")
            words = _words(title)
            for rest in out.select("p, details"):
                rest.decompose()
            body = "".join(f"<p>{escape(_words(part))}</p>" for part in (*said.select("q"), out))
            yield Document(f"{address}#{row['id']}", kind, words, f"Claim {number}: {_words(verdict)}", body)


_PAGES: tuple[tuple[str, str, Callable[[Tag, str, str], Iterator[Document]]], ...] = (
    ("lessons/*.html", "lesson", _lesson),
    ("try/*.html", "exercise", _exercise),
    ("mistakes/*.html", "mistake", _room),
    ("ledger.html", "claim", _claims),
    ("*.html", "page", _article),
    ("docs/*.html", "page", _article),
    ("docs/instructors/*.html", "teaching", _article),
)
"""Which pages hold what. The exercises of a lesson stand on one page of Sphinx's, too: they are found once."""


def _document(text: Tag, address: str, kind: str, note: str) -> Document:
    _tidy(text)
    heading = text.select_one("h1")
    title = _words(heading.extract() if heading else text)
    return Document(address, kind, title, note, str(text))


def _tidy(text: Tag) -> None:
    """Leave what is read, and give each heading the address of its section."""
    for part in text.find_all(_is_around):
        part.decompose()
    for formula in text.find_all(_is_formula):
        plain = _plain_formula(formula.get("data-tex") or formula.get_text())
        formula.replace_with(plain if len(plain) <= LONGEST_FORMULA else "…")
    for section in text.find_all("section", id=True):
        if (heading := section.find(["h1", "h2", "h3", "h4"], recursive=False)) is not None:
            heading["id"] = section["id"]


def _is_around(part: Tag) -> bool:
    """Asked of each element of a page: selectors of CSS are ten times slower."""
    classes = _classes(part)
    return (
        part.name in AROUND
        or not AROUND_CLASSES.isdisjoint(classes)
        or ("sdpa-card" in classes and part.parent is not None and "leads" in _classes(part.parent))
        or (part.name == "div" and "math" in classes)
        or (part.name == "table" and "claims" in classes)
        or (part.name == "math" and part.get("display") == "block")
    )


def _is_formula(part: Tag) -> bool:
    return part.name == "math" or (part.name == "span" and "math" in _classes(part))


def _classes(part: Tag) -> list[str]:
    return part.attrs.get("class", [])


def _plain_formula(tex: str) -> str:
    if r"\frac" in tex:
        return "…"
    for name, sign in _TEX.items():
        tex = re.sub(re.escape(name) + r"(?![a-z])", sign, tex)
    return re.sub(r"\\[a-zA-Z]+|\\[(),;:!]|[{}]", "", tex).strip()


def _words(part: Tag) -> str:
    return " ".join(part.get_text().split())
