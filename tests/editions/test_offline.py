"""Without a network: what the build listed is there, with its sum, and nothing else is. The server of a page ends; a
browser that is told to be offline tells its service workers when it likes."""

import json
import re
from urllib.parse import unquote

import pytest

from editions.browser.runtime import light_files
from editions.site import kept
from editions.try_it.sums import WALL_FILES, sum_of
from tests.editions.conftest import served
from tests.editions.editor import START_MS, check, paste
from tests.editions.test_try_it import RIGHT

EVIL = "<!doctype html><title>evil</title>"
POISON = """async ([names, evil]) => { const store = await caches.open("sdpa-try"), keys = await store.keys();
    const own = () => new Response(evil, {headers: {"Content-Type": "text/html"}});
    for (const name of names) await store.put(name, own());
    const sums = await (await fetch("../keep.js")).text();
    const [sum] = JSON.parse(sums.match(/LIST = (\\{[^]*?\\});/)[1])["try/entropy.html"];
    const key = new URL(`../kept/${encodeURIComponent(sum)}`, location);
    if (!keys.some(({url}) => url === key.href)) throw new Error("not kept");
    await store.put(key, own()); }"""
ASKED = """names => Promise.all(names.map(async (name) => {
    const text = await fetch(name).then((given) => given.text(), () => "refused");
    return text.includes("evil") ? "evil" : text === "refused" ? text : "came"; }))"""
STYLED = """() => [...document.querySelectorAll("link[rel=stylesheet]")].map(({ href, sheet }) =>
    [href, sheet?.cssRules.length > 0])"""
KEPT = """parts => navigator.serviceWorker.ready.then(({ active }) => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => { if ("done" in data) resolve(data.done); };
    active.postMessage(parts, [port2]); }))"""
LOG_SOFTMAX = "def log_softmax(x, axis=-1):\n    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))\n"


@pytest.fixture
def visitor(browser):
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(START_MS)
    yield page
    context.close()


def forget_what_came(page):
    """Empty the browser's own cache: what comes now was kept on purpose."""
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")


def gone(page, address):
    """Whether a page cannot be had."""
    return page.evaluate("address => fetch(address).then(() => false, () => true)", address)


def test_what_a_browser_keeps_is_named_with_its_sum_and_nothing_else_is(built_site):
    site = built_site("keeper")
    [text] = re.findall(r"LIST = (\{.+?\});", (site / "keep.js").read_text(encoding="utf-8"), re.DOTALL)
    listed = {unquote(address.partition("?")[0]): entry for address, entry in json.loads(text).items()}
    light = {f"pyodide/{name}" for name in light_files(site / "pyodide")}
    assert {name for name in listed if name.startswith("pyodide/")} == light
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert {name for name in pages if name.split("/")[0] not in kept.APART} <= {*listed}
    own = {path.relative_to(site).as_posix() for path in (site / "try").rglob("*") if path.is_file()}
    assert {name for name in listed if name.startswith("try/")} == own
    for name, (sum_, part, size) in listed.items():
        content = (site / name).read_bytes()
        assert (sum_of(content), len(content)) == (sum_, size), name
        assert part == (kept.BASE if name in light else kept.part_of(name)), name
    assert {listed[name][1] for name in (*own, *light)} == {kept.BASE}
    for name in (*light, *(f"try/{name}" for name in WALL_FILES)):
        assert f'"{name}?v=' in text, name  # of one version only


def test_the_next_page_the_list_and_the_lesson_are_there_and_nothing_that_was_laid_in(visitor, built_site):
    folder, page = built_site("keeper"), visitor
    with served(folder.parent) as root:
        site = f"{root}/{folder.name}"
        page.goto(f"{site}/try/softmax.html")
        assert "Works offline" not in page.locator("body").inner_text()
        paste(page, RIGHT)
        check(page)
        page.locator("#offline", has_text="Works offline now: all exercises, and lesson 03").wait_for()
        page.evaluate(POISON, [["evil.html", "../pyodide/evil.html", "log_softmax.html"], EVIL])
    forget_what_came(page)
    assert page.evaluate(ASKED, ["evil.html", "../pyodide/evil.html"]) == ["refused"] * 2  # not listed
    assert page.evaluate(ASKED, ["entropy.html", "dot_product.html"]) == [
        "refused",
        "came",
    ]  # poisoned, or not
    page.locator(".neighbors a").last.click()
    page.wait_for_url("**/test_cases_for_softmax.html")
    page.goto(f"{site}/try/log_softmax.html")
    assert page.title() == "The logarithm, without losing the small weights · log_softmax"
    paste(page, LOG_SOFTMAX)
    assert "points" in check(page)
    page.goto(f"{site}/try/index.html?from=there")
    assert page.locator("li").count() > 90
    page.goto(f"{site}/lessons/03_softmax.html")
    assert page.locator("main h1").first.inner_text().startswith("03")
    assert all(styled for _, styled in page.evaluate(STYLED)), page.evaluate(STYLED)
    assert gone(page, "05_masking.html")  # another lesson, which nobody asked for
    assert gone(page, "../ledger.html")
    for name in ("lessons/05_masking.html", "lite/index.html"):  # by a link, kept or not
        page.goto(f"{site}/{name}")
        assert page.locator("#again a").get_attribute("href") == f"{site}/{name}"
        page.locator("#lessons li", has_text=re.compile("^03 · Softmax: works offline$")).wait_for()
        assert page.locator("#lessons li", has_text="works offline").count() == 1
        assert page.get_by_role("button", name="Keep the whole site too").count() == 1


def test_the_whole_site_is_kept_by_choice_with_its_megabytes(visitor, built_site):
    folder, page = built_site("keeper"), visitor
    with served(folder.parent) as root:
        site = f"{root}/{folder.name}"
        page.goto(f"{site}/try/when_gradients_vanish.html")  # in words: Python isn't waited for
        page.locator("#offline", has_text="Works offline now: all exercises, and lesson 04").wait_for()
        size = sum(bytes_ for _, _, bytes_ in kept.files_of(folder).values())
        page.get_by_role("button", name=f"Keep the whole site too, {size / 1e6:.0f} MB").click()
        page.locator("#offline", has_text="Works offline now: the whole site").wait_for()
    forget_what_came(page)
    for name in ("lessons/05_masking.html", "ledger.html", "docs/README.html"):
        page.goto(f"{site}/{name}")
        assert page.locator("main h1").count(), name


def test_a_page_says_nothing_where_one_file_could_not_be_had(visitor, built_site):
    folder, page = built_site("keeper"), visitor
    page.context.route("**/lessons/04_gradients.html", lambda route: route.abort())
    with served(folder.parent) as root:
        page.goto(f"{root}/{folder.name}/try/when_gradients_vanish.html")
        assert page.evaluate(KEPT, ["base", "04_gradients"]) is False
        assert page.evaluate(KEPT, ["base"]) is True  # the page's own question is answered long since
        assert page.locator("#offline").inner_text() == ""
