// A pasted function: Python comes with the first question, behind its wall, and says which mistake it is.
import { drawn, unpiled } from "./card.js";
import { Python } from "./python.js";

const SECONDS = 30; // what an answer may take before it is ended
const at = (id) => document.querySelector(`#${id}`);
let python = null;
let asked = false;
let clock = 0;

function told(state, text) {
  document.documentElement.dataset.python = state;
  if (state === "ready") startClock();
  if (!asked && state !== "failed") return; // what was said last stays
  at("status").textContent = state === "failed" ? `Python stopped: ${text} Reload the page.` : state === "ready" ? "Looking …" : text;
}

function startClock() {
  clearTimeout(clock);
  if (asked) clock = setTimeout(() => python.stop(`Your code ran longer than ${SECONDS} s and was stopped.`), SECONDS * 1000);
}

function showMistake(mistake) {
  const [exercise, name] = mistake.split("#");
  if (!/^\w+$/.test(exercise) || !/^[\w.-]+$/.test(name ?? "")) return;
  const link = document.createElement("a");
  link.href = `../mistakes/${exercise}.html#${name}`;
  link.textContent = `${name.replaceAll("-", " ")}, in the museum of mistakes`;
  at("where").append("A link to send: ", link);
}

async function ask() {
  if (asked) return;
  asked = true;
  at("name").disabled = true;
  at("stop").hidden = false;
  at("verdict").replaceChildren();
  at("where").replaceChildren();
  python ??= new Python(told, 0);
  if (python.ready) told("ready", "");
  try {
    const { card, text, mistake } = await python.ask({ ask: "name", source: at("source").value });
    if (card) at("verdict").append(drawn(card, "index.html"));
    else at("verdict").append(Object.assign(document.createElement("pre"), { className: "plain", textContent: unpiled(text) }));
    showMistake(mistake);
    document.documentElement.dataset.mistake = mistake;
    at("status").textContent = "";
  } catch (error) {
    at("status").textContent = error.message;
  } finally {
    clearTimeout(clock);
    asked = false;
    at("name").disabled = false;
    at("stop").hidden = true;
    at("verdict").focus({ preventScroll: true });
  }
}

at("status").textContent = "";
at("name").addEventListener("click", ask);
at("stop").addEventListener("click", () => python.stop("Stopped."));
