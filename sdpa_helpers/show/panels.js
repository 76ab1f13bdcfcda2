// The scaffold of every panel of the course: a frame in the page with its own style and keyboard, controls, sentences
// that are read aloud, and the meeting of a place in the page with its model in the kernel.
//
// A plain script without import and export: "panels.py" joins it with the files that a panel needs, in order. What a
// file takes from those before it stands in its line `global`, what it has for those after it in `exported`.

/* exported kinds, bodies, make, slider, choice, tell, narrator, initialize, render, replaceStill */

// The tokens of the course, in the colours of the page around: JupyterLab's, VS Code's, a static site's, or none's.
const STYLE = `
:host { display: block; container-type: inline-size; margin: 6px 0; }
.panel {
  --ink: var(--jp-content-font-color1, var(--vscode-foreground, var(--pst-color-text-base, light-dark(#1f2933, #e8ecef))));
  --paper: var(--jp-layout-color1, var(--vscode-editor-background, var(--pst-color-background, light-dark(#fff, #14181c))));
  --soft: color-mix(in srgb, var(--ink) 72%, var(--paper)); --line: color-mix(in srgb, var(--ink) 18%, var(--paper));
  --edge: color-mix(in srgb, var(--ink) 55%, var(--paper)); --wash: color-mix(in srgb, var(--ink) 5%, var(--paper));
  --query: #0072B2; --key: #E69F00; --value: #009E73; --weight: #CC79A7; --out: #D55E00;
  --mark: var(--query); --warn: var(--out); --lit: color-mix(in srgb, var(--mark) 17%, var(--paper));
  color: var(--ink); background: var(--paper); font: 14px/1.45 system-ui, "Segoe UI", sans-serif;
  border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; box-sizing: border-box; font-variant-numeric: tabular-nums;
}
* { box-sizing: border-box; }
:focus-visible { outline: 3px solid color-mix(in srgb, var(--mark) 70%, var(--ink)); outline-offset: 2px; border-radius: 4px; }
button, select, input[type=text], textarea { font: inherit; color: var(--ink); background: var(--wash); border: 1px solid var(--edge); border-radius: 6px; padding: 3px 11px; min-height: 30px; }
select option { color: var(--ink); background: var(--paper); } button { cursor: pointer; } button:hover { background: var(--lit); }
input[type=range] { appearance: none; height: 24px; margin: 0; background: none; cursor: pointer; --track: linear-gradient(to right, var(--mark) calc(8px + (100% - 16px) * var(--share, 0)), color-mix(in srgb, var(--ink) 30%, var(--paper)) 0); }
input[type=range]::-webkit-slider-runnable-track { height: 4px; border-radius: 2px; background: var(--track); }
input[type=range]::-moz-range-track { height: 4px; border-radius: 2px; background: var(--track); }
input[type=range]::-webkit-slider-thumb { appearance: none; width: 16px; height: 16px; margin-top: -6px; border-radius: 50%; background: var(--mark); border: 2px solid var(--paper); box-shadow: 0 0 0 1px var(--mark); }
input[type=range]:focus-visible { outline: none; } input[type=range]:focus-visible::-webkit-slider-thumb { outline: 3px solid color-mix(in srgb, var(--mark) 70%, var(--ink)); outline-offset: 2px; }
input[type=range]:focus-visible::-moz-range-thumb { outline: 3px solid color-mix(in srgb, var(--mark) 70%, var(--ink)); outline-offset: 2px; }
input[type=range]::-moz-range-thumb { box-sizing: border-box; width: 16px; height: 16px; border-radius: 50%; background: var(--mark); border: 2px solid var(--paper); box-shadow: 0 0 0 1px var(--mark); }
input[type=checkbox], input[type=radio] { appearance: none; flex: none; display: inline-grid; place-content: center; width: 24px; height: 24px; margin: 0; cursor: pointer; }
input[type=checkbox]::before, input[type=radio]::before { content: ""; width: 16px; height: 16px; border: 1.5px solid var(--edge); border-radius: 4px; background: var(--paper); }
input[type=radio]::before { border-radius: 50%; } input:checked::before { background: var(--mark); border-color: var(--mark); } input[type=radio]:checked::before { box-shadow: inset 0 0 0 3px var(--paper); }
input[type=checkbox]:checked::before { content: "✓"; color: #fff; font: 700 13px/15px system-ui, sans-serif; text-align: center; }
@media (forced-colors: active) { input { appearance: auto !important; } }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.say { padding: 7px 12px; background: var(--wash); border-left: 4px solid var(--mark); border-radius: 0 6px 6px 0; }
.notice { font-weight: 600; } .notice:not(:empty) { padding: 5px 11px; border-left: 4px solid var(--warn); }
[hidden] { display: none !important; }`;

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Write into a live region; the same words again would be read aloud again. */
function tell(region, text) {
  if (region.textContent !== text) region.textContent = text;
}

const PAUSE = 400; // milliseconds without a move until a sentence is read aloud

/** A hidden live region, and what to call with every new sentence: who drags hears only where they stop. */
function narrator() {
  const element = make("div", { className: "spoken" });
  let timer = null, last = null; // the first sentence is there to be read, it is no news
  element.setAttribute("aria-live", "polite");
  const speak = text => {
    clearTimeout(timer);
    if (last !== null && text !== last) timer = setTimeout(tell, PAUSE, element, text);
    last = text;
  };
  return { element, speak };
}

// ---- controls ----------------------------------------------------------------------------------------------
// A control is {element, show(value)}; it calls `changed(value)` when the reader moves it.

/** A slider; `write(value)` stands beside it, and `speak(value)` is read aloud. `reach(high)` moves its end. */
function slider({ name, label, low = 0, high, step = 1, write = String, speak = write }, changed) {
  const caption = make("label", { htmlFor: name, textContent: label }), written = make("output", { htmlFor: name });
  const input = make("input", { id: name, type: "range", min: low, max: high, step });
  written.setAttribute("aria-live", "off"); // the slider itself tells its value
  const show = value => {
    input.value = value;
    input.style.setProperty("--share", (value - low) / (Number(input.max) - low || 1));
    written.textContent = write(value);
    input.setAttribute("aria-valuetext", speak(value));
  };
  const reach = most => { input.max = most; };
  input.addEventListener("input", () => { show(Number(input.value)); changed(Number(input.value)); });
  return { element: make("div", { className: "one" }, caption, input, written), caption, show, reach };
}

/** A list to choose from; `options` are pairs of a value and its text. */
function choice({ name, label, options }, changed) {
  const caption = make("label", { htmlFor: name, textContent: label });
  const select = make("select", { id: name }, ...options.map(([value, textContent]) => make("option", { value, textContent })));
  select.addEventListener("input", () => changed(select.value));
  return { element: make("div", { className: "one" }, caption, " ", select), first: select.options[0], show: value => { select.value = value; } };
}

/** Kinds of controls whose positions are numbers 0, 1, …: those of `Control` in Python. A file of its own adds one:
 *  `kinds.grid = (given, changed) => ({ element, show })`, and the control names the file. */
const kinds = {
  slider: ({ name, label, shown }, changed) => slider({ name, label, high: shown.length - 1, write: i => shown[i] }, changed),
  choice: ({ name, label, shown }, changed) => choice({ name, label, options: [...shown.entries()] }, value => changed(Number(value))),
  switch({ name, label }, changed) {
    const box = make("input", { id: name, type: "checkbox" });
    box.addEventListener("input", () => changed(Number(box.checked)));
    const element = make("div", { className: "one" }, make("label", { htmlFor: name, textContent: label }), box);
    return { element, show: index => { box.checked = index === 1; } };
  },
  button({ label }, changed) {
    let count = 0;
    const element = make("button", { type: "button", textContent: label });
    element.addEventListener("click", () => changed(count + 1));
    return { element, show: index => { count = index; } };
  },
};

// ---- a panel in the page -----------------------------------------------------------------------------------

/** Kinds of panels: {style, fill(panel, given, model)}; `fill` returns what ends it. A file of its own adds one. */
const bodies = {};

/** Whether a key is a command for the notebook even here: run the cell, leave, save; but not: copy the text one writes. */
function isForTheNotebook({ key, shiftKey, ctrlKey, metaKey }, writing) {
  const edits = writing && "acvxyz".includes(key.toLowerCase());
  return ((ctrlKey || metaKey) && !edits) || key === "Escape" || (key === "Enter" && shiftKey);
}

/** Keep keys from the notebook, whose commands they are: arrows, letters. Returns a function that ends it. */
function keepKeys(host) {
  const decide = event => {
    const path = event.composedPath();
    if (!path.includes(host)) return null;
    return isForTheNotebook(event, Boolean(path[0].matches?.("textarea, input[type=text]"))) ? "go" : "stay";
  };
  // Notebook 7 takes keys before they arrive here; it and JupyterLab leave those alone whose target has this attribute.
  // The window is asked first of all, so that the attribute is gone in time for a key that is meant for them.
  const before = event => {
    const decided = decide(event);
    if (decided === "go") delete host.dataset.lmSuppressShortcuts;
    else if (decided) host.dataset.lmSuppressShortcuts = "true";
  };
  const here = event => { if (decide(event) === "stay") event.stopPropagation(); }; // every other place
  host.dataset.lmSuppressShortcuts = "true";
  window.addEventListener("keydown", before, true);
  host.addEventListener("keydown", here);
  return () => {
    window.removeEventListener("keydown", before, true);
    host.removeEventListener("keydown", here);
  };
}

/** Whether a colour as the browser computes it, "rgb(17, 17, 17)", is dark. */
function isDark(colour) {
  const unit = colour.startsWith("rgb") ? 255 : 1, [r, g, b] = colour.match(/\d*\.?\d+/g).map(x => Number(x) / unit);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.5;
}

/** The colour behind an element: that of the nearest ancestor which has one. */
function backdrop(element) {
  for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
    const { backgroundColor } = getComputedStyle(at);
    if (!/^rgba\(.*, 0\)$|^transparent$/.test(backgroundColor)) return backgroundColor;
  }
  return getComputedStyle(document.documentElement).colorScheme.includes("dark")
    && matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(0, 0, 0)" : "rgb(255, 255, 255)";
}

/** Let the browser's own parts (lists, scroll bars) be light or dark as the page is, whatever the system prefers. */
function followTheme(panel, host) {
  const follow = () => {
    if (!host.isConnected) return;
    const scheme = colour => { panel.style.colorScheme = isDark(colour) ? "dark" : "light"; };
    scheme(backdrop(host)); // decides in a page that sets no colours of its own; in others what it sets is seen here:
    scheme(getComputedStyle(panel).backgroundColor);
  };
  const watch = new MutationObserver(follow), arrival = new ResizeObserver(follow), system = matchMedia("(prefers-color-scheme: dark)");
  for (const root of [document.documentElement, document.body]) watch.observe(root, { attributes: true });
  system.addEventListener("change", follow);
  arrival.observe(host); // a widget may come into the page later than its panel into the widget
  follow();
  return () => {
    watch.disconnect();
    arrival.disconnect();
    system.removeEventListener("change", follow);
  };
}

/** Put a panel into `host`, with a model in the kernel or without. Returns a function that ends it. */
function mount(host, given, model = null) {
  const root = host.shadowRoot || host.attachShadow({ mode: "open" });
  const { style, fill } = bodies[given.body], panel = make("div", { className: `panel ${given.body}` });
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", given.title);
  root.replaceChildren(make("style", { textContent: STYLE + style }), panel);
  const ends = [keepKeys(host), followTheme(panel, host), fill(panel, given, model)];
  return () => ends.forEach(end => end());
}

/** A panel in the place of its still, in a page that has no kernel. */
function replaceStill(still, given) {
  const host = make("div");
  still.replaceWith(host);
  mount(host, given);
}

// ---- where places and models meet --------------------------------------------------------------------------
// A cell's output is plain HTML: a still, and a line of script that offers its place. The model comes by another way,
// with its kernel. So a stored notebook holds nothing but the still, and nothing is missing where no kernel runs.

// Shared by all cells of the page: places that wait, and models with the place where each one lives.
const desk = (window.sdpaPanels ??= { places: [], models: [] });
const LATE = 1500; // milliseconds that a place waits for a model of its own

/** The youngest model with this key that has no place. `again`: or one whose place is gone (a cell that was moved). */
function modelFor(key, models, again) {
  const fits = models.filter(model => model.key === key).sort((a, b) => b.born - a.born);
  return fits.find(({ home }) => !home) || (again && fits.find(({ home }) => !home.isConnected)) || null;
}

desk.meet = (again = false) => {
  for (const place of [...desk.places].reverse()) {
    const found = modelFor(place.dataset.key, desk.models, again);
    if (!found) continue;
    desk.places = desk.places.filter(other => other !== place);
    found.stop?.();
    const host = make("div");
    place.replaceChildren(host);
    found.home = place;
    found.stop = found.mount(host, found.model); // each model with the module that it came with
  }
  if (!again && desk.places.length) setTimeout(desk.meet, LATE, true); // not yet: its own may be on the way
};

const mountModel = (host, model) => mount(host, model.get("given"), model);

function initialize({ model }) {
  const { key, born } = model.get("given"), entry = { key, born, model, mount: mountModel, home: null, stop: null };
  desk.models.push(entry);
  model.on("destroy", () => { desk.models = desk.models.filter(other => other !== entry); });
  desk.meet();
}

function render({ model, el }) { // somebody shows the widget itself, without a place
  const entry = desk.models.find(other => other.model === model);
  if (entry) entry.home = el;
  return mountModel(el.appendChild(make("div")), model);
}
