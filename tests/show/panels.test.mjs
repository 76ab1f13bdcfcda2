// The scaffold's decisions: which model a place gets, which pictures are asked for ahead, which keys stay in a panel.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./scripts.mjs";

const { kinds, bodies, modelFor, positionsAhead, keepKeys } = load(["show/panels.js", "show/drawn.js"],
  "kinds, bodies, modelFor, positionsAhead, keepKeys");

test("a place gets the youngest model of its own that has no place", () => {
  const [old, young, other, settled] = [["a", 1], ["a", 2], ["b", 9], ["a", 3]].map(([key, born]) => ({ key, born, home: null }));
  settled.home = { isConnected: true };
  assert.equal(modelFor("a", [old, young, other, settled], false), young);
  assert.equal(modelFor("c", [old, young, other, settled], true), null);
  assert.equal(modelFor("a", [settled], true), null);
  settled.home.isConnected = false; // its cell was moved
  assert.equal(modelFor("a", [settled], false), null);
  assert.equal(modelFor("a", [settled], true), settled);
});

test("pictures are asked for ahead: the nearest first, no more than a batch, none twice", () => {
  const slider = { name: "n", kind: "slider", shown: Array(100).fill("") }, at = { n: 50, other: 3 };
  const wanted = positionsAhead(slider, at, ({ n }) => n === 50 || n === 52);
  assert.deepEqual(wanted.slice(0, 4).map(({ n }) => n), [51, 49, 48, 53]);
  assert.equal(wanted.length, 16);
  assert.ok(wanted.every(({ other }) => other === 3));
  assert.deepEqual(positionsAhead(slider, at, ({ n }) => n > 0 && n < 99).map(({ n }) => n), [0, 99]); // Home and End
  assert.deepEqual(positionsAhead({ ...slider, kind: "choice" }, at, ({ n }) => n > 0 && n < 99), []);
  assert.deepEqual(positionsAhead({ name: "b", kind: "button", shown: [] }, { b: 2 }, ({ b }) => b <= 2), [{ b: 3 }]);
});

test("keys of the notebook go through, others stay", () => {
  const stays = event => { let stopped = false; keepKeys({ ...event, stopPropagation() { stopped = true; } }); return stopped; };
  assert.ok(stays({ key: "ArrowDown" }) && stays({ key: "d" }) && stays({ key: "Enter" }));
  assert.ok(!stays({ key: "Escape" }) && !stays({ key: "s", ctrlKey: true }) && !stays({ key: "Enter", shiftKey: true }));
});

test("what is registered", () => {
  assert.deepEqual(Object.keys(kinds), ["slider", "choice", "switch", "button"]);
  assert.deepEqual(Object.keys(bodies), ["drawn"]);
});
