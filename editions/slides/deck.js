// The deck: reveal.js with the course's keys, room for what has a size of its own, and the speaker's window.
"use strict";

/* global Reveal, LESSON */

const root = document.documentElement;

// ---- what fills the room that is left ----------------------------------------------------------------------

/** Letters of a card are made for a page that is read from near: enlarge it as far as there is room. */
function fit(box) {
  const inside = [...box.children].filter(child => !["SCRIPT", "STYLE"].includes(child.tagName));
  const tall = () => inside.reduce((sum, child) => sum + child.getBoundingClientRect().height, 0) / Reveal.getScale();
  for (let zoom = 2.2; zoom > 0.6; zoom -= 0.05) {
    inside.forEach(child => Object.assign(child.style, { zoom, width: `${Math.floor(box.clientWidth / zoom)}px` }));
    if (tall() <= box.clientHeight + 1) return;
  }
}

const LEAST = 24; // pixels of a slide's letters, on 1280 by 720
const ENOUGH = 0.78; // of the room below a claim

/** Letters of a figure are made for a page, too: each kind of them grows as far as none comes to lie on another. */
function enlarge(drawing) {
  const texts = [...drawing.querySelectorAll("text")], { width, height } = drawing.viewBox.baseVal;
  if (!texts.length || !width) return;
  texts.forEach(text => text.style.removeProperty("font-size"));
  const least = LEAST * Math.max(width / drawing.clientWidth, height / drawing.clientHeight);
  const own = texts.map(text => parseFloat(getComputedStyle(text).fontSize));
  const kinds = texts.map((text, at) => [own[at], text.getAttribute("text-anchor"), !!text.getAttribute("transform")].join());
  const page = drawing.closest(".page").getBoundingClientRect(), before = new Set(clashes(texts, page).map(String));
  const sizes = new Map(kinds.map((kind, at) => [kind, Math.max(own[at], least)]));
  for (let round = 0; round < 60; round++) {
    texts.forEach((text, at) => text.style.setProperty("font-size", `${sizes.get(kinds[at])}px`));
    const tight = new Set(clashes(texts, page).filter(pair => !before.has(String(pair))).flat().map(at => kinds[at]));
    const shrinking = [...tight].filter(kind => sizes.get(kind) > parseFloat(kind));
    if (!shrinking.length) return;
    shrinking.forEach(kind => sizes.set(kind, Math.max(parseFloat(kind), sizes.get(kind) - least / 60)));
  }
}

/** Which texts lie on each other, as pairs, and which leave the page. */
function clashes(texts, page) {
  const boxes = texts.map(text => text.getBoundingClientRect()), found = [];
  boxes.forEach((a, i) => {
    if (a.left < page.left || a.right > page.right || a.bottom > page.bottom) found.push([i]);
    for (let j = i + 1; j < boxes.length; j++) {
      const b = boxes[j], over = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top); // a line is taller than its letters
      if (a.right > b.left + 1 && b.right > a.left + 1 && over > 0.25 * Math.min(a.height, b.height)) found.push([i, j]);
    }
  });
  return found;
}

/** As large as all of it fits; what does not fit with the smallest letters is an error that a test finds. */
function lettersUpTo(most, body) {
  const edge = body.getBoundingClientRect().right + 1;
  const fits = () => body.scrollHeight <= body.clientHeight + 1
    && [...body.querySelectorAll("pre, table, .choices, mjx-container")].every(part => part.getBoundingClientRect().right <= edge && part.scrollWidth <= part.clientWidth + 1)
    && [...body.querySelectorAll(":scope > .grows")].every(part => part.offsetHeight >= Math.min(380, parseFloat(part.style.maxHeight) || 380) - 1);
  for (let letters = most; letters >= LEAST; letters--) {
    body.style.setProperty("--size", `${letters}px`);
    if (fits()) return;
  }
}

/** A slide that has little to show shows it larger, its claim too. */
function size(page) {
  const body = page.querySelector(".body"), parts = [...body.children];
  const kind = ["title", "picture", "asks"].find(one => page.matches(`.${one}`));
  const [most, few] = { title: [32, 40], picture: [30, 44], asks: [40, 40] }[kind] ?? [48, 64];
  page.classList.remove("few");
  body.querySelectorAll(".grows.figure > svg").forEach(({ parentNode, viewBox: { baseVal: { width, height } } }) => {
    parentNode.style.maxHeight = `${body.clientWidth * height / width}px`;
  });
  lettersUpTo(most, body);
  const used = Math.max(...parts.map(part => part.offsetTop + part.offsetHeight)) - Math.min(...parts.map(part => part.offsetTop));
  if (few === most || used > ENOUGH * body.clientHeight) return;
  page.classList.add("few");
  lettersUpTo(few, body);
}

/** Whether all answers of a slide are to be seen. */
function markShown(slide) {
  const hidden = slide?.querySelectorAll(".fragment:not(.visible)").length;
  slide?.querySelector(".page")?.classList.toggle("shown", hidden === 0);
}

function arrive(slide) {
  slide?.querySelectorAll(".page").forEach(size);
  slide?.querySelectorAll(".grows.figure > svg").forEach(enlarge);
  slide?.querySelectorAll(".grows.card").forEach(fit);
  markShown(slide);
}

/** On paper nothing can be revealed: everything is to be seen. */
function arriveOnPaper(slide) {
  slide.querySelectorAll(".fragment").forEach(part => part.classList.add("visible"));
  arrive(slide);
}

// ---- keys --------------------------------------------------------------------------------------------------

function reveal() {
  const slide = Reveal.getCurrentSlide();
  if (!slide.querySelector(".fragment")) return;
  if (slide.querySelector(".fragment:not(.visible)")) while (Reveal.nextFragment()); // all of them
  else while (Reveal.prevFragment());
}

function turnDark() {
  root.classList.toggle("dark");
  speaker?.document.documentElement.classList.toggle("dark", root.classList.contains("dark"));
}

// ---- the speaker's window ----------------------------------------------------------------------------------
// A second window that this one writes: it works from a file, where two windows may not open the same page together.

let speaker = null, began = null;

const SPEAKER = `
  body { margin: 0; min-height: 100vh; box-sizing: border-box; display: grid; grid-template-rows: auto 1fr; align-items: start; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 20px 28px; padding: 22px 26px; color: var(--ink); background: var(--paper); font: 19px/1.5 system-ui, "Segoe UI", sans-serif; }
  header { grid-column: 1 / -1; display: flex; gap: 28px; align-items: baseline; border-bottom: 1px solid var(--line); padding-bottom: 10px; font-variant-numeric: tabular-nums; }
  header .clock { font-size: 34px; font-weight: 650; } header button { margin-left: auto; font: inherit; min-height: 32px; color: inherit; background: var(--wash); border: 1px solid var(--line); border-radius: 6px; padding: 2px 14px; cursor: pointer; }
  main h2 { font-weight: 680; } main h3 { margin: 18px 0 4px; font-size: 19px; font-weight: 680; } main strong { font-weight: 680; } main em { font-style: italic; } main sup { vertical-align: super; } main sub { vertical-align: sub; } main sub, main sup { font-size: .72em; line-height: 0; } main code { font-family: var(--mono); font-size: .88em; } main p { margin: 6px 0; } main .minutes { font-weight: 650; }
  main ul { margin: 6px 0; padding-left: 1.2em; } main li { margin: 6px 0; } main pre { font-size: 15px; overflow: auto; } main table { border-collapse: collapse; } main td, main th { padding: 3px 14px 3px 0; text-align: left; border-bottom: 1px solid var(--line); }
  .frame { position: relative; width: 100%; aspect-ratio: 16 / 9; overflow: hidden; border: 1px solid var(--line); border-radius: 6px; }
  .frame .reveal { position: absolute; inset: 0 auto auto 0; width: 1280px; height: 720px; transform-origin: 0 0; } .frame .fragment { opacity: 1; visibility: visible; }
  aside.next h2 { font-size: 19px; margin: 0 0 8px; } @media (max-width: 760px) { body { grid-template-columns: minmax(0, 1fr); } }`;

function openSpeaker() {
  if (speaker && !speaker.closed) { speaker.focus(); return; }
  speaker = window.open("", "", "width=1180,height=760");
  if (!speaker) return; // the browser was told to open no windows
  began ??= Date.now();
  const page = speaker.document;
  page.title = `Speaker · ${LESSON}`;
  const style = page.createElement("style");
  style.textContent = [...document.querySelectorAll("head style")].map(one => one.textContent).join("\n") + SPEAKER;
  page.head.append(style);
  page.documentElement.lang = "en";
  page.documentElement.className = root.classList.contains("dark") ? "dark" : "";
  page.body.innerHTML = '<header><span class="clock"></span><span class="place"></span><button type="button">Clock to 0</button></header>'
    + '<main tabindex="0"></main><aside class="next"><h2>Next</h2><div class="frame"></div></aside>';
  page.querySelector("button").addEventListener("click", () => { began = Date.now(); tick(); });
  page.addEventListener("keydown", passOn);
  tell();
  tick();
}

/** Keys of the speaker's window move the slides; those that scroll the notes stay there. */
function passOn(event) {
  const go = { ArrowRight: "next", ArrowLeft: "prev", PageDown: "next", PageUp: "prev", " ": "next" }[event.key];
  if (event.target.tagName === "BUTTON" && event.key === " ") return;
  if (go) Reveal[go]();
  else if (event.key === "r") reveal();
  else if (event.key === "d") turnDark();
  else return;
  event.preventDefault();
}

function following() {
  const slides = Reveal.getSlides();
  return slides[slides.indexOf(Reveal.getCurrentSlide()) + 1];
}

/** Write this slide's notes and the next slide into the speaker's window. */
function tell() {
  if (!speaker || speaker.closed) return;
  const page = speaker.document, slide = Reveal.getCurrentSlide();
  const heading = slide.querySelector("h1, h2, .kicker")?.innerHTML ?? "";
  page.querySelector("main").innerHTML = `<h2>${heading}</h2>${slide.querySelector("aside.notes")?.innerHTML ?? ""}`;
  page.querySelector("main").scrollTop = 0;
  page.querySelector(".place").textContent = `Slide ${Reveal.getSlidePastCount() + 1} of ${Reveal.getTotalSlides()}`;
  const frame = page.querySelector(".frame"), next = following()?.querySelector(".page")?.cloneNode(true);
  frame.replaceChildren();
  if (!next) return;
  next.querySelectorAll("script").forEach(script => script.remove());
  const place = page.createElement("div");
  place.className = "reveal";
  place.append(page.importNode(next, true));
  place.style.transform = `scale(${frame.clientWidth / 1280})`;
  frame.append(place);
}

function tick() {
  if (!speaker || speaker.closed) return;
  const seconds = Math.floor((Date.now() - began) / 1000);
  speaker.document.querySelector(".clock").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

// ---- begin -------------------------------------------------------------------------------------------------

const onPaper = /print-pdf/.test(location.search), alone = location.protocol === "file:";
let mode = alone ? "light" : "auto"; // a deck on a stick is for a projector
try { mode = localStorage.getItem("mode") ?? mode; } catch { /* no site around the deck */ }
const dark = mode === "dark" || (mode === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
root.classList.toggle("dark", new URLSearchParams(location.search).has("dark") || (dark && !onPaper));
const [all, back, next] = document.querySelector(".turn").children;
all.hidden = alone;
back.addEventListener("click", () => Reveal.prev());
next.addEventListener("click", () => Reveal.next());
Reveal.initialize({
  width: 1280, height: 720, margin: 0, minScale: 0.1, maxScale: 4, center: false, hash: true, controls: false,
  slideNumber: "c/t", navigationMode: "linear", transition: "none", backgroundTransition: "none",
  autoAnimate: false, pdfSeparateFragments: false, disableLayout: false, help: true, keyboard: {
    66: () => Reveal.togglePause(), 68: turnDark, 82: reveal, 83: openSpeaker,
  },
}).then(() => {
  Reveal.on("slidechanged", event => { arrive(event.currentSlide); tell(); });
  for (const name of ["fragmentshown", "fragmenthidden"]) Reveal.on(name, () => { markShown(Reveal.getCurrentSlide()); tell(); });
  Reveal.on("resize", () => arrive(Reveal.getCurrentSlide()));
  Reveal.registerKeyboardShortcut("R", "Reveal or hide the answer");
  Reveal.registerKeyboardShortcut("S", "Speaker's window");
  Reveal.registerKeyboardShortcut("D", "Dark or light");
  if (onPaper) Reveal.getSlides().forEach(arriveOnPaper);
  else arrive(Reveal.getCurrentSlide());
  setInterval(tick, 1000);
});
