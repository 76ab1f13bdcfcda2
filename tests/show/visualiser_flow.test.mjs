// The flow of the walk-through: what stands in its lists of marks at each step. How it looks is for "tests/browser".

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./scripts.mjs";

const files = ["numbers", "words", "marks", "flow", "values"].map(part => `show/visualiser_${part}.js`);
const { flowOf, attention, vectorsOf, write, between, sparkPath, arrowPath } = load(files, "flowOf, attention, vectorsOf, write, between, sparkPath, arrowPath");

const STEPS = [1, 2, 3, 4, 5], WIDTHS = [340, 600];
const start = { query: 1, step: 1, dk: 4, temperature: 1, scale: "1/√d", mask: "none", size: 2 };
const sentence = (words, more = {}) => { const made = vectorsOf(words); return { ...made, queries: made.tokens, ...start, ...more }; };
const lists = (s, width = 600, alone = false) => flowOf(s, attention(s.Q, s.K, s.V, s), width, alone).lists;
const shown = list => Object.fromEntries(list.map(mark => [mark.id, mark]));
const words = mark => [mark.words].flat().join("");

test("the numbers of each step are those of the formula, and none of a later step is there", () => {
  for (const width of WIDTHS) {
    const s = sentence("the cat fears big dogs"), r = attention(s.Q, s.K, s.V, s), i = s.query;
    for (const step of STEPS) {
      const marks = shown(lists({ ...s, step }, width).at(-1));
      s.tokens.forEach((_, j) => {
        const number = marks[`number:${j}`];
        if (step < 4) assert.equal(words(number), write([r.scores, r.scaled, r.masked][step - 1][i][j]));
        if (step === 4) assert.equal(words(number), `e^${write(r.scaled[i][j])} = ${write(Math.exp(r.scaled[i][j]))}`);
        if (step === 5) assert.equal(words(marks[`weight:${j}`]), write(r.weights[i][j]));
        assert.equal(`piece:${j}` in marks, step >= 4);
        assert.equal(`part:${j}:0` in marks, step === 5);
        assert.equal(`ghost:${j}` in marks, step === 2);
      });
      assert.equal("output" in marks, step === 5);
    }
  }
});

test("every list on the way to a step shows true numbers of that step or before", () => {
  const s = sentence("the cat fears big dogs"), r = attention(s.Q, s.K, s.V, s), [none, one, two, three, all] = lists(s).map(shown);
  const partial = upto => s.Q[1].slice(0, upto).reduce((sum, x, c) => sum + x * s.K[3][c], 0);
  [none, one, two, three, all].forEach((marks, p) => assert.equal(words(marks["number:3"]), write(partial(p))));
  assert.ok("beam:k" in one && !("beam:k" in all) && !("beam:k" in none));
  assert.equal(words(all["number:3"]), write(r.scores[1][3]));
  const [grown, squeezed] = lists({ ...s, step: 4 }).map(shown);
  assert.ok(!("piece:1" in grown) && "piece:1" in squeezed);
});

test("the pieces lie end to end on a bar of length 1, and each is as long as its weight", () => {
  const s = sentence("the cat fears big dogs", { step: 4 }), marks = shown(lists(s).at(-1)), { weights } = attention(s.Q, s.K, s.V, s);
  const { x, w: whole } = marks["unit:frame"];
  let end = x;
  weights[1].forEach((weight, j) => {
    const piece = marks[`piece:${j}`];
    assert.ok(Math.abs(piece.x - end) < 1e-9 && Math.abs(piece.w - weight * whole) < 1e-9);
    end = piece.x + piece.w;
  });
  assert.ok(Math.abs(end - (x + whole)) < 1e-9);
});

test("a hidden key has a hatched track, −∞, and no piece", () => {
  const s = sentence("the cat fears big dogs", { mask: "causal", step: 3 }), marks = shown(lists(s).at(-1));
  assert.ok("hatch:2" in marks && !("bar:2" in marks) && words(marks["number:2"]) === "−∞" && !("hatch:1" in marks));
  assert.ok(!("hatch:2" in shown(lists({ ...s, step: 2 }).at(-1))));
  const weights = shown(lists({ ...s, step: 4 }).at(-1));
  assert.ok(!("piece:2" in weights) && words(weights["number:2"]) === "e^−∞ = 0.00");
  const none = shown(lists({ ...s, mask: "padding", size: 0, step: 4 }).at(-1));
  assert.ok(!Object.keys(none).some(id => id.startsWith("piece:")) && /every weight is 0/.test(words(none["unit:name"])));
});

test("the shares lie tip to tip, and the last tip is the output's", () => {
  for (const V of [undefined, [[1, 2], [0, 1], [-1, 0], [2, 2], [1, -1]]]) {
    const s = sentence("the cat fears big dogs", { step: 5, ...(V && { V }) }), marks = shown(lists(s).at(-1)), close = (a, b) => Math.abs(a - b) < 1e-6;
    for (let j = 1; j < 5; j++) assert.ok(close(marks[`part:${j}`].x1, marks[`part:${j - 1}`].x2) && close(marks[`part:${j}`].y1, marks[`part:${j - 1}`].y2));
    assert.ok(close(marks.output.x2, marks["part:4"].x2) && close(marks.output.y2, marks["part:4"].y2) && close(marks.output.x1, marks["part:0"].x1));
  }
  const s = sentence("a b", { step: 5, query: 0, V: [[1], [3]] }), marks = shown(lists(s).at(-1)); // one coordinate: a stair
  assert.ok(Math.abs(marks["stair:1:0"].x + marks["stair:1:0"].w - (marks["output:0"].x + marks["output:0"].w)) < 1e-9);
});

test("anything can be drawn: 12 words, one word, long words, 64 coordinates, NaN and ∞, wide values", () => {
  const many = "a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh iiiiiiiii jjjjjjjjjj kkkkkkkkkkk extraordinarily";
  const wild = { Q: [[NaN, 1e308]], K: [[Infinity, 1], [1, 1e308]], V: [[NaN], [1]], tokens: ["k1", "k2"], queries: ["q"], ...start, query: 0, dk: 2 };
  const large = { Q: [[1000]], K: [[1000], [999]], V: [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]], tokens: ["k1", "k2"], queries: ["q"], ...start, query: 0, dk: 1 };
  for (const s of [sentence(many, { dk: 64 }), sentence("one", { query: 0 }), wild, large]) {
    for (const step of STEPS) for (const width of WIDTHS) for (const list of lists({ ...s, step }, width)) {
      assert.equal(new Set(list.map(({ id }) => id)).size, list.length);
      for (const { id, kind, ...mark } of list) {
        for (const name of ["x", "y", "w", "h", "x1", "y1", "x2", "y2"]) if (name in mark) assert.ok(Number.isFinite(mark[name]), `${id}.${name} at step ${step}`);
        if (kind === "text") assert.ok((mark.size ?? 13) >= 12);
      }
    }
  }
});

test("a mark on its way is between, and says what it will be", () => {
  const from = { id: "a", x: 0, w: 10, words: "1", values: [0, 4] }, to = { id: "a", x: 10, w: 20, words: "2", values: [1, NaN] };
  assert.deepEqual(between(from, to, 0.5), { id: "a", x: 5, w: 15, words: "2", values: [0.5, NaN] });
  assert.equal(between({ x: 1 }, { x: 2, y: 3 }, 0.5).y, 3);
});

test("strokes: no bar for what is not shown yet, a dot for an arrow without length", () => {
  const spark = { x: 0, y: 0, w: 30, h: 20, values: [1, -1, 2], limit: 2 };
  assert.equal(sparkPath(spark).match(/M/g).length, 3);
  assert.equal(sparkPath({ ...spark, shown: 1 }).match(/M/g).length, 1);
  assert.match(arrowPath({ x1: 5, y1: 5, x2: 5, y2: 5 }), /a1\.5 1\.5 /);
  assert.match(arrowPath({ x1: 0, y1: 0, x2: 30, y2: 0, width: 3 }), /L30 0L/);
});
