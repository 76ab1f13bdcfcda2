// For panels that the page draws by itself: strokes of SVG, motion, handles to drag, and sentences whose numbers move.

/* global make, narrator */
/* exported shape, glide, handle, reactive, TOUCH_STYLE */

const TOUCH_STYLE = `
.handle { cursor: grab; touch-action: none; outline: none; } .handle:active { cursor: grabbing; }
.handle .halo { fill: transparent; } .handle:hover .halo { fill: color-mix(in srgb, var(--ink) 8%, transparent); }
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

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const FURTHER = 5; // times as far with Shift

/** A place in an SVG that the reader drags with a pointer or moves with arrow keys.
 *  `at()` is its place [x, y] in units of the picture, `move([x, y])` is called with where the reader wants it, `step`
 *  is how far an arrow key goes. `speak()` gives {now, low, high, text}: one number of it, and what is read aloud.
 *  Call `show()` after every move. */
function handle({ label, at, move, step, speak, radius = 16 }, ...look) {
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
    element.setPointerCapture(event.pointerId);
    element.focus({ focusVisible: false, preventScroll: true });
    event.preventDefault(); // no words of the page get selected
  });
  element.addEventListener("pointermove", event => {
    if (!grip) return;
    const [x, y] = under(event);
    move([x + grip[0], y + grip[1]]);
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) element.addEventListener(end, () => { grip = null; });
  element.addEventListener("keydown", event => {
    const arrow = ARROWS[event.key];
    if (!arrow || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const [x, y] = at(), far = event.shiftKey ? FURTHER * step : step;
    move([x + far * arrow[0], y + far * arrow[1]]);
  });
  const show = () => {
    const [x, y] = at(), { now, low, high, text } = speak();
    element.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    for (const [name, value] of Object.entries({ valuenow: now, valuemin: low, valuemax: high, valuetext: text })) element.setAttribute(`aria-${name}`, value);
  };
  return { element, show };
}

// ---- sentences ---------------------------------------------------------------------------------------------

/** A sentence whose numbers move: "Key A scores {dot:key}." has a place named dot, underlined in the colour of keys.
 *  `write({ dot: "1.50" })` shows them at once, and reads the sentence aloud when the reader pauses. */
function reactive(...paragraphs) {
  const { element: spoken, speak } = narrator(), places = [];
  const filled = text => text.split(/[{}]/).map((part, i) => {
    if (i % 2 === 0) return part;
    const [name, role] = part.split(":"), place = make("span", { className: role ? "moving role" : "moving" });
    place.dataset.name = name;
    if (role) place.style.setProperty("--role", `var(--${role})`);
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
