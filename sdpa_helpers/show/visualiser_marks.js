// A picture of marks: what stands in it is a list of plain objects, {id, kind, part, tone, x, y, …}, and a mark with the
// same id is the same thing at another moment. So a bar that shrinks, a row that moves and a piece that flies need no
// more than two lists, before and after.

/* global shape, glide */
/* exported marksPicture, between, MARKS_STYLE */

const MARKS_STYLE = `
.marks { display: block; max-width: 100%; overflow: visible; font-variant-numeric: tabular-nums; } .marks text { fill: var(--ink); } .marks text.soft { fill: var(--soft); } .marks text.bold { font-weight: 650; }
.fill-query { fill: var(--query); } .fill-key { fill: var(--key); } .fill-value { fill: var(--value); } .fill-weight { fill: var(--weight); } .fill-out { fill: var(--out); }
.fill-grey { fill: color-mix(in srgb, var(--ink) 50%, var(--paper)); } .fill-wash { fill: var(--wash); } .fill-beam { fill: color-mix(in srgb, var(--ink) 11%, transparent); }
.stroke { fill: none; stroke: var(--edge); } .stroke.of-query { stroke: var(--query); } .stroke.of-key { stroke: var(--key); } .stroke.of-value { stroke: var(--value); } .stroke.of-faint { stroke: var(--line); }
.frame { stroke: var(--edge); } .frame.of-query { stroke: var(--query); } .frame.of-out { stroke: var(--out); } .cut { stroke: var(--paper); stroke-width: 1.5; }`;

// ---- how each kind is drawn: from a mark to attributes -------------------------------------------------------

const near = x => Math.round(100 * x) / 100;

/** A vector as a row of small bars, upwards and downwards from the middle; `shown` of them, the last one in part. */
function sparkPath({ x, y, w, h, values, limit, shown = values.length }) {
  const slot = w / values.length, gap = Math.min(2.5, 0.22 * slot), middle = y + h / 2;
  return values.map((value, c) => {
    const part = Math.min(Math.max(shown - c, 0), 1), share = limit > 0 && Number.isFinite(value) ? Math.min(Math.abs(value) / limit, 1) : 0;
    if (!part) return "";
    const high = Math.max((share * part * h) / 2, 0.6), top = value < 0 ? middle : middle - high;
    return `M${near(x + c * slot + gap / 2)} ${near(top)}h${near(slot - gap)}v${near(high)}h${near(gap - slot)}z`;
  }).join("");
}

function hatchPath({ x, y, w, h }) {
  let path = "";
  for (let at = x; at + h <= x + w + 0.1; at += 7) path += `M${near(at)} ${near(y + h)}l${near(h)} ${near(-h)}`;
  return path;
}

/** From the start to the tip, with a head; one too short for a head is a dot. */
function arrowPath({ x1, y1, x2, y2, width = 3 }) {
  const dx = x2 - x1, dy = y2 - y1, length = Math.hypot(dx, dy);
  const dot = near(width / 2);
  if (length < 0.5) return `M${near(x1 - dot)} ${near(y1)}a${dot} ${dot} 0 1 0 ${2 * dot} 0a${dot} ${dot} 0 1 0 ${-2 * dot} 0z`;
  const [ux, uy] = [dx / length, dy / length], head = Math.min(3.6 * width, 0.75 * length), half = Math.min(width / 2, head / 3), wide = 0.5 * head;
  const at = (along, aside) => `${near(x1 + along * ux - aside * uy)} ${near(y1 + along * uy + aside * ux)}`;
  const neck = length - head;
  return `M${at(0, half)}L${at(neck, half)}L${at(neck, wide)}L${at(length, 0)}L${at(neck, -wide)}L${at(neck, -half)}L${at(0, -half)}z`;
}

const KINDS = {
  bar: ["rect", m => ({ x: near(m.x), y: near(m.y), width: near(Math.max(m.w, 0)), height: near(Math.max(m.h, 0)), rx: m.rx ?? 2 })],
  spark: ["path", m => ({ d: sparkPath(m) })],
  hatch: ["path", m => ({ d: hatchPath(m) })],
  line: ["path", m => ({ d: `M${near(m.x1)} ${near(m.y1)}L${near(m.x2)} ${near(m.y2)}`, "stroke-dasharray": m.dash || "none", "stroke-width": m.width ?? 1 })],
  curve: ["path", m => ({ d: `M${near(m.x1)} ${near(m.y1)}C${near((m.x1 + m.x2) / 2)} ${near(m.y1)} ${near((m.x1 + m.x2) / 2)} ${near(m.y2)} ${near(m.x2)} ${near(m.y2)}`, "stroke-width": m.width ?? 1.5 })],
  arrow: ["path", m => ({ d: arrowPath(m) })],
  text: ["text", m => ({ x: near(m.x), y: near(m.y), "text-anchor": m.anchor || "start", "font-size": m.size || 13 })],
};

/** Words; a piece of them that begins with ^ stands higher, as an exponent: ["e", "^1.63", " = 5.10"]. */
function writeInto(element, words) {
  const pieces = Array.isArray(words) ? words : [words], key = pieces.join("\u0000");
  if (element.dataset.words === key) return;
  element.dataset.words = key;
  let raised = false;
  element.replaceChildren(...pieces.map(piece => {
    const high = piece[0] === "^" && piece.length > 1, dy = high === raised ? null : high ? -4.5 : 4.5;
    raised = high;
    return shape("tspan", { dy, "font-size": high ? 12 : null }, high ? piece.slice(1) : piece);
  }));
}

function paint(element, mark) {
  for (const [name, value] of Object.entries(KINDS[mark.kind][1](mark))) element.setAttribute(name, value);
  element.setAttribute("opacity", near(mark.opacity ?? 1));
  if (mark.kind === "text") writeInto(element, mark.words);
}

function made(mark) {
  return shape(KINDS[mark.kind][0], { "data-id": mark.id });
}

// ---- from one list to the next -------------------------------------------------------------------------------

/** A mark on its way: numbers that both have are between, everything else is the second's. */
function between(a, b, share) {
  const mixed = { ...b };
  for (const [name, end] of Object.entries(b)) {
    const begin = a[name];
    if (Number.isFinite(end) && Number.isFinite(begin)) mixed[name] = begin + share * (end - begin);
    else if (name === "values" && begin?.length === end.length) mixed[name] = end.map((x, c) => (Number.isFinite(x - begin[c]) ? begin[c] + share * (x - begin[c]) : x));
  }
  return mixed;
}

/** An SVG that shows lists of marks: `put(marks)` at once, `go(lists)` through one after another. */
function marksPicture() {
  const element = shape("svg", { class: "marks", role: "img" }), drawn = new Map(); // id → {element, mark}
  let stop = () => {};

  function place(marks) { // every mark has its element, in this order
    for (const mark of marks) {
      const known = drawn.get(mark.id), same = known?.mark.kind === mark.kind;
      if (known && !same) known.element.remove();
      const one = same ? known.element : made(mark);
      one.setAttribute("class", `mark ${mark.tone || ""}`);
      one.dataset.part = mark.part || "";
      drawn.set(mark.id, { element: one, mark: same ? known.mark : { ...mark, opacity: 0, ...mark.from } });
      element.append(one);
    }
  }
  function leave(ids) {
    for (const id of ids) { drawn.get(id).element.remove(); drawn.delete(id); }
  }
  function step(marks, moves, share) {
    for (const { one, from, to } of moves) paint(one, (drawn.get(to.id).mark = share < 1 ? between(from, to, share) : to));
    if (share === 1) leave([...drawn.keys()].filter(id => !marks.some(mark => mark.id === id)));
  }
  function movesTo(marks) {
    place(marks);
    const wanted = new Set(marks.map(mark => mark.id)), moves = marks.map(to => ({ one: drawn.get(to.id).element, from: drawn.get(to.id).mark, to }));
    for (const [id, { element: one, mark }] of drawn) if (!wanted.has(id)) moves.push({ one, from: mark, to: { ...mark, opacity: 0 } });
    return moves;
  }
  function put(marks) {
    stop();
    step(marks, movesTo(marks), 1);
  }
  function go([marks, ...rest]) {
    stop();
    const moves = movesTo(marks);
    stop = glide(share => {
      step(marks, moves, share);
      if (share === 1 && rest.length) go(rest);
    });
  }
  function size(width, height, name) {
    for (const [which, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, "aria-label": name })) element.setAttribute(which, value);
  }
  return { element, size, put, go, stop: () => stop() };
}
