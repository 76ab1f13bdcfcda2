"""The desk in JupyterLab: the course's side bar, a lesson beside its exercises, the look of an article, reset."""

import pytest

from .harness import Lab

READY = ".sdpa-article .jp-CodeCell .jp-InputArea-editor"

ARTICLE = """() => {
  const page = jupyterapp.shell.currentWidget.node.querySelector('.jp-Notebook');
  const edge = page.getBoundingClientRect(), paragraphs = [...page.querySelectorAll('.jp-RenderedMarkdown p')];
  const left = selector => [...page.querySelectorAll(selector)].filter(one => one.getClientRects().length)
    .map(one => Math.round(one.getBoundingClientRect().left - edge.left));
  const scroller = page.querySelector('.jp-WindowedPanel-outer') ?? page;
  return {
    text: Math.max(...paragraphs.map(one => one.getBoundingClientRect().width)),
    lefts: Object.fromEntries(Object.entries({
      title: '.jp-RenderedMarkdown h1', text: '.jp-RenderedMarkdown > p', table: '.jp-RenderedMarkdown table',
      formula: '.jp-RenderedMarkdown mjx-container[display="true"]', code: '.jp-CodeCell .jp-InputArea-editor',
      output: '.jp-OutputArea-output', figure: '.jp-OutputArea-output :is(img, svg):not(svg svg, li *, p *)',
    }).map(([name, selector]) => [name, left(selector)])),
    overflows: scroller.scrollWidth - scroller.clientWidth,
  }; }"""


@pytest.fixture(scope="module")
def desk(browser, lab_server):
    """JupyterLab with its side bars, as `sdpa lab` opens it."""
    opened = Lab(browser, lab_server, "desk")
    opened.open("work/notebooks/00_start_here.ipynb")
    opened.page.wait_for_selector(".sdpa-course .lesson")
    yield opened
    opened.close()


def test_the_first_start_needs_one_key_and_changes_nothing(desk, axe):
    state = desk.page.evaluate("""() => { const panel = jupyterapp.shell.currentWidget, notebook = panel.content;
        const before = notebook.widgets.slice(0, notebook.activeCellIndex).map(cell => cell.model.type);
        return [notebook.activeCell.model.type, before, notebook.mode, notebook.node.contains(document.activeElement),
                notebook.outerNode.scrollTop, panel.context.model.dirty] }""")
    kind, before, mode, focused, scrolled, dirty = state
    assert (kind, mode, focused, scrolled, dirty) == ("code", "command", True, 0, False)
    assert set(before) == {"markdown"}
    assert desk.page.locator(".sdpa-course").is_visible()
    assert not axe(desk.page, ".sdpa-course")
    desk.page.keyboard.press("Shift+Enter")
    desk.wait_idle()
    panel = desk.page.locator(".jp-CodeCell .jp-OutputArea-output .panel").first
    panel.wait_for()
    title = desk.page.locator(".jp-RenderedMarkdown h1").first
    assert abs(panel.bounding_box()["x"] - title.bounding_box()["x"]) <= 2
    desk.page.wait_for_function("""() => { const shown = document.querySelector('.jp-CodeCell .jp-OutputArea-output');
        const { top, bottom } = shown.getBoundingClientRect();
        return top > 0 && (bottom < innerHeight || top < innerHeight / 3) }""")  # though the next cell is active


def test_on_a_small_screen_the_head_answers_below_the_words_without_a_scroll(desk):
    """Of the notebook as it opens, and of the answer that the test above has asked for."""
    page = desk.page
    desk.resize(1280, 800)
    page.locator(".jp-RenderedMarkdown mjx-container[display=true]").first.wait_for()
    answer = page.locator(".jp-CodeCell .jp-OutputArea-output .answer").first
    answer.wait_for()
    page.evaluate("() => { jupyterapp.shell.currentWidget.content.outerNode.scrollTop = 0 }")
    assert "tea" in answer.inner_text()
    assert answer.bounding_box()["y"] < 700
    desk.resize(1280)


def test_the_key_that_runs_a_folded_heading_goes_on_into_what_it_hides(desk):
    content = "jupyterapp.shell.currentWidget.content"
    folded = desk.page.evaluate(f"{content}.widgets.findIndex(cell => cell.headingCollapsed)")
    assert folded > 0
    desk.page.evaluate(
        f"at => {{ {content}.activeCellIndex = at; {content}.activeCell.node.focus() }}", folded
    )
    desk.page.keyboard.press("Shift+Enter")
    desk.page.wait_for_function(
        f"""at => {{ const {{ activeCell, activeCellIndex, outerNode }} = {content};
        const {{ top, height }} = activeCell.node.getBoundingClientRect();
        return activeCellIndex === at && height && top < innerHeight && outerNode.scrollTop }}""",
        arg=folded + 1,
    )


BARS = """() => ({
  right: jupyterapp.shell.isSideTabBarVisible('right'),
  status: [...document.querySelectorAll('#jp-main-statusbar')].some(one => one.getClientRects().length > 0),
  tools: [...jupyterapp.shell.currentWidget.toolbar.names()],
})"""


def test_it_opens_with_what_a_learner_uses_and_no_more(desk):
    bars = desk.page.evaluate(BARS)
    assert (bars["right"], bars["status"]) == (False, False)
    assert {"save", "insert", "run", "interrupt", "restart", "restart-and-run", "kernelName"} <= set(
        bars["tools"]
    )
    assert not {"cut", "copy", "paste", "cellType"} & set(bars["tools"])
    assert desk.page.evaluate(
        "localStorage.getItem('sdpa-course:right')"
    )  # never again against the learner's will


def test_the_side_bar_lists_the_lessons_and_opens_one_beside_its_exercises(desk):
    lessons = desk.page.locator(".sdpa-course .lesson")
    first = lessons.filter(has_text="The dot product")
    stored = sorted(path.stem for path in (desk.server.root / "notebooks").glob("*.ipynb"))
    assert lessons.count() == len(stored)
    texts = lessons.all_inner_texts()
    numbers = [name.partition("_")[0] if name[2] == "_" else "·" for name in stored]
    assert all(n in text and " min" in text for n, text in zip(numbers, texts, strict=True))
    assert set(desk.page.locator(".sdpa-course summary").all_inner_texts()) == {"Exercises"}  # no bill
    assert desk.page.locator(".sdpa-course .lesson .next").count() == 1
    tabs = "[...jupyterapp.shell.widgets('main')].filter(w => w.isVisible).map(w => w.context.path)"
    pair = ["work/notebooks/01_dot_product.ipynb", "work/exercises/01_dot_product.ipynb"]
    desk.page.set_viewport_size({"width": 2000, "height": 1000})  # room for two articles
    for _ in range(2):  # the second time what is open is shown, not opened again
        first.focus()
        desk.page.keyboard.press("Enter")
        desk.page.wait_for_function(
            f"{tabs}.length === 2 && jupyterapp.shell.currentWidget.context.path === '{pair[0]}'"
        )
        assert desk.page.evaluate(tabs) == pair
    opened = desk.page.evaluate(
        "[...jupyterapp.shell.widgets('main')].map(w => w.context?.path ?? w.title.label)"
    )
    assert sorted(opened) == sorted(["work/notebooks/00_start_here.ipynb", *pair])
    desk.resize(1280)
    idle = "w.sessionContext.session?.kernel?.status === 'idle'"
    desk.page.wait_for_function(f"[...jupyterapp.shell.widgets('main')].every(w => {idle})", timeout=60_000)
    desk.close_tabs()
    first.click()  # the exercises open behind their lesson
    desk.page.wait_for_function("[...jupyterapp.shell.widgets('main')].length === 3")
    desk.page.wait_for_function(f"{tabs}.length === 1 && {tabs}[0] === '{pair[0]}'")


def test_tabs_tell_a_lesson_from_its_exercises_and_files_keep_their_names(desk):
    said = desk.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tabLabel")
    assert said.all_inner_texts() == ["00 Start here", "01 The dot product", "01 Exercises"]
    desk.page.evaluate("() => { jupyterapp.shell.currentWidget.title.label = 'another name' }")
    assert said.all_inner_texts() == ["00 Start here", "01 The dot product", "01 Exercises"]
    desk.command("docmanager:save")  # a file that was renamed would be written under its new name
    for folder in ("notebooks", "exercises"):
        laid = {path.name for path in (desk.server.root / "work" / folder).glob("*.ipynb")}
        assert laid == {path.name for path in (desk.server.root / folder).glob("*.ipynb")}


GIVES_UP = """async kind => {
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel.clone();
  await kernel.info;
  (async () => kind === "subshell" ? kernel.requestCreateSubshell({}).done : kernel.requestHistory(
    { hist_access_type: "tail", n: 1, output: false, raw: true }))();
  kernel.dispose();
}"""


def test_only_what_jupyterlab_gave_up_for_a_notebook_that_was_left_is_no_error(desk):
    log = desk.page.log
    before, was_left = [*log.thrown], log.left
    try:
        for left, kind in ((False, "subshell"), (True, "subshell"), (True, "history")):
            log.left = left
            with desk.page.expect_event("pageerror"):
                desk.page.evaluate(GIVES_UP, kind)
        told = [text.partition("future for ")[2].split()[0] for text in log.thrown[len(before) :]]
        assert told == ["create_subshell_request", "history_request"]
    finally:
        log.thrown[:], log.left = before, was_left


def test_new_points_show_when_the_window_gets_the_focus_again(desk):
    def with_a_solved_lesson(route):
        state = route.fetch().json()
        first = next(lesson for lesson in state["lessons"] if lesson["exercises"])
        for exercise in first["exercises"]:
            exercise |= {"points": exercise["max_points"], "done": True}
        first["points"] = first["max_points"]
        route.fulfill(json=state)

    desk.page.route("**/sdpa/course*", with_a_solved_lesson)
    desk.page.evaluate("window.dispatchEvent(new Event('focus'))")
    desk.page.wait_for_selector(".sdpa-course .ring.full")
    solved = desk.page.locator(".sdpa-course ol > li", has_text="The dot product")
    assert solved.locator("li .done").count() == solved.locator("li").count() > 0
    desk.page.unroute("**/sdpa/course*")


def test_reset_gives_the_stub_back_and_keeps_the_answer(desk):
    page = desk.page
    page.locator(".sdpa-course li li a", has_text="dot_product").first.click()
    page.wait_for_function("jupyterapp.shell.currentWidget.context.path.includes('exercises/01')")
    cell = "jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel"
    page.wait_for_function(f"{cell}.getSource().startsWith('# exercise: dot_product\\n')")
    stub = page.evaluate(f"{cell}.getSource()")
    answer = stub.replace("return NotImplemented", "return 'not this, but mine'")
    page.evaluate(f"source => {cell}.setSource(source)", answer)
    page.locator(".sdpa-reset[aria-label='Reset the exercise dot_product']").click()
    page.locator(".jp-Dialog .jp-mod-warn").click()
    page.wait_for_function(f"stub => {cell}.getSource() === stub", arg=stub)
    assert "not this, but mine" in (desk.server.root / "work" / "answers-put-aside.md").read_text()


def test_after_a_check_that_finds_something_the_cursor_is_in_the_answer(desk):
    """Also of who went straight to the check: the first cell, which imports `check`, and the answer run for them."""
    page = desk.page
    content = "jupyterapp.shell.currentWidget.content"
    active = f"{content}.activeCell.model.sharedModel.getSource()"
    page.wait_for_function(f"{active}.startsWith('# exercise: dot_product\\n')")
    answer = page.evaluate(f"{content}.activeCellIndex")
    page.evaluate(
        f"source => {content}.activeCell.model.sharedModel.setSource(source)",
        "# exercise: dot_product\ndef dot_product(q, k):\n    return q * k\n",
    )
    first = f"{content}.widgets.find(cell => cell.model.type === 'code').model.executionCount"
    assert page.evaluate(first) is None  # so that `check` has no meaning yet
    check = f"{content}.widgets.findIndex((cell, i) => i > {answer} && cell.model.type === 'code')"
    page.evaluate(f"() => {{ {content}.activeCellIndex = {check} }}")
    desk.command("notebook:run-cell-and-select-next")
    page.wait_for_selector(".sdpa-card.sdpa-failed")
    assert page.evaluate(first)
    page.wait_for_function(f"{active}.startsWith('# exercise: dot_product\\n')")
    assert page.evaluate(f"{content}.mode") == "edit"
    page.wait_for_timeout(300)  # what it scrolls away has gone by then; what it shows may take longer
    in_view = "one => { const { top, bottom } = one.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight }"
    seen = f"[document.querySelector('.sdpa-card.sdpa-failed'), {content}.activeCell.node]"
    page.wait_for_function(f"{seen}.every({in_view})")  # code and card, together


def test_a_check_judges_what_stands_in_the_answers_cell(desk):
    """The card of the test above is about another answer, which has run; this one has not."""
    page, content = desk.page, "jupyterapp.shell.currentWidget.content"
    answer = page.evaluate(f"{content}.activeCellIndex")
    page.evaluate(
        f"source => {content}.activeCell.model.sharedModel.setSource(source)",
        "# exercise: dot_product\ndef dot_product(q, k):\n    return sum(q * k)\n",
    )
    check = page.evaluate(
        f"{content}.widgets.findIndex((cell, i) => i > {answer} && cell.model.type === 'code')"
    )
    desk.run_cell(check)
    card = f"{content}.widgets[{check}].outputArea.node.querySelector('.sdpa-card')"
    page.wait_for_function(f"{card}.matches('.sdpa-passed')")
    assert "dot_product: all cases passed" in page.evaluate(f"{card}.innerText")


def test_a_lesson_is_an_article_and_other_notebooks_are_not(desk):
    page = desk.page
    page.evaluate("() => { jupyterapp.shell.mode = 'single-document' }")
    desk.command("docmanager:open", path="notebooks/03_softmax.ipynb")
    page.wait_for_function(
        "jupyterapp.shell.currentWidget.node.querySelectorAll('mjx-container[display=true]').length"
    )
    wide = page.evaluate(ARTICLE)
    assert wide["text"] <= 48 * 16
    starts = wide["lefts"]
    assert all(starts[name] for name in ("title", "text", "formula", "code", "output", "figure"))
    everything = [left for lefts in starts.values() for left in lefts]
    assert max(everything) - min(everything) <= 2
    desk.resize(390, 800)
    assert page.evaluate(ARTICLE)["overflows"] <= 0
    desk.command("docmanager:open", path=desk.server.write("mine.ipynb", "1"))
    page.wait_for_function("jupyterapp.shell.currentWidget.context.path === 'mine.ipynb'")
    assert not page.evaluate("jupyterapp.shell.currentWidget.hasClass('sdpa-article')")
    assert page.log.ours() == []
