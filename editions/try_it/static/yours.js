// A pasted function: Python comes with the first question, behind its wall, and says which mistake it is.
import { asker } from "./asking.js";
import { drawn, unpiled } from "./card.js";
import { makeEditor } from "./editor.js";
import { NUMPY } from "./names.js";

const at = (id) => document.querySelector(`#${id}`);
const say = (text) => { at("status").textContent = text; };
const python = asker({ most: 0, subject: "Your code", say, buttons: [at("name")], stop: at("stop") });

function showMistake(mistake) {
  const [exercise, name] = mistake.split("#");
  if (!/^\w+$/.test(exercise) || !/^[\w.-]+$/.test(name ?? "")) return;
  const link = document.createElement("a");
  link.href = `../mistakes/${exercise}.html#${name}`;
  link.textContent = `${name.replaceAll("-", " ")}, in the museum of mistakes`;
  at("where").append("A link to send: ", link);
}

function nameIt() {
  python.during({ now: "Looking …", then: "" }, async (ask) => {
    at("verdict").replaceChildren();
    at("where").replaceChildren();
    const { card, text, mistake } = await ask({ ask: "name", source: editor.read() });
    if (card) at("verdict").append(drawn(card, "index.html"));
    else at("verdict").append(Object.assign(document.createElement("pre"), { className: "plain", textContent: unpiled(text) }));
    showMistake(mistake);
    document.documentElement.dataset.mistake = mistake;
    at("verdict").focus({ preventScroll: true });
  });
}

const names = { words: [], numpy: NUMPY };
const editor = makeEditor({ source: at("source"), label: "Your function, Python", names, typed() {}, run: nameIt, check: nameIt });
say("");
at("name").addEventListener("click", nameIt);
