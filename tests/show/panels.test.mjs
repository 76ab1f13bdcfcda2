// The scaffold's decisions: which model a place gets, which pictures are asked for ahead, which keys stay in a panel.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./scripts.mjs";

const { kinds, bodies, modelFor, positionsAhead, isForTheNotebook, isDark } = load(["show/panels.js", "show/drawn.js"],
  "kinds, bodies, modelFor, positionsAhead, isForTheNotebook, isDark");

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
  for (const key of ["ArrowDown", "d", "Enter"]) assert.ok(!isForTheNotebook({ key }, false));
  for (const event of [{ key: "Escape" }, { key: "s", ctrlKey: true }, { key: "Enter", shiftKey: true }]) assert.ok(isForTheNotebook(event, true));
  const undo = { key: "z", ctrlKey: true };
  assert.ok(isForTheNotebook(undo, false) && !isForTheNotebook(undo, true)); // in a text field it is the field's
});

test("a colour is dark or light in every way that browsers write one", () => {
  assert.deepEqual(["rgb(17, 17, 17)", "rgb(255, 255, 255)", "rgba(30, 30, 30, 0.9)", "color(srgb 0.1 0.1 0.12)", "color(srgb 1 1 .9)"].map(isDark),
    [true, false, true, true, false]);
});

test("what is registered", () => {
  assert.deepEqual(Object.keys(kinds), ["slider", "choice", "switch", "button"]);
  assert.deepEqual(Object.keys(bodies), ["drawn"]);
});
