// The first page: five known lines are in it with their cards; a line of one's own brings Python, behind its wall.
const at = (id) => document.getElementById(id);
const chosen = document.querySelectorAll("[name=known]");
const defined = at("form").querySelector("pre").textContent;
const LESSON = "01_dot_product";
const NAME = "dot_product";
const right = document.querySelector(".says.yes")?.textContent;
let python = null; // of ../try/asking.js, which comes with the first line of one's own, as the next does
let drawn = null; // of ../try/card.js

const say = (text) => { at("status").textContent = text; };

/** A radio's answer takes the place of what was there. */
function showKnown(radio) {
  python?.end("");
  at("line").value = radio.dataset.line;
  at("own").hidden = true;
  say("");
}

const knownOf = (line) => [...chosen].find((one) => one.dataset.line.replace(/\s/g, "") === line.replace(/\s/g, ""));

async function begun() {
  if (python) return;
  const [card, behind] = await Promise.all([import("../try/card.js"), import("../try/asking.js")]);
  drawn = card.drawn;
  python ??= behind.asker({ most: 100, subject: "Your line", say, buttons: [at("run")], stop: at("stop") });
}

/** The head with these numbers; they come out of the wall, so each is read as what it should be. */
function drawHead(text) {
  let { answer, weights } = JSON.parse(text);
  answer = typeof answer === "string" ? answer.slice(0, 20) : "";
  weights = Array.isArray(weights) ? weights : [];
  at("own").querySelectorAll(".people li").forEach((row, i) => {
    const weight = Number.isFinite(weights[i]) ? weights[i] : null;
    row.querySelector(".bar > i").style.setProperty("--size", Math.min(Math.max(weight ?? 0, 0), 1).toFixed(3));
    row.querySelector(".weight").textContent = weight === null ? "–" : weight.toFixed(2);
  });
  const says = at("own").querySelector(".says");
  says.textContent = answer || "no answer";
  says.className = `says ${answer === right ? "yes" : "no"}`;
}

const UNREAD = "<div class='sdpa-card sdpa-failed'><p class='head'><strong><span class='sign'><span class='tick'>✗</span></span> <span></span></strong></p><p></p></div>";
const IN_WORDS = [ // Python's words → a sentence on the line
  [/^'(.)' was never closed$/, "The bracket $1 is never closed"],
  [/^unmatched '(.)'$/, "The bracket $1 closes nothing"],
  [/^unterminated string literal.*/, "A text is never closed: its second quotation mark is missing"],
  [/^expected an indented block.*/, "Nothing that Python could run stands in it"],
  [/^invalid syntax$/, "A word or a sign is misspelled, missing, or one too many"],
];

/** The card of a line that Python can't begin with. */
function unread(text) {
  const card = drawn(UNREAD, ""), error = /^(?:Syntax|Indentation)Error: (.*)$/m.exec(text);
  const said = error ? `${IN_WORDS.reduce((told, [theirs, ours]) => told.replace(theirs, ours), error[1])}.` : text;
  card.querySelector(".head span + span").textContent = error ? "Python can’t read your line" : "Your line didn’t run";
  card.querySelector("p:last-child").textContent = said;
  return card;
}

/** There is one line to write here, Python's third: its number says nothing. */
function withoutNumbers(place) {
  const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(/\bline (\d+)\b/g, (_, n) => n === "3" ? "your line" : "the line above it");
}

function drawVerdict({ card, text, mistake }) {
  at("verdict").replaceChildren(card ? drawn(card, "try/attention_scores.html") : unread(text));
  withoutNumbers(at("verdict"));
  document.documentElement.dataset.mistake = mistake;
}

async function check(line, ask) {
  const request = { lesson: LESSON, name: NAME, answers: { [NAME]: `${defined}\n    ${line}` } };
  const verdict = await ask({ ask: "check", ...request });
  say("The head is asked …");
  const head = await ask({ ask: "head", ...request });
  drawVerdict(verdict);
  drawHead(head.text);
  chosen.forEach((one) => { one.checked = false; });
  at("own").hidden = false;
  at("own").scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

async function run(event) {
  event.preventDefault();
  const line = at("line").value.trim(), same = knownOf(line);
  if (same) {
    same.checked = true;
    showKnown(same);
    return;
  }
  say("Python is on its way …");
  try {
    await begun();
    await python.during({ now: "Checking …", then: "" }, (ask) => check(line, ask));
  } catch (error) {
    say(error.message);
  }
}

chosen.forEach((one) => one.addEventListener("change", () => showKnown(one)));
at("form").addEventListener("submit", run);
document.querySelectorAll("[name=known]:checked").forEach(showKnown);
