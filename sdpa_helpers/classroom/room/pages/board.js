// The projector: per exercise who tried and who is done, the commonest mistakes, and the open question.

import { bar, follow, make, ours, poll } from "./shared.js";

document.getElementById("where").textContent = location.host;

function row({ exercise, tried, green, mistakes }, learners, withMistakes) {
  const all = Math.max(learners, tried, 1);
  const told = mistakes.map(one => make("li", "", make("b", "", `${one.learners}×`), ours("span", "says", one.says)));
  return make("div", "row", make("span", "name", exercise),
    bar([["is-green", green / all], ["is-tried", (tried - green) / all]]),
    make("span", "count", `${green} green of ${tried}`), withMistakes && told.length ? make("ol", "", ...told) : null);
}

function show({ learners, rows, poll: asked, stage }) {
  document.getElementById("room").textContent = `${learners} in the room`;
  const main = document.querySelector("main");
  const shown = rows.slice(-5); // more doesn't fit; nor do the mistakes of all
  const listed = shown.map((one, number) => row(one, learners, shown.length - number <= (asked ? 2 : 3)));
  const nothing = make("p", "soft", "Nobody has checked anything yet. Write your first answer, run its cell, run the check.");
  main.className = asked ? "asks" : "";
  main.replaceChildren(...(asked ? [poll(asked, stage)] : []),
    make("section", "", ...(stage === "slip" ? [make("h2", "", "Two minutes: what is still unclear? Write it on your own page.")] : []),
      ...(listed.length ? listed : [nothing])));
}

follow("/board.json", () => ({}), show);
