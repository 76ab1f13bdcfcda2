"""The editor of a light page, as a learner uses it: keys, and the clipboard for long texts."""

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


def text_in(page):
    """What stands there."""
    return page.evaluate(READ)
