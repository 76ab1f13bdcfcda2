// The numbers and words of the walk-through, without a page: the mathematics, vectors from words and from what somebody
// types, and settings within their limits. Pure functions; "tests/show" runs them in node.

/* exported attention, exponentials, partialScores, planeOf, mayAttend, asNumber, vectorsOf, parseMatrix, misfit, matched, tidied, moved, largest, extent */
/* exported MASKS, MOST_TOKENS, SCALES, STEPS */

// ---- the mathematics: the same numbers as sdpa_helpers.scaled_dot_product_attention ------------------------

const range = n => Array.from({ length: n }, (_, i) => i);
const clamp = (x, low, high) => Math.min(Math.max(Number.isFinite(+x) ? +x : low, low), high);

function scaleFactor(scale, dk, temperature = 1) {
  return 1 / ((scale === "none" ? 1 : scale === "1/d" ? dk : Math.sqrt(dk)) * temperature);
}

/** Whether query i may see key j. `size`: how many tokens are real (padding), or how far one sees (window). */
function mayAttend(mask, size, i, j) {
  if (mask === "causal") return j <= i;
  if (mask === "padding") return j < size;
  if (mask === "window") return Math.abs(i - j) <= size;
  return true;
}

/** exp(xᵢ) / Σⱼ exp(xⱼ). A row that is −∞ throughout, or empty, gives zeros. */
function softmax(row) {
  const highest = Math.max(...row); // −∞ for an empty row, NaN when there is one
  const shift = highest === -Infinity ? 0 : highest;
  const powers = row.map(x => Math.exp(x - shift));
  const total = powers.reduce((sum, e) => sum + e, 0);
  return powers.map(e => e / (total === 0 ? 1 : total));
}

/** eˣ of each score; where one would be too large for a number all are divided by that of the largest, `shift`. */
function exponentials(row) {
  const highest = Math.max(...row), shift = highest > 700 && highest < Infinity ? highest : 0;
  return { powers: row.map(x => Math.exp(x - shift)), shift };
}

/** Partial sums of the products of two vectors: after 0, 1, … d coordinates. */
function partialScores(q, k, d) {
  const sums = [0];
  for (let c = 0; c < d; c++) sums.push(sums[c] + q[c] * k[c]);
  return sums;
}

/** The plane in which vectors lie flattest, as two rows of length 1: coordinates 1 and 2 for pairs, for more the two
 *  directions in which they reach furthest. Where they are added, their shadows in it are added too. */
function planeOf(V) {
  const width = V[0].length, unit = c => range(width).map(i => Number(i === c));
  if (width === 2) return [unit(0), unit(1)];
  const finite = V.filter(v => v.every(Number.isFinite));
  const dot = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);
  const furthest = others => { // power iteration; the start is no eigenvector of anything likely
    let axis = range(width).map(c => 1 + 0.37 * c);
    for (let turn = 0; turn < 200; turn++) {
      const pulled = range(width).map(c => finite.reduce((sum, v) => sum + dot(v, axis) * v[c], 0) + 1e-9 * axis[c]);
      const free = others.reduce((v, o) => { const along = dot(v, o); return v.map((x, c) => x - along * o[c]); }, pulled);
      const length = Math.hypot(...free);
      if (!(length > 0 && length < Infinity)) break;
      axis = free.map(x => x / length);
    }
    return axis;
  };
  const first = furthest([]);
  return [first, furthest([first])];
}

/** All steps for all queries: matrices `scores`, `scaled`, `masked`, `weights` (n_q × n_k), `output` (n_q × d_v). */
function attention(Q, K, V, { dk = Infinity, scale = "1/√d", temperature = 1, mask = "none", size = 0 } = {}) {
  const d = Math.min(dk, Q.length ? Q[0].length : 0);
  const factor = scaleFactor(scale, d, temperature);
  const scores = Q.map(q => K.map(k => { let sum = 0; for (let c = 0; c < d; c++) sum += q[c] * k[c]; return sum; }));
  const scaled = scores.map(row => row.map(s => s * factor));
  const masked = scaled.map((row, i) => row.map((s, j) => (mayAttend(mask, size, i, j) ? s : -Infinity)));
  const weights = masked.map(softmax);
  const output = weights.map(row => range(V.length ? V[0].length : 0).map(c => row.reduce((sum, w, j) => sum + w * V[j][c], 0)));
  return { scores, scaled, masked, weights, output, factor, d };
}

// ---- vectors: from words, and from what somebody types -----------------------------------------------------

const WIDTH = 64, VALUE_WIDTH = 3, MOST_TOKENS = 12;

/** Coordinates about normal, with variance 1 and two decimals, from a word's letters. Whole numbers until the
 *  end, so that every browser, and `visualiser.py`, gets the same. */
function vectorOf(word, kind, width) {
  let state = 2166136261;
  for (const byte of new TextEncoder().encode(`${kind}:${word.toLowerCase()}`)) state = Math.imul(state ^ byte, 16777619);
  const next = () => { // mulberry32, 16 bits of it
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) >>> 16;
  };
  const coordinate = () => { // the sum of four uniform numbers, centred: variance 1/3, times √3
    const sum = next() + next() + next() + next() - 131070;
    return Math.floor((sum * 17321) / 6553600 + 0.5) / 100;
  };
  return range(width).map(coordinate);
}

function vectorsOf(sentence) {
  const tokens = sentence.trim().split(/\s+/).filter(Boolean).slice(0, MOST_TOKENS);
  const make = (kind, width) => tokens.map(word => vectorOf(word, kind, width));
  return { tokens, Q: make("q", WIDTH), K: make("k", WIDTH), V: make("v", VALUE_WIDTH) };
}

const SPECIAL = { nan: NaN, inf: Infinity, infinity: Infinity, "∞": Infinity };
const asNumber = text => {
  const plain = String(text).toLowerCase().replace(/^[−–]/, "-");
  const word = plain.replace(/^[+-]/, "");
  return word in SPECIAL ? (plain[0] === "-" ? -1 : 1) * SPECIAL[word] : Number(plain);
};
const isNumber = text => /^[+-]?nan$/i.test(text) || !Number.isNaN(asNumber(text));

/** {matrix} or {error}: one row a line, numbers separated by spaces, commas or semicolons; brackets are ignored. */
function parseMatrix(text, name) {
  const lines = String(text).replace(/[[\]()]/g, " ").split("\n").map(line => line.split(/[\s,;]+/).filter(Boolean));
  const rows = lines.map((row, i) => ({ row, line: i + 1 })).filter(({ row }) => row.length);
  if (!rows.length) return { error: `${name} is empty: write one row of numbers on each line.` };
  for (const { row, line } of rows) {
    const wrong = row.find(x => !isNumber(x));
    if (wrong !== undefined) return { error: `${name}, line ${line}: “${wrong.slice(0, 20)}” is not a number.` };
    if (row.length !== rows[0].row.length) {
      return { error: `${name}, line ${line} has ${row.length} numbers, but line ${rows[0].line} has ${rows[0].row.length}: every row needs the same number of coordinates.` };
    }
  }
  return { matrix: rows.map(({ row }) => row.map(asNumber)) };
}

/** What is wrong with the shapes, in a sentence; "" when they fit. */
function misfit(Q, K, V) {
  for (const [name, M] of [["Q", Q], ["K", K], ["V", V]]) {
    if (!M.length || !M[0].length) return `${name} is empty.`;
    if (M.length > MOST_TOKENS) return `${name} has ${M.length} rows; the picture has room for ${MOST_TOKENS}.`;
  }
  if (Q[0].length !== K[0].length) return `A row of Q has ${Q[0].length} numbers and a row of K has ${K[0].length}: both need dₖ of them.`;
  if (K.length !== V.length) return `K has ${K.length} rows and V has ${V.length}: every key needs one value.`;
  return "";
}

// ---- names -------------------------------------------------------------------------------------------------

const STEPS = ["scores", "scale", "mask", "softmax", "weighted sum"];
const SCALES = { none: "none", "1/√d": "1/√dₖ", "1/d": "1/dₖ" };
const MASKS = ["none", "causal", "padding", "window"];

// ---- the state: {Q, K, V, tokens, queries, query, step, dk, temperature, scale, mask, size} -----------------

/** New vectors and their names: those that come with them, else those from before, else q1, q2, … and k1, k2, … */
function matched(before, { Q, K, V, tokens, queries }) {
  const fits = (names, n) => names && names.length === n, numbered = (n, letter) => range(n).map(i => `${letter}${i + 1}`);
  const keys = [tokens, before.tokens].find(names => fits(names, K.length)) || numbered(K.length, "k");
  const asked = [queries, Q.length === K.length ? keys : before.queries].find(names => fits(names, Q.length)) || numbered(Q.length, "q");
  return { Q, K, V, tokens: keys, queries: asked };
}

/** The settings within what the vectors allow. */
function tidied({ Q, K, query, step, dk, temperature, scale, mask, size }) {
  const whole = (x, low, high) => Math.round(clamp(x, low, high));
  return {
    query: whole(query, 0, Q.length - 1), step: whole(step, 1, STEPS.length), dk: whole(dk, 1, Q[0].length),
    size: whole(size, 0, K.length), temperature: clamp(temperature, 0.1, 5),
    scale: scale in SCALES ? scale : "1/√d", mask: MASKS.includes(mask) ? mask : "none",
  };
}

/** Some steps on: from the last step to the next query, and back. */
function moved({ Q, query, step }, by) {
  const place = clamp(query * STEPS.length + step - 1 + by, 0, Q.length * STEPS.length - 1);
  return { query: Math.floor(place / STEPS.length), step: (place % STEPS.length) + 1 };
}

// ---- bars --------------------------------------------------------------------------------------------------

const largest = numbers => Math.max(0, ...numbers.filter(Number.isFinite).map(Math.abs));

/** Where a bar begins and how long it is, in percent of its track; a signed one begins in the middle. */
function extent(x, limit, signed) {
  const width = Number.isFinite(x) && limit > 0 ? Math.min(Math.abs(x) / limit, 1) * (signed ? 50 : 100) : 0;
  return { left: !signed ? 0 : x < 0 ? 50 - width : 50, width };
}
