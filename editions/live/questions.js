// Questions in a page without a kernel: a stored output has the question, its answers and the rest folded. Here it is
// read back, asked, and answered only after the reader has chosen. The first choice stays in this browser.

/* global mount, make */
/* exported upgradeQuestions */

const CHOICES = "sdpa-choices";

function storedChoices() {
  try {
    const kept = JSON.parse(localStorage.getItem(CHOICES) ?? "{}");
    return kept && typeof kept === "object" && !Array.isArray(kept) ? kept : {};
  } catch { return {}; } // no storage here, or somebody else's words in it
}

function isChoice(kept, options) {
  return Array.isArray(kept) && Number.isInteger(kept[0]) && kept[0] >= -1 && kept[0] < options;
}

/** Keep the first choice; a second one is made knowing the answer. */
function keepChoice(key, choice) {
  const kept = storedChoices();
  if (key in kept) return;
  try { localStorage.setItem(CHOICES, JSON.stringify({ ...kept, [key]: choice })); } catch { /* full: it is shown all the same */ }
}

/** What one line of the folded answer says of an option: `✓ <strong>text</strong>: because`. */
function optionOf(item) {
  const copy = item.cloneNode(true), strong = copy.querySelector("strong"), text = strong.innerHTML;
  const right = copy.textContent.trim().startsWith("✓");
  while (copy.firstChild !== strong) copy.firstChild.remove();
  strong.remove();
  return { text, right, because: copy.innerHTML.replace(/^:\s*/, "") };
}

/** The paragraphs that follow the list, and whatever comes after those: figures, tables. */
function restOf(list) {
  const after = [];
  let at = list.nextElementSibling;
  for (; at?.tagName === "P"; at = at.nextElementSibling) after.push(at.innerHTML);
  let shown = "";
  for (; at; at = at.nextElementSibling) shown += at.outerHTML;
  return { after: after.join("</p><p>"), shown };
}

/** What `predict.js` needs, read from a stored question; null for a place that holds something else. */
function questionIn(place) {
  const asked = place.querySelector(":scope > div > p"), details = place.querySelector(":scope > details");
  const list = details?.querySelector(":scope > ul"), answers = place.querySelector(":scope > div > ol");
  if (!asked || !list || !answers) return null;
  const options = [...list.children].map(optionOf), measured = details.querySelector(":scope > p");
  const [title] = asked.querySelector("strong").textContent.split(/\.$/), copy = asked.cloneNode(true);
  copy.querySelector("strong").remove();
  return {
    body: "predict", key: place.dataset.key, title, question: copy.innerHTML.trim(), options,
    right: options.findIndex(({ right }) => right) < 0 ? null : options.findIndex(({ right }) => right),
    measured: measured.querySelector("strong").innerHTML, found: measured.textContent.split(":")[0],
    howSure: "sure" in place.dataset, ...restOf(list),
  };
}

/** In the place of a model in the kernel: what was chosen comes from this browser, and goes there. */
function choiceKeeper(given) {
  const name = `${location.pathname.split("/").pop().replace(/\.html$/, "")}/${given.key}`, kept = storedChoices()[name];
  const values = { given: { born: 0 }, chosen: isChoice(kept, given.options.length) ? kept : [] };
  return {
    get: which => values[which],
    set: (which, value) => { values[which] = value; },
    save_changes: () => keepChoice(name, values.chosen),
  };
}

/** Ask every stored question of the page. A series ("Remember · 2 of 3") waits for the one before. */
function upgradeQuestions(root) {
  let before = null;
  for (const place of root.querySelectorAll("[data-key]")) {
    const given = questionIn(place);
    if (!given) continue;
    const follows = /· [2-9] of/.test(given.title) && before?.parentElement === place.parentElement;
    if (follows) given.waitsFor = before.dataset.key;
    const host = make("div", { className: "live-question" });
    place.replaceChildren(host);
    mount(host, given, choiceKeeper(given));
    before = place;
  }
}
