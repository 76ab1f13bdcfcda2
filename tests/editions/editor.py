"""The editor of a light page, as a learner uses it: keys, the clipboard for long texts, and Check."""

START_MS = 120_000
"""What Python may take to come, where other tests run beside it."""

NOT_OFFLINE: dict = {"service_workers": "block"}
"""Of a context in which pages keep nothing for later, 14 MB after a first check: that is for `test_offline`."""

PASTE = """(content, text) => { const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true })); }"""
READ = """() => { const source = document.querySelector("#source"); if (source) return source.value;
    const lines = document.querySelector(".editor > .code").shadowRoot.querySelectorAll(".cm-line");
    return [...lines].map((line) => line.textContent).join("\\n"); }"""
"""JavaScript: the text of the editor, or of the field of an answer in words."""


def paste(page, text):
    """Put another text in the editor's place."""
    content = page.locator(".editor .cm-content")
    content.press("Control+a")
    content.evaluate(PASTE, text)


def write(page, text):
    """The same by keys, and in the field of an answer in words too."""
    page.locator(".cm-content, #source").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def check(page):
    """Press Check; what the page says of what stands there."""
    page.get_by_role("button", name="Check", exact=True).click()
    page.locator("#stop").wait_for(state="hidden")
    return page.locator("#verdict").inner_text()


def text_in(page):
    """What stands there."""
    return page.evaluate(READ)
