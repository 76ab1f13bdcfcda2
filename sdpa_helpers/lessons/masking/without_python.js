// Lesson 05's panel without Python: who knows of whom when several layers are stacked.
// The mathematics and the picture of `widget.py`; a test compares both.

/* global canvasOf, drawers */

const NEVER = -1, REACHED = { width: 470, left: 62, top: 74, cell: 44 };
const pairsOf = n => [...Array(n * n).keys()].map(cell => [Math.floor(cell / n), cell % n]);

/** After how many layers token i can know of token j. In a layer a token sees what the mask allows, and keeps itself. */
function layersNeeded(mask, layers) {
  const n = mask.length, step = mask.map((row, i) => row.map((may, j) => may || i === j));
  const needed = mask.map((row, i) => row.map((_, j) => (i === j ? 0 : NEVER)));
  let known = needed.map(row => row.map(layer => layer === 0));
  for (let layer = 1; layer <= layers; layer++) {
    known = known.map(row => row.map((_, j) => row.some((knows, k) => knows && step[k][j])));
    for (const [i, j] of pairsOf(n)) if (known[i][j] && needed[i][j] === NEVER) needed[i][j] = layer;
  }
  return needed;
}

/** The tokens through which `start` comes to know of `end`, both included. */
function shortestWay(mask, start, end) {
  const before = new Map([[start, start]]), waiting = [start];
  while (waiting.length && !before.has(end)) {
    const i = waiting.shift();
    mask[i].forEach((may, j) => {
      if (!may || before.has(j)) return;
      before.set(j, i);
      waiting.push(j);
    });
  }
  const way = before.has(end) ? [end] : [];
  while (way.length && way[0] !== start) way.unshift(before.get(way[0]));
  return way;
}

const several = (count, one, more) => `${count} ${count === 1 ? one : more}`;

/** What is said of leaks: their number, the ways of an earliest one and of a latest one. */
function leaksInWords(words, mask, needed, leaking) {
  const places = pairsOf(words.length).filter(([i, j]) => leaking[i][j]).map(([i, j]) => [needed[i][j], i, j]);
  if (!places.length) return "No leak is marked.";
  const layers = places.map(([layer]) => layer), first = places[layers.indexOf(Math.min(...layers))], last = places[layers.indexOf(Math.max(...layers))];
  const ways = (first === last ? [first] : [first, last])
    .map(([layer, i, j]) => `in layer ${layer} ${shortestWay(mask, i, j).map(k => words[k]).join(" → ")}`);
  return `${several(places.length, "leak", "leaks")} into the future: ${ways.join("; ")}.`;
}

function maskInWords(words, mask, needed, leaking) {
  const count = (rows, test) => rows.flat().filter(test).length, empty = words.filter((_, i) => !mask[i].some(Boolean));
  const known = several(count(needed, layer => layer !== NEVER), "pair is", "pairs are");
  const facts = [`The mask allows ${count(mask, Boolean)} of ${words.length ** 2} pairs; over the layers ${known} connected.`, leaksInWords(words, mask, needed, leaking)];
  if (empty.length) facts.push(`${several(empty.length, "row sees", "rows see")} nothing: ${empty.join(", ")}.`);
  return facts.join(" ");
}

function drawReachCells(canvas, needed, leaking, { ink, sky, blue }) {
  const { left, top, cell } = REACHED;
  for (const [i, j] of pairsOf(needed.length)) {
    const x = left + cell * j, y = top + cell * i, layer = needed[i][j], leak = leaking[i][j];
    const shown = layer === NEVER ? "" : leak ? `${layer}!` : String(layer), fade = layer === 0 ? 0.3 : Math.max(1 - 0.13 * (layer - 1), 0.25);
    if (shown && leak) canvas.box(x, y, cell, cell, blue, { outline: false, opacity: sky });
    else if (shown) canvas.box(x, y, cell, cell, "currentColor", { outline: false, opacity: ink * fade });
    canvas.text(x + cell / 2, y + 27, shown || "·", { anchor: "middle", bold: leak, name: `reach-${i}-${j}` });
  }
}

function drawReachRows(canvas, words, mask, needed) {
  const { left, top, cell } = REACHED, n = words.length;
  for (let k = 0; k <= n; k++) {
    canvas.line(left, top + cell * k, left + cell * n, top + cell * k, { opacity: 0.3 });
    canvas.line(left + cell * k, top, left + cell * k, top + cell * n, { opacity: 0.3 });
  }
  words.forEach((word, i) => {
    const y = top + cell * i + 27, right = left + cell * n + 10;
    canvas.text(0, y, word, { bold: true });
    canvas.text(right, y, `knows ${needed[i].filter(layer => layer !== NEVER).length} of ${n}`, { size: 13, name: `knows-${i}` });
    if (!mask[i].some(Boolean)) canvas.text(right, y + 15, "∅ empty", { size: 13, bold: true, name: `empty-${i}` });
  });
}

/** The picture for the positions of the controls: {layers, decoder, mask}. */
function drawMask({ words, shares }, at) {
  const n = words.length, layers = at.layers + 1, bits = [...at.mask.toString(2).padStart(n * n, "0")].map(Number);
  const mask = words.map((_, i) => words.map((__, j) => bits[i * n + j] === 1)), needed = layersNeeded(mask, layers);
  const leaking = needed.map((row, i) => row.map((layer, j) => at.decoder === 1 && j > i && layer !== NEVER));
  const { width, left, top, cell } = REACHED, canvas = canvasOf(width, top + cell * n + 58), bottom = top + cell * n;
  canvas.text(0, 18, `After ${layers} layer${layers > 1 ? "s" : ""}: who knows of whom`, { bold: true });
  canvas.text(0, 38, "row: the token that knows; column: the token it knows of", { size: 13 });
  words.forEach((word, j) => canvas.text(left + cell * (j + 0.5), top - 8, word, { anchor: "middle", size: 13 }));
  drawReachCells(canvas, needed, leaking, shares);
  drawReachRows(canvas, words, mask, needed);
  canvas.text(0, bottom + 26, "number: layers it takes; 0: itself, by the residual path; dot: never", { size: 13 });
  canvas.text(0, bottom + 46, "blue with “!”: a leak, it knows of a later token", { size: 13 });
  return canvas.finish("Who knows of whom over layers", maskInWords(words, mask, needed, leaking));
}

drawers.masking = drawMask;
