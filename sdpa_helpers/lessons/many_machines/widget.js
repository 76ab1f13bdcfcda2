// Lesson 09's panel: the time of one attention layer on 8 to 4,096 devices, by three ways to share the sequence.

/* global bodies, kinds, make, slider, choice, shape, reactive, shared, choose, TOUCH_STYLE */

const DEVICES_STYLE = `${TOUCH_STYLE}
:host { max-width: 960px; }
.devices { --sky: #56B4E9; }
.title { margin: 0 0 6px; font-weight: 600; font-size: 16px; } .quiet { color: var(--soft); font-size: 13px; margin: 6px 0 0; }
.moves { display: grid; grid-template-columns: repeat(3, 1fr); gap: 6px 24px; align-items: start; }
.one { display: grid; grid-template-columns: 1fr auto; gap: 0 8px; align-items: center; } .one output { grid-area: 1 / 2; font-weight: 600; white-space: nowrap; }
.one input[type=range], .one select { grid-area: 2 / 1 / 3 / -1; width: 100%; } .one:has(> input[type=checkbox]) { grid-template-columns: auto auto; justify-content: start; align-self: end; }
.chart { display: block; width: 100%; margin: 12px 0 6px; user-select: none; -webkit-user-select: none; }
.chart text { fill: var(--ink); font-size: 13px; } .chart .soft { fill: var(--soft); } .chart .bold { font-weight: 600; } .chart .end { text-anchor: end; } .chart .mid { text-anchor: middle; }
.chart .rule { stroke: var(--line); } .chart .base { stroke: var(--edge); } .chart .now { stroke: var(--edge); stroke-dasharray: 2 4; }
.chart .curve { fill: none; stroke: var(--ink); stroke-width: 2.2; } .chart .gathered { stroke: var(--sky); stroke-dasharray: 7 4; } .chart .swapped { stroke: var(--soft); stroke-dasharray: 9 3 2 3; } .chart .ideal { stroke-width: 1.4; stroke-dasharray: 1 4; stroke: var(--ink); }
.chart .dot { fill: var(--paper); stroke: var(--ink); stroke-width: 2.2; } .chart .dot.gathered { stroke: var(--sky); stroke-dasharray: none; } .chart .dot.swapped { stroke: var(--soft); stroke-dasharray: none; }
.chart .compute { fill: color-mix(in srgb, var(--ink) 42%, var(--paper)); } .chart .exposed { fill: url(#waiting); stroke: var(--ink); stroke-width: 0.8; } .chart .hidden { fill: var(--sky); }
.say p { margin: 0; } .say p + p { margin-top: 4px; } .tries { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 10px; }
@container (max-width: 720px) { .devices { padding: 10px; } .moves { grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); } }`;

// ---- the model: the same as experiments.py ------------------------------------------------------------------

const METHODS = ["ring", "all-gather", "Ulysses"], LOOKS = ["", "gathered", "swapped"], BYTES = 2;

/** What the settings stand for, in FLOP/s, bytes/s and seconds. */
function chosenOf(given, { model, length, devices, tflops, link, latency, zigzag }) {
  const { heads, kv_heads: kvHeads, d } = given.models[model];
  return { n: given.lengths[length], heads, kvHeads, d, ranks: given.counts[devices], flops: given.allTflops[tflops] * 1e12,
    link: given.links[link] * 1e9, latency: given.latencies[latency] * 1e-6, zigzag: Boolean(zigzag) };
}

const isPossible = ({ n, heads }, ranks, method) => (method === "Ulysses" ? heads % ranks === 0 && n >= ranks : n >= 2 * ranks);

/** What each rank sends. */
function bytesSent({ n, heads, kvHeads, d }, ranks, method) {
  const away = (ranks - 1) / ranks, repeated = Math.max(kvHeads, ranks);
  return method === "Ulysses" ? away / ranks * n * (heads + repeated) * 2 * d * BYTES : away * n * kvHeads * 2 * d * BYTES;
}

/** Pairs in each head that the busiest rank has in a step of the ring: its own block, and another's. */
function stepsOf({ n, zigzag }, ranks) {
  const rows = n / ranks;
  return { own: rows * (rows + 1) / 2, other: zigzag ? rows * rows / 2 : rows * rows };
}

/** Pairs in each head that the busiest rank has in all. */
function busiest(chosen, ranks, method) {
  const { n, zigzag } = chosen, rows = n / ranks, { own, other } = stepsOf(chosen, ranks);
  if (method === "Ulysses" || zigzag) return n * (n + 1) / 2 / ranks;
  return method === "ring" ? own + (ranks - 1) * other : rows * (n - rows) + own;
}

/** Seconds of computing, of sending, and of waiting for what computing does not hide. */
function spend(chosen, ranks, method) {
  const each = 4 * chosen.heads * chosen.d / chosen.flops, compute = each * busiest(chosen, ranks, method);
  if (ranks === 1) return { compute, communication: 0, exposed: 0, total: compute };
  const messages = method === "Ulysses" ? 4 : ranks - 1;
  const communication = bytesSent(chosen, ranks, method) / chosen.link + messages * chosen.latency;
  if (method !== "ring") return { compute, communication, exposed: communication, total: compute + communication };
  const hop = communication / (ranks - 1), { own, other } = stepsOf(chosen, ranks);
  const exposed = Math.max(hop - each * own, 0) + (ranks - 2) * Math.max(hop - each * other, 0);
  return { compute, communication, exposed, total: compute + exposed };
}

/** Everything that is drawn: a curve for each method, what each takes with the chosen devices, and one device alone. */
function pictureOf(given, settings) {
  const chosen = chosenOf(given, settings);
  const at = (ranks, method) => (isPossible(chosen, ranks, method) ? spend(chosen, ranks, method) : null);
  return { chosen, alone: spend(chosen, 1, "ring").total, now: METHODS.map(method => at(chosen.ranks, method)),
    curves: METHODS.map(method => given.counts.map(ranks => at(ranks, method)?.total ?? null)) };
}

// ---- words ---------------------------------------------------------------------------------------------------

/** A time with three digits and a unit. */
function durationOf(seconds) {
  const [size, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([least]) => seconds >= 0.9995 * least) ?? [1e-9, "ns"];
  return `${Number((seconds / size).toPrecision(3)).toLocaleString("en-US")} ${unit}`;
}

const whole = number => number.toLocaleString("en-US");

/** What the panel says. */
function wordsOf({ chosen, alone, now }) {
  const [ring] = now, tokens = whole(chosen.n), devices = whole(chosen.ranks);
  if (!ring) return { first: `${tokens} tokens are too few for ${devices} devices: each needs two chunks.`, second: "" };
  const fastest = now.reduce((best, spent, i) => (spent && spent.total < now[best].total ? i : best), 0), best = now[fastest].total;
  const waits = ring.exposed === 0 ? "and never waits" : `of which it waits ${durationOf(ring.exposed)}`;
  const gain = alone / best, against = gain < 1 ? `One device alone would be faster: ${durationOf(alone)}.`
    : `That is ${whole(Number(gain.toPrecision(3)))} times as fast as one device.`;
  const heads = now[2] ? "" : ` Ulysses ends at ${chosen.heads} devices, one for each head.`;
  return { first: `${tokens} tokens on ${devices} devices: the ring takes ${durationOf(ring.total)}, ${waits}.`,
    second: `The fastest is ${fastest === 0 ? "the ring" : METHODS[fastest]}, ${durationOf(best)}. ${against}${heads}` };
}

// ---- the picture ---------------------------------------------------------------------------------------------

const CHART_TOP = 26, CHART = 210, BAR_TOP = 312, BAR_STEP = 50, CHART_TALL = BAR_TOP + 3 * BAR_STEP + 26, MARGIN = { left: 62, right: 96 };

function text(words, x, y, name = "") {
  const made = shape("text", { class: name || null, x: x.toFixed(1), y: y.toFixed(1) });
  made.textContent = words;
  return made;
}

/** Powers of ten around the times that are drawn. */
function rangeOf({ curves, alone, chosen }, counts) {
  const times = [...curves.flat().filter(Boolean), alone / counts.at(-1), alone / counts[0]];
  const low = Math.floor(Math.log10(Math.min(...times, alone / chosen.ranks))), high = Math.ceil(Math.log10(Math.max(...times)));
  return [low, Math.max(high, low + 1)];
}

/** The three curves against the number of devices. */
function curvesOf(picture, counts, wide) {
  const [low, high] = rangeOf(picture, counts), right = wide - MARGIN.right;
  const x = i => MARGIN.left + (right - MARGIN.left) * i / (counts.length - 1);
  const y = seconds => CHART_TOP + CHART * (high - Math.log10(seconds)) / (high - low);
  const line = (x1, y1, x2, y2, name) => shape("line", { class: name, x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1) });
  const parts = [text("time for one layer", 0, 12, "soft")], every = wide < 300 ? 9 : wide < 560 ? 3 : 1;
  for (let power = low; power <= high; power += 1) parts.push(line(MARGIN.left, y(10 ** power), right, y(10 ** power), "rule"), text(durationOf(10 ** power), MARGIN.left - 8, y(10 ** power) + 4, "soft end"));
  counts.forEach((count, i) => { if (i % every === 0) parts.push(text(whole(count), x(i), CHART_TOP + CHART + 20, "soft mid")); });
  parts.push(text("devices", (MARGIN.left + right) / 2, CHART_TOP + CHART + 38, "soft mid"), line(MARGIN.left, CHART_TOP + CHART, right, CHART_TOP + CHART, "base"));
  const path = times => times.flatMap((time, i) => (time === null ? [] : [`${x(i).toFixed(1)} ${y(time).toFixed(1)}`])).join("L");
  parts.push(shape("path", { class: "curve ideal", d: `M${path(counts.map(count => picture.alone / count))}` }));
  const place = counts.indexOf(picture.chosen.ranks);
  parts.push(line(x(place), CHART_TOP, x(place), CHART_TOP + CHART, "now"));
  const names = [{ words: "no messages", at: y(picture.alone / counts.at(-1)), from: counts.length - 1 }];
  picture.curves.forEach((times, i) => {
    const last = times.findLastIndex(time => time !== null);
    if (last < 0) return;
    parts.push(shape("path", { class: `curve ${LOOKS[i]}`, d: `M${path(times)}` }));
    if (times[place] !== null) parts.push(shape("circle", { class: `dot ${LOOKS[i]}`, cx: x(place).toFixed(1), cy: y(times[place]).toFixed(1), r: 5 }));
    names.push({ words: METHODS[i], at: y(times[last]), from: last });
  });
  return [...parts, ...namesOf(names, x, wide)];
}

/** The names of curves at their right ends, not on top of each other. */
function namesOf(names, x, wide) {
  const placed = names.sort((a, b) => a.at - b.at);
  placed.forEach((name, i) => {
    const above = placed.slice(0, i).filter(({ from }) => Math.abs(from - name.from) < 3).at(-1);
    name.at = above ? Math.max(name.at, above.at + 16) : name.at;
  });
  const over = Math.max(0, ...placed.map(({ at }) => at - (CHART_TOP + CHART - 2)));
  return placed.map(({ words, at, from }) => text(words, Math.min(x(from) + 9, wide - 84), at + 4 - (over && at > CHART_TOP + CHART - 60 ? over : 0)));
}

/** A bar for each method: computing, then waiting; below it, thin, all that is sent. */
function barsOf({ now, chosen }, wide) {
  const most = Math.max(...now.map(spent => spent?.total ?? 0)), left = 84, room = wide - left - 84;
  const box = (name, x, y, width, height) => shape("rect", { class: name, x: x.toFixed(1), y: y.toFixed(1), width: Math.max(width, 0).toFixed(1), height });
  const parts = [text(`with ${whole(chosen.ranks)} devices`, 0, BAR_TOP - 14, "bold")];
  now.forEach((spent, i) => {
    const y = BAR_TOP + i * BAR_STEP;
    parts.push(text(METHODS[i], 0, y + 18));
    if (!spent) { parts.push(text(METHODS[i] === "Ulysses" ? "too few heads" : "too few tokens", left, y + 18, "soft")); return; }
    const unit = room / most, begin = left + spent.compute * unit;
    const sent = Math.min(spent.communication * unit, room);
    const start = i === 0 ? left : begin;
    parts.push(box("compute", left, y, spent.compute * unit, 24), box("exposed", begin, y, spent.exposed * unit, 24), box("hidden", start, y + 28, sent, 5),
      text(durationOf(spent.total), left + spent.total * unit + 8, y + 17, "bold"));
  });
  return [...parts, ...legendOf(wide)];
}

function legendOf(wide) {
  const y = BAR_TOP + 3 * BAR_STEP + 8, parts = [], tight = wide < 340, swatch = tight ? 12 : 18;
  const places = tight ? [0, 96, 168] : wide < 480 ? [0, 108, 216] : [84, 214, 344];
  [["compute", "computing"], ["exposed", "waiting"], ["hidden", "sending"]].forEach(([name, words], i) => {
    const x = places[i];
    parts.push(shape("rect", { class: name, x, y: name === "hidden" ? y - 4 : y - 8, width: swatch, height: name === "hidden" ? 5 : 12 }), text(words, x + swatch + (tight ? 4 : 7), y + 3, "soft"));
  });
  return parts;
}

/** The hatching of what is waited for. */
const hatching = () => shape("defs", {}, shape("pattern", { id: "waiting", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  shape("rect", { width: 2, height: 6, fill: "currentColor", opacity: 0.55 })));

// ---- the panel -----------------------------------------------------------------------------------------------

const MOVED = ["model", "length", "devices", "tflops", "link", "latency", "zigzag"];

/** The published rates that the settings are at, or −1. */
const presetOf = (given, { tflops, link }) => given.hardware.findIndex(known => known.tflops === given.allTflops[tflops] && known.link === given.links[link]);

function controlsOf(given, move, moveRates) {
  const along = (name, label, stops, write) => slider({ name, label, high: stops.length - 1, write: i => write(stops[i]) }, move(name));
  return {
    model: choice({ name: "model", label: "model", options: given.models.map((known, i) => [i, `${known.name} (${known.heads}/${known.kv_heads} heads)`]) }, move("model")),
    length: along("length", "tokens n", given.lengths, whole), devices: along("devices", "devices P", given.counts, whole),
    rates: choice({ name: "rates", label: "hardware", options: [...given.hardware.map(({ name }, i) => [i, name]), [-1, "your own"]] }, moveRates),
    tflops: along("tflops", "computing", given.allTflops, x => `${whole(x)} TFLOP/s`), link: along("link", "link, one direction", given.links, x => `${whole(x)} GB/s`),
    latency: along("latency", "latency of a message", given.latencies, x => `${x} µs`), zigzag: kinds.switch({ name: "zigzag", label: "zigzag" }, move("zigzag")),
  };
}

function fillDevices(panel, given, model) {
  const svg = shape("svg", { class: "chart", role: "img" }), start = Object.fromEntries(MOVED.map(name => [name, given[name]]));
  const told = reactive("{first:text}", "{second:text}"), source = make("p", { className: "quiet" });
  let wide = 640, drawn = null;
  const settings = shared(given, model, MOVED, () => show());
  const move = name => value => { settings.set({ [name]: Number(value) }); show(); };
  const controls = controlsOf(given, move, value => {
    const known = given.hardware[value];
    if (known) settings.set({ tflops: given.allTflops.indexOf(known.tflops), link: given.links.indexOf(known.link) });
    show();
  });
  function draw(picture) {
    drawn = picture;
    svg.replaceChildren(hatching(), ...curvesOf(picture, given.counts, wide), ...barsOf(picture, wide));
  }
  function show() {
    const picture = pictureOf(given, settings.state), words = wordsOf(picture), preset = presetOf(given, settings.state);
    draw(picture);
    told.write(words);
    svg.setAttribute("aria-label", `Time for one layer against the number of devices, by three methods. ${words.first} ${words.second}`);
    source.textContent = `A model: every device at these rates, all links alike. ${preset < 0 ? "The rates are your own." : `Rates as published, not measured: ${given.hardware[preset].source}.`}`;
    for (const [name, control] of Object.entries(controls)) control.show(name === "rates" ? preset : settings.state[name]);
  }
  panel.append(make("p", { className: "title", textContent: given.title }), make("div", { className: "moves" }, ...Object.values(controls).map(({ element }) => element)),
    svg, told.element, source, make("div", { className: "tries" }, choose("Start again", () => { settings.set(start); show(); })));
  const watch = new ResizeObserver(([{ contentRect: { width } }]) => {
    if (!width) return;
    wide = width;
    svg.setAttribute("viewBox", `0 0 ${wide} ${CHART_TALL}`);
    draw(drawn);
  });
  show();
  watch.observe(svg);
  return () => { watch.disconnect(); settings.end(); };
}

bodies.devices = { style: DEVICES_STYLE, fill: fillDevices };
