// What the walk-through says: numbers as the course writes them, names cut to fit, and a sentence for each step.

/* global range, mayAttend */
/* exported write, safe, fitted, sentenceFor, answerOf, plainly, nameOfScale */

function write(x, digits = 2) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const text = Math.abs(x) >= 1e5 ? x.toExponential(1).replace("e+", "e") : x.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}
/** A factor in a sum of products: a negative one has brackets. */
const factor = x => (write(x).startsWith("−") ? `(${write(x)})` : write(x));
const writeVector = (v, most = 4) => `(${v.slice(0, most).map(x => write(x)).join(", ")}${v.length > most ? ", …" : ""})`;
const safe = text => String(text).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);

/** A name in so many pixels of 13 px letters, with a dot for what does not fit. */
function fitted(name, width) {
  const letters = [...name], room = Math.max(2, Math.floor(width / 7.3));
  return letters.length <= room ? name : `${letters.slice(0, room - 1).join("")}…`;
}

/** What the scores are divided by: "√dₖ", "2.0 √dₖ", "dₖ", "1". */
function nameOfScale({ scale, temperature }) {
  const T = temperature === 1 ? "" : write(temperature, 1), root = { none: "", "1/√d": "√dₖ", "1/d": "dₖ" }[scale];
  return [T, root].filter(Boolean).join(" ") || "1";
}

// ---- a sentence for each step ------------------------------------------------------------------------------
// A sentence is a list of texts; a number that moves with a slider is a pair of it and its role.

const plainly = sentence => sentence.map(part => (Array.isArray(part) ? part[0] : part)).join("");

/** The key that the sentence is about: the best that the query may see. */
function spokenKey(s, r) {
  const scores = r.scores[s.query], seen = range(scores.length).filter(j => mayAttend(s.mask, s.size, s.query, j));
  return (seen.length ? seen : [0]).reduce((a, b) => (scores[b] > scores[a] ? b : a));
}

function sentenceFor(s, r) {
  const i = s.query, j = spokenKey(s, r), row = { s, r, i, j, name: `“${s.queries[i]}”`, key: `“${s.tokens[j]}”` };
  return [ofScores, ofScale, ofMask, ofSoftmax, ofValues][s.step - 1](row);
}

function ofScores({ s, r, i, j, name, key }) {
  const shown = r.d > 4 ? 3 : r.d, terms = range(shown).map(c => [[factor(s.Q[i][c]), "query"], "\u00a0×\u00a0", [factor(s.K[j][c]), "key"]]);
  const sum = terms.flatMap((term, c) => (c ? [" + ", ...term] : term));
  return [`The query ${name} meets every key: multiply coordinate by coordinate, add up. With ${key}: `, ...sum, r.d > 3 && r.d > shown ? " + … = " : " = ", [write(r.scores[i][j]), ""], "."];
}

function ofScale({ s, r, i, j, key }) {
  const warm = s.temperature === 1 ? [] : [" and by the temperature ", [write(s.temperature, 1), ""]];
  if (s.scale === "none" && !warm.length) return ["Nothing is divided. The more coordinates there are, the larger scores get: try dₖ."];
  const divisor = { none: ["1"], "1/√d": [`√dₖ = √${r.d} = `, [write(Math.sqrt(r.d)), ""]], "1/d": ["dₖ = ", [String(r.d), ""]] }[s.scale];
  return ["Every score is divided by ", ...divisor, ...warm, `. For ${key}: `, [write(r.scores[i][j]), ""], " becomes ", [write(r.scaled[i][j]), ""], "."];
}

function ofMask({ s, i, name }) {
  const n = s.tokens.length, hidden = range(n).filter(j => !mayAttend(s.mask, s.size, i, j)).length;
  if (s.mask === "none") return [`No mask is chosen, M = 0: ${name} may see every key.`];
  return [`Mask “${s.mask}”: ${name} may see `, [String(n - hidden), ""], ` of ${n} keys. ${hidden ? "The others get −∞ instead of their score." : ""}`];
}

function ofSoftmax({ s, r, i, name }) {
  const weights = r.weights[i], most = Math.max(...weights);
  if (weights.some(Number.isNaN)) return ["Some scores are no finite numbers. ∞ − ∞ has no answer, so the weights are NaN."];
  if (!s.tokens.some((_, j) => mayAttend(s.mask, s.size, i, j))) return [`Every key is hidden from ${name}. Its weights are all 0: there is nothing to attend to.`];
  return ["e to the power of each score; all of them squeezed into one bar of length 1. Its pieces are the weights. The largest, ", [write(most), "weight"], `, goes to “${s.tokens[weights.indexOf(most)]}”.`];
}

/** What a trained head answers, with the settings as they are: [the word that asks, the answer]; [] where nothing asks. */
function answerOf({ tokens, columns }, { output }) {
  const i = tokens.findLastIndex(token => token.endsWith("?"));
  if (!columns?.length || i < 0 || i >= output.length) return [];
  const most = Math.max(...output[i]);
  return [tokens[i], output[i].filter(x => x === most).length === 1 ? columns[output[i].indexOf(most)] : "no answer"];
}

function ofValues(row) {
  const { s, r, i, name } = row, output = r.output[i];
  if (r.weights[i].some(Number.isNaN)) return ofSoftmax(row);
  const meant = s.columns?.length ? [` Its largest coordinate stands for “${s.columns[output.indexOf(Math.max(...output))]}”.`] : [];
  return ["Each value counts as much as its weight says. Laid tip to tip they lead to the output of ", `${name}: `, [writeVector(output), "out"], ".", ...meant];
}
