// A learner's own page: their name, a hand, a vote, a slip. Who comes without a place gets one.

import { follow, make, ours, poll, post } from "./shared.js";

const at = id => document.getElementById(id);
const KEY = "sdpa-room"; // the light pages of the course read it too, where this server has them
if (location.hash.length > 1) {
  localStorage.setItem(KEY, location.hash.slice(1));
  history.replaceState(null, "", "/");
}
const who = () => localStorage.getItem(KEY) ?? "";
let state = null;

async function join() {
  const reply = await post("/join", {});
  if (!reply?.ok) return void (at("me").textContent = "The room lets nobody in just now.");
  localStorage.setItem(KEY, (await reply.json()).who);
  ask();
}

async function send(data) {
  const reply = await post("/line", { who: who(), ...data });
  ask();
  return reply?.ok ?? false;
}

function option(element, number) {
  if (!["first", "second"].includes(state.stage)) return element;
  const button = make("button", "option", ...element.childNodes);
  button.setAttribute("aria-pressed", state.voted === number);
  button.addEventListener("click", () => send({ vote: state.poll.name, option: number }));
  return button;
}

function show(found) {
  state = found;
  const dot = make("span", "dot");
  dot.style.background = state.color;
  at("me").replaceChildren(dot, state.name);
  at("hand").setAttribute("aria-pressed", state.hand);
  at("hand").textContent = state.hand ? "My hand is up" : "Raise my hand";
  at("course").hidden = !state.site;
  at("asked").hidden = !state.poll;
  at("asked").replaceChildren(...(state.poll ? [poll(state.poll, state.stage, option)] : []));
  at("told").hidden = !state.told.length;
  at("told").querySelector("ul").replaceChildren(...state.told.map(one => make("li", "", make("code", "", one.name), ours("p", "", one.says))));
  at("slip").hidden = state.stage !== "slip";
  at("slip-status").textContent = state.slip ? "Handed in. You can change it." : "";
}

at("hand").addEventListener("click", () => send({ hand: !state?.hand }));
at("slip").querySelector("button").addEventListener("click", () => {
  const slip = at("slip").querySelector("textarea").value.trim();
  if (slip) send({ slip });
});
const ask = follow("/here.json", () => ({ "X-Room-Who": who() }), show, status => status === 403 && join());
