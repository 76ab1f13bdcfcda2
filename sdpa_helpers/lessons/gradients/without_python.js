// Lesson 04's panel without Python: a gradient on its way back through softmax, and what the diagonal makes of it.
// The mathematics and the picture of `widget.py`; a test compares both.

/* global canvasOf, clip, drawers */

const BACK = { wide: 536, top: 80, row: 34, cell: 62, score: 108, weight: 166, bar: 172, matrix: 226, lower: 92, column: 152, steepest: 0.25 };
const sumOf = numbers => numbers.reduce((sum, x) => sum + x, 0), sizeOf = numbers => Math.max(0, ...numbers.map(Math.abs));
const signed = text => text.replace("-", "−");

/** A number in at most six characters; "0" only for a true zero. */
function briefly(number) {
  const size = Math.abs(number);
  if (size === 0) return "0";
  if (size < 5e-4) return signed(number.toExponential(0).replace("e-", "e−"));
  return signed(number.toFixed(size < 9.9995 ? 3 : size < 999 ? 1 : 0));
}

/** A sum, without its rounding error. */
function totalOf(numbers) {
  const added = sumOf(numbers);
  return Math.abs(added) > Math.max(1e-14 * sizeOf(numbers), 1e-300) ? briefly(added) : "0";
}

/** Weights of a row, softmax's slopes, and both answers at the scores; exact also where a weight rounds to 1. */
function wayBack(scores, arrived) {
  const most = Math.max(...scores), raised = scores.map(x => Math.exp(x - most)), whole = sumOf(raised);
  const weights = raised.map(x => x / whole), others = (i, what) => sumOf(weights.map((w, j) => (i === j ? 0 : what(w, j))));
  const slopes = weights.map((w, i) => others(i, other => w * other));
  return {
    weights, arrived, jacobian: weights.map((w, i) => weights.map((other, j) => (i === j ? slopes[i] : -w * other))),
    right: weights.map((w, i) => others(i, (other, j) => w * other * (arrived[i] - arrived[j]))), diagonal: slopes.map((slope, i) => slope * arrived[i]),
  };
}

function wayBackInWords({ jacobian, right, diagonal, arrived }) {
  const length = Math.hypot(...right), off = length > 1e-15 * sizeOf(arrived) ? Math.hypot(...right.map((x, i) => x - diagonal[i])) / length : Infinity;
  const same = totalOf(diagonal.map(Math.abs)) === "0" ? "Both answers are zero." : "The right answer is zero; the diagonal's is not.";
  const verdict = Number.isFinite(off) ? `The diagonal alone is off by ${Math.round(100 * off).toLocaleString("en-US")}% of the right answer's length.` : same;
  return `Largest slope ${briefly(sizeOf(jacobian.flat()))} of at most 0.25. dS adds up to ${totalOf(right)}, the diagonal's answer to ${totalOf(diagonal)}. ${verdict}`;
}

function drawBackRow(canvas, words, scores, factor, { weights }) {
  const { score, top, weight, bar, row } = BACK;
  canvas.text(score, top - 28, "score", { anchor: "end", bold: true });
  canvas.text(score, top - 10, `× ${factor}`, { anchor: "end", size: 13 });
  canvas.text(weight, top - 28, "A", { anchor: "end", bold: true });
  canvas.text(bar + 44, top - 10, "weight", { anchor: "end", size: 13 });
  words.forEach((word, i) => {
    const y = top + row * i;
    canvas.text(0, y + 22, word, { bold: true });
    canvas.text(score, y + 22, briefly(scores[i]), { anchor: "end", size: 13, name: `score-${i}` });
    canvas.text(weight, y + 22, briefly(weights[i]), { anchor: "end", size: 13, name: `A-${i}` });
    canvas.box(bar, y + 8, 44 * weights[i], row - 16, "#CC79A7", { outline: weights[i] > 0.02 });
  });
  canvas.text(weight, top + row * words.length + 25, totalOf(weights), { anchor: "end", size: 13, name: "A-sum" });
}

function drawJacobian(canvas, words, jacobian, { ink, sky, blue }) {
  const { matrix, top, row, cell, steepest } = BACK, n = words.length;
  canvas.text(matrix, 16, "J = diag(A) − AAᵀ", { bold: true });
  canvas.text(matrix, 35, "row: the weight that answers", { size: 13 });
  canvas.text(matrix, 52, "column: the score that moves", { size: 13 });
  words.forEach((word, j) => {
    const middle = matrix + cell * (j + 0.5);
    canvas.text(middle, top - 8, word, { anchor: "middle", size: 13 });
    canvas.text(middle, top + row * n + 25, totalOf(jacobian.map(line => line[j])), { anchor: "middle", size: 13 });
  });
  jacobian.forEach((line, i) => line.forEach((slope, j) => {
    const x = matrix + cell * j, y = top + row * i, share = Math.min(Math.abs(slope) / steepest, 1), [colour, cover] = slope > 0 ? ["currentColor", ink] : [blue, sky];
    canvas.box(x, y, cell, row, colour, { outline: false, opacity: cover * share });
    canvas.text(x + cell / 2, y + 22, briefly(slope), { anchor: "middle", size: 13, name: `J-${i}-${j}` });
  }));
  for (let k = 0; k <= n; k++) {
    canvas.line(matrix, top + row * k, matrix + cell * n, top + row * k, { opacity: 0.25 });
    canvas.line(matrix + cell * k, top, matrix + cell * k, top + row * n, { opacity: 0.25 });
  }
}

/** Numbers, and bars to the right of them; those of the wrong answer are blue. */
function drawBackBars(canvas, [left, top], { name, numbers, limit }, blue) {
  const { row } = BACK, middle = left + 100, bottom = top + row * numbers.length, wrong = name === "diagonal";
  numbers.forEach((number, i) => {
    const y = top + row * i, length = 42 * clip(number / limit, -1, 1);
    canvas.text(left + 50, y + 22, briefly(number), { anchor: "end", size: 13, name: `${name}-${i}` });
    canvas.box(middle, y + 8, length, row - 16, wrong ? blue : "currentColor", { outline: Math.abs(length) > 1, opacity: wrong ? null : 0.45 });
  });
  canvas.line(middle, top, middle, bottom, { opacity: 0.6 });
  canvas.text(left + 50, bottom + 25, totalOf(numbers), { anchor: "end", size: 13, bold: true, name: `${name}-sum` });
  if (name === "dS") canvas.text(left + 58, bottom + 25, "always", { size: 13 });
}

/** The picture for the positions of the controls: {row, factor, arrives, add_0, …}. */
function drawWayBack({ words, rows, gradients, factors, steps, shares }, at) {
  const factor = factors[at.factor], scores = rows[at.row].map((x, i) => (x + steps[at[`add_${i}`]]) * factor), upstream = gradients[at.arrives];
  const found = wayBack(scores, upstream), { wide, row, column, lower } = BACK, n = words.length;
  const sums = BACK.top + row * n + 25, top = sums + lower, bottom = top + row * n, canvas = canvasOf(wide, bottom + 60), reach = sizeOf(upstream) || 1;
  drawBackRow(canvas, words, scores, factor, found);
  drawJacobian(canvas, words, found.jacobian, shares);
  canvas.text(0, sums, "sum");
  canvas.line(0, sums + 20, wide, sums + 20, { opacity: 0.35 });
  const parts = [["dA", "arrives at A", "dA", found.arrived, reach], ["diagonal: wrong", "A(1 − A) ∘ dA", "diagonal", found.diagonal, reach / 2], ["dS", "A ∘ (dA − average)", "dS", found.right, reach / 2]];
  parts.forEach(([title, formula, name, numbers, limit], i) => {
    const left = 76 + column * i;
    canvas.text(left, top - 28, title, { bold: true });
    canvas.text(left, top - 10, formula, { size: 13 });
    drawBackBars(canvas, [left, top], { name, numbers, limit }, shares.blue);
  });
  words.forEach((word, i) => canvas.text(0, top + row * i + 22, word, { bold: true }));
  canvas.line(0, bottom + 4, wide, bottom + 4, { opacity: 0.5 });
  canvas.text(0, bottom + 25, "sum");
  canvas.text(wide, bottom + 51, `bars end at ±${briefly(reach)} for dA, at ±${briefly(reach / 2)} for the two others`, { anchor: "end", size: 12 });
  return canvas.finish("A gradient on its way back through softmax", wayBackInWords(found));
}

drawers.gradients = drawWayBack;
