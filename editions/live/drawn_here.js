// Panels whose pictures Python draws, in a page without Python: where the mathematics is small, the page draws them by
// itself, in the place of the kernel's model. Where it is not, the still says where it moves.

/* global mount, make */
/* exported upgradePanels, drawers */

const drawers = {}; // a lesson's script adds its own

/** In the place of a model in the kernel: it answers each position of the controls with a picture. */
function drawingModel(start, draw) {
  const heard = {}, state = { asked: { number: 0, at: start, known: false }, answer: { number: 0, at: start, ...draw(start) } };
  const tellAll = event => (heard[event] ?? []).forEach(act => act());
  const answer = () => {
    state.answer = { number: state.asked.number, at: state.asked.at, ...draw(state.asked.at) };
    tellAll("change:answer");
  };
  return {
    get: name => state[name],
    set: (name, value) => { state[name] = value; tellAll(`change:${name}`); },
    save_changes: () => queueMicrotask(answer), // later, as a kernel would
    send: () => {},
    on: (event, act) => { (heard[event] ??= []).push(act); },
    off: (event, act) => { heard[event] = (heard[event] ?? []).filter(other => other !== act); },
  };
}

const nameOf = place => place.dataset.key.replace(/-[0-9a-f]{8}$/, "");

/** A still that stays: its note says where it moves, instead of "run this cell". */
function sayWhereItMoves(place, lesson) {
  const note = [...place.querySelectorAll(":scope > p > em")].pop();
  if (!note) return;
  const link = make("a", { href: `../lite/lab/index.html?path=notebooks/${lesson}.ipynb`, textContent: "open the lesson in your browser’s own Python" });
  note.replaceChildren("A still picture: it needs Python to move. To move it, ", link, ".");
}

/** Let every panel of the page move that can. `given` has for each what its controls and its picture need. */
function upgradePanels(root, given, lesson) {
  for (const place of root.querySelectorAll("[data-key]")) {
    const name = nameOf(place), facts = given[name], isStill = place.querySelector(":scope > .sdpa-figure");
    if (!isStill) continue;
    if (!facts || !drawers[name]) {
      sayWhereItMoves(place, lesson);
      continue;
    }
    const host = make("div");
    place.replaceChildren(host);
    mount(host, { body: "drawn", ...facts.panel }, drawingModel(facts.panel.start, at => drawers[name](facts.data, at)));
  }
}
