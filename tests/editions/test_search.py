"""The search of the site: lessons come first, mistakes and claims are found, and nothing around a page's text is."""

import gzip
import json

import pytest

from editions.search.build import build_search
from tests.browser.harness import open_page


@pytest.fixture(scope="module")
def site(built_site):
    return built_site("search")


@pytest.fixture
def ask(browser, site, site_address):
    """`ask("softmax")` is the search's page with what it has found."""
    page = open_page(browser, site_address)

    def ask(words):
        page.goto(f"{site_address}/search.html")
        page.get_by_label("Words").fill(words)
        page.locator("#results section").first.wait_for()
        return page

    yield ask
    assert page.log.refused == page.log.thrown == []
    page.context.close()


def hits(page, kind):
    """The titles and addresses of what was found of a kind."""
    links = page.locator(f"#results [data-kind={kind}] li > a").all()
    return [(link.inner_text(), link.get_attribute("href")) for link in links]


def test_softmax_is_the_lesson_then_its_exercise_mistakes_and_claims(ask):
    page = ask("softmax")
    kinds = [one.get_attribute("data-kind") for one in page.locator("#results section").all()]
    assert kinds == ["lesson", "exercise", "mistake", "claim", "page", "teaching"]
    assert hits(page, "lesson")[0] == ("03 · Softmax", "/lessons/03_softmax.html")
    assert hits(page, "exercise")[0] == ("softmax", "/try/softmax.html")
    assert ("How softmax goes wrong", "/mistakes/softmax.html") in hits(page, "mistake")
    assert all("#claim-" in address for _, address in hits(page, "claim"))
    assert "oftmax" in page.locator("[data-kind=lesson] mark").first.inner_text()


FIRST = {
    "scale": "02_variance_proof",  # not 10, "Does scaling matter?", which says it more often and in its title
    "scaling": "02_variance_proof",
    "multi-head": "08_heads_and_variants",  # not 05, which has it in a heading
    "tiling": "07_flash_attention",  # where it is called "tiles"
    "learning rate": "10_does_scaling_matter",
    "numpy": "00a_numpy_in_five_minutes",  # no exercises of its own
}


@pytest.mark.parametrize("words", FIRST)
def test_the_first_lesson_is_the_one_whose_exercises_ask_for_it(ask, words):
    assert hits(ask(words), "lesson")[0][1] == f"/lessons/{FIRST[words]}.html"


def test_a_word_of_code_finds_the_mistake_at_its_own_address(ask):
    page = ask("keepdims")
    inside = page.locator('[data-kind=mistake] .part a[href="/mistakes/softmax.html#no-keepdims"]')
    inside.click()
    page.locator("#no-keepdims.exhibit").wait_for()
    assert page.url.endswith("/mistakes/softmax.html#no-keepdims")
    assert page.locator("#no-keepdims h2").inner_text().startswith("no keepdims")


def test_a_word_of_a_claim_finds_its_row_of_the_ledger(ask):
    page = ask("routinely 22.6")
    [(title, address)] = hits(page, "claim")
    assert address == "/ledger.html#claim-12"
    assert "raw scores" in title
    assert "Claim 12" in page.locator("[data-kind=claim] .note").inner_text()


def test_one_kind_alone_has_more_and_an_address_that_can_be_shared(ask, site_address):
    page = ask("softmax")
    few = len(hits(page, "exercise"))
    page.locator("[data-kind=exercise] > a").click()
    page.locator("#results section").first.wait_for()
    assert page.url == f"{site_address}/search.html?q=softmax&kind=exercise"
    assert len(hits(page, "exercise")) > few
    assert page.locator("#results section").count() == 1


def test_what_is_nowhere_is_said(browser, site, site_address):
    page = open_page(browser, site_address)
    page.goto(f"{site_address}/search.html?q=qwrtzpl+%3Cimg%3E")
    page.locator("#found", has_text="Nothing here holds all of “qwrtzpl <img>”").wait_for()
    assert page.locator("#results section").count() == 0
    assert page.locator("#found img").count() == 0
    page.context.close()


@pytest.mark.parametrize("door", ["try/index.html", "mistakes/index.html", "lessons/03_softmax.html"])
def test_other_pages_lead_to_it(browser, site, site_address, door):
    page = open_page(browser, site_address)
    page.goto(f"{site_address}/{door}")
    if door.startswith("lessons"):
        page.keyboard.press("Control+k")
    page.locator("form[action$='search.html']:visible input[name=q]").fill("temperature")
    page.keyboard.press("Enter")
    page.locator("#results section").first.wait_for()
    assert hits(page, "exercise")[0][1].startswith("/try/")
    assert page.log.refused == page.log.thrown == []
    page.context.close()


def test_what_surrounds_a_page_is_not_found(site):
    texts = [gzip.decompress(path.read_bytes()).decode() for path in site.glob("pagefind/fragment/*")]
    found = [json.loads(text[text.index("{") :]) for text in texts]
    assert len(found) > 300
    for one in found:
        around = ["System Settings", "Skip to"] + ["Try it here"] * one["url"].startswith(
            ("lessons/", "try/")
        )
        assert not [words for words in around if words in one["content"]], one["url"]
    about = json.loads((site / "pagefind" / "about.json").read_text("utf-8"))
    assert len(about) == len(found)
    assert all(kind and title for kind, title, _ in about.values())
    assert all(lesson for kind, _, lesson in about.values() if kind in ("lesson", "exercise"))


def test_the_index_has_the_same_bytes_each_time(site, tmp_path):
    for path in site.iterdir():
        if path.name not in ("pagefind", "pyodide", "lite"):
            (tmp_path / path.name).symlink_to(path)
    build_search(tmp_path)
    first, again = (
        {path.name: path.read_bytes() for path in (folder / "pagefind").rglob("*.*")}
        for folder in (site, tmp_path)
    )
    assert first == again
    assert len(first) > 100
