// The grid's numbers: a mask as one number, and where a key leads.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "../show/scripts.mjs";

const { kinds, bitsOf, numberOf, cellAfter } = load(["show/panels.js", "lessons/masking/widget.js"],
  "kinds, bitsOf, numberOf, cellAfter");

test("the grid is a kind of control", () => assert.equal(typeof kinds.grid, "function"));

test("a mask and its number belong together", () => {
  assert.deepEqual(bitsOf(0b1011, 2), [1, 0, 1, 1]);
  assert.deepEqual(bitsOf(1, 3), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
  for (const number of [0, 1, 2 ** 48 + 5, 2 ** 49 - 1]) assert.equal(numberOf(bitsOf(number, 7)), number);
});

test("arrows stay in the grid", () => {
  const steps = [["ArrowRight", 5], ["ArrowLeft", 3], ["ArrowUp", 1], ["ArrowDown", 7], ["Home", 3], ["End", 5]];
  for (const [key, to] of steps) assert.equal(cellAfter(key, 4, 3), to);
  for (const [key, cell] of [["ArrowRight", 2], ["ArrowLeft", 0], ["ArrowUp", 1], ["ArrowDown", 8]]) {
    assert.equal(cellAfter(key, cell, 3), cell);
  }
  assert.equal(cellAfter("a", 4, 3), undefined);
});
