// What the walk-through reads, writes and keeps within limits. Its mathematics is compared with Python's in
// "test_visualiser.py".

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./scripts.mjs";

const viz = load(["show/visualiser_numbers.js", "show/visualiser_words.js"],
  "softmax, attention, exponentials, partialScores, planeOf, parseMatrix, misfit, vectorsOf, write, safe, fitted, matched, tidied, moved, largest, extent, sentenceFor, plainly");

test("a softmax by hand", () => {
  viz.softmax([Math.log(1), Math.log(3)]).forEach((w, i) => assert.ok(Math.abs(w - [0.25, 0.75][i]) < 1e-15));
  assert.deepEqual(viz.softmax([-Infinity, 0]), [0, 1]);
  assert.deepEqual(viz.softmax([-Infinity, -Infinity]), [0, 0]);
  assert.deepEqual(viz.softmax([1000, 1000]), [0.5, 0.5]);
  assert.deepEqual(viz.softmax([NaN, 0]), [NaN, NaN]);
  assert.deepEqual(viz.softmax([]), []);
});

test("nothing returns nothing", () => {
  assert.deepEqual(viz.attention([], [], []).output, []);
  assert.deepEqual(viz.attention([[1]], [], []).weights, [[]]);
  assert.deepEqual(viz.vectorsOf("  ").tokens, []);
});

test("a matrix is read as people type it", () => {
  assert.deepEqual(viz.parseMatrix("[1, 0]\n[0; −2.5e0]", "Q"), { matrix: [[1, 0], [0, -2.5]] });
  assert.deepEqual(viz.parseMatrix("\n 1\t2 \n\n(3)  4\n", "Q"), { matrix: [[1, 2], [3, 4]] });
  assert.deepEqual(viz.parseMatrix("inf -∞ NaN\n+1 –2 .5", "Q"), { matrix: [[Infinity, -Infinity, NaN], [1, -2, 0.5]] });
});

for (const [text, error] of [
  ["1 2\n3 x4", "Q, line 2: “x4” is not a number."],
  ["1 2\n\n3", "Q, line 3 has 1 numbers, but line 1 has 2: every row needs the same number of coordinates."],
  [" \n ", "Q is empty: write one row of numbers on each line."],
  ["banan", "Q, line 1: “banan” is not a number."],
]) {
  test(`${JSON.stringify(text)} is refused with a sentence`, () => assert.deepEqual(viz.parseMatrix(text, "Q"), { error }));
}

test("shapes that do not fit", () => {
  const ones = (n, d) => Array.from({ length: n }, () => Array(d).fill(1));
  assert.equal(viz.misfit(ones(2, 3), ones(4, 3), ones(4, 1)), "");
  assert.match(viz.misfit(ones(2, 2), ones(4, 3), ones(4, 1)), /A row of Q has 2 numbers and a row of K has 3/);
  assert.match(viz.misfit(ones(2, 3), ones(4, 3), ones(3, 1)), /K has 4 rows and V has 3/);
  assert.match(viz.misfit(ones(13, 3), ones(4, 3), ones(4, 1)), /Q has 13 rows; .* 12\./);
  assert.equal(viz.misfit(ones(2, 3), ones(4, 3), [[]]), "V is empty.");
});

test("numbers are written as in the course", () => {
  const written = [0, -0, -0.004, -1.5, 123456, NaN, Infinity, -Infinity].map(x => viz.write(x));
  assert.deepEqual(written, ["0.00", "0.00", "0.00", "−1.50", "1.2e5", "NaN", "∞", "−∞"]);
  assert.equal(viz.write(2, 1), "2.0");
});

test("a word stays text", () => assert.equal(viz.safe(`<b a="x">&'`), "&#60;b a=&#34;x&#34;&#62;&#38;&#39;"));

test("names come with the vectors, stay from before, or are numbered", () => {
  const Q = [[1], [2]], K = [[1], [2], [3]], V = K;
  assert.deepEqual(viz.matched({}, { Q, K, V }), { Q, K, V, tokens: ["k1", "k2", "k3"], queries: ["q1", "q2"] });
  assert.deepEqual(viz.matched({}, { Q: K, K, V }).queries, ["k1", "k2", "k3"]);
  const before = { tokens: ["a", "b", "c"], queries: ["x", "y"] };
  assert.deepEqual(viz.matched(before, { Q, K, V }), { Q, K, V, ...before });
  assert.deepEqual(viz.matched(before, { Q: K, K, V }).queries, before.tokens);
  const own = { tokens: ["d", "e", "f"], queries: ["g", "h"] };
  assert.deepEqual(viz.matched(before, { Q, K, V, ...own }), { Q, K, V, ...own });
});

test("settings stay within their limits", () => {
  const s = { Q: [[1, 1], [1, 1]], K: [[1, 1], [1, 1], [1, 1]] };
  const wild = { query: 9, step: 0, dk: 64, size: -1, temperature: 99, scale: "2", mask: "casual" };
  const tame = { query: 1, step: 1, dk: 2, size: 0, temperature: 5, scale: "1/√d", mask: "none" };
  assert.deepEqual(viz.tidied({ ...s, ...wild }), tame);
  assert.deepEqual(viz.tidied({ ...s, ...tame }), tame);
  assert.equal(viz.tidied({ ...s, ...tame, step: "three" }).step, 1);
});

test("a walk goes on to the next query, and ends at the ends", () => {
  const Q = [[1], [1]];
  assert.deepEqual(viz.moved({ Q, query: 0, step: 5 }, 1), { query: 1, step: 1 });
  assert.deepEqual(viz.moved({ Q, query: 1, step: 1 }, -1), { query: 0, step: 5 });
  assert.deepEqual(viz.moved({ Q, query: 1, step: 5 }, 1), { query: 1, step: 5 });
  assert.deepEqual(viz.moved({ Q, query: 0, step: 1 }, -1), { query: 0, step: 1 });
});

test("bars: a signed one begins in the middle, none is longer than its track", () => {
  assert.deepEqual(viz.extent(1, 4, false), { left: 0, width: 25 });
  assert.deepEqual(viz.extent(2, 4, true), { left: 50, width: 25 });
  assert.deepEqual(viz.extent(-2, 4, true), { left: 25, width: 25 });
  assert.deepEqual(viz.extent(9, 4, false), { left: 0, width: 100 });
  for (const [x, limit] of [[1, 0], [NaN, 1], [Infinity, 1], [0, 1]]) assert.equal(viz.extent(x, limit, true).width, 0);
  assert.equal(viz.largest([-3, 2, NaN, Infinity]), 3);
  assert.equal(viz.largest([]), 0);
});

test("each step says in a sentence what it does, with brackets around a negative factor", () => {
  const s = { ...viz.matched({}, { Q: [[2, -1]], K: [[1, 0], [3, -2]], V: [[1], [2]], tokens: ["a", "b"] }),
    query: 0, dk: 2, scale: "1/√d", temperature: 1, mask: "padding", size: 1 };
  const said = step => viz.plainly(viz.sentenceFor({ ...s, step }, viz.attention(s.Q, s.K, s.V, s)));
  assert.match(said(1), /With “a”: 2\.00\s×\s1\.00 \+ \(−1\.00\)\s×\s0\.00 = 2\.00\.$/);
  assert.match(said(2), /divided by √dₖ = √2 = 1\.41\. For “a”: 2\.00 becomes 1\.41\.$/);
  assert.match(said(3), /“q1” may see 1 of 2 keys\. The others get −∞/);
  assert.match(said(4), /The largest, 1\.00, goes to “a”\.$/);
  assert.match(said(5), /the output of “q1”: \(1\.00\)\.$/);
  s.mask = "none";
  assert.match(said(1), /With “b”: 2\.00\s×\s3\.00 \+ \(−1\.00\)\s×\s\(−2\.00\) = 8\.00\.$/);
});

test("exponentials, divided by the largest where they would be too large", () => {
  assert.deepEqual(viz.exponentials([0, -Infinity]), { powers: [1, 0], shift: 0 });
  assert.deepEqual(viz.exponentials([1000, -Infinity, 1000]), { powers: [1, 0, 1], shift: 1000 });
});

test("products add up to the score", () => {
  assert.deepEqual(viz.partialScores([1, 2, 3], [1, -1, 5], 2), [0, 1, -1]);
});

test("the plane of vectors: their own for pairs, else where they reach furthest, at right angles", () => {
  assert.deepEqual(viz.planeOf([[3, 4]]), [[1, 0], [0, 1]]);
  const [first, second] = viz.planeOf([[0, 5, 0], [0, -4, 1], [0.1, 0, 2], [NaN, 0, 0]]);
  const dot = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);
  for (const [found, wanted] of [[dot(first, first), 1], [dot(second, second), 1], [dot(first, second), 0]]) assert.ok(Math.abs(found - wanted) < 1e-9);
  assert.ok(Math.abs(first[1]) > 0.98 && Math.abs(second[2]) > 0.98);
  assert.ok(viz.planeOf([[0, 0, 0]]).flat().every(Number.isFinite));
});

test("a name is cut to fit", () => {
  assert.equal(viz.fitted("cat", 60), "cat");
  assert.equal(viz.fitted("small and alive", 60), "small a…");
});
