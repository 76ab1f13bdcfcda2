// A card, drawn anew from the text that came out of the wall: only these elements, with these classes and these styles.
// What is not named here is left out, with all that is in it. The text is parsed as XML, where nothing loads and nothing
// runs, and where a text has no more elements than it has tags: HTML's rules for tags left open make millions of a few.

const TAGS = new Set("br code dd details div dl dt em i li ol p pre span strong summary table tbody td th thead tr ul".split(" "));
const CLASSES = new Set(("about ahead b bar c cases caught code d example fall head k lesson lessons line mark n next notes open pips plain quiet right ring row s seen " +
  "sdpa-card sdpa-failed sdpa-forbidden sdpa-not-attempted sdpa-passed sign squares tick top unseen way ways wide won word worlds wrong").split(" "));
const STYLES = new Set(("align-items background border border-collapse border-radius border-spacing display flex-wrap " +
  "font-size font-variant-numeric list-style margin outline outline-offset overflow-wrap padding text-align " +
  "white-space width").split(" "));
const VALUE = /^(?:-?[\d.]+(?:px|em|%)?|#[\da-f]{6}|rgba\([\d., ]+\)|[a-z-]+)(?: (?:-?[\d.]+(?:px|em|%)?|#[\da-f]{6}|[a-z-]+)){0,3}$/;
const NOT_IN_XML = /[^\t\n\r\P{Cc}]|\p{Cs}|[\ufffe\uffff]/gu;
const PILED = /(\p{M}{8})\p{M}+/gu; // a hundred thousand marks on one letter end Chromium's page
const MOST_NODES = 20_000;
const DEEPEST = 40;
const MOST_NAMESPACES = 20; // each is looked through for each element: thousands take a minute

/** A text without letters that carry more marks than any language has. */
export const unpiled = (text) => text.replace(PILED, "$1");

/** The card as an element, or a sentence in its place; `next` is where its link leads. */
export function drawn(card, next) {
  const place = document.createElement("div");
  place.className = "card";
  // Begun so, it can declare nothing: no entities, no style sheets, no kind of document.
  const refused = () => Object.assign(place, { textContent: "This card is not one of the course's, and is not shown." });
  if (card.split("xmlns").length > MOST_NAMESPACES) return refused();
  const text = `<div>${unpiled(card.replaceAll("&nbsp;", "\u00a0").replace(NOT_IN_XML, "\ufffd"))}</div>`;
  const theirs = new DOMParser().parseFromString(text, "application/xml");
  if (theirs.querySelector("parsererror")) return refused();
  addAll(place, theirs.documentElement, { next, left: MOST_NODES }, 0);
  return place;
}

function addAll(ours, theirs, about, depth) {
  for (const node of theirs.childNodes) {
    if (about.left-- <= 0) return;
    if (node.nodeType === Node.TEXT_NODE) ours.append(node.data);
    else if (node.nodeType === Node.ELEMENT_NODE && depth < DEEPEST) add(ours, node, about, depth);
  }
}

function add(ours, theirs, about, depth) {
  const tag = theirs.localName;
  const isNext = tag === "a" && theirs.getAttribute("class") === "next";
  if (!(isNext || TAGS.has(tag))) return;
  const own = document.createElement(tag);
  const classes = (theirs.getAttribute("class") ?? "").split(" ").filter((name) => CLASSES.has(name));
  if (classes.length) own.className = classes.join(" ");
  if (isNext) own.href = about.next;
  if (theirs.getAttribute("aria-hidden") === "true") own.setAttribute("aria-hidden", "true");
  if (theirs.hasAttribute("aria-label")) own.setAttribute("aria-label", theirs.getAttribute("aria-label"));
  if (tag === "pre" && theirs.getAttribute("tabindex") === "0") own.tabIndex = 0;
  for (const style of (theirs.getAttribute("style") ?? "").split(";")) {
    const [name, value] = style.split(":", 2);
    if (STYLES.has(name) && VALUE.test(value)) own.style.setProperty(name, value);
  }
  addAll(own, theirs, about, depth + 1);
  ours.append(own);
}
