// Attention, one query at a time. One ES module without dependencies: an anywidget renders it (see the end),
// and `visualiser.py` puts the same text into a cell's HTML, where it runs without a kernel and without network.
// Parts: the mathematics; vectors from words and from text; sentences; the picture; keeping all in step.

// ---- the mathematics: the same numbers as sdpa_helpers.scaled_dot_product_attention ------------------------

const range = n => Array.from({ length: n }, (_, i) => i);
const clamp = (x, low, high) => Math.min(Math.max(Number.isFinite(+x) ? +x : low, low), high);

export function scaleFactor(scale, dk, temperature = 1) {
  return 1 / ((scale === "none" ? 1 : scale === "1/d" ? dk : Math.sqrt(dk)) * temperature);
}

/** Whether query i may see key j. `size`: how many tokens are real (padding), or how far one sees (window). */
export function mayAttend(mask, size, i, j) {
  if (mask === "causal") return j <= i;
  if (mask === "padding") return j < size;
  if (mask === "window") return Math.abs(i - j) <= size;
  return true;
}

/** exp(xᵢ) / Σⱼ exp(xⱼ). A row that is −∞ throughout, or empty, gives zeros. */
export function softmax(row) {
  const highest = Math.max(...row); // −∞ for an empty row, NaN when there is one
  const shift = highest === -Infinity ? 0 : highest;
  const exponentials = row.map(x => Math.exp(x - shift));
  const total = exponentials.reduce((sum, e) => sum + e, 0);
  return exponentials.map(e => e / (total === 0 ? 1 : total));
}

/** All steps for all queries: matrices `scores`, `scaled`, `masked`, `weights` (n_q × n_k), `output` (n_q × d_v). */
export function attention(Q, K, V, { dk = Infinity, scale = "1/√d", temperature = 1, mask = "none", size = 0 } = {}) {
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

export const WIDTH = 64, VALUE_WIDTH = 3, MOST_TOKENS = 12;

/** Coordinates about normal, with variance 1 and two decimals, from a word's letters. Whole numbers until the
 *  end, so that every browser, and `visualiser.py`, gets the same. */
export function vectorOf(word, kind, width) {
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

export function vectorsOf(sentence) {
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
export function parseMatrix(text, name) {
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
export function misfit(Q, K, V) {
  for (const [name, M] of [["Q", Q], ["K", K], ["V", V]]) {
    if (!M.length || !M[0].length) return `${name} is empty.`;
    if (M.length > MOST_TOKENS) return `${name} has ${M.length} rows; the picture has room for ${MOST_TOKENS}.`;
  }
  if (Q[0].length !== K[0].length) return `A row of Q has ${Q[0].length} numbers and a row of K has ${K[0].length}: both need d_k of them.`;
  if (K.length !== V.length) return `K has ${K.length} rows and V has ${V.length}: every key needs one value.`;
  return "";
}

// ---- words about numbers -----------------------------------------------------------------------------------

export function write(x, digits = 2) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const text = Math.abs(x) >= 1e5 ? x.toExponential(1).replace("e+", "e") : x.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}
const writeVector = (v, most = 4) => `(${v.slice(0, most).map(x => write(x)).join(", ")}${v.length > most ? ", …" : ""})`;
const safe = text => String(text).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);

export const STEPS = ["scores", "scale", "mask", "softmax", "weighted sum"];
const SCALES = { none: "none", "1/√d": "1/√d_k", "1/d": "1/d_k" };
const MASKS = ["none", "causal", "padding", "window"];

function sentenceFor(s, r) {
  const i = s.query, name = `“${s.queries[i]}”`, weights = r.weights[i], n = s.tokens.length;
  const seen = r.scores[i].map((x, j) => [x, j]).filter(([, j]) => mayAttend(s.mask, s.size, i, j));
  const best = (seen.length ? seen : [[0, 0]]).reduce((a, b) => (b[0] > a[0] ? b : a))[1];
  const key = `“${s.tokens[best]}”`, hidden = n - seen.length, T = s.temperature === 1 ? "" : ` and by the temperature ${write(s.temperature, 1)}`;
  const divisor = { none: "1", "1/√d": `√d_k = √${r.d} = ${write(Math.sqrt(r.d))}`, "1/d": `d_k = ${r.d}` }[s.scale];
  if (s.step === 1) {
    const terms = range(Math.min(r.d, 3)).map(c => `${write(s.Q[i][c])} × ${write(s.K[best][c])}`);
    return `The query ${name} meets every key: multiply coordinate by coordinate, add up. With ${key}: ${terms.join(" + ")}${r.d > 3 ? " + …" : ""} = ${write(r.scores[i][best])}.`;
  }
  if (s.step === 2 && s.scale === "none" && !T) return `Nothing is divided. The more coordinates there are, the larger scores get: try d_k.`;
  if (s.step === 2) return `Every score is divided by ${divisor}${T}. For ${key}: ${write(r.scores[i][best])} becomes ${write(r.scaled[i][best])}.`;
  if (s.step === 3 && s.mask === "none") return `No mask is chosen, M = 0: ${name} may see every key.`;
  if (s.step === 3) return `Mask “${s.mask}”: ${name} may see ${n - hidden} of ${n} keys. ${hidden ? "The others get −∞ instead of their score." : ""}`;
  if (weights.some(w => Number.isNaN(w))) return "Some scores are no finite numbers. ∞ − ∞ has no answer, so the weights are NaN.";
  if (s.step === 4 && hidden === n) return `Every key is hidden from ${name}. Its weights are all 0: there is nothing to attend to.`;
  if (s.step === 4) return `e to the power of each score, divided by the sum of all of them: positive weights that add up to 1. The largest, ${write(Math.max(...weights))}, goes to “${s.tokens[weights.indexOf(Math.max(...weights))]}”.`;
  return `Each value counts as much as its weight says. Added up they are the output of ${name}: ${writeVector(r.output[i])}.`;
}

// ---- the picture -------------------------------------------------------------------------------------------

const STYLE = `
:host { display: block; max-width: 1040px; container-type: inline-size; margin: 6px 0; }
.walk {
  --ink: var(--jp-content-font-color1, var(--vscode-foreground, var(--pst-color-text-base, light-dark(#1f2933, #e8ecef))));
  --paper: var(--jp-layout-color1, var(--vscode-editor-background, var(--pst-color-background, light-dark(#fff, #14181c))));
  --soft: color-mix(in srgb, var(--ink) 72%, var(--paper)); --line: color-mix(in srgb, var(--ink) 18%, var(--paper));
  --edge: color-mix(in srgb, var(--ink) 55%, var(--paper)); --wash: color-mix(in srgb, var(--ink) 5%, var(--paper));
  --query: #0072B2; --key: #E69F00; --value: #009E73; --out: #D55E00; --lit: color-mix(in srgb, var(--query) 17%, var(--paper));
  color-scheme: light dark; color: var(--ink); background: var(--paper); font: 14px/1.45 system-ui, "Segoe UI", sans-serif;
  border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; box-sizing: border-box; font-variant-numeric: tabular-nums;
}
* { box-sizing: border-box; }
:focus-visible { outline: 3px solid color-mix(in srgb, var(--query) 70%, var(--ink)); outline-offset: 2px; border-radius: 4px; }
.formula { font: italic 21px/1.3 Cambria, "STIX Two Text", "DejaVu Serif", Georgia, serif; display: flex; align-items: center; flex-wrap: wrap; margin-bottom: 10px; }
.formula .word { font-style: normal; } .formula .term, .formula .frac { padding: 1px 4px; border-radius: 5px; border-bottom: 3px solid transparent; }
.formula .frac { display: inline-flex; flex-direction: column; align-items: center; padding: 0; } .formula .frac .term + .term { border-top: 1.5px solid var(--ink); border-radius: 0 0 5px 5px; }
.formula .on { background: var(--lit); border-bottom-color: var(--query); }
.formula .big { font-size: 36px; font-style: normal; font-weight: 300; line-height: 1; } .formula .off:not(.on) { color: var(--soft); font-size: 15px; }
.bar-row, .settings, .own { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; }
button, select, input[type=text], textarea { font: inherit; color: var(--ink); background: var(--wash); border: 1px solid var(--edge); border-radius: 6px; padding: 3px 11px; min-height: 30px; }
button { cursor: pointer; } button:hover { background: var(--lit); } button[aria-disabled=true] { opacity: .5; cursor: default; }
input[type=range] { accent-color: var(--query); width: 130px; min-width: 80px; margin: 0 4px; vertical-align: middle; }
.say { min-height: calc(2.9em + 14px); margin: 10px 0; padding: 7px 12px; background: var(--wash); border-left: 4px solid var(--query); border-radius: 0 6px 6px 0; }
.stage { display: flex; flex-wrap: wrap; gap: 14px 26px; align-items: flex-start; }
.scroll { overflow-x: auto; max-width: 100%; } .scroll.flow { flex: 1 1 500px; min-width: min(100%, 320px); }
table { border-collapse: collapse; } caption { white-space: nowrap; text-align: left; font-weight: 600; padding-bottom: 5px; }
th { font-weight: 500; } td, th { padding: 2px 6px; white-space: nowrap; text-align: left; height: 29px; }
.matrix td { text-align: center; width: 45px; min-width: 45px; font-size: 13px; border: 1px solid var(--paper); cursor: pointer; }
.matrix td.hidden, .flow td.hidden { background-image: repeating-linear-gradient(135deg, var(--line) 0 1px, transparent 1px 6px); }
.matrix thead th { text-align: center; font-size: 13px; max-width: 64px; overflow: hidden; text-overflow: ellipsis; }
.matrix tr.on td { border-top: 2px solid var(--query); border-bottom: 2px solid var(--query); } .matrix tr.on th { font-weight: 700; }
.matrix label { cursor: pointer; display: flex; align-items: center; gap: 4px; } .matrix input { accent-color: var(--query); margin: 0; }
.flow table { width: 100%; } .flow tbody th, .flow tfoot th { position: sticky; left: 0; background: var(--paper); } .flow thead th { border-bottom: 2px solid var(--line); color: var(--soft); } .flow tbody tr + tr > * { border-top: 1px solid var(--line); }
.flow th.on, .flow td.on { background: var(--lit); } .flow thead th.on { border-bottom-color: var(--query); color: var(--ink); font-weight: 700; }
.flow tfoot > tr > * { border-top: 2px solid var(--edge); font-weight: 600; }
.num { display: inline-block; min-width: 44px; text-align: right; } .faint { color: var(--soft); font-size: 12px; }
.track { display: inline-block; position: relative; width: 50px; height: 13px; margin-left: 6px; vertical-align: -2px; }
.track.signed::before { content: ""; position: absolute; left: 50%; top: -2px; bottom: -2px; border-left: 1px solid var(--edge); }
.track i { position: absolute; top: 0; bottom: 0; background: var(--tint); border: 1px solid color-mix(in srgb, var(--tint) 60%, var(--ink)); border-radius: 2px; }
.track i { min-width: 2px; } .part { display: inline-flex; flex-direction: column; align-items: center; width: 47px; font-size: 13px; line-height: 1.2; }
.track.small { width: 40px; height: 7px; margin: 1px 0 0; }
.later > * { visibility: hidden; }
.settings { border-top: 1px solid var(--line); margin-top: 14px; padding-top: 10px; } .settings .shown { display: inline-block; min-width: 26px; } .pair { white-space: nowrap; }
details { margin-top: 8px; } summary { cursor: pointer; } .own { margin-top: 8px; align-items: flex-start; } .own label { display: flex; flex-direction: column; gap: 3px; flex: 1 1 190px; }
.own .wide { flex-basis: 100%; } textarea { font: 12.5px/1.4 ui-monospace, monospace; width: 100%; white-space: pre; resize: vertical; }
.alert { flex-basis: 100%; font-weight: 600; } .alert:not(:empty) { border-left: 4px solid var(--out); padding: 5px 11px; margin-top: 8px; }
[hidden] { display: none !important; }
@container (max-width: 680px) { .walk { padding: 10px; } td, th { padding: 2px 4px; } .track { width: 32px; } .num { min-width: 40px; } }
@container (max-width: 530px) { .say { min-height: calc(4.35em + 14px); } .flow .track:not(.small) { width: 18px; } }`;

const FORMULA = `<span class="word term" data-term="4">softmax</span><span class="big">(</span>
<span class="frac"><span class="term" data-term="1">Q K<sup>T</sup></span><span class="term" data-term="2"></span></span>
<span class="term masked" data-term="3">+ M</span><span class="big">)</span><span class="term" data-term="5">V</span>`;

const option = (value, text = value) => `<option value="${value}">${text}</option>`;
const slider = (name, label, low, high, step) =>
  `<span class="pair"><label for="${name}">${label}</label><input type="range" id="${name}" data-set="${name}" min="${low}" max="${high}" step="${step}"><span class="shown"></span></span>`;

const PAGE = `<style>${STYLE}</style><div class="walk" role="group" aria-label="Walk through attention, one query at a time">
<div class="formula" role="img">${FORMULA}</div>
<div class="bar-row"><button data-do="back">‹ Back</button><button data-do="forward">Forward ›</button><button data-do="play">Play</button>
${slider("step", "step", 1, STEPS.length, 1)}</div>
<p class="say" aria-live="polite"></p>
<div class="stage"><div class="scroll matrix" role="region" tabindex="0" aria-label="Weights of all queries"></div>
<div class="scroll flow" role="region" tabindex="0" aria-label="The steps for the chosen query"></div></div>
<div class="settings">${slider("dk", "d_k", 1, 64, 1)}${slider("temperature", "temperature", 0.1, 5, 0.1)}
<span class="pair"><label for="scale">scale</label> <select id="scale" data-set="scale">${Object.entries(SCALES).map(([v, t]) => option(v, t)).join("")}</select></span>
<span class="pair"><label for="mask">mask</label> <select id="mask" data-set="mask">${MASKS.map(m => option(m)).join("")}</select></span>${slider("size", "size", 0, 12, 1)}<button data-do="reset">Start again</button></div>
<details><summary>Your own sentence or vectors</summary><div class="own">
<label class="wide"><span>A sentence, up to ${MOST_TOKENS} words. The vectors come from the letters by a fixed rule: they know nothing about meaning.</span><input type="text" data-own="sentence"></label>
${["Q: one query a line", "K: one key a line", "V: one value a line"].map(t => `<label><span>${t}</span><textarea rows="6" spellcheck="false" data-own="${t[0]}"></textarea></label>`).join("")}
</div></details><div class="alert" role="alert"></div></div>`;

const track = (x, limit, tint, signed, small = "") => {
  const part = Number.isFinite(x) && limit > 0 ? Math.min(Math.abs(x) / limit, 1) * (signed ? 50 : 100) : 0;
  const left = !signed ? 0 : x < 0 ? 50 - part : 50;
  return `<span class="track ${signed ? "signed" : ""} ${small}" style="--tint:var(--${tint})">${part ? `<i style="left:${left.toFixed(1)}%;width:${part.toFixed(1)}%"></i>` : ""}</span>`;
};
const largest = numbers => Math.max(0, ...numbers.filter(Number.isFinite).map(Math.abs));
const bar = (x, limit, tint, signed) => `<span><span class="num">${write(x)}</span>${track(x, limit, tint, signed)}</span>`;
const bars = (v, limit, tint) => `<span>${v.slice(0, 4).map(x => `<span class="part"><span>${write(x)}</span>${track(x, limit, tint, true, "small")}</span>`).join("")}${v.length > 4 ? "…" : ""}</span>`;

function matrixTable(s) {
  const head = s.tokens.map(t => `<th scope="col" title="${safe(t)}">${safe(t)}</th>`).join("");
  const rows = s.queries.map((q, i) => `<tr data-row="${i}"><th scope="row"><label><input type="radio" name="query" value="${i}">${safe(q)}</label></th>${s.tokens.map(() => "<td></td>").join("")}</tr>`);
  return `<table><caption>Weights: choose a query</caption><thead><tr><td style="visibility:hidden"></td>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function flowTable(s, r) {
  const i = s.query, shows = [1, 2, 3, 4, 5].map(step => (step > s.step ? "later" : step === s.step ? "on" : ""));
  const most = largest(r.scores[i].concat(r.scaled[i])), parts = s.V.map((v, j) => v.map(x => r.weights[i][j] * x));
  const wide = Math.max(largest(parts.flat()), largest(r.output[i]));
  const titles = ["1 score", `2 ${{ none: "as it is", "1/√d": "÷ √d_k", "1/d": "÷ d_k" }[s.scale]}`, "3 mask", "4 weight", "5 weight × value"];
  const head = titles.map((t, c) => `<th scope="col" class="${shows[c] === "on" ? "on" : ""}">${t}</th>`).join("");
  const rows = s.tokens.map((token, j) => {
    const sees = mayAttend(s.mask, s.size, i, j);
    const cells = [bar(r.scores[i][j], most, "key", true), bar(r.scaled[i][j], most, "key", true), `<span>${sees ? "seen" : "−∞"}</span>`, bar(r.weights[i][j], 1, "query", false), bars(parts[j], wide, "value")];
    return `<tr><th scope="row">${safe(token)}</th>${cells.map((html, c) => `<td class="${shows[c]} ${!sees && c === 2 && !shows[2].includes("later") ? "hidden" : ""}">${html}</td>`).join("")}</tr>`;
  });
  const total = `<tr><th scope="row">together</th><td colspan="3" class="faint">d_k = ${r.d}</td><td class="${shows[3]}">${bar(r.weights[i].reduce((a, w) => a + w, 0), 1, "query", false)}</td><td class="${shows[4]}">${bars(r.output[i], wide, "out")}</td></tr>`;
  return `<table><caption>The query “${safe(s.queries[i])}”, step by step</caption><thead><tr><th scope="col">key</th>${head}</tr></thead><tbody>${rows.join("")}</tbody><tfoot>${total}</tfoot></table>`;
}

// ---- keeping all in step -----------------------------------------------------------------------------------

/** Put the visualiser into `host`. Gives {state, set, stop}; `changed(state)` is called after every change. */
export function mount(host, given, changed = () => {}) {
  const root = host.shadowRoot || host.attachShadow({ mode: "open" });
  root.innerHTML = PAGE;
  const $ = what => root.querySelector(what), all = what => [...root.querySelectorAll(what)];
  const s = {};
  let playing = null, shape = "", cells = [], narrow = false;

  const name = (n, letter) => range(n).map(i => `${letter}${i + 1}`);
  function begin() {
    const own = given.Q ? { ...given } : vectorsOf(given.sentence || "the cat fears big dogs");
    for (const M of ["Q", "K", "V"]) own[M] = own[M].map(row => row.map(asNumber));
    const { query = 0, step = 1, dk, temperature = 1, scale = "1/√d", mask = "none", size = 2 } = given;
    take(own);
    Object.assign(s, { query, step, temperature, scale, mask, size, dk: dk || (given.Q ? own.Q[0].length : 4) });
    $("[data-own=sentence]").value = given.Q ? "" : s.tokens.join(" ");
    $(".alert").textContent = "";
  }
  function take({ Q, K, V, tokens, queries }) {
    const fits = (names, n) => names && names.length === n;
    Object.assign(s, { Q, K, V });
    s.tokens = fits(tokens, K.length) ? tokens : fits(s.tokens, K.length) ? s.tokens : name(K.length, "k");
    s.queries = fits(queries, Q.length) ? queries : Q.length === K.length ? s.tokens : fits(s.queries, Q.length) ? s.queries : name(Q.length, "q");
    for (const area of all("textarea")) area.value = s[area.dataset.own].map(row => row.map(x => (Number.isFinite(x) ? x : write(x))).join(" ")).join("\n");
  }
  function tidy() {
    if (!(s.scale in SCALES)) s.scale = "1/√d";
    if (!MASKS.includes(s.mask)) s.mask = "none";
    s.query = Math.round(clamp(s.query, 0, s.Q.length - 1));
    s.step = Math.round(clamp(s.step, 1, STEPS.length));
    s.dk = Math.round(clamp(s.dk, 1, s.Q[0].length));
    s.size = Math.round(clamp(s.size, 0, s.K.length));
    s.temperature = clamp(s.temperature, 0.1, 5);
  }
  function draw() {
    tidy();
    const r = attention(s.Q, s.K, s.V, s);
    if (shape !== JSON.stringify([s.tokens, s.queries])) {
      shape = JSON.stringify([s.tokens, s.queries]);
      $(".matrix").innerHTML = matrixTable(s);
      cells = all(".matrix tbody tr").map(row => [...row.querySelectorAll("td")]);
    }
    cells.forEach((row, i) => {
      row[0].parentNode.className = i === s.query ? "on" : "";
      row[0].parentNode.querySelector("input").checked = i === s.query;
      row.forEach((cell, j) => {
        const w = r.weights[i][j];
        cell.textContent = write(w);
        cell.className = mayAttend(s.mask, s.size, i, j) ? "" : "hidden";
        cell.style.backgroundColor = `color-mix(in srgb, var(--query) ${Number.isFinite(w) ? Math.round(58 * w) : 0}%, var(--paper))`;
      });
    });
    $(".flow").innerHTML = flowTable(s, r);
    const told = `${s.step} of ${STEPS.length}, ${STEPS[s.step - 1]}. ${sentenceFor(s, r)}`;
    if ($(".say").textContent !== told) $(".say").textContent = told; // else a screen reader would repeat it
    const T = s.temperature === 1 ? "" : write(s.temperature, 1) + " ";
    const below = { none: T, "1/√d": `${T}<span class="word">√</span><span style="border-top:1.5px solid">d<sub>k</sub></span>`, "1/d": `${T}d<sub>k</sub>` }[s.scale] || "1";
    $(".formula [data-term='2']").innerHTML = below;
    $(".formula .masked").classList.toggle("off", s.mask === "none");
    all(".formula .term").forEach(term => term.classList.toggle("on", Number(term.dataset.term) === s.step));
    $(".formula").setAttribute("aria-label", `softmax of (Q K transposed, scale ${SCALES[s.scale]}, mask ${s.mask}), times V. Lit: ${STEPS[s.step - 1]}.`);
    const limits = { dk: s.Q[0].length, size: s.K.length };
    for (const input of all("[data-set]")) {
      const which = input.dataset.set, text = which === "temperature" ? write(s.temperature, 1) : String(s[which]);
      if (limits[which]) input.max = limits[which];
      input.value = s[which];
      if (input.nextElementSibling) input.nextElementSibling.textContent = which === "step" ? `${text} of ${STEPS.length}: ${STEPS[s.step - 1]}` : text;
      if (which === "step") input.setAttribute("aria-valuetext", `${text}: ${STEPS[s.step - 1]}`);
    }
    const size = $("[data-set=size]").parentNode;
    size.hidden = s.mask !== "padding" && s.mask !== "window";
    size.firstElementChild.textContent = s.mask === "window" ? "sees this far" : "real tokens";
    $("[data-do=back]").setAttribute("aria-disabled", s.step === 1 && s.query === 0);
    $("[data-do=forward]").setAttribute("aria-disabled", s.step === STEPS.length && s.query === s.Q.length - 1);
    if (narrow) { // bring the lit column into view; last, because it makes the browser lay out the page at once
      const flow = $(".flow"), lit = flow.querySelector("th.on");
      flow.scrollLeft = lit.offsetLeft + lit.offsetWidth - flow.clientWidth;
    }
  }
  function set(change) { Object.assign(s, change); draw(); changed(s); }
  function move(by) { // from the last step on to the next query, and back
    const place = clamp(s.query * STEPS.length + s.step - 1 + by, 0, s.Q.length * STEPS.length - 1);
    set({ query: Math.floor(place / STEPS.length), step: (place % STEPS.length) + 1 });
  }
  function stop() { clearInterval(playing); playing = null; $("[data-do=play]").textContent = "Play"; }
  function play() {
    if (playing) return stop();
    $("[data-do=play]").textContent = "Pause";
    if (s.query === s.Q.length - 1 && s.step === STEPS.length) set({ query: 0, step: 1 });
    else move(1);
    playing = setInterval(() => {
      if (host.isConnected && (s.query < s.Q.length - 1 || s.step < STEPS.length)) move(1);
      else stop();
    }, 1500);
  }
  function ownVectors() {
    const read = Object.fromEntries(["Q", "K", "V"].map(M => [M, parseMatrix($(`[data-own=${M}]`).value, M)]));
    const error = read.Q.error || read.K.error || read.V.error || misfit(read.Q.matrix, read.K.matrix, read.V.matrix);
    $(".alert").textContent = error ? `${error} The picture still shows the numbers from before.` : "";
    if (error) return;
    const typed = Object.fromEntries(all("textarea").map(area => [area, area.value]).map(([a, text]) => [a.dataset.own, text]));
    const before = s.Q[0].length;
    take({ Q: read.Q.matrix, K: read.K.matrix, V: read.V.matrix });
    for (const area of all("textarea")) area.value = typed[area.dataset.own];
    set(s.Q[0].length === before ? {} : { dk: s.Q[0].length });
  }
  function ownSentence(text) {
    const made = vectorsOf(text), cut = text.trim().split(/\s+/).length > MOST_TOKENS;
    $(".alert").textContent = !made.tokens.length ? "Write at least one word." : cut ? `Only the first ${MOST_TOKENS} words fit.` : "";
    if (!made.tokens.length) return;
    take({ ...made, queries: made.tokens });
    set({ step: s.step });
  }

  root.addEventListener("input", ({ target }) => {
    const { set: which, own } = target.dataset;
    if (which) { stop(); set({ [which]: target.type === "range" ? Number(target.value) : target.value }); }
    else if (own === "sentence") ownSentence(target.value);
    else if (own) ownVectors();
    else if (target.name === "query") { stop(); set({ query: Number(target.value) }); }
  });
  root.addEventListener("click", ({ target }) => {
    const todo = target.dataset.do, row = target.closest("td") && target.closest("[data-row]");
    if (todo && todo !== "play") stop();
    if (todo === "back") move(-1);
    else if (todo === "forward") move(1);
    else if (todo === "play") play();
    else if (todo === "reset") { begin(); set({}); }
    else if (row) { stop(); set({ query: Number(row.dataset.row) }); row.querySelector("input").focus(); }
  });
  // JupyterLab takes arrow keys and letters as commands for the notebook unless they stop here.
  host.addEventListener("keydown", event => {
    const forTheNotebook = event.ctrlKey || event.metaKey || event.key === "Escape" || (event.key === "Enter" && event.shiftKey);
    if (!forTheNotebook) event.stopPropagation();
  });
  new ResizeObserver(([{ contentRect }]) => { narrow = contentRect.width > 0 && contentRect.width < 680; }).observe(host);
  begin();
  draw();
  return { state: s, set, stop, root };
}

// ---- the anywidget: the same, with Python as a partner -----------------------------------------------------

const SHARED = ["query", "step", "dk", "temperature", "scale", "mask", "size"];

function render({ model, el }) {
  const given = { ...model.get("given") };
  for (const which of SHARED) given[which] = model.get(which);
  const walk = mount(el.appendChild(document.createElement("div")), given, state => {
    for (const which of SHARED) model.set(which, state[which]);
    model.save_changes();
  });
  for (const which of SHARED) {
    model.on(`change:${which}`, () => { if (model.get(which) !== walk.state[which]) walk.set({ [which]: model.get(which) }); });
  }
  return walk.stop;
}

export default { render };
