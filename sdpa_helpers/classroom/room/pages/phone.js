// The instructor's phone: who is stuck, whose hand is up, what the room is asked.

import { follow, make, poll, post } from "./shared.js";

const at = id => document.getElementById(id);
const KEY = "sdpa-room-key";
if (location.hash.length > 1) {
  sessionStorage.setItem(KEY, location.hash.slice(1));
  history.replaceState(null, "", "/phone"); // the key is on no screen
}
const headers = () => ({ "X-Room-Key": sessionStorage.getItem(KEY) ?? "" });
const BUTTONS = { first: "First round", discuss: "Discuss", second: "Second round", reveal: "Reveal", slip: "Slips", closed: "Close" };

async function act(data) {
  const reply = await post("/ask", data, headers());
  if (reply && !reply.ok) alert((await reply.json()).message);
  ask();
  return reply?.ok ?? false;
}

for (const [stage, name] of Object.entries(BUTTONS)) {
  const button = make("button", "", name);
  button.dataset.stage = stage;
  button.addEventListener("click", () => act({ stage, question: at("question").value }));
  at("stages").append(button);
}

function named(name, colors) {
  const dot = make("span", "dot");
  dot.style.background = colors[name];
  return make("b", "", dot, name);
}

function handItem({ name, minutes }, colors) {
  const done = make("button", "", "Been there");
  done.addEventListener("click", () => act({ lower: name }));
  return make("li", "between", make("span", "", named(name, colors), make("span", "soft", ` ${minutes} min`)), done);
}

/** An answer that several gave: how many, what they are told, and a box to write it. */
function namelessItem({ exercise, key, learners, says, points: before }) {
  const words = make("textarea"), points = make("input"), send = make("button", "", "Tell them"), box = make("details");
  words.maxLength = 600;
  words.rows = 3;
  words.value = says;
  words.setAttribute("aria-label", `One sentence for all who gave this answer to ${exercise}`);
  Object.assign(points, { type: "number", step: "0.5", value: String(before) });
  send.addEventListener("click", async () => {
    if (await act({ exercise, answer: key, says: words.value, points: Number(points.value) || 0 })) box.open = false;
    ask();
  });
  box.append(make("summary", "", says ? "Change it" : "Write one sentence"), words,
    make("div", "between", make("label", "", "Points, when it is graded ", points), send));
  return make("li", "", make("div", "between", make("code", "", exercise), make("span", "soft", `${learners > 1 ? `${learners} gave the same answer` : "somebody is stuck on it"} · ${key.slice(0, 4)}`)),
    says ? make("p", "", `“${says}”`) : null, box);
}

const fill = (id, items, otherwise) => at(id).replaceChildren(...(items.length ? items : [make("li", "soft", otherwise)]));

function show({ board, stuck, times, nameless, hands, slips, colors }) {
  at("room").textContent = `${board.learners} in the room`;
  fill("hands", hands.map(one => handItem(one, colors)), "None.");
  fill("stuck", stuck.map(one => make("li", "", named(one.name, colors),
    `, ${one.exercise}, ${one.mistake || "no mistake with a name"}`, make("span", "soft", ` · ${one.tries} tries`))), "Nobody.");
  // Not while somebody writes there.
  if (!at("nameless").querySelector("details[open]")) fill("nameless", nameless.map(namelessItem), "None that two or more have now, or somebody who is stuck.");
  fill("times", times.map(one => make("li", "between", make("code", "", one.exercise),
    make("span", "soft", `${one.minutes} min · ${one.green} green of ${one.tried}`))), "Nothing was tried yet.");
  fill("slips", slips.map(words => make("li", "", words)), "None. The button Slips opens a box on everybody's page.");
  for (const button of at("stages").children) button.setAttribute("aria-pressed", button.dataset.stage === board.stage);
  at("poll").replaceChildren(...(board.poll ? [poll(board.poll, board.stage)] : []));
  if (board.poll && document.activeElement !== at("question") && !at("question").dataset.chosen) at("question").value = board.poll.name;
}

function refused(status) {
  at("room").textContent = status === 403 ? "Open this page with the key that sdpa room has printed: /phone#KEY" : `Refused: ${status}`;
}

at("question").addEventListener("change", () => { at("question").dataset.chosen = "yes"; });
for (const { lesson, questions } of await (await fetch("/questions.json")).json()) {
  const group = document.createElement("optgroup");
  group.label = lesson;
  group.append(...questions.map(({ name, text }) => new Option(text, name)));
  at("question").append(group);
}
const ask = follow("/phone.json", headers, show, refused);
