// A card, drawn anew from the text that came out of the wall: only these elements, with these classes and these styles.
// What is not named here is left out, with all that is in it; the text is parsed where nothing loads and nothing runs.

const TAGS = new Set("br code dd details div dl dt em i li ol p pre span strong summary table tbody td th thead tr ul".split(" "));
const CLASSES = new Set(("about b bar c code d example head k lesson lessons mark n next notes open pips plain quiet right ring row s " +
  "sdpa-card sdpa-failed sdpa-forbidden sdpa-not-attempted sdpa-passed sign tick top way ways word wrong").split(" "));
const STYLES = new Set(("align-items background border border-collapse border-radius border-spacing display flex-wrap " +
  "font-size font-variant-numeric list-style margin outline outline-offset overflow-wrap padding text-align " +
  "white-space width").split(" "));
const VALUE = /^(?:-?[\d.]+(?:px|em|%)?|#[\da-f]{6}|rgba\([\d., ]+\)|[a-z-]+)(?: (?:-?[\d.]+(?:px|em|%)?|#[\da-f]{6}|[a-z-]+)){0,3}$/;
const MOST_NODES = 20_000;
const DEEPEST = 40;

/** The card as an element; `next` is where its link leads. */
export function drawn(card, next) {
  const place = document.createElement("div");
  place.className = "card";
  const theirs = new DOMParser().parseFromString(card, "text/html").body;
  addAll(place, theirs, { next, left: MOST_NODES }, 0);
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
  const isNext = tag === "a" && theirs.className === "next";
  if (!(isNext || TAGS.has(tag))) return;
  const own = document.createElement(tag);
  const classes = [...theirs.classList].filter((name) => CLASSES.has(name));
  if (classes.length) own.className = classes.join(" ");
  if (isNext) own.href = about.next;
  if (theirs.ariaHidden === "true") own.ariaHidden = "true";
  if (theirs.ariaLabel) own.ariaLabel = theirs.ariaLabel;
  if (tag === "pre" && theirs.tabIndex === 0) own.tabIndex = 0;
  for (const style of (theirs.getAttribute("style") ?? "").split(";")) {
    const [name, value] = style.split(":", 2);
    if (STYLES.has(name) && VALUE.test(value)) own.style.setProperty(name, value);
  }
  addAll(own, theirs, about, depth + 1);
  ours.append(own);
}
