// One exercise: the editor, the buttons, the card. What is kept is in kept.js, Python in python.js.
import { askAfter } from "./ask.js";
import { asker } from "./asking.js";
import { drawn, unpiled } from "./card.js";
import { makeEditor } from "./editor.js";
import { fitFrame } from "./embed.js";
import { follow } from "./follow.js";
import { keepAttempt, keepPoints, load, onOthers, total } from "./kept.js";
import { NUMPY } from "./names.js";
import { withAnswers } from "./notebook.js";
import { keepOffline } from "./offline.js";
import { takeIn } from "./opened.js";
import { tell, toldLast } from "./room.js";
import { listVersions } from "./versions.js";

const exercise = JSON.parse(document.querySelector("#exercise").textContent);
const at = (id) => document.querySelector(`#${id}`);
const status = at("status");
const inWords = !exercise.first;
const WORDS = {
  check: { now: "Checking …", then: "Your answer is checked then." },
  run: { now: "Running …", then: "Your answer runs then." },
  hint: { now: "Looking …", then: "" },
  solution: { now: "Looking …", then: "" },
};
let editor = null;
let python = null;

const answer = () => (editor ? editor.read() : at("source").value);

function show(text) {
  if (editor) editor.show(text);
  else at("source").value = text;
}

function say(text) {
  if (status.textContent !== text) status.textContent = text;
}

function kept(ok) {
  if (!ok) status.textContent = "This browser keeps nothing: download your notebook before you leave the page.";
}

const work = follow({ name: exercise.name, first: exercise.first, read: answer, show, say, kept });

function showPoints() {
  at("total").textContent = total();
  const mine = load().points[exercise.name];
  const place = at("earned");
  if (mine !== undefined && place) place.textContent = ` · yours: ${+mine.toFixed(2)}`;
}

// ---- Python ------------------------------------------------------------------------------------------------

function ask(what) {
  python.during(WORDS[what], async (asked) => {
    if (what === "check") work.keepVersion(answer(), "checked");
    at("verdict").replaceChildren();
    const all = load().answers; // no more of it than runs: what is checked may be a stranger's
    const before = exercise.earlier.filter((name) => name in all).map((name) => [name, all[name]]);
    const answers = { ...Object.fromEntries(before), [exercise.name]: answer() };
    const verdict = await asked({ ask: what, lesson: exercise.lesson, name: exercise.name, answers, told: toldLast() });
    if (what === "run") showRun(verdict);
    else showVerdict(verdict, what);
    bringUp(what);
  }, (text) => {
    showText(text);
    bringUp(what);
  }).then(() => keepOffline(at("offline"), exercise.lesson));
}

function showRun({ printed, text }) {
  if (printed) showText(printed);
  if (text) showText(text);
}

/** Code and card together where both fit; the card where they don't. Who runs from the editor writes on there. */
function bringUp(what) {
  const offered = what === "check" && at("verdict").querySelector(".sdpa-card") !== null; // a check's card has both
  at("hint").hidden = at("solution").hidden = offered;
  document.documentElement.classList.add("answered");
  if (what !== "run" || document.activeElement === document.body) at("verdict").focus({ preventScroll: true });
  const both = matchMedia("(min-width: 64rem)").matches;
  (both ? at("desk") : at("verdict")).scrollIntoView({ block: both ? "start" : "nearest" });
}

function showText(text, heading = "") {
  const place = document.createElement("pre");
  place.className = "plain";
  place.textContent = unpiled(heading ? `${heading}\n${text}` : text);
  at("verdict").append(place);
}

/** Where the mistake is shown with its line. */
function showWhere(mistake) {
  const link = document.createElement("a");
  link.href = `../mistakes/${exercise.name}.html#${mistake}`;
  link.textContent = "See this mistake in the museum";
  const place = document.createElement("p");
  place.className = "quiet small";
  place.append(link);
  at("verdict").append(place);
}

function showVerdict(verdict, what) {
  const place = at("verdict");
  if (verdict.card) {
    place.append(drawn(verdict.card, exercise.next));
  } else {
    showText(verdict.text);
  }
  if (exercise.known.includes(verdict.mistake)) showWhere(verdict.mistake);
  if (verdict.printed) showText(verdict.printed, "Printed:");
  if (what === "check" && verdict.card) {
    keepAttempt(exercise.name, verdict.points, exercise.points, verdict.mistake, verdict.answer);
    tell(load().attempts.at(-1));
    kept(keepPoints(exercise.name, verdict.points));
    showPoints();
  }
  document.documentElement.dataset.mistake = verdict.mistake;
}

// ---- the notebook ------------------------------------------------------------------------------------------

async function download() {
  const response = await fetch(`notebooks/${exercise.lesson}.ipynb`);
  const notebook = withAnswers(await response.json(), load().answers);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(notebook, null, 1), "\n"], { type: "application/x-ipynb+json" }));
  link.download = `${exercise.lesson}.ipynb`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  at("file-status").textContent = `${link.download} is in your downloads.`;
}

const open = (file) => takeIn(file, {
  lesson: exercise.lesson, look: work.look, say: (text) => { at("file-status").textContent = text; },
  ask: (question, answers) => askAfter(at("file-status"), question, answers),
});

async function again() {
  await work.replace(exercise.first, "before Start again");
  editor.focus();
  say("Begun again. What was here is in Earlier versions.");
}

async function putBack({ text }) {
  await work.replace(text, "before an earlier version came back");
  at("versions").open = false;
  say("The earlier version is back. What stood here is in Earlier versions too.");
}

// ---- the start ---------------------------------------------------------------------------------------------

/** The names that the exercise's text and its first lines use. */
const words = () => [...new Set([exercise.first, ...[...document.querySelectorAll(".prompt code")].map((code) => code.textContent)]
  .flatMap((text) => text.match(/[A-Za-z_]\w+/g) ?? []))];

const before = load().answers[exercise.name];
if (before !== undefined) at("source").value = before;
if (inWords) {
  at("source").addEventListener("input", work.typed);
} else {
  const names = { words: words(), numpy: NUMPY };
  editor = makeEditor({ source: at("source"), label: "Your answer, Python", names, typed: work.typed, run: () => ask("run"), check: () => ask("check") });
  const buttons = Object.keys(WORDS).map(at);
  python = asker({ most: exercise.points, subject: "Your code", say, buttons, stop: at("stop"), idle: true, note: " Your answer is kept." });
  python.begin();
  for (const button of buttons) button.addEventListener("click", () => ask(button.id));
  at("again").addEventListener("click", again);
}
at("download").addEventListener("click", download);
at("open").addEventListener("change", (event) => {
  if (event.target.files[0]) open(event.target.files[0]);
  event.target.value = "";
});
listVersions({ place: at("versions"), name: exercise.name, read: answer, restore: putBack });
showPoints();
onOthers(showPoints);
if (inWords || navigator.serviceWorker?.controller) keepOffline(at("offline"), exercise.lesson); // else after the first use
fitFrame();
