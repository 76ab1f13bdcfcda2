"""Where words stand in the five articles, proved without shipping the articles.

`articles.json` has, for each article, how many words each of its lines has, and of every five words in a row the first
twelve bits of a hash, in order: enough to tell that a quotation stands at its line, too little to read the article from
it. It was made from the articles' text files, one each, sorted by name as A to E:

    python tests/lessons/article_words.py FOLDER

Only whitespace, quotation marks and the like at a word's ends, and what the extraction of formulas and tables left
behind are evened out; `MENDED` lists the latter.
"""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

STORED = Path(__file__).with_name("articles.json")
WINDOW = 5
_AT_THE_ENDS = "“”\"'.,;:!?()•—–→←|&\\"

MENDED = (
    # An inline formula stands twice, once as it looks and once as it was typed.
    (r"sqrtdksqrt\{d_k\}", "√d_k"),
    (r"\bdkd_k", "d_k"),
    (r"\bdvd_v", "d_v"),
    (r"\bnkn_k", "n_k"),
    (r"QKTQK\^T", "QKᵀ"),
    (r"O\(n2\)O\(n\^2\)", "O(n²)"),
    (r"exp\(\)exp\(\)", "exp()"),
    (r"\bsis_i", "s_i"),
    (r"\b([KQVijx])\1\b", r"\1"),
    (r"nimesnn imes n", "n×n"),
    (r"\[nq,nk\]\[", "["),
    (r"extmean0ext\{mean\}", "mean"),
    (r"extvariancedkext\{variance\}", "variance"),
    (r"ablaightarrow0abla ightarrow 0", "∇ → 0"),
    (r"ex>0e\^x", "e^x"),
    (r"xi>xjx_i", "x_i"),
    (r"extsoftmax\(x\)i>extsoftmax\(x\)j", ""),
    (r"iextsoftmax\(x\)i=1\\sum_i", "Σ_i"),
    (r"extsoftmax\(\[0,0,10\]\)", ""),
    (r"heta=(\d+°?)heta", "θ"),
    # Commands without their backslash, or a letter short.
    (r"sqrt\{d_k\}", "√d_k"),
    (r"ext(?:bf)?\{([^{}]*)\}", r"\1"),
    (r"\\\| ec\{(\w)\}\\\|", r"‖\1‖"),
    (r"ec\{(\w)\}", r"\1"),
    (r"mathcal\{L\}", "L"),
    (r"mathbb\{E\}", "E"),
    (r"mathbb\{R\}", "ℝ"),
    (r"partial ", "∂"),
    (r"delta_\{ij\}", "δ_ij"),
    (r"sum_\{i=1\}\^\{d_k\}", "Σ"),
    (r"rac\{\s*([^{}]*)\}\{\s*([^{}]*)\}", r"\1/\2"),
    (r"(?:egin|end)\{\w+\}", ""),
    (r"\\\\\[[\d.]+em\]", ""),
    (r"left(?=[(\[])", ""),
    (r" ight(?=[)\]])", " "),
    (r"\\?\bapprox\b", "≈"),
    (r"\\?\bcdot\b", "·"),
    (r"&in\b", "∈"),
    (r"ightarrow", "→"),
    (r" imes ", "×"),
    (r"cos\( heta\)", "cos(θ)"),
    (r"\[ (?=\w )", "["),
    (r"\bquad\b", ""),
    (r"&", ""),
    # The cells of a table without the space between them.
    (r"(?<=[a-z])(0\.\d\d)", r" \1"),
    (r"20240\.15", "2024 0.15"),
    (r"(0\.\d\d)(?=[A-Z])", r"\1 "),
    (r"\b(4)(2)(1)Smooth|\b(64)(8)(1)Smooth|\b(512)(22\.6)(1)Smooth", r"\1\4\7 \2\5\8 \3\6\9 Smooth"),
    (r"\(unscaled\)22\.622\.6", "(unscaled) 22.6 22.6 "),
    (r"√d_kDot", "√d_k Dot"),
    (r"worseLarger", "worse Larger"),
    (r"softmaxRank", "softmax Rank"),
    (r"√d_kScaling factorPrevents", "√d_k Scaling factor Prevents"),
    (r"(QKᵀ|Softmax|V|Total)O\(", r"\1 O("),
)


class Article(NamedTuple):
    """What is kept of an article."""

    words_in_line: list[int]
    windows: str
    """Three hexadecimal digits for each word that begins a window."""


def words(text: str) -> list[str]:
    """The words, without quotation marks and the like at their ends; what is nothing else is no word."""
    found = (word.strip(_AT_THE_ENDS) for word in text.split())
    return [word for word in found if word not in ("", "-")]


def mended(line: str) -> str:
    """A line of an article without what the extraction left behind."""
    for pattern, instead in MENDED:
        line = re.sub(pattern, instead, line)
    return line


def windows(found: list[str]) -> str:
    """The digits of every five words in a row."""
    rows = (" ".join(found[n : n + WINDOW]) for n in range(len(found) - WINDOW + 1))
    return "".join(hashlib.sha256(row.encode()).hexdigest()[:3] for row in rows)


def stored() -> dict[str, Article]:
    """What is kept of the five."""
    data = json.loads(STORED.read_text(encoding="utf-8"))
    return {letter: Article(*kept) for letter, kept in data.items()}


def lines_of(part: str, article: Article) -> list[int]:
    """The lines at which some words, five or more, begin."""
    digits = windows(words(part))
    assert digits, f"fewer than {WINDOW} words: {part}"
    at = [n // 3 for n in range(0, len(article.windows), 3) if article.windows.startswith(digits, n)]
    return [line for first in at if (line := _line(first, article))]


def _line(word: int, article: Article) -> int:
    for number, count in enumerate(article.words_in_line, 1):
        if word < count:
            return number
        word -= count
    raise AssertionError("there is no such word")


def stands(quotation: str, line: int, article: Article) -> bool:
    """Whether a quotation, its parts joined by "…", stands in the article, and its first part begins at the line."""
    first, *more = quotation.split("…")
    return line in lines_of(first, article) and all(
        any(at >= line for at in lines_of(part, article)) for part in more
    )


def made(folder: Path) -> dict[str, Article]:
    """What is kept, from the articles themselves."""
    kept = {}
    for letter, path in zip("ABCDE", sorted(folder.glob("*.txt")), strict=True):
        lines = [words(mended(line)) for line in path.read_text(encoding="utf-8").splitlines()]
        kept[letter] = Article(
            [len(line) for line in lines], windows([word for line in lines for word in line])
        )
    return kept


if __name__ == "__main__":
    STORED.write_text(json.dumps(made(Path(sys.argv[1]))) + "\n", encoding="utf-8")
