// One exercise: the editor, the buttons, the card. What is kept is in kept.js, Python in python.js.
import { askAfter } from "./ask.js";
import { drawn, unpiled } from "./card.js";
import { follow } from "./follow.js";
import { keepAttempt, keepPoints, load, onOthers, total } from "./kept.js";
import { withAnswers } from "./notebook.js";
import { keepOffline } from "./offline.js";
import { takeIn } from "./opened.js";
import { Python } from "./python.js";
import { tell, toldLast } from "./room.js";
import { listVersions } from "./versions.js";

const SECONDS = 30; // what a check may take before it is ended
const exercise = JSON.parse(document.querySelector("#exercise").textContent);
const at = (id) => document.querySelector(`#${id}`);
const status = at("status");
const inWords = !exercise.first;
let editor = null;
let python = null;
let asked = null; // what waits for Python

if (new URLSearchParams(location.search).has("embed")) document.documentElement.classList.add("embed");

const answer = () => (editor ? editor.getValue() : at("source").value);

function show(text) {
  if (!editor) {
    at("source").value = text;
    return;
  }
  const caret = editor.getCursor();
  editor.setValue(text);
  editor.setCursor(caret, null, { scroll: false });
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

function told(state, text) {
  if (state === "failed") status.textContent = `Python stopped: ${text} Reload the page; your answer is kept.`;
  else if (asked) status.textContent = state === "ready" ? "Checking …" : `${text} Your answer is checked then.`;
  else status.textContent = state === "ready" ? "Ready." : text;
  document.documentElement.dataset.python = state;
  if (state === "ready" && asked) startClock();
}

let clock = 0;
function startClock() {
  clearTimeout(clock);
  clock = setTimeout(() => stop(`Your code ran longer than ${SECONDS} s and was stopped. Look for a loop that never ends.`), SECONDS * 1000);
}

function stop(text) {
  if (asked) python.stop(text);
}

async function ask(what) {
  if (asked) return;
  asked = what;
  if (what === "check") work.keepVersion(answer(), "checked");
  at("check").disabled = true;
  at("stop").hidden = false;
  at("verdict").replaceChildren();
  status.textContent = python.ready ? "Checking …" : "Python is on its way; your answer is checked then.";
  if (python.ready) startClock();
  try {
    const all = load().answers; // no more of it than runs: what is checked may be a stranger's
    const before = exercise.earlier.filter((name) => name in all).map((name) => [name, all[name]]);
    const answers = { ...Object.fromEntries(before), [exercise.name]: answer() };
    const verdict = await python.ask({ ask: what, lesson: exercise.lesson, name: exercise.name, answers, told: toldLast() });
    status.textContent = "";
    showVerdict(verdict, what);
  } catch (error) {
    showText(error.message);
    status.textContent = "";
  } finally {
    clearTimeout(clock);
    asked = null;
    at("check").disabled = false;
    at("stop").hidden = true;
    keepOffline(at("offline"));
  }
}

function showText(text, heading = "") {
  const place = document.createElement("pre");
  place.className = "plain";
  place.textContent = unpiled(heading ? `${heading}\n${text}` : text);
  at("verdict").append(place);
  at("verdict").focus({ preventScroll: false });
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
  place.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
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

function makeEditor() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  editor = window.CodeMirror.fromTextArea(at("source"), {
    mode: "python", indentUnit: 4, lineNumbers: true, matchBrackets: true, lineWrapping: true, autoCloseBrackets: true, viewportMargin: Infinity,
    screenReaderLabel: "Your answer, Python", theme: dark.matches ? "night" : "default",
    extraKeys: {
      Tab: (cm) => (leaving ? window.CodeMirror.Pass : cm.execCommand(cm.somethingSelected() ? "indentMore" : "insertSoftTab")),
      "Shift-Tab": (cm) => (leaving ? window.CodeMirror.Pass : cm.execCommand("indentLess")),
      Esc: () => { leaving = true; },
      "Ctrl-Enter": () => ask("check"), "Cmd-Enter": () => ask("check"), "Shift-Enter": () => ask("check"),
    },
  });
  let leaving = false;
  editor.on("keydown", (_, event) => { if (!["Escape", "Tab", "Shift"].includes(event.key)) leaving = false; });
  editor.on("change", work.typed);
  dark.addEventListener("change", () => editor.setOption("theme", dark.matches ? "night" : "default"));
}

const before = load().answers[exercise.name];
if (before !== undefined) at("source").value = before;
if (inWords) {
  at("source").addEventListener("input", work.typed);
} else {
  makeEditor();
  python = new Python(told, exercise.points);
  at("check").addEventListener("click", () => ask("check"));
  at("hint").addEventListener("click", () => ask("hint"));
  at("solution").addEventListener("click", () => ask("solution"));
  at("stop").addEventListener("click", () => stop("Stopped. Your answer is kept."));
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
if (inWords) keepOffline(at("offline"));
