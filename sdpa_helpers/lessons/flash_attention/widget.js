// Lesson 07's panel: a mask to paint, cut into tiles. A kernel skips the tiles that nobody sees.

/* global bodies, make, slider, shape, reactive, shared, choose, TOUCH_STYLE */

const TILES_STYLE = `${TOUCH_STYLE}
:host { max-width: 960px; }
.title { margin: 0 0 8px; font-weight: 600; font-size: 16px; }
.tries { display: flex; flex-wrap: wrap; gap: 6px; margin-bottom: 12px; } .tries button { padding: 2px 10px; }
.tries button[aria-pressed=true] { background: var(--lit); border-color: var(--mark); }
.both { display: grid; grid-template-columns: minmax(0, 470px) minmax(230px, 1fr); gap: 14px 30px; align-items: start; }
.frame { display: grid; grid-template-columns: 22px minmax(0, 1fr); grid-template-rows: 22px auto; max-width: 470px; }
.side { font-size: 13px; color: var(--soft); } .side.left { writing-mode: vertical-rl; rotate: 180deg; text-align: center; grid-area: 2 / 1; } .side.top { grid-area: 1 / 2; text-align: center; }
.board { grid-area: 2 / 2; position: relative; display: grid; grid-template: repeat(var(--n), minmax(0, 1fr)) / repeat(var(--n), minmax(0, 1fr)); aspect-ratio: 1; padding: 6px 0 0 6px; user-select: none; -webkit-user-select: none; touch-action: none; }
.board button { min-height: 0; min-width: 0; padding: 0; border: 0; border-radius: 0; background: none; cursor: crosshair; } .board button:hover { background: none; box-shadow: inset 0 0 0 2px var(--mark); }
.board button:focus-visible { position: relative; z-index: 3; outline-offset: -3px; border-radius: 2px; }
.board .wasted { background: repeating-linear-gradient(45deg, color-mix(in srgb, var(--ink) 42%, var(--paper)) 0 1.4px, transparent 1.4px 6px); }
.board .wasted:hover { background: repeating-linear-gradient(45deg, color-mix(in srgb, var(--ink) 42%, var(--paper)) 0 1.4px, transparent 1.4px 6px); }
.board [aria-pressed=true], .board [aria-pressed=true]:hover { background: color-mix(in srgb, var(--ink) 42%, var(--paper)); }
.board .inside[aria-pressed=true], .board .wasted { border-right: 1px solid var(--paper); border-bottom: 1px solid var(--paper); }
.frames { position: absolute; inset: 6px 0 0 6px; width: calc(100% - 6px); height: calc(100% - 6px); overflow: visible; pointer-events: none; z-index: 2; }
.frames rect { fill: none; stroke: var(--edge); stroke-dasharray: 1 3; vector-effect: non-scaling-stroke; } .frames .visited { stroke: var(--ink); stroke-width: 1.6; stroke-dasharray: none; } .frames .now { stroke: var(--mark); stroke-width: 5; }
.strip { pointer-events: none; position: absolute; opacity: 0; transition: all 120ms; border-radius: 2px; } .strip.on { opacity: 1; } .strip.query { background: var(--query); left: 0; width: 5px; } .strip.key { background: var(--key); top: 0; height: 5px; }
.counts { display: grid; gap: 12px; } .one { display: grid; grid-template-columns: 1fr auto; gap: 0 8px; } .one output { font-weight: 600; } .one input[type=range] { grid-area: 2 / 1 / 3 / -1; width: 100%; }
.kinds { display: grid; grid-template-columns: 22px auto 1fr; gap: 6px 9px; align-items: center; margin: 0; } .kinds b { font-size: 17px; text-align: right; min-width: 1.6em; }
.swatch { width: 20px; height: 20px; border: 1.6px solid var(--ink); } .swatch.whole { background: color-mix(in srgb, var(--ink) 42%, var(--paper)); } .swatch.skipped { border: 1px dotted var(--edge); }
.swatch.masked { background: linear-gradient(45deg, color-mix(in srgb, var(--ink) 42%, var(--paper)) 50%, transparent 50%), repeating-linear-gradient(45deg, color-mix(in srgb, var(--ink) 42%, var(--paper)) 0 1.4px, transparent 1.4px 5px); }
.bar { display: flex; height: 20px; border: 1.2px solid var(--ink); } .bar span { transition: width 300ms; } .bar .allowed { background: color-mix(in srgb, var(--ink) 42%, var(--paper)); } .bar .vain { background: repeating-linear-gradient(45deg, color-mix(in srgb, var(--ink) 42%, var(--paper)) 0 1.4px, transparent 1.4px 6px); }
.sums { display: grid; grid-template-columns: 1fr auto; gap: 4px 0; margin: 0; } .sums dt, .sums dd { margin: 0; padding-bottom: 3px; border-bottom: 1px solid var(--line); } .sums dd { font-weight: 600; text-align: right; }
.runs { display: flex; flex-wrap: wrap; gap: 8px; }
.quiet { font-size: 12.5px; color: var(--soft); } .say { margin-top: 12px; } .say p { margin: 0; }
@media (prefers-reduced-motion: reduce) { .strip, .bar span { transition: none; } .run { display: none; } }
@container (max-width: 700px) { .both { grid-template-columns: minmax(0, 1fr); } .tiles { padding: 12px; } }`;

const STEP = 300; // milliseconds a tile while the kernel runs
const LONGEST = 5000; // of a whole run

// ---- the numbers -------------------------------------------------------------------------------------------

/** The places in the mask of a tile's pairs. */
const pairsIn = (row, column, n, size) => Array.from({ length: size * size }, (_, k) => (row + Math.floor(k / size)) * n + column + (k % size));

/** Which tiles there are: {row, column, seen}, `seen` the number of pairs that the mask allows. */
function tilesOf(mask, n, size) {
  const across = Array.from({ length: n / size }, (_, i) => i * size);
  const seenIn = (row, column) => pairsIn(row, column, n, size).filter(pair => mask[pair] === "1").length;
  return across.flatMap(row => across.map(column => ({ row, column, seen: seenIn(row, column) })));
}

/** What a kernel does with them. */
function workOf(mask, { tokens: n, width, bytes, sizes }, index) {
  const size = sizes[index], tiles = tilesOf(mask, n, size), whole = tiles.filter(({ seen }) => seen === size * size).length;
  const skipped = tiles.filter(({ seen }) => seen === 0).length, masked = tiles.length - whole - skipped;
  const allowed = tiles.reduce((sum, { seen }) => sum + seen, 0), computed = (whole + masked) * size * size;
  return { size, tiles, whole, skipped, masked, allowed, computed, pairs: n * n, flops: 4 * width * computed,
    bytes: bytes * (2 * n * width + (whole + masked) * 2 * size * width), all: tiles.length };
}

const written = number => number.toLocaleString("en-US");

// ---- the board ---------------------------------------------------------------------------------------------

const ARROW_STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Cells that are pressed or not. `painted(mask)` is called with what the reader made of it. */
function board(n, painted) {
  let mask = "", size = 1, brush = null, home = 0;
  const element = make("div", { className: "board" });
  element.style.setProperty("--n", n);
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", `Mask of ${n} queries, down, and ${n} keys, across. Arrows move, with Shift by a tile; space paints a pair, T its tile.`);
  const cells = Array.from({ length: n * n }, (_, pair) => {
    const button = make("button", { type: "button", tabIndex: pair ? -1 : 0 });
    button.style.gridArea = `${Math.floor(pair / n) + 1} / ${(pair % n) + 1}`;
    button.setAttribute("aria-label", `query ${Math.floor(pair / n) + 1}, key ${(pair % n) + 1}`);
    return button;
  });
  const strips = ["query", "key"].map(role => make("div", { className: `strip ${role}` }));
  const frames = shape("svg", { class: "frames", role: "img", viewBox: `0 0 ${n} ${n}`, preserveAspectRatio: "none" });
  element.append(...cells, frames, ...strips);

  const tileOf = pair => [Math.floor(Math.floor(pair / n) / size) * size, Math.floor((pair % n) / size) * size];
  const pairsOf = ([row, column]) => pairsIn(row, column, n, size);
  const paint = (pairs, value) => {
    const digits = [...mask];
    for (const pair of pairs) digits[pair] = value;
    painted(digits.join(""));
  };
  const other = pair => (mask[pair] === "1" ? "0" : "1");
  const reach = pair => { // one cell at a time is in the tab order
    cells[home].tabIndex = -1;
    home = pair;
    cells[pair].tabIndex = 0;
    cells[pair].focus({ preventScroll: true });
  };
  /** Light up the rows of Q and the columns of K that a tile needs; none without one. */
  const point = (tile, running = false) => {
    const [query, key] = strips, share = 100 / n;
    for (const strip of strips) strip.classList.toggle("on", Boolean(tile));
    for (const frame of frames.children) frame.classList.toggle("now", running && Boolean(tile) && frame.dataset.at === tile.join());
    const now = frames.querySelector(".now");
    if (now) frames.append(now); // on top of its neighbors
    if (!tile) return;
    Object.assign(query.style, { top: `calc(6px + (100% - 6px) * ${tile[0] * share / 100})`, height: `calc((100% - 6px) * ${size * share / 100})` });
    Object.assign(key.style, { left: `calc(6px + (100% - 6px) * ${tile[1] * share / 100})`, width: `calc((100% - 6px) * ${size * share / 100})` });
  };
  const under = event => cells.indexOf(element.getRootNode().elementFromPoint(event.clientX, event.clientY));
  element.addEventListener("pointerdown", event => {
    const pair = cells.indexOf(event.target);
    if (event.button !== 0 || pair < 0) return;
    brush = other(pair);
    element.setPointerCapture(event.pointerId);
    reach(pair);
    paint([pair], brush);
    event.preventDefault();
  });
  element.addEventListener("pointermove", event => {
    const pair = under(event);
    if (pair < 0) return;
    point(tileOf(pair));
    if (brush !== null && mask[pair] !== brush) paint([pair], brush);
  });
  element.addEventListener("lostpointercapture", () => { brush = null; });
  element.addEventListener("pointerleave", () => point(null));
  element.addEventListener("focusin", event => point(tileOf(cells.indexOf(event.target))));
  element.addEventListener("focusout", () => point(null));
  element.addEventListener("keydown", event => {
    const pair = cells.indexOf(event.target), step = ARROW_STEPS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) {
      const [row, column] = [Math.floor(pair / n), pair % n].map((at, k) => Math.min(Math.max(at + step[k] * (event.shiftKey ? size : 1), 0), n - 1));
      reach(row * n + column);
    } else if (event.key === " ") paint([pair], other(pair));
    else if (event.key.toLowerCase() === "t") paint(pairsOf(tileOf(pair)), other(pair));
    else return;
    event.preventDefault();
  });
  /** Show a mask and its tiles. */
  const show = (next, { size: wanted, tiles }) => {
    mask = next;
    size = wanted;
    frames.replaceChildren(...tiles.map(({ row, column, seen }) => {
      const kind = seen === 0 ? "skipped" : seen === size * size ? "whole" : "masked";
      for (const pair of pairsOf([row, column])) {
        cells[pair].className = kind !== "masked" ? "" : mask[pair] === "1" ? "inside" : "wasted";
        cells[pair].setAttribute("aria-pressed", String(mask[pair] === "1"));
      }
      const frame = shape("rect", { class: kind === "skipped" ? null : "visited", x: column, y: row, width: size, height: size });
      frame.dataset.at = [row, column].join();
      return frame;
    }).sort((a, b) => a.classList.length - b.classList.length)); // lines of visited tiles on top
    frames.setAttribute("aria-label", `${n} by ${n} pairs in tiles of ${size} by ${size}; ${tiles.filter(({ seen }) => !seen).length} of ${tiles.length} tiles are skipped.`);
  };
  return { element, show, point };
}

// ---- the panel ---------------------------------------------------------------------------------------------

function fillTiles(panel, given, model) {
  const { presets, sizes } = given, settings = shared(given, model, ["mask", "size"], () => show());
  const told = reactive("In tiles of {size} × {size2:text}, {skipped} of {all:text} are skipped. The kernel computes {computed} of {pairs:text} pairs, {vain} of them in vain, and moves {bytes} bytes.");
  const start = { mask: given.mask, size: given.size };
  const set = change => { stop(); settings.set(change); show(); };
  const painting = board(given.tokens, mask => set({ mask }));
  const tile = slider({ name: "size", label: "rows and columns of a tile", high: sizes.length - 1, write: i => `${sizes[i]} × ${sizes[i]}` }, size => set({ size: Number(size) }));
  const buttons = Object.entries(presets).map(([name, mask]) => [mask, choose(name, () => set({ mask }))]);
  const number = name => make("b", { className: name });
  const counted = ["whole", "masked", "skipped"].map(name => [name, number(name)]);
  const said = { whole: "whole: no mask needed", masked: "partly masked, pair by pair", skipped: "skipped: never loaded" };
  const bar = ["allowed", "vain"].map(className => make("span", { className }));
  const sums = ["flops", "share", "exps", "bytes"].map(name => [name, make("dd")]);
  const names = { flops: "FLOPs of the two products", share: "of what all pairs need", exps: "exponentials", bytes: "bytes moved" };
  const legend = make("div", { className: "quiet legend" });
  let timer = null;
  function stop() {
    clearInterval(timer);
    timer = null;
    painting.point(null);
  }
  /** Visit the tiles as a kernel does: for each block of queries, the keys that it needs. */
  function run() {
    stop();
    const todo = workOf(settings.state.mask, given, settings.state.size).tiles.filter(({ seen }) => seen);
    timer = setInterval(() => {
      const next = todo.shift();
      if (next) painting.point([next.row, next.column], true);
      else stop();
    }, Math.min(STEP, LONGEST / (todo.length || 1)));
  }
  function show() {
    const { mask, size } = settings.state, work = workOf(mask, given, size);
    painting.show(mask, work);
    tile.show(size);
    for (const [preset, button] of buttons) button.setAttribute("aria-pressed", String(preset === mask));
    for (const [name, place] of counted) place.textContent = work[name];
    const parts = [work.allowed, work.computed - work.allowed];
    legend.textContent = `${work.pairs} pairs: ${parts[0]} allowed, ${parts[1]} computed in vain, ${work.pairs - work.computed} skipped`;
    bar.forEach((part, i) => { part.style.width = `${100 * parts[i] / work.pairs}%`; });
    const shown = { flops: written(work.flops), share: `${Math.round(100 * work.computed / work.pairs)}%`, exps: written(work.computed), bytes: written(work.bytes) };
    for (const [name, place] of sums) place.textContent = shown[name];
    told.write({ ...work, size2: work.size, vain: parts[1], bytes: shown.bytes });
  }
  const frame = make("div", { className: "frame" }, make("div", { className: "side top", textContent: "keys →" }), make("div", { className: "side left", textContent: "← queries" }), painting.element);
  const runs = choose("▶ Run the kernel", run);
  runs.className = "run";
  const again = choose("Start again", () => set(start));
  const counts = make("div", { className: "counts" }, tile.element,
    make("div", { className: "kinds" }, ...counted.flatMap(([name, place]) => [make("span", { className: `swatch ${name}` }), place, make("span", { textContent: said[name] })])),
    make("div", {}, make("div", { className: "bar" }, ...bar), legend),
    make("dl", { className: "sums" }, ...sums.flatMap(([name, place]) => [make("dt", { textContent: names[name] }), place])),
    make("div", { className: "quiet", textContent: `${given.tokens} tokens, d = ${given.width}, float16. Click, drag, or use arrows, space and T.` }), make("div", { className: "runs" }, runs, again));
  panel.append(make("p", { className: "title", textContent: given.title }), make("div", { className: "tries" }, ...buttons.map(([, button]) => button)),
    make("div", { className: "both" }, frame, counts), told.element);
  show();
  return () => { stop(); settings.end(); };
}

bodies.tiles = { style: TILES_STYLE, fill: fillTiles };
