// The last step of the walk-through: every value shrinks to its weight, and laid tip to tip they lead to the output.
// Vectors of two or three numbers are arrows in a plane; for all others each coordinate is a line of its own.

/* global range, planeOf, write, fitted, flowLayout, text, heading, nameMark, keyScene */
/* exported flowOf */

const DIGITS = 45, WEIGHT = 64, MOST_SHOWN = 3; // pixels of a number and of a weight of 1; coordinates that are written
const MOST_MOVES = 4; // in which products light up, some coordinates at a time

/** The lists of marks that lead to a step, the last of them its picture; `alone` gives that one only. */
function flowOf(s, r, width, alone) {
  const layout = flowLayout(s, width), moves = Math.min(r.d, MOST_MOVES);
  const phases = { 1: range(moves + 1).map(p => p / moves), 4: [0, 1], 5: [0, 1, 2] }[s.step] || [1];
  const list = phase => (s.step === 5 ? valueMarks(layout, r, phase) : keyScene(layout, r, phase));
  return { height: layout.height, lists: (alone ? phases.slice(-1) : phases).map(list) };
}

function valueMarks(layout, r, phase) {
  const { s, n, width, height, narrow, rows, plane } = layout, columns = valueColumns(layout, Math.min(s.V[0].length, s.columns?.length || MOST_SHOWN));
  const right = columns.end + 24, box = narrow ? { x: 0, y: height - plane + 8, w: width, h: plane - 8 } : { x: right, y: 0, w: width - right, h: rows.bottom };
  const usable = s.V.every(v => v.every(Number.isFinite)) && r.output[s.query].every(Number.isFinite);
  const picture = s.V[0].length === 2 || s.V[0].length === 3 ? arrows : stairs;
  return [...valueHeads(columns), ...range(n).flatMap(j => valueRow(layout, r, j, columns)), ...outputRow(layout, r, columns), ...(usable ? picture(s, r, box, phase) : [heading("fan", box.x, "no finite numbers: no arrows", "V", box.y + 13)])];
}

// ---- the numbers -------------------------------------------------------------------------------------------

/** Where the columns of numbers begin; on a narrow page the values themselves are left out. */
function valueColumns({ narrow, name: [, w], width }, shown) {
  const weight = w + WEIGHT, value = weight + 14, whole = shown * DIGITS, part = narrow || width < (shown > MOST_SHOWN ? 800 : 600) ? weight + 6 : value + whole + 22;
  return { weight, value: part - weight > 20 ? value : null, part, shown, end: part + whole };
}

function valueHeads({ weight, value, part }) {
  return [
    heading("weight", weight - WEIGHT + 2, "weight", "softmax"),
    ...(value === null ? [] : [heading("value", value + 6, "× value vⱼ", "V")]),
    heading("part", part + 6, value === null ? "weight × value" : "= part", "V softmax"),
  ];
}

function numbers(id, values, x, y, shown, more) {
  const list = range(shown).map(c => text(`${id}:${c}`, x + (c + 1) * DIGITS - 2, y, write(values[c]), { anchor: "end", size: 12.5, ...more }));
  return values.length > shown ? [...list, text(`${id}:more`, x + shown * DIGITS + 3, y, "…", more)] : list;
}

function valueRow(layout, r, j, { weight, value, part, shown }) {
  const { s, rows } = layout, y = rows.at(j) + 4.5, w = r.weights[s.query][j], v = s.V[j];
  return [
    nameMark(layout, j, { x: 0 }),
    text(`weight:${j}`, weight - WEIGHT + 2, y, write(w), { part: "softmax", tone: "bold" }),
    { id: `piece:${j}`, kind: "bar", tone: "fill-weight", part: "softmax", x: weight - WEIGHT + 2, y: y + 4, w: Number.isFinite(w) ? w * WEIGHT : 0, h: 5, rx: 1 },
    ...(value === null ? [] : numbers(`value:${j}`, v, value, y, shown, { part: "V" })),
    ...numbers(`part:${j}`, v.map(x => w * x), part, y, shown, { part: "V softmax" }),
  ];
}

function outputRow({ s, n, rows }, r, { weight, part, shown, end }) {
  const y = rows.at(n) + 4.5, line = rows.at(n) - rows.high / 2 + 2;
  return [
    { id: "out:line", kind: "line", tone: "stroke", part: "out", x1: 0, x2: end, y1: line, y2: line },
    text("out:name", 0, y, "output", { tone: "bold", part: "out" }),
    text("out:sum", weight - WEIGHT + 2, y, write(r.weights[s.query].reduce((a, b) => a + b, 0)), { part: "softmax", tone: "soft" }),
    ...numbers("out", r.output[s.query], part, y, shown, { tone: "bold", part: "out" }),
    { id: "out:under", kind: "bar", tone: "fill-out", part: "out", x: part + 6, y: y + 5, w: shown * DIGITS - 8, h: 3, rx: 1 },
  ];
}

// ---- two or three coordinates: arrows in a plane -------------------------------------------------------------

/** Where each part of the chain begins; one more for the end, which is the output. */
const chain = parts => parts.reduce((ends, part) => [...ends, ends.at(-1).map((x, c) => x + part[c])], [parts[0].map(() => 0)]);

/** Above, every value and the share of it that counts; below, those shares tip to tip, drawn larger. */
function arrows(s, r, box, phase) {
  const axes = planeOf(s.V), flat = v => axes.map(axis => axis.reduce((sum, x, c) => sum + x * v[c], 0)), side = box.w > 1.4 * box.h;
  const values = s.V.map(flat), parts = values.map((v, j) => v.map(x => r.weights[s.query][j] * x)), ends = chain(parts);
  const upper = side ? { ...box, w: 0.46 * box.w } : { ...box, h: 0.42 * box.h }, lower = side ? { ...box, x: box.x + 0.5 * box.w, w: 0.5 * box.w } : { ...box, y: box.y + upper.h, h: box.h - upper.h };
  return [...fan(s, values, parts, axes, upper), ...(phase ? tipToTip(s, parts, ends, axes, lower, fit([[0, 0], ...values], upper)).filter(({ part }) => phase > 1 || part !== "out") : [])];
}

function arrow(id, from, to, more) {
  return { id, kind: "arrow", x1: from[0], y1: from[1], x2: to[0], y2: to[1], part: "V", tone: "fill-value", ...more };
}

function fan(s, values, parts, axes, box) {
  const toPage = fit([[0, 0], ...values], box), origin = toPage([0, 0]);
  const whole = values.map((v, j) => arrow(`whole:${j}`, origin, toPage(v), { width: 1.6, opacity: 0.4 }));
  const share = parts.map((v, j) => arrow(`share:${j}`, origin, toPage(v), { width: 3, from: { x2: toPage(values[j])[0], y2: toPage(values[j])[1], opacity: 1 } }));
  const lines = axisMarks("fan", axes, toPage, box), names = placedNames(values.map((v, j) => ({ id: `value:${j}`, words: s.tokens[j], base: origin, tip: toPage(v), atTip: true })), box, lines);
  return [heading("fan", box.x, "values vⱼ, shrunk by their weights", "V", box.y + 13), ...lines, ...whole, ...share, ...names, dot("fan", origin)];
}

function tipToTip(s, parts, ends, axes, box, before) {
  const toPage = fit(ends, box), origin = toPage([0, 0]), end = toPage(ends.at(-1)), [bx, by] = before([0, 0]);
  const links = parts.map((part, j) => {
    const [x2, y2] = before(part);
    return arrow(`part:${j}`, toPage(ends[j]), toPage(ends[j + 1]), { width: 3.4, from: { x1: bx, y1: by, x2, y2, opacity: 1 } });
  });
  const names = [{ id: "out", words: "output", base: origin, tip: end, tone: "bold", part: "out" }, ...parts.map((_, j) => ({ id: `part:${j}`, words: s.tokens[j], base: toPage(ends[j]), tip: toPage(ends[j + 1]) }))];
  const lines = axisMarks("chain", axes, toPage, box), out = arrow("output", origin, end, { tone: "fill-out", width: 5, part: "out", from: { x2: origin[0], y2: origin[1] } });
  return [heading("chain", box.x, "laid tip to tip: the output", "V out", box.y + 13), ...lines, out, ...links, ...placedNames(names, box, lines), dot("chain", origin)];
}

const dot = (id, [x, y]) => ({ id: `origin:${id}`, kind: "bar", tone: "fill-grey", part: "V", x: x - 2.5, y: y - 2.5, w: 5, h: 5, rx: 2.5 });

/** From the plane to the page: the same unit to the right and upwards, everything within the box below its heading. */
function fit(points, { x, y, w, h }) {
  const ends = c => [Math.min(...points.map(p => p[c])), Math.max(...points.map(p => p[c]))], [[left, right], [low, high]] = [ends(0), ends(1)];
  const unit = Math.min((w - 70) / (right - left || 1), (h - 48) / (high - low || 1), 400), [mx, my] = [(left + right) / 2, (low + high) / 2];
  return ([px, py]) => [x + w / 2 + (px - mx) * unit, y + 10 + h / 2 - (py - my) * unit];
}

/** The axes of the coordinates, as far as they lie in the plane: from zero to the edge, with their numbers. */
function axisMarks(name, axes, toPage, { x, y, w, h }) {
  const [ox, oy] = toPage([0, 0]);
  return range(axes[0].length).flatMap(c => {
    const [tx, ty] = toPage([axes[0][c], axes[1][c]]), [dx, dy] = [tx - ox, ty - oy], long = Math.hypot(dx, dy);
    const reach = (from, d, low, high) => (Math.abs(d) < 1e-9 ? Infinity : ((d > 0 ? high : low) - from) / d);
    const far = Math.min(reach(ox, dx, x + 8, x + w - 8), reach(oy, dy, y + 26, y + h - 8));
    if (long < 1e-6 || !(far > 0 && far < Infinity)) return [];
    const [ax, ay] = [ox + far * dx, oy + far * dy], back = 10 / long;
    return [
      { id: `axis:${name}:${c}`, kind: "line", tone: "stroke of-faint", part: "V", x1: ox, y1: oy, x2: ax - back * dx, y2: ay - back * dy },
      text(`axisname:${name}:${c}`, ax, ay + 4, String(c + 1), { tone: "soft", size: 12, anchor: "middle", part: "V" }),
    ];
  });
}

/** Names beside the arrows, as far as there is room: none lies on another. */
function placedNames(arrowsToName, { x, y, w, h }, others) {
  const taken = others.filter(({ kind }) => kind === "text").map(mark => [mark.x, mark.y - 4, 10]), free = box => taken.every(other => Math.abs(box[0] - other[0]) > (box[2] + other[2]) / 2 || Math.abs(box[1] - other[1]) > 14);
  const inside = ([px, py, wide]) => px - wide / 2 >= x && px + wide / 2 <= x + w && py > y + 24 && py < y + h - 6;
  return arrowsToName.flatMap(({ id, words, base, tip, atTip, tone = "", part = "V" }) => {
    const [dx, dy] = [tip[0] - base[0], tip[1] - base[1]], long = Math.hypot(dx, dy), name = fitted(words, 84), wide = [...name].length * 7 + 4;
    if (long < 14) return [];
    const [ux, uy] = [dx / long, dy / long], middle = [(tip[0] + base[0]) / 2, (tip[1] + base[1]) / 2], aside = 9 + Math.abs(uy) * (wide / 2);
    const beside = [[middle[0] - uy * aside, middle[1] + ux * 13], [middle[0] + uy * aside, middle[1] - ux * 13]];
    const places = [...(atTip ? [[tip[0] + ux * (wide / 2 + 3), tip[1] + uy * 11]] : []), ...beside].map(place => [...place, wide]);
    const place = places.find(box => free(box) && inside(box));
    if (!place) return [];
    taken.push(place);
    return [text(`tip:${id}`, place[0], place[1] + 4, name, { anchor: "middle", size: 12, part, tone })];
  });
}

// ---- other widths: one line for each coordinate --------------------------------------------------------------

/** For each coordinate the parts one after another, each beginning where the one before it ended, and their sum. */
function stairs(s, r, { x, y, w, h }) {
  const n = s.V.length, weights = r.weights[s.query], shown = Math.min(s.V[0].length, 4), lane = (h - 20) / shown;
  const ends = chain(s.V.map((v, j) => v.map(value => weights[j] * value))), all = ends.flat(), low = Math.min(0, ...all), high = Math.max(0, ...all);
  const named = s.columns?.length > 0, left = named ? 56 : 22, at = value => x + left + ((value - low) / (high - low || 1)) * (w - left - 8), thick = Math.min((lane - 16) / (n + 1), 12);
  const title = heading("fan", x, "each coordinate: shares, then their sum", "V out", y + 13);
  return [title, ...range(shown).flatMap(c => {
    const top = y + 20 + c * lane + 6, bar = (id, from, to, row, tone, part) => ({ id: `${id}:${c}`, kind: "bar", tone, part, x: Math.min(at(from), at(to)), w: Math.max(Math.abs(at(to) - at(from)), 1), y: top + row * thick, h: Math.max(thick - 1, 1), rx: 1 });
    return [
      text(`axisname:${c}`, x + 4, top + 12, named ? fitted(s.columns[c], 50) : String(c + 1), { tone: "soft", size: 12, part: "V" }),
      { id: `axis:${c}`, kind: "line", tone: "stroke", part: "V", x1: at(0), x2: at(0), y1: top - 3, y2: top + (n + 1) * thick + 3 },
      ...range(n).map(j => bar(`stair:${j}`, ends[j][c], ends[j + 1][c], j, "fill-value", "V")), bar("output", 0, ends.at(-1)[c], n, "fill-out", "out"),
    ];
  })];
}
