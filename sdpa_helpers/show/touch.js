// For panels that the page draws by itself: strokes of SVG, motion, handles to drag, and sentences whose numbers move.

/* global make, narrator */
/* exported shape, glide, handle, reactive, shared, choose, TOUCH_STYLE */

const TOUCH_STYLE = `
.handle { cursor: grab; touch-action: none; outline: none; } .handle:active { cursor: grabbing; }
.handle text { pointer-events: none; } .handle .halo { fill: transparent; } .handle:hover .halo { fill: color-mix(in srgb, var(--ink) 8%, transparent); }
.handle:focus-visible .halo { fill: color-mix(in srgb, var(--mark) 12%, transparent); stroke: color-mix(in srgb, var(--mark) 70%, var(--ink)); stroke-width: 3; }
.moving { display: inline-block; font-weight: 600; white-space: nowrap; font-variant-numeric: tabular-nums; }
.moving.role { border-bottom: 3px solid var(--role); line-height: 1.15; }`;

/** An element of SVG; `null` leaves an attribute out. */
function shape(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// ---- motion ------------------------------------------------------------------------------------------------

const GLIDE = 300; // milliseconds

/** Call `draw(share)` with shares from near 0 up to exactly 1, for 300 ms; at once where the reader wants no motion.
 *  Returns what stops it where it is: call that before the next glide of the same thing. */
function glide(draw) {
  let frame = null, begin = null;
  const next = now => {
    begin ??= now;
    const left = Math.max(1 - (now - begin) / GLIDE, 0);
    frame = left > 0 ? requestAnimationFrame(next) : null;
    draw(1 - left ** 3); // fast first: the reader sees at once that something happens
  };
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) draw(1);
  else frame = requestAnimationFrame(next);
  return () => cancelAnimationFrame(frame);
}

// ---- handles -----------------------------------------------------------------------------------------------

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** A place in an SVG that the reader drags with a pointer or moves with arrow keys.
 *  `at()` is its place [x, y] in units of the picture, `move([x, y])` is called with where the pointer wants it, and
 *  `nudge(right, up, further)` with where an arrow key does: 1, 0 or −1 each, `further` with Shift. `speak()` gives
 *  {now, low, high, text}: one number of it, and what is read aloud. `held(is)` tells of the pointer's grip.
 *  Call `show()` after every move. */
function handle({ label, at, move, nudge, speak, held = () => {}, radius = 16 }, ...look) {
  const element = shape("g", { class: "handle", role: "slider", tabindex: 0, "aria-label": label },
    shape("circle", { class: "halo", r: radius }), ...look);
  let grip = null; // from the pointer to the place
  const under = event => { // where the pointer is, in units of the picture
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(element.ownerSVGElement.getScreenCTM().inverse());
    return [x, y];
  };
  element.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    const [x, y] = under(event), [ownX, ownY] = at();
    grip = [ownX - x, ownY - y];
    held(true);
    element.setPointerCapture(event.pointerId);
    element.focus({ focusVisible: false, preventScroll: true });
    event.preventDefault(); // no words of the page get selected
  });
  element.addEventListener("pointermove", event => {
    if (!grip) return;
    const [x, y] = under(event);
    move([x + grip[0], y + grip[1]]);
  });
  element.addEventListener("lostpointercapture", () => { // after every drag, however it ends
    grip = null;
    held(false);
  });
  element.addEventListener("keydown", event => {
    const arrow = ARROWS[event.key];
    if (!arrow || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    nudge(...arrow, event.shiftKey);
  });
  const show = () => {
    const [x, y] = at(), { now, low, high, text } = speak();
    element.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    for (const [name, value] of Object.entries({ valuenow: now, valuemin: low, valuemax: high, valuetext: text })) element.setAttribute(`aria-${name}`, value);
  };
  return { element, show };
}

// ---- sentences ---------------------------------------------------------------------------------------------

/** A sentence whose numbers move: "Key A scores {dot:key}." has a place named dot, underlined in the
 *  colour of keys; {verb:text} is one for words, which look like those around them.
 *  `write({ dot: "1.50" })` shows them at once, and reads the sentence aloud when the reader pauses. */
function reactive(...paragraphs) {
  const { element: spoken, speak } = narrator(), places = [];
  const filled = text => text.split(/[{}]/).map((part, i) => {
    if (i % 2 === 0) return part;
    const [name, role] = part.split(":"), isText = role === "text", place = make("span", { className: isText ? "" : role ? "moving role" : "moving" });
    place.dataset.name = name;
    if (role && !isText) place.style.setProperty("--role", `var(--${role})`);
    places.push(place);
    return place;
  });
  const said = make("div", { className: "say" }, ...paragraphs.map(text => make("p", {}, ...filled(text))));
  const write = values => {
    for (const place of places) place.textContent = values[place.dataset.name];
    speak([...said.children].map(p => p.textContent).filter(Boolean).join(" "));
  };
  return { element: make("div", {}, said, spoken), write };
}

// ---- settings ----------------------------------------------------------------------------------------------

/** The settings of a panel, those of `names`: in the page alone, or shared with Python where there is a model.
 *  `state` has them, `set(change)` moves some, `follow(state)` is called when Python has moved one. */
function shared(given, model, names, follow) {
  const state = Object.fromEntries(names.map(name => [name, model ? model.get(name) : given[name]]));
  const followers = model ? names.map(name => [`change:${name}`, () => {
    if (model.get(name) === state[name]) return; // it was us
    state[name] = model.get(name);
    follow(state);
  }]) : [];
  for (const [event, act] of followers) model.on(event, act);
  const set = change => {
    Object.assign(state, change);
    for (const [name, value] of Object.entries(change)) model?.set(name, value);
    model?.save_changes();
  };
  return { state, set, end: () => followers.forEach(([event, act]) => model.off(event, act)) };
}

/** A button. */
function choose(text, act) {
  const button = make("button", { type: "button", textContent: text });
  button.addEventListener("click", act);
  return button;
}
