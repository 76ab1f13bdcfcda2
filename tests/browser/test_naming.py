"""The sentence from `sdpa review` as a person writes it: the real command, JupyterLab and a browser."""

import pytest

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.naming import NamingPanel
from sdpa_helpers.classroom.sentences.store import Sentence, by_answer, read_sentences, write_sentences
from sdpa_helpers.classroom.tables import write_tables
from tests.classroom.test_sentences import KEY, LESSON, OTHER, gave

from .harness import Lab
from .test_review import ReviewServer

HOSTILE = "def softmax(x):\n    return '<img src=x onerror=\"window.hacked=1\">'"
SAYS = "You scaled it: `dd` is <b>no</b> command. Jk"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Two gave one answer without a name, one another; nobody wrote in words."""
    folder = ResultsFolder(tmp_path_factory.mktemp("grades"))
    made = [gave("ada"), gave("ben"), gave("eve", OTHER, HOSTILE)]
    for one in made:
        folder.write_result(one)
    write_tables(folder, made, [LESSON])
    write_sentences(folder.names_toml, by_answer([Sentence("softmax", OTHER, "Text.", 0.0, "its-name")]))
    return folder


def test_one_sentence_in_the_panel_is_on_the_pages_of_all_who_gave_the_answer(
    browser, out, tmp_path_factory, axe
):
    server = ReviewServer(out.path, tmp_path_factory.mktemp("home"))
    lab = Lab(browser, server)
    try:
        lab.open("review.ipynb")
        lab.page.keyboard.press("Shift+Enter")
        first, second = (lab.page.locator(".sdpa-naming article").nth(n) for n in (0, 1))
        first.get_by_text("2 learners").wait_for()
        assert second.locator("pre").inner_text() == HOSTILE
        assert second.locator("textarea").input_value() == "Text."
        cells = lab.page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length")
        first.locator("textarea").click()
        lab.page.keyboard.type(SAYS)  # letters that cut and add a notebook's cells
        assert lab.page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length") == cells
        first.get_by_label("Points").fill("99")
        first.get_by_role("button").click()
        first.get_by_text("Not kept: points from −15 to 15 are expected").wait_for()
        first.get_by_label("Points").fill("-1")
        first.get_by_role("button").click()
        first.get_by_text("Kept in names.toml.").wait_for()
        second.locator("textarea").fill("Other text.")
        second.get_by_role("button").click()
        second.get_by_text("Kept in names.toml.").wait_for()
        assert axe(lab.page, ".sdpa-naming") == []
        assert lab.page.evaluate("window.hacked") is None
        assert lab.page.log.refused == []
    finally:
        lab.close()
        status = server.stop()
    assert status == 0  # and what was written has come into the grades
    assert list(read_sentences(out.names_toml).values()) == [
        Sentence("softmax", KEY, SAYS, -1.0),
        Sentence("softmax", OTHER, "Other text.", 0.0, "its-name"),
    ]
    for learner, told in (("ada", True), ("ben", True), ("eve", False)):
        page = out.feedback_path(learner, LESSON).read_text()
        assert ("You scaled it: <code>dd</code> is &lt;b&gt;no&lt;/b&gt; command." in page) is told
    assert {one.student: one.points for one in out.read_results()} == {"ada": 0.0, "ben": 0.0, "eve": 1.0}


OPENED = """async module => {
    const { default: { render } } = await import("data:text/javascript;charset=utf-8," + encodeURIComponent(module));
    const row = key => ({ exercise: "softmax", key, learners: 1, answer: "x", says: "", points: 0 });
    window.sent = [];
    const model = { get: name => name === "rows" ? ["a", "b"].map(row) : window.said,
        send: one => window.sent.push(one), on: (_, show) => { window.show = show; } };
    render({ model, el: document.body }); }"""
ANSWERED = "() => sent.forEach(one => { window.said = { ...one, text: `Kept ${one.key}.` }; show(); })"


def test_two_that_are_sent_before_python_answers_are_both_answered(page):
    opened = page()
    opened.evaluate(OPENED, NamingPanel._esm)
    for button in opened.get_by_role("button").all():
        button.click()
    assert opened.get_by_role("status").all_inner_texts() == ["…", "…"]
    opened.evaluate(ANSWERED)
    assert opened.get_by_role("status").all_inner_texts() == ["Kept a.", "Kept b."]
    assert opened.log.thrown == []
