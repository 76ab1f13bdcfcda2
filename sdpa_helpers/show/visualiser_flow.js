// The flow of the walk-through as lists of marks ("visualiser_marks.js"): the query meets the keys, products add up to
// scores, exponentials are squeezed into one bar of length 1. What the values become is in "visualiser_values.js".
// Pure functions of the state, the numbers and a width; no list shows a number of a later step than the state's.

/* global range, largest, mayAttend, exponentials, partialScores, write, fitted, nameOfScale */
/* exported flowLayout, text, heading, nameMark, keyScene, unitBar */

const NARROW = 560, HEAD = 26, BAR_ZONE = 92, PLANE = 230; // pixels

/** Where everything stands, in pixels: `width` × `height`, columns as [x, width], `rows` = {top, high, at(j)}. */
function flowLayout(s, width) {
  const n = s.tokens.length, narrow = width < NARROW, late = s.step === 4, values = s.step === 5;
  const letters = Math.max(...s.tokens.map(t => [...t].length)), least = narrow ? 38 : n > 8 ? 30 : 37;
  const above = narrow ? HEAD + 66 : HEAD, lines = Math.max(n * least, narrow ? 0 : 185);
  const plane = values && narrow ? PLANE : 0, height = Math.max(above + lines + BAR_ZONE, narrow ? HEAD + (n + 1) * 30 + PLANE : 0);
  const top = values ? HEAD : above, bottom = height - plane - (late ? BAR_ZONE : 0), count = values ? n + 1 : n;
  const high = (bottom - top) / count, rows = { top, bottom, high, at: j => top + (j + 0.5) * high, tall: Math.min(high - 5, 46) };
  const name = Math.min(Math.max(letters * 7.4 + 6, 54), narrow ? 64 : 92);
  if (narrow) {
    const spark = Math.min(64, 0.17 * width), key = name + 4, product = key + spark + 16, bar = product + spark + 18;
    const query = [key - 6, spark + 12];
    return { s, n, width, height, narrow, rows, name: [0, name], key: [key, spark], product: [product, spark], bar: [bar, width - bar], number: null, query, queryTop: HEAD + 2, plane };
  }
  const ask = Math.min(112, 0.17 * width), names = ask + 34, key = names + name + 4, spark = Math.min(92, 0.135 * width);
  const product = key + spark + 20, bar = product + spark + 22, number = 106;
  return { s, n, width, height, narrow, rows, query: [0, ask], queryTop: null, name: [names, name], key: [key, spark], product: [product, spark], bar: [bar, width - bar - number], number: [width - number + 8, number - 8], plane };
}

// ---- small parts -------------------------------------------------------------------------------------------

const text = (id, x, y, words, more = {}) => ({ id, kind: "text", x, y, words, ...more });
const heading = (id, x, words, part, y = 13) => text(`head:${id}`, x, y, words, { tone: "soft", size: 12, part });

function nameMark(layout, j, more = {}) {
  const [x, w] = layout.name;
  return text(`name:${j}`, x, layout.rows.at(j) + 4.5, fitted(layout.s.tokens[j], w), { part: "K", row: j, ...more });
}

// ---- steps 1 to 4: keys --------------------------------------------------------------------------------------

/** `share`: at step 1 how many of the coordinates are multiplied, at step 4 whether the bar of length 1 is there. */
function keyScene(layout, r, share) {
  const { s, n } = layout, upto = s.step === 1 ? Math.ceil(share * r.d) : r.d;
  return [
    ...columnHeads(layout), ...queryMarks(layout, r), ...(upto > 0 && upto < r.d ? beams(layout, r, upto) : []),
    ...range(n).flatMap(j => keyRow(layout, r, j, upto)),
    ...(s.step === 4 && share > 0 ? unitBar(layout, r) : []),
  ];
}

function columnHeads({ s, query, key, product, bar, narrow, queryTop }) {
  const y = narrow ? queryTop + 62 : 13, divided = s.scale === "none" && s.temperature === 1 ? "undivided" : `÷ ${nameOfScale(s)}`;
  const score = [narrow ? "Σ = score" : "Σ = score qᵢ·kⱼ", `score ${divided}`, "score + mask", ["e", "^score"]][s.step - 1];
  return [
    ...(narrow ? [] : [heading("query", query[0], "query qᵢ", "Q")]), heading("key", key[0] - 14, narrow ? "× keys" : "× keys kⱼ", "K", y),
    heading("product", product[0] - 14, "= products", "Q K", y),
    heading("score", bar[0], score, ["Q K", "scale", "mask", "softmax"][s.step - 1], y),
  ];
}

/** The pair of coordinates that is multiplied now, lit in the query, the keys and the products. */
function beams({ query, key, product, rows, narrow, queryTop, s }, r, upto) {
  const slot = key[1] / r.d, at = x => x + (upto - 1) * slot, wide = Math.max(slot, 2);
  const [qx, qy] = queryPlace({ query, rows, narrow, queryTop, s });
  const beam = (id, x, y, h, w = wide) => ({ id: `beam:${id}`, kind: "bar", tone: "fill-beam", part: "Q K", x, y, w, h });
  const inQuery = (query[1] - 12) / r.d;
  return [beam("q", qx + 6 + (upto - 1) * inQuery, qy + (narrow ? 6 : 24), narrow ? 50 : rows.tall, Math.max(inQuery, 2)), beam("k", at(key[0]), rows.top, rows.bottom - rows.top), beam("p", at(product[0]), rows.top, rows.bottom - rows.top)];
}

const queryPlace = ({ query, rows, narrow, queryTop }) => [query[0], narrow ? queryTop - 26 : (rows.top + rows.bottom - rows.tall) / 2 - 15];

function queryMarks(layout, r) {
  const { s, n, query, name, rows, narrow } = layout, [x, y] = queryPlace(layout), values = s.Q[s.query].slice(0, r.d);
  const tall = narrow ? 50 : rows.tall, high = narrow ? 62 : tall + 30;
  const fan = range(n).map(j => ({ id: `fan:${j}`, kind: "curve", tone: "stroke of-query", part: "Q", opacity: 0.45, x1: x + query[1], y1: y + high / 2, x2: name[0] - 5, y2: rows.at(j) }));
  const words = narrow ? ["query ", fitted(s.queries[s.query], 190)] : fitted(s.queries[s.query], query[1] - 12);
  return [
    ...(narrow ? [] : fan),
    { id: "q:frame", kind: "bar", tone: "frame of-query fill-wash", part: "Q", x, y, w: query[1], h: high, rx: 7 },
    narrow ? text("q:name", x + query[1] + 10, y + 26, words, { tone: "bold", part: "Q" }) : text("q:name", x + query[1] / 2, y + 17, words, { tone: "bold", anchor: "middle", part: "Q" }),
    { id: "q:coords", kind: "spark", tone: "fill-query", part: "Q", x: x + 6, y: narrow ? y + 6 : y + 24, w: query[1] - 12, h: tall, values, limit: limitOf(s, r) },
  ];
}

const limitOf = (s, r) => largest([...s.Q.flatMap(q => q.slice(0, r.d)), ...s.K.flatMap(k => k.slice(0, r.d))]);

function keyRow(layout, r, j, upto) {
  const { s, key, product, rows } = layout, i = s.query, y = rows.at(j), { tall } = rows;
  const q = s.Q[i].slice(0, r.d), k = s.K[j].slice(0, r.d), products = q.map((x, c) => x * k[c]);
  const all = s.K.flatMap(row => q.map((x, c) => x * row[c])), spark = { kind: "spark", y: y - tall / 2, h: tall };
  const middle = (id, [x, w], part) => ({ id: `${id}:${j}`, kind: "line", tone: "stroke of-faint", part, x1: x, x2: x + w, y1: y, y2: y });
  return [
    nameMark(layout, j, s.step >= 3 && !mayAttend(s.mask, s.size, i, j) ? { tone: "soft" } : {}),
    middle("kline", key, "K"), { ...spark, id: `key:${j}`, tone: "fill-key", part: "K", x: key[0], w: key[1], values: k, limit: limitOf(s, r) },
    middle("pline", product, "Q K"), { ...spark, id: `product:${j}`, tone: "fill-grey", part: "Q K", x: product[0], w: product[1], values: products, limit: largest(all), shown: upto },
    ...scoreMarks(layout, r, j, upto),
  ];
}

/** What a row's bar shows at each step, and its number. */
function scoreMarks(layout, r, j, upto) {
  const { s, bar: [x, w], rows, narrow } = layout, i = s.query, hidden = !mayAttend(s.mask, s.size, i, j);
  const most = largest([...r.scores[i], ...r.scaled[i]]), y = rows.at(j) + (narrow ? 9 : 0), thick = Math.min(rows.high * 0.42, narrow ? 11 : 20);
  const part = ["Q K", "scale", "mask", "softmax"][s.step - 1], box = { y: y - thick / 2, h: thick };
  const number = words => text(`number:${j}`, narrow ? x : layout.number[0], narrow ? y - 11 : y + 4.5, words, { part });
  const zero = at => ({ id: `zero:${j}`, kind: "line", tone: "stroke", x1: at, x2: at, y1: y - thick / 2 - 4, y2: y + thick / 2 + 4, part });
  const signed = value => signedBar(value, most, x, w);
  const bar = more => ({ id: `bar:${j}`, kind: "bar", tone: "fill-grey", part, ...box, ...more });
  if (s.step === 4) {
    const { powers, shift } = exponentials(r.masked[i]), score = r.masked[i][j], top = largest(powers), share = top > 0 && Number.isFinite(powers[j]) ? powers[j] / top : 0;
    const words = ["e", `^${write(shift ? score - shift : score)}`, ` = ${write(powers[j])}`];
    return [zero(x), bar({ x, w: share * w }), number(words)];
  }
  if (s.step === 3 && hidden) return [zero(x + w / 2), { id: `hatch:${j}`, kind: "hatch", tone: "stroke of-faint", part: "mask", x, w, ...box }, number("−∞")];
  if (s.step > 1) {
    const before = s.step === 2 ? [{ id: `ghost:${j}`, kind: "bar", tone: "stroke", part: "scale", opacity: 0.8, ...box, ...signed(r.scores[i][j]) }] : [];
    return [zero(x + w / 2), ...before, bar(signed(r.scaled[i][j])), number(write(r.scaled[i][j]))];
  }
  const score = upto < r.d ? partialScores(s.Q[i], s.K[j], upto)[upto] : r.scores[i][j];
  return [zero(x + w / 2), bar(signed(score)), number(write(score))];
}

/** A bar that begins in the middle of its track, to the left when the value is negative. */
function signedBar(value, most, x, w) {
  const share = most > 0 ? Math.min(Math.abs(Number.isNaN(value) ? 0 : value) / most, 1) : 0;
  return { x: x + (w / 2) * (value < 0 ? 1 - share : 1), w: (w / 2) * share };
}

// ---- the bar of length 1 -------------------------------------------------------------------------------------

/** All exponentials end to end, squeezed to the length 1: each piece is a weight. */
function unitBar(layout, r) {
  const { s, n, width, height, plane, bar, rows } = layout, weights = r.weights[s.query], y = height - plane - 38, part = "softmax";
  const w = width - 2, sure = weights.every(Number.isFinite), most = largest(weights), starts = weights.map((_, j) => weights.slice(0, j).reduce((a, b) => a + b, 0));
  const pieces = range(sure ? n : 0).filter(j => weights[j] > 0).map(j => ({
    id: `piece:${j}`, kind: "bar", tone: "fill-weight cut", part, x: 1 + starts[j] * w, y, w: weights[j] * w, h: 22, rx: 1,
    from: { x: bar[0], y: rows.at(j) - 6, w: (weights[j] / most) * bar[1], h: 12, opacity: 1 }, // where its exponential is
  }));
  const labels = pieces.flatMap(({ id, x, w: wide }) => {
    const j = Number(id.split(":")[1]), number = write(weights[j]), middle = x + wide / 2, name = fitted(s.tokens[j], 1.12 * (wide - 2));
    if (wide < 30) return [];
    return [text(`piecename:${j}`, middle, y - 20, name, { anchor: "middle", part, size: 12 }), text(`weight:${j}`, middle, y - 6, number, { anchor: "middle", part, size: 12, tone: "bold" })];
  });
  const total = sure ? weights.reduce((a, b) => a + b, 0) : NaN, said = !sure ? "NaN: nothing can be cut" : total ? "" : "no key is left: every weight is 0";
  return [
    { id: "unit:frame", kind: "bar", tone: "stroke", part, x: 1, y, w, h: 22, rx: 1 }, ...pieces, ...labels,
    text("unit:0", 0, y + 36, "0", { tone: "soft", size: 12, part }), text("unit:1", width, y + 36, "1", { tone: "soft", size: 12, anchor: "end", part }),
    text("unit:name", width / 2, y + 36, said || "weights: one bar of length 1", { tone: "soft", size: 12, anchor: "middle", part }),
  ];
}
