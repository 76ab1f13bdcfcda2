// Lesson 10's panel: two arms of the experiment side by side, their learning curves, and what the first one looks at.

/* global bodies, make, slider, choice, shape, glide, reactive, shared, choose, TOUCH_STYLE */

const ARMS_STYLE = `${TOUCH_STYLE}
:host { max-width: 960px; }
.title { margin: 0 0 6px; font-weight: 600; font-size: 16px; }
.moves { display: grid; grid-template-columns: repeat(4, 1fr); gap: 6px 20px; align-items: start; }
.one { display: grid; grid-template-columns: 1fr auto; gap: 0 8px; align-items: center; } .one output { grid-area: 1 / 2; font-weight: 600; white-space: nowrap; }
.one input[type=range] { grid-area: 2 / 1 / 3 / -1; width: 100%; } .one select { grid-area: 2 / 1 / 3 / -1; width: 100%; }
.pictures { display: grid; grid-template-columns: 1.15fr 1fr; gap: 8px 24px; margin: 10px 0; align-items: start; }
.pictures svg { display: block; width: 100%; overflow: visible; user-select: none; -webkit-user-select: none; }
.pictures text { fill: var(--ink); font-size: 13px; } .pictures .quiet { fill: var(--soft); font-size: 13.8px; } .pictures .axis { stroke: var(--edge); } .pictures .grid { stroke: var(--line); }
.curve { fill: none; stroke: var(--ink); stroke-width: 2.4; } .curve.other { stroke-dasharray: 6 4; stroke: var(--edge); }
.band { fill: var(--ink); opacity: .16; } .band.other { opacity: .1; }
.cellbox { fill: none; stroke: var(--line); } .weight { fill: var(--weight); } .wanted { fill: none; stroke: var(--ink); stroke-width: 1.8; }
.tries { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 10px; } .say p { margin: 0; } .say p + p { margin-top: 4px; }
@container (max-width: 860px) { .pictures { grid-template-columns: 1fr; } .pictures svg { max-width: 560px; } }
@container (max-width: 720px) { .arms { padding: 10px; } .moves { grid-template-columns: repeat(2, 1fr); } }
@container (max-width: 420px) { .pictures { overflow-x: auto; grid-template-columns: minmax(0, 1fr); } .pictures svg:first-child text { font-size: 18px; } .pictures svg:last-child { min-width: 420px; } }`;

// ---- the numbers -------------------------------------------------------------------------------------------

/** The two arms of the settings: the one that is looked at, and the one beside it. */
function chosenArms({ widths, optimizers, scales, arms }, { width, optimizer, scale, other }) {
  const of = which => arms[`${widths[width]} ${scales[which]} ${optimizers[optimizer]}`];
  return [of(scale), of(other)];
}

/** How soon an arm got to 90%, in words. */
const soon = ({ reached, steps }) => (reached === 10 ? `90% after ${steps} steps (median of ten seeds)` : reached === 0 ? "no seed got to 90%" : `${reached} of ten seeds got to 90%`);

/** What the panel says. */
function wordsOfArms(given, state) {
  const [one, other] = chosenArms(given, state), name = which => (given.scales[which] === "1" ? "no scale" : given.scales[which]);
  const told = arm => ({ right: `${arm.end[0]}%`, between: `${arm.end[1]}% to ${arm.end[2]}%`, rate: String(arm.rate), soon: soon(arm) });
  return {
    d: String(given.widths[state.width]), optimizer: given.optimizers[state.optimizer], one: name(state.scale), other: name(state.other), ...told(one),
    ...Object.fromEntries(Object.entries(told(other)).map(([key, value]) => [`${key}2`, value])),
  };
}

// ---- the pictures ------------------------------------------------------------------------------------------

const PLOT = { wide: 460, tall: 300, left: 40, right: 12, top: 26, bottom: 40 };

function label(text, x, y, name = "", anchor = null) {
  const made = shape("text", { class: name, x, y, "text-anchor": anchor });
  made.textContent = text;
  return made;
}

/** Two learning curves with their bands; `arms` has numbers at every tenth step. */
function drawCurves(svg, arms, steps) {
  const { wide, tall, left, right, top, bottom } = PLOT, count = arms[0].mean.length;
  const x = i => left + (i / (count - 1)) * (wide - left - right), y = percent => tall - bottom - (percent / 100) * (tall - top - bottom);
  const line = values => values.map((v, i) => `${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join("L");
  const grid = [0, 25, 50, 75, 100].flatMap(p => [shape("line", { class: p ? "grid" : "axis", x1: left, x2: wide - right, y1: y(p), y2: y(p) }), label(String(p), left - 7, y(p) + 4, "quiet", "end")]);
  const ticks = [0, 50, 100, 150, 200].map(step => label(String(step), x(step / steps * (count - 1)), tall - bottom + 18, "quiet", "middle"));
  const drawn = arms.flatMap((arm, i) => [
    shape("path", { class: i ? "band other" : "band", d: `M${line(arm.high)}L${arm.low.map((v, k) => `${x(k).toFixed(1)} ${y(v).toFixed(1)}`).reverse().join("L")}Z` }),
    shape("path", { class: i ? "curve other" : "curve", d: `M${line(arm.mean)}` }),
  ]);
  svg.replaceChildren(...grid, ...ticks, ...drawn.reverse(), label("right (%), mean of ten seeds", 0, 14, "quiet"), label("training step", wide - right, tall - 6, "quiet", "end"));
}

/** The weights of four questions over sixteen pairs; the pair that holds the answer has a frame. */
function drawWeights(svg, weights) {
  const step = 24, left = 78, top = 46, cells = [];
  weights.forEach((row, i) => {
    row.forEach((percent, j) => {
      const at = { x: left + j * step, y: top + i * (step + 12), width: step - 3, height: step + 6 };
      cells.push(shape("rect", { ...at, class: "weight", rx: 3, "fill-opacity": (percent / 100).toFixed(2) }), shape("rect", { ...at, class: i === j ? "wanted" : "cellbox", rx: 3 }));
    });
    cells.push(label(`question ${i + 1}`, left - 5, top + i * (step + 12) + 20, "quiet", "end"));
  });
  const bottom = top + weights.length * (step + 12) + 14;
  svg.replaceChildren(...cells, label("weights of one trained model, on a list it never saw", 0, 14, "quiet"), label("sixteen pairs", left, 36, "quiet"),
    label("framed: the pair that holds the answer", left, bottom, "quiet"));
}

// ---- the panel ---------------------------------------------------------------------------------------------

const CHOSEN = ["width", "optimizer", "scale", "other"];

function fillArms(panel, given, model) {
  const curves = shape("svg", { role: "img", viewBox: `0 0 ${PLOT.wide} ${PLOT.tall}` }), map = shape("svg", { role: "img", viewBox: "0 0 462 210" });
  const start = Object.fromEntries(CHOSEN.map(name => [name, given[name]]));
  const told = reactive("Solid: {one:text}, dₖ = {d}, {optimizer:text}, learning rate {rate:text}. After 200 steps {right} are right ({between:text}); {soon:text}.",
    "Dashed: {other:text}, learning rate {rate2:text}. {right2} right ({between2:text}); {soon2:text}.");
  let drawn = null, stop = () => {};
  const settings = shared(given, model, CHOSEN, () => show(true)), move = name => value => { settings.set({ [name]: Number(value) }); show(true); };
  const named = list => list.map((text, i) => [i, text === "1" ? "1 (none)" : text]);
  const controls = {
    width: slider({ name: "width", label: "dₖ", high: given.widths.length - 1, write: i => String(given.widths[i]) }, move("width")),
    optimizer: choice({ name: "optimizer", label: "optimizer", options: named(given.optimizers) }, move("optimizer")),
    scale: choice({ name: "scale", label: "scale (solid)", options: named(given.scales) }, move("scale")),
    other: choice({ name: "other", label: "beside it (dashed)", options: named(given.scales) }, move("other")),
  };
  const draw = arms => { drawn = arms; drawCurves(curves, arms, given.steps); drawWeights(map, arms[0].weights); };
  const between = (a, b, share) => (Array.isArray(a) ? a.map((x, i) => between(x, b[i], share)) : a + share * (b - a));
  function show(moving = false) {
    const arms = chosenArms(given, settings.state), from = drawn, words = wordsOfArms(given, settings.state);
    const mixed = share => arms.map((arm, i) => Object.fromEntries(["mean", "low", "high", "weights"].map(key => [key, between(from[i][key], arm[key], share)])));
    stop();
    if (moving && from) stop = glide(share => draw(mixed(share)));
    else draw(arms);
    told.write(words);
    curves.setAttribute("aria-label", `Learning curves: ${words.one} ends at ${words.right}, ${words.other} at ${words.right2}.`);
    map.setAttribute("aria-label", `Weights on the right pair, question by question: ${arms[0].weights.map((row, i) => `${row[i]}%`).join(", ")}.`);
    for (const [name, control] of Object.entries(controls)) control.show(settings.state[name]);
  }
  panel.append(make("p", { className: "title", textContent: given.title }), make("div", { className: "moves" }, ...Object.values(controls).map(({ element }) => element)),
    make("div", { className: "pictures" }, curves, map), told.element,
    make("div", { className: "tries" }, choose("Start again", () => { settings.set(start); show(true); })));
  show();
  return () => { stop(); settings.end(); };
}

bodies.arms = { style: ARMS_STYLE, fill: fillArms };
