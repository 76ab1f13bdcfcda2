// The controls of a lesson's widget, and the picture that Python draws for them. An anywidget's module.
//
// The cell's output is plain HTML: a still picture, and a line of script that offers its place ("widgets.py").
// The model comes by another way, with its kernel. Here the two meet. So a stored notebook holds nothing but
// the still, and nothing is missing where no kernel runs.

const STYLE = `
:host { display: block; max-width: 1080px; container-type: inline-size; margin: 6px 0; }
.panel {
  --ink: var(--jp-content-font-color1, var(--vscode-foreground, var(--pst-color-text-base, light-dark(#1f2933, #e8ecef))));
  --paper: var(--jp-layout-color1, var(--vscode-editor-background, var(--pst-color-background, light-dark(#fff, #14181c))));
  --soft: color-mix(in srgb, var(--ink) 74%, var(--paper)); --line: color-mix(in srgb, var(--ink) 18%, var(--paper));
  --edge: color-mix(in srgb, var(--ink) 55%, var(--paper)); --wash: color-mix(in srgb, var(--ink) 5%, var(--paper));
  --lit: color-mix(in srgb, #0072B2 17%, var(--paper)); --mark: #0072B2;
  color-scheme: light dark; color: var(--ink); background: var(--paper); font: 14px/1.45 system-ui, "Segoe UI", sans-serif;
  border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; box-sizing: border-box; font-variant-numeric: tabular-nums;
  display: grid; grid-template-columns: 232px minmax(0, 1fr); gap: 4px 22px; align-items: start;
}
* { box-sizing: border-box; }
:focus-visible { outline: 3px solid color-mix(in srgb, var(--mark) 70%, var(--ink)); outline-offset: 2px; border-radius: 4px; }
.title { grid-column: 1 / -1; margin: 0 0 6px; font-weight: 600; font-size: 16px; }
.controls { display: grid; gap: 9px; } .one { display: grid; grid-template-columns: 1fr auto; gap: 0 8px; align-items: center; }
.one output { text-align: right; font-weight: 600; white-space: nowrap; }
input[type=range] { accent-color: var(--mark); grid-column: 1 / -1; width: 100%; margin: 2px 0 0; }
input[type=checkbox] { accent-color: var(--mark); width: 17px; height: 17px; margin: 0; }
button, select { font: inherit; color: var(--ink); background: var(--wash); border: 1px solid var(--edge); border-radius: 6px; padding: 3px 11px; min-height: 30px; }
select option { color: var(--ink); background: var(--paper); } button { cursor: pointer; } button:hover { background: var(--lit); }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 3px; }
.picture { overflow-x: auto; } .picture svg { display: block; width: 100%; min-width: 460px; height: auto; }
.say { grid-column: 1 / -1; min-height: 2.9em; margin: 8px 0 0; padding: 7px 12px; background: var(--wash); border-left: 4px solid var(--mark); border-radius: 0 6px 6px 0; }
.notice { grid-column: 1 / -1; margin: 6px 0 0; padding: 5px 11px; border-left: 4px solid #D55E00; font-weight: 600; }
[hidden] { display: none !important; }
@container (max-width: 720px) { .panel { grid-template-columns: 1fr; padding: 10px; } .controls { grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); } }`;

const BUSY = "Python has not answered yet: it is busy, or its kernel is gone. If this stays, run the cell again.";
const GONE = "The kernel of this picture is gone: run the cell again.";
const PATIENCE = 1500; // milliseconds until BUSY shows
const REACH = 30, BATCH = 16, MOST_FRAMES = 500; // pictures to have ready around the control in use

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

/** More kinds of controls: a lesson that needs one adds it here, in a module that begins with this one. */
const kinds = {};

/** One control: {element, show(index)}. `changed(index)` is called when the reader moves it. */
function control(given, changed) {
  const { name, kind, label, shown } = given;
  if (kind in kinds) return kinds[kind](given, changed);
  if (kind === "button") {
    let count = 0;
    const element = make("button", { type: "button", textContent: label });
    element.addEventListener("click", () => changed(count + 1));
    return { element, show: index => { count = index; } };
  }
  const caption = make("label", { htmlFor: name, textContent: label });
  if (kind === "choice") {
    const select = make("select", { id: name }, ...shown.map((text, i) => make("option", { value: i, textContent: text })));
    select.addEventListener("input", () => changed(Number(select.value)));
    return { element: make("div", { className: "one" }, caption, select), show: index => { select.value = index; } };
  }
  if (kind === "switch") {
    const box = make("input", { id: name, type: "checkbox" });
    box.addEventListener("input", () => changed(Number(box.checked)));
    return { element: make("div", { className: "one" }, caption, box), show: index => { box.checked = index === 1; } };
  }
  const value = make("output", { htmlFor: name }), slider = make("input", { id: name, type: "range", min: 0, max: shown.length - 1, step: 1 });
  value.setAttribute("aria-live", "off"); // the slider itself tells its value
  const show = index => {
    slider.value = index;
    value.textContent = shown[index];
    slider.setAttribute("aria-valuetext", shown[index]);
  };
  slider.addEventListener("input", () => { show(Number(slider.value)); changed(Number(slider.value)); });
  return { element: make("div", { className: "one" }, caption, value, slider), show };
}

/** Put controls and picture into `host`, and keep them in step with the model. Gives a function that ends this. */
function mount(host, model) {
  const root = host.shadowRoot || host.attachShadow({ mode: "open" });
  const given = model.get("given");
  const picture = make("div", { className: "picture" }), say = make("p", { className: "say" });
  const notice = make("p", { className: "notice", hidden: true });
  say.setAttribute("aria-live", "polite");
  notice.setAttribute("role", "status");
  // Pictures that Python has drawn, by the positions of all controls: those are shown at once.
  const frames = new Map(), keyOf = at => given.controls.map(({ name }) => at[name]).join();
  let timer = null, closed = false, displayed = -1, active = null, fetching = false;

  function keep(frame) {
    frames.set(keyOf(frame.at), frame);
    if (frames.size > MOST_FRAMES) frames.delete(frames.keys().next().value);
  }
  function show({ svg, text }, number) {
    displayed = number;
    picture.innerHTML = svg;
    if (say.textContent !== text) say.textContent = text; // else a screen reader would repeat it
    if (number < model.get("asked").number) return; // a newer one is on its way
    clearTimeout(timer);
    timer = null;
    if (!closed) notice.hidden = true;
  }
  function ask(change) {
    const before = model.get("asked"), at = { ...before.at, ...change }, number = before.number + 1, known = frames.get(keyOf(at));
    model.set("asked", { number, at, known: Boolean(known) });
    if (known) show(known, number);
    if (closed || !sent(() => model.save_changes())) return;
    if (!known) timer ??= setTimeout(() => { notice.textContent = BUSY; notice.hidden = false; }, PATIENCE);
    lookAhead();
  }
  /** Ask for the pictures that the control in use could lead to, the nearest first. */
  function lookAhead() {
    if (!active || fetching || closed) return;
    const { at } = model.get("asked"), { name, kind, shown } = active, here = at[name], wanted = [];
    const last = kind === "button" ? here + 1 : shown.length - 1;
    for (const i of [...Array(REACH).keys()].flatMap(step => [here + step, here - step]).concat(kind === "slider" ? [0, last] : [])) {
      const there = { ...at, [name]: i };
      if (i >= 0 && i <= last && wanted.length < BATCH && !frames.has(keyOf(there))) wanted.push(there);
    }
    if (!wanted.length) return;
    fetching = sent(() => model.send({ ahead: wanted }));
  }
  function takeFrames(message) {
    if (!message.frames) return;
    fetching = false;
    message.frames.forEach(keep);
    lookAhead();
  }
  const controls = given.controls.map(one => {
    const made = control(one, index => ask({ [one.name]: index }));
    for (const event of ["focusin", "pointerenter"]) made.element.addEventListener(event, () => { active = one; lookAhead(); });
    return [one, made];
  });
  const reset = make("button", { type: "button", textContent: "Start again" });
  reset.addEventListener("click", () => ask(given.start));
  const parts = kind => controls.filter(([one]) => (one.kind === "button") === kind).map(([, { element }]) => element);

  const panel = make("div", { className: "panel" },
    make("p", { className: "title", textContent: given.title }),
    make("div", { className: "controls" }, ...parts(false), make("div", { className: "buttons" }, ...parts(true), reset)),
    picture, say, notice);
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", given.title);
  root.replaceChildren(make("style", { textContent: STYLE }), panel);

  const showControls = () => controls.forEach(([one, { show }]) => show(model.get("asked").at[one.name]));
  function showAnswer() {
    const answer = model.get("answer");
    keep(answer);
    if (answer.number >= displayed) show(answer, answer.number);
  }
  function sent(send) {
    try { send(); } catch { gone(); } // JupyterLab throws when the kernel is no more
    return !closed;
  }
  function gone() {
    closed = true;
    clearTimeout(timer);
    notice.textContent = GONE;
    notice.hidden = false;
  }
  // JupyterLab takes arrow keys and letters as commands for the notebook unless they stop here.
  const keepKeys = event => {
    const forTheNotebook = event.ctrlKey || event.metaKey || event.key === "Escape" || (event.key === "Enter" && event.shiftKey);
    if (!forTheNotebook) event.stopPropagation();
  };
  host.addEventListener("keydown", keepKeys);
  model.on("change:asked", showControls);
  model.on("change:answer", showAnswer);
  model.on("msg:custom", takeFrames);
  model.on("destroy", gone);
  model.on("comm:close", gone);
  showControls();
  showAnswer();
  if (model.get("answer").number < model.get("asked").number) ask({}); // shown from a store that this page lacks
  return () => {
    clearTimeout(timer);
    host.removeEventListener("keydown", keepKeys);
    model.off("change:asked", showControls);
    model.off("change:answer", showAnswer);
    model.off("msg:custom", takeFrames);
    model.off("destroy", gone);
    model.off("comm:close", gone);
  };
}

// ---- where places and models meet --------------------------------------------------------------------------

// Shared by all cells of the page: places that wait, and models with the place where each one lives.
const desk = (window.sdpaPanels ??= { places: [], models: [] });
const LATE = 1500; // milliseconds that a place waits for a model of its own

/** Every place gets the youngest model that has none. `again`: or one whose place is gone (a cell that was moved). */
desk.meet = (again = false) => {
  for (const place of [...desk.places].reverse()) {
    const fits = desk.models.filter(({ key }) => key === place.dataset.key).sort((a, b) => b.born - a.born);
    const found = fits.find(({ home }) => !home) || (again && fits.find(({ home }) => !home.isConnected));
    if (!found) continue;
    desk.places = desk.places.filter(other => other !== place);
    found.stop?.();
    const host = document.createElement("div");
    place.replaceChildren(host);
    found.home = place;
    found.stop = found.mount(host, found.model); // each model with the module that it came with
  }
  if (!again && desk.places.length) setTimeout(desk.meet, LATE, true); // not yet: its own may be on the way
};

function initialize({ model }) {
  const { key, born } = model.get("given"), entry = { key, born, model, mount, home: null, stop: null };
  desk.models.push(entry);
  model.on("destroy", () => { desk.models = desk.models.filter(other => other !== entry); });
  desk.meet();
}

function render({ model, el }) { // somebody shows the widget itself, without a place
  const entry = desk.models.find(other => other.model === model);
  if (entry) entry.home = el;
  return mount(el.appendChild(document.createElement("div")), model);
}

export default { initialize, render };
