// Lesson 01's panel: a query and two keys are arrows in the plane, dragged by their tips. Their shadows are the scores.

/* global bodies, make, shape, glide, handle, reactive, shared, choose, TOUCH_STYLE */

const KEYS_STYLE = `${TOUCH_STYLE}
:host { max-width: 960px; }
.title { margin: 0 0 2px; font-weight: 600; font-size: 16px; } .hint { margin: 0 0 8px; color: var(--soft); font-size: 13px; }
.plane { display: block; width: 100%; user-select: none; -webkit-user-select: none; border-radius: 8px; }
.plane text { fill: var(--ink); font-size: 14px; paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
.plane .name { font-weight: 700; font-size: 16px; } .plane .quiet { fill: var(--soft); font-size: 13px; }
.plane .low { fill: var(--wash); } .plane .wins { fill: color-mix(in srgb, var(--key) 9%, transparent); }
.plane .rule { stroke: var(--edge); fill: none; } .plane .dashed { stroke-dasharray: 6 5; }
.below { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 10px 18px; align-items: start; margin-top: 10px; }
.say p { margin: 0; } .say p + p { margin-top: 4px; }
.facts { border-collapse: collapse; } .facts th, .facts td { padding: 2px 0 2px 14px; text-align: right; font-weight: 400; font-size: 13px; white-space: nowrap; }
.facts th:first-child { text-align: left; } .facts thead th { color: var(--soft); border-bottom: 1px solid var(--line); } .facts td { font-weight: 600; font-size: 14px; min-width: 4em; }
.facts td.won { background: linear-gradient(var(--key), var(--key)) right bottom / calc(100% - 14px) 3px no-repeat; }
.grip { fill: color-mix(in srgb, var(--role) 16%, transparent); stroke: var(--role); stroke-width: 1.5; } .handle:is(:hover, :active) .grip { fill: color-mix(in srgb, var(--role) 34%, transparent); }
.tries { display: flex; flex-wrap: wrap; align-items: center; gap: 7px; margin-top: 10px; }
@container (max-width: 720px) { .keys { padding: 10px; } .below { grid-template-columns: minmax(0, 1fr); } .facts { width: 100%; } .facts th:first-child { padding-left: 0; } }`;

// ---- the numbers -------------------------------------------------------------------------------------------
// A vector is {angle, length}: degrees from the horizontal, counterclockwise. The scene is {q, a, b}.

const LONGEST = { q: 2, a: 4, b: 4 };
const TURN = 1, STRETCH = 0.05, FURTHER_TURN = 15, FURTHER_STRETCH = 0.5;

const radians = degrees => degrees * Math.PI / 180;
const tidy = x => (Math.abs(x) < 1e-9 ? 0 : x); // the cosine of 90° is not quite 0
const pointOf = ({ angle, length }) => [length * Math.cos(radians(angle)), length * Math.sin(radians(angle))];

/** A vector that leads to this place, on the grid of whole degrees and twentieths; without a direction, that of before. */
function vectorTo([x, y], before, longest) {
  const length = Math.min(Math.hypot(x, y), longest), angle = length < STRETCH / 2 ? before.angle : Math.atan2(y, x) * 180 / Math.PI;
  return { angle: (Math.round(angle / TURN) * TURN + 360) % 360, length: Math.round(length / STRETCH) * STRETCH };
}

/** The angle between two vectors, 0 to 180 degrees. */
const between = (one, other) => Math.abs(((one.angle - other.angle) % 360 + 540) % 360 - 180);

/** How a key stands to the query: its angle, its shadow on the query's line, the score, the cosine (0 for a vector of
 *  length 0, which has none). */
function measure(q, key) {
  const angle = between(q, key), cosine = tidy(Math.cos(radians(angle)));
  return { angle, shadow: key.length * cosine, dot: q.length * key.length * cosine, cosine: q.length * key.length ? cosine : 0 };
}

/** "A", "B", or "" for a tie. */
const winner = (a, b) => (Math.abs(a - b) < 1e-9 ? "" : a > b ? "A" : "B");

const round = (x, digits) => { // with a real minus sign, and no −0.00
  const text = x.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
};
const short = length => String(Number(length.toFixed(2)));

/** What the panel says of a scene, above all `about` one of the keys, "a" or "b". */
function wordsFor({ q, a, b }, about) {
  const A = measure(q, a), B = measure(q, b), own = about === "a" ? A : B, byDot = winner(A.dot, B.dot), byCosine = winner(A.cosine, B.cosine);
  const wins = who => (who ? `key ${who} wins` : "neither key wins");
  const isExact = Math.abs(own.shadow.toFixed(2) * q.length - own.dot.toFixed(2)) < 1e-9; // of the rounded numbers that are shown
  return {
    A, B, byDot, byCosine,
    key: about.toUpperCase(), shadow: round(own.shadow, 2), length: short(q.length), score: round(own.dot, 2),
    rule: q.length === 1 ? (own.shadow < 0 ? "minus the shadow’s length: " : "the shadow’s length: ") : `${round(own.shadow, 2)} × ${short(q.length)} ${isExact ? "=" : "≈"} `,
    area: q.length === 1 || q.length === 0 ? "" : ", the area of its bar",
    dotWins: wins(byDot), cosineWins: wins(byCosine),
  };
}

// ---- the picture -------------------------------------------------------------------------------------------

const THICK = 12, ABOVE = 18, GAP = 4; // a bar for a query of length 1; pixels between the query's line and the bars, and between those
const MARGIN = 40, CLOSEST = 200; // around all tips, and pixels for a length of 1 at most

/** Pixels for a length of 1 with which all tips are well inside; `origin` is the place of zero. */
function fitting(scene, [width, height], origin) {
  const rooms = Object.values(scene).flatMap(vector => {
    const [x, y] = pointOf(vector), across = x > 0 ? width - origin[0] : origin[0], up = y > 0 ? origin[1] : height - origin[1];
    return [[x, across], [y, up]].map(([part, room]) => (Math.abs(part) > 0.05 ? (room - MARGIN) / Math.abs(part) : Infinity));
  });
  return Math.min(CLOSEST, ...rooms);
}

const RULED = ["-3", "-2", "-1", "1", "2", "3"]; // lengths on the ruler below the shadows

/** The strokes of the picture, made once; `draw` moves them. */
function planeOf() {
  const pen = {
    low: shape("polygon", { class: "low" }), wins: shape("polygon", { class: "wins" }),
    axis: shape("line", { class: "rule" }), edge: shape("line", { class: "rule" }), tie: shape("line", { class: "rule dashed", "stroke-width": 1.5 }),
    ticks: shape("path", { class: "rule" }), arc: shape("path", { class: "rule", "stroke-width": 1.5 }),
    dropA: shape("line", { class: "rule", "stroke-dasharray": "2 3" }), dropB: shape("line", { class: "rule", "stroke-dasharray": "2 3" }),
    shadowA: shape("path", { fill: "var(--key)", stroke: "var(--key)", "stroke-width": 1.5, "data-name": "bar-A" }),
    shadowB: shape("path", { fill: "url(#stripes)", stroke: "var(--key)", "stroke-width": 1.5, "data-name": "bar-B" }),
    q: shape("path", { stroke: "var(--query)", fill: "var(--query)", "stroke-width": 8 }),
    a: shape("path", { stroke: "var(--key)", fill: "var(--key)", "stroke-width": 4 }),
    b: shape("path", { stroke: "var(--key)", "stroke-width": 4, "stroke-dasharray": "9 4" }), head: shape("path", { fill: "var(--key)" }),
  };
  const words = Object.fromEntries(["lowWord", "winsWord"].map(name => [name, shape("text", { class: "quiet" })]));
  for (const name of ["angle", ...RULED]) words[name] = shape("text", { class: "quiet", "text-anchor": "middle" });
  for (const name of ["sayA", "sayB"]) words[name] = shape("text", { "text-anchor": "middle" });
  const stripes = shape("pattern", { id: "stripes", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    shape("rect", { width: 6, height: 6, fill: "var(--paper)" }), shape("rect", { width: 3, height: 6, fill: "var(--key)" }));
  const element = shape("svg", { class: "plane", role: "group", "aria-label": "The plane with a query and two keys" },
    shape("defs", {}, stripes), ...Object.values(pen), ...Object.values(words));
  return { element, pen, words };
}

const line = (stroke, [x1, y1], [x2, y2]) => {
  for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) stroke.setAttribute(name, value.toFixed(2));
};
const path = points => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/** The shaft and the head of an arrow. */
function arrow([x, y], [tipX, tipY], wide) {
  const length = Math.hypot(tipX - x, tipY - y), head = Math.min(3.4 * wide, length);
  if (length < 1) return ["", ""];
  const [u, v] = [(tipX - x) / length, (tipY - y) / length], neck = [tipX - head * u, tipY - head * v], half = 0.42 * head;
  const corners = [[tipX, tipY], [neck[0] - half * v, neck[1] + half * u], [neck[0] + half * v, neck[1] - half * u]];
  return [path([[x, y], neck]), `${path(corners)}Z`];
}

/** Everything of a scene at a scale; `at([x, y])` gives pixels. */
function drawScene({ pen, words }, scene, [width, height], origin, unit) {
  const { q, a, b } = scene, A = measure(q, a), B = measure(q, b), far = 2 * Math.hypot(width, height) / unit;
  const [c, s] = [Math.cos(radians(q.angle)), Math.sin(radians(q.angle))];
  const at = ([x, y]) => [origin[0] + unit * x, origin[1] - unit * y];
  const along = (t, off = 0) => { const [x, y] = at([t * c, t * s]); return [x + off * s, y + off * c]; }; // on the query's line, and pixels beside it
  const across = (t, out) => at([t * c - out * s, t * s + out * c]);
  const band = (from, to) => [across(from, far), across(to, far), across(to, -far), across(from, -far)].map(p => p.map(x => x.toFixed(1)).join()).join(" ");
  const none = q.length === 0, thick = THICK * q.length, lanes = { A: ABOVE, B: ABOVE + thick + GAP }, ruler = ABOVE + 2 * (thick + GAP);
  pen.low.setAttribute("points", none ? "" : band(-far, 0));
  pen.wins.setAttribute("points", none ? "" : band(A.shadow, far));
  line(pen.axis, along(-far), along(far));
  line(pen.edge, across(0, far), across(0, -far));
  line(pen.tie, across(A.shadow, far), across(A.shadow, -far));
  pen.tie.style.display = none ? "none" : "";
  // A bar is as long as the shadow and as thick as the query is long: its area is the score.
  for (const [name, key, { shadow }] of [["A", a, A], ["B", b, B]]) {
    const top = lanes[name], bottom = top + thick;
    line(pen[`drop${name}`], at(pointOf(key)), along(shadow, bottom));
    pen[`shadow${name}`].setAttribute("d", none ? "" : `${path([along(0, top), along(shadow, top), along(shadow, bottom), along(0, bottom)])}Z`);
  }
  pen.ticks.setAttribute("d", path([along(0, ABOVE), along(0, ruler)]) + RULED.map(t => path([along(Number(t), ruler - 2), along(Number(t), ruler + 4)])).join(""));
  pen.q.setAttribute("d", arrow(at([0, 0]), at(pointOf(q)), 8).join(""));
  pen.a.setAttribute("d", arrow(at([0, 0]), at(pointOf(a)), 4).join(""));
  [pen.b, pen.head].forEach((stroke, i) => stroke.setAttribute("d", arrow(at([0, 0]), at(pointOf(b)), 4)[i]));
  drawAngle(pen.arc, words.angle, scene, at, unit);
  putWord(words.lowWord, nearEdge(t => across(-12 / unit, t), [width, height]), none ? "" : "score below 0", c > 0 ? "end" : "start");
  putWord(words.winsWord, nearEdge(t => across(A.shadow + 12 / unit, t), [width, height]), none ? "" : "B wins here", c > 0 ? "start" : "end");
  for (const [name, { shadow, dot }] of [["A", A], ["B", B]]) {
    const middle = lanes[name] + thick / 2, back = shadow < 0 ? -1 : 1, beside = 30 * Math.abs(c) + (middle - 10) * Math.abs(s), [x, y] = along(shadow, middle);
    putWord(words[`say${name}`], [x + back * beside * c, y - back * beside * s + 5], none ? "" : `${name} ${round(dot, 2)}`);
  }
  for (const t of RULED) {
    const [x, y] = along(Number(t), ruler + 14);
    putWord(words[t], [x, y + 4], t.replace("-", "−"));
  }
}

function putWord(word, [x, y], text, anchor) {
  word.setAttribute("x", x.toFixed(1));
  word.setAttribute("y", y.toFixed(1));
  word.textContent = text;
  if (anchor) word.setAttribute("text-anchor", anchor);
}

/** The place on a line, given as a function of how far out, where words still have room in the picture. */
function nearEdge(at, [width, height]) {
  let found = at(0);
  for (let out = 0; out < 8; out += 0.05) {
    const [x, y] = at(out);
    if (x < 90 || x > width - 90 || y < 20 || y > height - 12) break;
    found = [x, y];
  }
  return found;
}

/** The arc from the query to key B, with the angle between them. */
function drawAngle(arc, word, { q, b }, at, unit) {
  const angle = between(q, b), turn = ((b.angle - q.angle) % 360 + 540) % 360 - 180, reach = 38 / unit;
  const shown = q.length > 0 && b.length > 0 && angle > 3;
  arc.setAttribute("d", shown ? path([...Array(31).keys()].map(i => at(pointOf({ angle: q.angle + turn * i / 30, length: reach })))) : "");
  word.style.display = shown ? "" : "none";
  const [x, y] = at(pointOf({ angle: q.angle + turn / 2, length: reach + 20 / unit }));
  putWord(word, [x, y + 5], `${Math.round(angle)}°`);
}

// ---- the panel ---------------------------------------------------------------------------------------------

const NAMES = { q: "the query", a: "key A", b: "key B" };
const TRIES = [["60°, length 2", 60, 2], ["75°, length 4", 75, 4], ["90°, length 4", 90, 4], ["120°, length 2", 120, 2]];

const sceneOf = s => Object.fromEntries(["q", "a", "b"].map(name => [name, { angle: s[`angle_${name}`], length: s[`length_${name}`] }]));
const settingsOf = scene => Object.fromEntries(Object.entries(scene).flatMap(([name, { angle, length }]) => [[`angle_${name}`, angle], [`length_${name}`, length]]));

function tableOf() {
  const cells = {}, head = ["", "shadow", "score q·k", "cosine"].map(text => make(text ? "th" : "td", text ? { scope: "col", textContent: text } : {}));
  const rows = ["A", "B"].map(name => make("tr", {}, make("th", { scope: "row", textContent: `key ${name}` }),
    ...["shadow", "dot", "cosine"].map(what => (cells[`${what}-${name}`] = make("td")))));
  for (const [name, cell] of Object.entries(cells)) cell.dataset.name = name;
  return { element: make("table", { className: "facts" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)), cells };
}

function fillKeys(panel, given, model) {
  const plane = planeOf(), table = tableOf(), told = reactive(
    "The shadow of key {key} reaches {shadow:key} along the query’s line. The query has length {length:query}, so the score q·k is {rule:text}{score:key}{area:text}.",
    "By score {dotWins}, by cosine {cosineWins}.");
  const start = sceneOf(given), names = Object.keys(settingsOf(start));
  let size = [640, 400], unit = 100, shownScene = start, stopGlide = () => {}, stopZoom = () => {}, last = "b", about = "b", dragging = false;
  const origin = () => [0.4 * size[0], 0.68 * size[1]];
  const settings = shared(given, model, names, state => glideTo(sceneOf(state)));

  const at = name => { const [x, y] = pointOf(shownScene[name]), [zeroX, zeroY] = origin(); return [zeroX + unit * x, zeroY - unit * y]; };
  const under = ([x, y]) => { const [zeroX, zeroY] = origin(); return [(x - zeroX) / unit, (zeroY - y) / unit]; };
  const touch = name => { last = name; if (name !== "q") about = name; };
  const change = (name, vector) => { touch(name); stopGlide(); settings.set(settingsOf({ [name]: vector })); show({ ...shownScene, [name]: vector }); };
  const handles = Object.fromEntries(Object.entries(NAMES).map(([name, text]) => [name, handle({
    label: `tip of ${text}`,
    at: () => at(name),
    move: spot => change(name, vectorTo(under(spot), shownScene[name], LONGEST[name])),
    nudge: (right, up, further) => {
      const { angle, length } = shownScene[name];
      const longer = Math.min(Math.max(length + up * (further ? FURTHER_STRETCH : STRETCH), 0), LONGEST[name]);
      change(name, { angle: (angle - right * (further ? FURTHER_TURN : TURN) + 360) % 360, length: Math.round(longer / STRETCH) * STRETCH });
    },
    speak: () => speakOf(name),
    held: is => { dragging = is; zoom(); },
    radius: name === "q" ? 22 : 14,
  }, ...tipOf(name))]));
  const speakOf = name => {
    const { q, [name]: vector } = shownScene, { angle, dot } = measure(q, vector);
    const where = name === "q" ? `direction ${Math.round(vector.angle)}°` : `${Math.round(angle)}° from the query, score ${round(dot, 2)}`;
    return { now: Number(vector.length.toFixed(2)), low: 0, high: LONGEST[name], text: `length ${short(vector.length)}, ${where}` };
  };
  function show(scene) {
    shownScene = scene;
    draw();
    const words = wordsFor(scene, about);
    told.write(words);
    for (const [name, found] of Object.entries({ A: words.A, B: words.B })) {
      for (const what of ["shadow", "dot", "cosine"]) table.cells[`${what}-${name}`].textContent = round(found[what], 2);
      table.cells[`dot-${name}`].className = words.byDot === name ? "won" : "";
      table.cells[`cosine-${name}`].className = words.byCosine === name ? "won" : "";
    }
    if (!dragging) zoom();
    else if (fitting(scene, size, origin()) < 0.8 * unit) zoom();
  }
  function draw() {
    drawScene(plane, shownScene, size, origin(), unit);
    for (const { show: update } of Object.values(handles)) update();
  }
  /** Bring all tips into the picture, when one is out of it or all have become small. */
  function zoom(atOnce = false) {
    const fit = fitting(shownScene, size, origin());
    if (!atOnce && fit >= unit && fit < 1.5 * unit) return;
    stopZoom();
    const from = unit, to = fit === CLOSEST ? fit : 0.92 * fit;
    if (atOnce) unit = to;
    else stopZoom = glide(share => { unit = from + share * (to - from); draw(); });
  }
  function glideTo(scene) {
    const from = shownScene;
    stopGlide();
    stopGlide = glide(share => show(share === 1 ? scene : Object.fromEntries(Object.entries(scene).map(([name, to]) => [name, {
      angle: from[name].angle + share * (((to.angle - from[name].angle) % 360 + 540) % 360 - 180),
      length: from[name].length + share * (to.length - from[name].length),
    }]))));
  }
  const go = scene => { settings.set(settingsOf(scene)); glideTo(scene); };

  plane.element.append(...["q", "a", "b"].map(name => handles[name].element));
  plane.element.addEventListener("click", event => { // a tap beside the tips: the one that was moved last comes there
    if (event.target.closest(".handle")) return;
    const box = plane.element.getBoundingClientRect();
    const spot = under([event.clientX - box.x, event.clientY - box.y]);
    go({ ...sceneOf(settings.state), [last]: vectorTo(spot, shownScene[last], LONGEST[last]) });
  });
  const tries = TRIES.map(([text, angle, length]) => choose(text, () => { touch("b"); go({ ...start, b: { angle, length } }); }));
  panel.append(make("p", { className: "title", textContent: given.title }),
    make("p", { className: "hint", textContent: "Drag a tip. By keyboard: Tab to a tip, ← → turn it, ↑ ↓ stretch it, with Shift further." }),
    plane.element, make("div", { className: "below" }, told.element, table.element),
    make("div", { className: "tries" }, make("span", { textContent: "Key B at" }), ...tries, choose("Start again", () => { touch("b"); go(start); })));
  const watch = new ResizeObserver(([{ contentRect: { width } }]) => {
    if (!width) return;
    size = [width, Math.round(Math.min(Math.max(0.5 * width, 300), 430))];
    plane.element.setAttribute("viewBox", `0 0 ${size.join(" ")}`);
    zoom(true);
    draw();
  });
  watch.observe(plane.element);
  show(sceneOf(settings.state));
  return () => { watch.disconnect(); stopGlide(); stopZoom(); settings.end(); };
}

/** A ring around the tip, wider for the query: its tip can be caught where a key's lies on it. And its name. */
function tipOf(name) {
  const word = shape("text", { class: "name", "text-anchor": "middle", ...{ q: { x: 32, y: 5 }, a: { x: 0, y: -22 }, b: { x: 0, y: -20 } }[name] });
  word.textContent = name === "q" ? "q" : name.toUpperCase();
  return [shape("circle", { class: "grip", r: name === "q" ? 20 : 12, style: `--role: var(--${name === "q" ? "query" : "key"})` }), word];
}

bodies.keys = { style: KEYS_STYLE, fill: fillKeys };
