"""The ledger: every claim computed again, compared with docs/ledger.json and docs/ledger.md, and held to its rules."""

import json
import math
import re
import string
from functools import cache
from pathlib import Path

import nbformat
import pytest

from sdpa_helpers.course.articles import ARTICLES, article_of, part_of
from sdpa_helpers.course.claim import Claim, LedgerRow, claims_of, run, verdict_of
from sdpa_helpers.course.content import PageError
from sdpa_helpers.course.ledger_page import VERDICTS, as_json, as_page, as_text, stored_entries
from sdpa_helpers.course.registry import all_claims, claim_numbered
from sdpa_helpers.course.verdict_rules import RULES, rule_of
from tests.lessons.article_words import lines_of, stands
from tests.lessons.article_words import stored as articles

COURSE = Path(__file__).parents[2]
CLAIMS = {claim.number: claim for claim in all_claims()}


@cache
def computed(number: int) -> LedgerRow:
    return run(CLAIMS[number])


@cache
def stored() -> dict[str, dict]:
    return json.loads((COURSE / "docs" / "ledger.json").read_text(encoding="utf-8"))


def test_every_number_is_there_exactly_once():
    numbers = [claim.number for claim in all_claims()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert list(stored()) == [str(number) for number in numbers]


# What is stored is what comes out ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", CLAIMS)
def test_the_stored_numbers_and_verdict_come_out_again(number):
    entry, row = computed(number), stored()[str(number)]
    assert entry.verdict == row["verdict"]
    assert {name: float(value) for name, value in row["values"].items()} == pytest.approx(
        dict(entry.values), rel=entry.claim.relative, abs=1e-9, nan_ok=True
    )


def test_the_page_is_made_from_the_stored_numbers():
    entries = stored_entries(all_claims(), (COURSE / "docs" / "ledger.json").read_text(encoding="utf-8"))
    assert as_json(entries) == (COURSE / "docs" / "ledger.json").read_text(encoding="utf-8")
    assert as_page(entries) == (COURSE / "docs" / "ledger.md").read_text(encoding="utf-8"), (
        "run `make ledger`"
    )


# No verdict is written by hand -----------------------------------------------------------------------------------


def changed(values: dict[str, float]) -> list[dict[str, float]]:
    """The same numbers with one, or all, of them changed; only finite changes."""
    factors, constants = (0, -1, 0.1, 10, 1e6, 1e-6), (0.0, 1.0, -1.0, 1e3)
    sets = [{name: factor * value for name, value in values.items()} for factor in factors]
    for name, value in values.items():
        others = {factor * value for factor in factors} | set(values.values()) | set(constants)
        sets += [values | {name: other} for other in others if math.isfinite(other)]
    return sets


def verdict_without_a_reason(number: int) -> str:
    """Why nothing decides a claim's verdict: neither its numbers nor a source; "" where something does."""
    claim, entry = CLAIMS[number], computed(number)
    if claim.source:
        year_or_address = re.search(r"\b(19|20)\d\d\b|https?://|arXiv", claim.source)
        return "" if year_or_address else "no year, no address"
    if claim.compute is None or not entry.values:
        return "measured, without numbers"
    verdicts = {claim.verdict(values) for values in changed(dict(entry.values))}
    if not verdicts <= set(VERDICTS):
        return f"unknown verdicts {verdicts}"
    return "" if verdicts - {entry.verdict} else "no change of the numbers changes it"


def test_a_verdict_comes_from_the_numbers_or_names_its_source():
    assert {computed(number).verdict for number in CLAIMS} <= set(VERDICTS)
    reasons = {number: verdict_without_a_reason(number) for number in CLAIMS}
    assert not {number: reason for number, reason in reasons.items() if reason}


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        ((True, True), "right"),
        ((True, False), "needs a condition"),
        ((False, True, False), "needs a condition"),
        ((False, False), "wrong"),
        ((None,), "not shown"),
        ((None, False), "wrong"),
        ((), "not shown"),
    ],
)
def test_a_verdict_is_a_function_of_the_cases(holds, verdict):
    assert verdict_of(holds) == verdict


def test_nothing_is_wrong_that_holds_in_some_case_and_nothing_right_that_fails_in_one():
    for number in CLAIMS:
        entry = computed(number)
        held = {case.holds for case in entry.cases if case.within}
        assert held, number
        assert (entry.verdict == "wrong") == (held <= {False, None} and False in held), number
        assert (entry.verdict == "right") == (held <= {True, None} and True in held), number


def test_claims_with_the_same_hole_have_the_same_verdict():
    for rule in RULES:
        assert len(rule.claims) > 1, rule
        assert {number: computed(number).verdict for number in rule.claims} == dict.fromkeys(
            rule.claims, rule.verdict
        ), rule.says
    shared = [number for rule in RULES for number in rule.claims]
    assert len(shared) == len(set(shared))


def test_what_is_not_shown_shares_one_rule():
    not_shown = [number for number in CLAIMS if computed(number).verdict == "not shown"]
    assert not_shown
    assert {rule_of(number) for number in not_shown} == {rule_of(not_shown[0])}
    assert rule_of(2) is None


# A quotation is the article's --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", CLAIMS)
def test_a_quotation_stands_in_the_article_at_its_line(number):
    claim = CLAIMS[number]
    assert stands(claim.quotation, claim.line, articles()[claim.article]), claim.quotation
    assert len(claim.quotation.split()) <= 32


def test_other_words_or_another_line_are_no_quotation():
    claim, article = CLAIMS[48], articles()["B"]
    assert stands(claim.quotation, 77, article)
    assert not stands(claim.quotation, 76, article)
    assert not stands(claim.quotation.replace("works in practice", "rarely works"), 77, article)
    assert not lines_of("These are words of ours, and of no article", article)


def test_an_article_s_own_qualification_is_quoted():
    qualified = {
        48: "works in practice",
        49: "for variance normalisation",
        139: "(optional)",
        162: "in space",
    }
    assert all(words in CLAIMS[number].quotation for number, words in qualified.items())


# A row can be read, and followed ---------------------------------------------------------------------------------


def test_a_finding_is_a_sentence_with_the_numbers_in_it():
    for number, claim in CLAIMS.items():
        finding = computed(number).finding
        assert claim.article == article_of(number).letter, number
        for text in (claim.says, finding, claim.source):
            assert not re.search(r"[{}\n]", text), (number, text)
            assert "nan" not in text.lower().split(), (number, text)
        assert len(claim.says) >= 15, number
        shown = {name for _, name, _, _ in string.Formatter().parse(claim.finding) if name}
        assert shown or claim.source, f"{number}: a measured claim shows a number"


@cache
def headings(notebook: str) -> list[str]:
    path = COURSE / "notebooks" / f"{notebook}.ipynb"
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    return [line.strip() for source in cells for line in re.findall(r"^#+ (.*)$", source, re.MULTILINE)]


def leads_to_a_heading(where: str) -> bool:
    """Whether "notebook, section" is found: by its number, "section 3", or by its words."""
    notebook, _, section = where.partition(", ")
    if by_number := re.fullmatch(r"section (\d+)", section):
        return any(heading.startswith(f"{by_number[1]}.") for heading in headings(notebook))
    return section in {re.sub(r"^\d+\. ", "", heading) for heading in headings(notebook)}


def test_where_leads_to_a_section_of_a_lesson():
    assert not {n: claim.where for n, claim in CLAIMS.items() if not leads_to_a_heading(claim.where)}


def test_every_claim_stands_in_one_part_of_one_article():
    stands = [n for article in ARTICLES for part in article.parts for n in range(part.first, part.last + 1)]
    assert stands == list(CLAIMS)
    assert part_of(152).heading == "Complete Code"
    with pytest.raises(LookupError, match="1 to 163"):
        article_of(164)


def test_one_claim_can_be_computed_alone():
    text = as_text(claim_numbered(17))
    assert text.startswith(
        "Claim 17, article A (a short explainer with a visualization), Why scale by √dₖ, line 37:"
        "\n  “it turns arbitrary scores"
    )
    assert "Holds: finite rows. Fails: a row of −∞." in text
    assert "Verdict: needs a condition" in text
    assert "The same rule decides 111, 145, 148: " in text
    assert "valid = 1000" in text
    with pytest.raises(LookupError, match="no claim 0: it has 1 to 163"):
        claim_numbered(0)


# The page --------------------------------------------------------------------------------------------------------


def row(
    says="It grows.", finding="Twice: {x:.1f}", article="B", number=7, same_as=0, **values: float
) -> LedgerRow:
    cases = {"one case": lambda values: values["x"] > 0}
    words = ("it “grows” so", 12, says, "01_dot_product, Length and angle")
    return run(Claim(number, article, *words, finding, lambda: values, cases, same_as=same_as))


def test_a_row_keeps_to_its_cell_and_links_its_lesson():
    page = as_page([row("|s| is\nlarge", x=-2.0)])
    link = "[01 dot product](../notebooks/01_dot_product.ipynb), Length and angle"
    said = "“it “grows” so” In our words: \\|s\\| is large"
    place = "The dot product as similarity, line 12"
    assert f"| 7 | {place} | {said} | **wrong** | Twice: −2.0. | {link} |" in page


def test_claims_that_say_the_same_have_one_row():
    page = as_page([row(x=1.0, number=7), row(x=1.0, number=40, article="B", same_as=7)])
    rows = [line for line in page.splitlines() if "it “grows” so" in line]
    assert len(rows) == 1
    assert rows[0].startswith("| 7, 40 |")
    assert "So too 40, article B, The Fix: Divide by √d_k, line 12: “it “grows” so”." in rows[0]
    assert re.search(r"\*\*all\*\* \| 2 \|", page)


def test_the_page_counts_verdicts_by_article():
    page = as_page([row(x=1.0), row(x=-1.0), row(article="E", x=1.0)])
    pattern = r"^\| (?:\[([A-E])\].*|\*\*(all)\*\*) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$"
    counts = {a or b: [int(n) for n in rest] for a, b, *rest in re.findall(pattern, page, re.MULTILINE)}
    nothing = {key: [0, 0, 0, 0, 0] for key in "ACD"}
    assert counts == {"B": [1, 0, 1, 0, 2], "E": [1, 0, 0, 0, 1], "all": [2, 0, 1, 0, 3], **nothing}


def test_numbers_that_json_lacks_survive_storing():
    before = row(x=1.0, overflow=math.inf, undefined=math.nan)
    text = as_json([before])
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    (after,) = stored_entries([before.claim], text)
    assert after.values == pytest.approx(before.values, nan_ok=True)
    assert as_json([after]) == text


def test_an_error_names_its_claim():
    with pytest.raises(ZeroDivisionError) as caught:
        run(Claim(42, "A", "", 1, "", "", "", lambda: {"x": 1 / 0}, {}))
    assert "claim 42" in caught.value.__notes__[0]


# The pages of words ----------------------------------------------------------------------------------------------

PLACE = "## 7: A place\n\n> It. (line 7)\n\nIt is said.\n\nIt came out.\n"


@pytest.mark.parametrize(
    ("page", "says"),
    [
        (
            "## 999: A place\n\n> It. (line 7)\n\nIt.\n\nIt came out.\n",
            "line 3: `999` is the number of no claim",
        ),
        ("## 7: A place\n\n> It. (line 7)\n\nIt is said.\n", "line 3: three paragraphs are expected"),
        ("## 7: A place\n\nIt.\n\nIt is said.\n\nIt came out.\n", "line 3: three paragraphs are expected"),
        (f"{PLACE}\n- `x > 0`\n", "line 11: `- `x > 0`` is no entry"),
        (f"{PLACE}\n- one: `x >`\n", "line 11: `x >` is no Python"),
        (f"{PLACE}\n- beside it, one: `x > 0`\n", "line 3: a case is expected"),
    ],
)
def test_a_claim_s_page_names_the_line_that_is_wrong(page, says, tmp_path, monkeypatch):
    (tmp_path / "claims.md").write_text(f"# Claims\n\n{page}", encoding="utf-8")
    monkeypatch.setattr("sdpa_helpers.course.content.home_of", lambda lesson: tmp_path)
    with pytest.raises(PageError, match=re.escape(says)):
        claims_of("01_dot_product", {7: lambda: {"x": 1.0}})


def test_a_claim_without_words_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("sdpa_helpers.course.content.home_of", lambda lesson: tmp_path)
    with pytest.raises(LookupError, match=r"no words for the claims \[7\]"):
        claims_of("01_dot_product", {7: lambda: {"x": 1.0}})


def test_a_case_sees_the_numbers_and_says_which_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setattr("sdpa_helpers.course.content.home_of", lambda lesson: tmp_path)
    cases = "- it is: `near(x, 1)`\n- it is 2: `x == 2`\n- beside it, who knows: `None if x else True`\n"
    more = f"{PLACE.replace('## 7', '## 8')}\n- decided as 7\n"
    (tmp_path / "claims.md").write_text(f"# Claims\n\n{PLACE}\n{cases}\n{more}", encoding="utf-8")
    seven, eight = (run(claim) for claim in claims_of("01_dot_product", {7: lambda: {"x": 1.01}}))
    assert [(case.name, case.holds, case.within) for case in seven.cases] == [
        ("it is", True, True),
        ("it is 2", False, True),
        ("who knows", None, False),
    ]
    assert (seven.cases, seven.values, seven.verdict) == (eight.cases, eight.values, "needs a condition")
    (tmp_path / "claims.md").write_text(f"# Claims\n\n{PLACE}\n- it is: `y > 0`\n", encoding="utf-8")
    (lacks,) = claims_of("01_dot_product", {7: lambda: {"x": 1.0}})
    with pytest.raises(PageError, match="line 11: `y > 0`: name 'y' is not defined"):
        _ = run(lacks).verdict
