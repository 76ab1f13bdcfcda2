// Lesson 03's panel: softmax is a bar of length 1, cut into pieces by the weights. The temperature moves the cuts.

/* global bodies, kinds, make, slider, shape, glide, reactive, shared, choose, TOUCH_STYLE */

const BAR_STYLE = `${TOUCH_STYLE}
:host { max-width: 960px; }
.title { margin: 0 0 6px; font-weight: 600; font-size: 16px; }
.moves { display: grid; grid-template-columns: 1.6fr 1fr 1fr auto; gap: 6px 24px; align-items: start; }
.one { display: grid; grid-template-columns: 1fr auto; gap: 0 8px; align-items: center; } .one output { grid-area: 1 / 2; font-weight: 600; white-space: nowrap; }
.one input[type=range] { grid-area: 2 / 1 / 3 / -1; width: 100%; }
.bars { display: block; width: 100%; margin: 10px 0; user-select: none; -webkit-user-select: none; }
.bars text { fill: var(--ink); font-size: 13px; } .bars .quiet { fill: var(--soft); } .bars .inside { font-weight: 600; text-anchor: middle; }
.bars .column { fill: color-mix(in srgb, var(--ink) 34%, var(--paper)); } .bars .ribbon { fill: color-mix(in srgb, var(--weight) 20%, var(--paper)); }
.bars .piece { fill: color-mix(in srgb, var(--weight) 78%, var(--paper)); stroke: var(--paper); stroke-width: 1; } .bars .ribbon.odd { fill: color-mix(in srgb, var(--weight) 32%, var(--paper)); } .bars .piece.odd { fill: color-mix(in srgb, var(--weight) 52%, var(--paper)); }
.bars .frame { fill: none; stroke: var(--ink); stroke-width: 1.2; } .bars .mark { stroke: var(--ink); stroke-width: 1.6; fill: none; } .bars .base { stroke: var(--edge); }
.say p { margin: 0; } .say p + p { margin-top: 4px; }
.tries { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 10px; }
@container (max-width: 720px) { .temperature { padding: 10px; } .moves { grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); } }`;

// ---- the numbers -------------------------------------------------------------------------------------------

/** The scores of a row, the largest first: the first n of these numbers, √d_k times as far apart unless it is divided out. */
const scoresOf = (numbers, n, d, scaled) => numbers.slice(0, n).sort((a, b) => b - a).map(x => x * (scaled ? 1 : Math.sqrt(d)));

/** e to every score over the temperature, the largest of them 1: what softmax shares out. Limits: at 0 all but the
 *  largest vanish, at ∞ all are alike. */
const exponentials = (scores, T) => scores.map(s => (T === 0 ? Number(s === scores[0]) : T === Infinity ? 1 : Math.exp((s - scores[0]) / T)));

const sumOf = numbers => numbers.reduce((a, b) => a + b, 0);
const shares = numbers => { const sum = sumOf(numbers); return numbers.map(x => x / sum); };
const entropyOf = weights => -sumOf(weights.map(w => (w > 0 ? w * Math.log(w) : 0))) || 0; // no −0

/** The row that the settings describe. */
function rowOf({ rows, temperatures, widths }, { stop, width, scaled, n, again }) {
  const degrees = temperatures[stop], T = Number(degrees.replace("∞", "Infinity")), d = widths[width], numbers = rows[again % rows.length];
  const tall = exponentials(scoresOf(numbers, n, d, scaled), T), weights = shares(tall), entropy = entropyOf(weights);
  const marks = shares(exponentials(scoresOf(numbers, n, d, true), 1));
  return { tall, weights, marks, entropy, degrees, T, d, n, scaled: Boolean(scaled) };
}

const plainly = x => (x === Infinity ? "∞" : String(Number(x.toPrecision(3))));

/** What the panel says of a row. */
function wordsOf({ weights, entropy, degrees, T, d, n, scaled }) {
  return {
    d, scaled: scaled ? "scaled" : "not scaled", T: degrees, n,
    by: scaled ? `T × √dₖ = ${degrees} × √${d} = ` : "T = ", divisor: plainly(scaled ? T * Math.sqrt(d) : T),
    largest: weights[0].toFixed(3), entropy: entropy.toFixed(2), most: Math.log(n).toFixed(2), effective: Math.exp(entropy).toFixed(1),
  };
}

// ---- the picture -------------------------------------------------------------------------------------------

const COLUMNS = [42, 112], RIBBON = 70, BAR = 46; // from top to bottom: where columns begin, how tall the parts are
const FLOOR = COLUMNS[0] + COLUMNS[1], SHELF = FLOOR + RIBBON, BOTTOM = SHELF + BAR, TALL = BOTTOM + 54;

/** The ends of pieces of these lengths, laid end to end: one more than there are pieces. */
const ends = lengths => lengths.reduce((found, length) => [...found, found.at(-1) + length], [0]);

/** Columns, ribbons and pieces for these numbers, `wide` pixels in all. */
function drawBars(svg, { tall, weights, marks }, wide) {
  const n = tall.length, slot = wide / n, cuts = ends(weights.map(w => w * wide)), wanted = ends(marks.map(w => w * wide));
  const box = (name, i, x, y, width, height) => shape("rect", { class: `${name}${i % 2 ? " odd" : ""}`, x: x.toFixed(2), y: y.toFixed(2), width: width.toFixed(2), height: height.toFixed(2) });
  const middle = FLOOR + RIBBON / 2;
  const ribbons = weights.map((_, i) => shape("path", {
    class: `ribbon${i % 2 ? " odd" : ""}`,
    d: `M${i * slot} ${FLOOR}C${i * slot} ${middle} ${cuts[i]} ${middle} ${cuts[i]} ${SHELF}L${cuts[i + 1]} ${SHELF}C${cuts[i + 1]} ${middle} ${(i + 1) * slot} ${middle} ${(i + 1) * slot} ${FLOOR}Z`,
  }));
  const gap = Math.min(0.12 * slot, 5);
  const columns = tall.map((x, i) => box("column", 0, i * slot + gap, FLOOR - x * COLUMNS[1], slot - 2 * gap, x * COLUMNS[1]));
  const pieces = weights.map((w, i) => box("piece", i, cuts[i], SHELF, w * wide, BAR));
  const numbers = slot > 38 ? tall.map((x, i) => word(x.toFixed(2), i * slot + slot / 2, FLOOR - x * COLUMNS[1] - 6, "quiet", "middle")) : [];
  const inside = weights.flatMap((w, i) => (w * wide > 42 ? [word(w.toFixed(2), (cuts[i] + cuts[i + 1]) / 2, SHELF + BAR / 2 + 5, "inside")] : []));
  const marked = shape("path", { class: "mark", d: wanted.slice(1, -1).map(x => `M${x.toFixed(1)} ${BOTTOM + 2}v9`).join("") });
  svg.replaceChildren(...ribbons, shape("line", { class: "base", x1: 0, x2: wide, y1: FLOOR, y2: FLOOR }), ...columns, ...numbers, ...pieces,
    shape("rect", { class: "frame", x: 0.6, y: SHELF, width: wide - 1.2, height: BAR }), ...inside, marked,
    word("e to each score, the largest made 1", 0, 13, "quiet"), word("the weights: a bar of length 1", 0, BOTTOM + 29, "quiet"),
    word("ticks: the scaled row at T = 1", wide < 460 ? 0 : wide, wide < 460 ? BOTTOM + 47 : BOTTOM + 29, "quiet", wide < 460 ? "start" : "end"));
}

function word(text, x, y, name, anchor = null) {
  const made = shape("text", { class: name, x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor });
  made.textContent = text;
  return made;
}

// ---- the panel ---------------------------------------------------------------------------------------------

const MOVED = ["stop", "width", "scaled", "n", "again"];

function fillTemperature(panel, given, model) {
  const svg = shape("svg", { class: "bars", role: "img" }), start = Object.fromEntries(MOVED.map(name => [name, given[name]]));
  const told = reactive("Scores are divided by {by:text}{divisor}.",
    "{n} keys, dₖ = {d}, {scaled:text}, temperature {T}: the largest weight is {largest:weight}, the entropy {entropy} of at most {most} nats, as if {effective} of the {n} keys shared everything.");
  let wide = 640, drawn = null, stop = () => {};
  const settings = shared(given, model, MOVED, () => show(true));
  const move = (name, moving) => value => { settings.set({ [name]: Number(value) }); show(moving); };
  const controls = {
    stop: slider({ name: "stop", label: "temperature T", high: given.temperatures.length - 1, write: i => given.temperatures[i] }, move("stop")),
    width: slider({ name: "width", label: "dₖ", high: given.widths.length - 1, write: i => String(given.widths[i]) }, move("width")),
    n: slider({ name: "n", label: "number of keys n", low: 2, high: given.rows[0].length }, move("n")),
    scaled: kinds.switch({ name: "scaled", label: "divide by √dₖ" }, move("scaled", true)),
  };
  function draw(row) {
    drawn = row;
    drawBars(svg, row, wide);
  }
  /** Show the row of the settings; `moving`: let the one in the picture turn into it. */
  function show(moving = false) {
    const row = rowOf(given, settings.state), from = drawn, words = wordsOf(row);
    stop();
    const mix = (name, share) => row[name].map((x, i) => from[name][i] + share * (x - from[name][i]));
    if (moving && from && from.tall.length === row.tall.length) stop = glide(share => draw({ tall: mix("tall", share), weights: mix("weights", share), marks: mix("marks", share) }));
    else draw(row);
    told.write(words);
    svg.setAttribute("aria-label", `A bar of length 1, cut into ${row.n} pieces by the weights; the first is ${words.largest} long.`);
    for (const [name, control] of Object.entries(controls)) control.show(settings.state[name]);
  }
  const go = change => { settings.set(change); show(true); };
  panel.append(make("p", { className: "title", textContent: given.title }), make("div", { className: "moves" }, ...Object.values(controls).map(({ element }) => element)),
    svg, told.element, make("div", { className: "tries" },
      choose("Other keys", () => go({ again: (settings.state.again + 1) % given.rows.length })), choose("Start again", () => go(start))));
  const watch = new ResizeObserver(([{ contentRect: { width } }]) => {
    if (!width) return;
    wide = width;
    svg.setAttribute("viewBox", `0 0 ${wide} ${TALL}`);
    draw(drawn);
  });
  show();
  watch.observe(svg);
  return () => { watch.disconnect(); stop(); settings.end(); };
}

bodies.temperature = { style: BAR_STYLE, fill: fillTemperature };
