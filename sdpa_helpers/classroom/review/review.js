// The panel of `sdpa review`: one answer, its rubric beside it, a key for everything.
//
// The panel keeps nothing: every act goes to Python, which saves it and sends back what to show. What is on the screen
// as marked is therefore on the disk. What people wrote only ever becomes text: nothing in an answer can run.

const STYLE = `
:host { display: block; container-type: inline-size; margin: 6px 0; }
.panel {
  --ink: var(--jp-content-font-color1, var(--vscode-foreground, light-dark(#1f2933, #e8ecef)));
  --paper: var(--jp-layout-color1, var(--vscode-editor-background, light-dark(#fff, #14181c)));
  --soft: color-mix(in srgb, var(--ink) 74%, var(--paper)); --line: color-mix(in srgb, var(--ink) 18%, var(--paper));
  --edge: color-mix(in srgb, var(--ink) 55%, var(--paper)); --wash: color-mix(in srgb, var(--ink) 5%, var(--paper));
  --lit: color-mix(in srgb, #0072B2 17%, var(--paper)); --mark: #0072B2;
  color-scheme: light dark; color: var(--ink); background: var(--paper); font: 14px/1.5 system-ui, "Segoe UI", sans-serif;
  border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; font-variant-numeric: tabular-nums;
}
* { box-sizing: border-box; }
:focus-visible { outline: 3px solid color-mix(in srgb, var(--mark) 70%, var(--ink)); outline-offset: 2px; border-radius: 4px; }
.panel:focus { outline: none; border-color: var(--mark); box-shadow: 0 0 0 2px color-mix(in srgb, var(--mark) 45%, var(--paper)); }
.head { display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; margin-bottom: 10px; }
.grow { flex: 1; } .head h2 { font-size: 16px; margin: 0; font-weight: 600; } .head .about, .points .about { margin: 0; }
progress { appearance: none; width: 130px; height: 10px; border: 1px solid var(--edge); border-radius: 5px; overflow: hidden; background: var(--wash); }
progress::-webkit-progress-bar { background: var(--wash); } progress::-webkit-progress-value { background: var(--mark); } progress::-moz-progress-bar { background: var(--mark); }
.columns { display: grid; grid-template-columns: minmax(0, 1.25fr) minmax(300px, 1fr); gap: 18px; align-items: start; }
.about { color: var(--soft); margin: 0 0 6px; }
.answer { border: 1px solid var(--line); border-radius: 8px; padding: 4px 16px; font-size: 15.5px; line-height: 1.6; max-height: 65vh; overflow: auto; overflow-wrap: anywhere; unicode-bidi: isolate; }
.answer, .fold { white-space: pre-wrap; }
details { margin: 0 0 8px; } summary { cursor: pointer; font-weight: 600; } .fold { padding: 0 12px; border-left: 4px solid var(--line); overflow-wrap: anywhere; }
h3 { font-size: 14px; margin: 0 0 4px; font-weight: 600; }
.criteria { list-style: none; margin: 0; padding: 0; }
.criteria li { border: 1px solid var(--line); border-radius: 8px; padding: 7px 10px; margin-bottom: 7px; } .criteria li.met { background: var(--lit); border-color: var(--mark); }
.criteria label { display: grid; grid-template-columns: auto auto 1fr; gap: 8px; align-items: start; cursor: pointer; }
.criteria .beware { color: var(--soft); margin: 4px 0 0 52px; font-size: 13px; }
input[type=checkbox] { appearance: none; width: 17px; height: 17px; margin: 2px 0 0; border: 1.5px solid var(--edge); border-radius: 4px; background: var(--paper); }
input[type=checkbox]:checked { border-color: var(--mark); background: var(--mark); } input[type=checkbox]:checked::after { content: ""; display: block; width: 5px; height: 9px; margin: 0 0 0 4.5px; border: solid #fff; border-width: 0 2px 2px 0; transform: rotate(42deg); }
kbd { font: 600 12px/1.3 ui-monospace, monospace; border: 1px solid var(--edge); border-bottom-width: 2px; border-radius: 4px; padding: 1px 5px; background: var(--paper); white-space: nowrap; }
.points { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 10px 0; } .points strong { font-size: 18px; }
textarea { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--edge); border-radius: 6px; width: 100%; min-height: 62px; padding: 6px 9px; resize: vertical; }
button, select { font: inherit; color: var(--ink); background: var(--wash); border: 1px solid var(--edge); border-radius: 6px; padding: 2px 10px; min-height: 30px; }
select option { color: var(--ink); background: var(--paper); } button { cursor: pointer; } button:hover:not(:disabled) { background: var(--lit); } button:disabled { opacity: .55; cursor: default; }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 10px; }
.old { border-left: 4px solid #D55E00; background: var(--wash); padding: 6px 12px; margin: 0 0 10px; white-space: pre-line; overflow-wrap: anywhere; }
.line { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 24px; margin-bottom: 6px; } .line p { margin: 0; color: var(--soft); }
.say.heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); } .notice { margin: 0 0 8px; padding: 5px 11px; border-left: 4px solid #D55E00; font-weight: 600; }
.keys { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 4px 18px; margin: 4px 0 10px; padding: 10px 12px; background: var(--wash); border-radius: 8px; } .keys dt, .keys dd { display: inline; margin: 0; } .keys dd { margin-left: 8px; }
[hidden] { display: none !important; }
@container (max-width: 760px) { .columns { grid-template-columns: 1fr; } }`;

const node = (tag, children = [], properties = {}) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const GONE = "The kernel is gone. What was marked is kept: run the cell again.";
const SLOW = "Python has not answered: the last mark may not be saved. If this stays, run the cell again.";
const PATIENCE = 3000, TYPING = 400; // milliseconds
const MOST_WAITING = 30;
const number = x => String(x).replace("-", "−");
const signed = x => (x > 0 ? "+" : "") + number(x);
const counted = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** The keys, what they do in words, and what they send. `panel` has the acts that Python does not need to know. */
const keysOf = panel => [
  [["→", "j"], ["ArrowRight", "j"], "next answer", () => panel.step(1)],
  [["←", "k"], ["ArrowLeft", "k"], "the one before", () => panel.step(-1)],
  [["n"], ["n"], "next that is not marked", () => panel.send({ do: "unmarked" })],
  [["1", "–", "9"], [..."123456789"], "a criterion: met or not", key => panel.toggle(Number(key) - 1)],
  [["0"], ["0"], "marked: nothing met", () => panel.send({ do: "set", all: false })],
  [["f"], ["f"], "full points", () => panel.send({ do: "set", all: true })],
  [["+", "−"], ["+", "=", "-"], "half a point more or less", key => panel.send({ do: "adjust", by: key === "-" ? -0.5 : 0.5 })],
  [["c"], ["c"], "comment; Esc comes back", () => panel.comment.focus()],
  [["x"], ["x"], "not marked again", () => panel.send({ do: "unmark" })],
  [["u"], ["u"], "undo", () => panel.send({ do: "undo" })],
  [["q"], ["q"], "the question", () => panel.fold("question")],
  [["m"], ["m"], "the model answer", () => panel.fold("model")],
  [["b"], ["b"], "show names, hide names", () => panel.send({ do: "names" })],
  [["w"], ["w"], "write grades, pages and gradebook", () => panel.write()],
  [["?"], ["?"], "these keys", () => panel.keys()],
];

function mount(host, model) {
  const root = host.shadowRoot || host.attachShadow({ mode: "open" });
  const given = model.get("given");
  let shown = {}, closed = false, timer = null, typing = null, sent = model.get("view").number;
  const waiting = []; // what the reader asked for while Python was still at something else
  const part = (tag, className, children = [], properties = {}) => node(tag, children, { className, ...properties });
  const button = (label, key, act) => {
    const made = node("button", [label, " ", node("kbd", [key])], { type: "button" });
    made.addEventListener("click", () => inTurn(act));
    return made;
  };

  // ---- what is on the screen

  const done = node("span"), bar = node("progress", []), who = node("span", [], { className: "about" });
  bar.setAttribute("aria-label", "answers that are marked");
  const jump = node("select", Object.entries(given).map(([name, { title }]) => node("option", [title], { value: name })));
  jump.setAttribute("aria-label", "go to an exercise");
  jump.addEventListener("input", () => { const to = given[jump.value].first; inTurn(() => send({ do: "go", to })); });
  const about = part("p", "about"), answer = part("div", "answer"), old = part("p", "old", [], { hidden: true });
  answer.tabIndex = 0;
  answer.setAttribute("role", "region");
  answer.setAttribute("aria-label", "the answer");
  const folds = { question: part("div", "fold"), model: part("div", "fold") };
  const fold = { question: node("details", [node("summary", ["The question ", node("kbd", ["q"])]), folds.question]),
    model: node("details", [node("summary", ["A model answer ", node("kbd", ["m"])]), folds.model]) };
  const criteria = part("ul", "criteria"), total = node("strong"), adjusted = part("span", "about");
  const comment = node("textarea", [], { maxLength: 4000, id: "comment" });
  const label = node("label", ["Comment for the learner ", node("kbd", ["c"])], { htmlFor: "comment" });
  const say = part("p", "say"), notice = part("p", "notice", [], { hidden: true });
  say.setAttribute("role", "status");
  notice.setAttribute("role", "alert");
  const help = part("dl", "keys", [], { hidden: true });

  const panel = part("div", "panel", [], { tabIndex: -1 });
  panel.setAttribute("role", "group");
  panel.setAttribute("aria-label", "Review of written answers");
  const acts = { send, step, toggle, comment, keys: () => { help.hidden = !help.hidden; },
    fold: name => { fold[name].open = !fold[name].open; }, write: () => { say.textContent = "Writing…"; send({ do: "write" }, 600_000); } };
  const keys = keysOf(acts);
  help.append(...keys.map(([caps, , words]) => node("div", [node("dt", caps.map(cap => (cap === "–" ? "–" : node("kbd", [cap])))), node("dd", [words])])));
  const undo = button("Undo", "u", () => send({ do: "undo" }));
  const less = button("½ less", "−", () => send({ do: "adjust", by: -0.5 })), more = button("½ more", "+", () => send({ do: "adjust", by: 0.5 }));

  const header = part("div", "head", [node("h2", ["Review"]), jump, bar, done, part("span", "grow"), who,
    button("Names", "b", () => send({ do: "names" })), button("Write", "w", acts.write), button("Keys", "?", acts.keys)]);
  const left = node("div", [old, fold.question, answer,
    part("div", "buttons", [button("Before", "←", () => step(-1)), button("Next", "→", () => step(1)), button("Next unmarked", "n", () => send({ do: "unmarked" }))])]);
  const right = node("div", [node("h3", ["What earns points"]), criteria,
    part("div", "points", [total, adjusted, less, more]), label, comment,
    part("div", "buttons", [button("Nothing", "0", () => send({ do: "set", all: false })), button("Full", "f", () => send({ do: "set", all: true })), button("Not marked", "x", () => send({ do: "unmark" })), undo]),
    node("div", [fold.model], { style: "margin-top: 12px" })]);
  panel.append(header, notice, help, part("div", "line", [about, say]), part("div", "columns", [left, right]));
  root.replaceChildren(node("style", [STYLE]), panel);

  // ---- showing what Python says

  function showExercise() {
    const exercise = given[shown.exercise];
    jump.value = shown.exercise;
    folds.question.textContent = exercise.prompt;
    folds.model.textContent = exercise.model || "There is no model answer.";
    criteria.replaceChildren(...exercise.criteria.map((criterion, i) => {
      const box = node("input", [], { type: "checkbox" });
      box.addEventListener("change", () => inTurn(() => toggle(i)));
      const words = node("span", [node("strong", [counted(criterion.points, "point")]), ": ", criterion.says || criterion.asks]);
      const children = [node("label", [box, node("kbd", [String(i + 1)]), words])];
      if (criterion.beware) children.push(part("p", "beware", [node("strong", ["Look for: "]), criterion.beware]));
      return node("li", children);
    }));
  }
  function show() {
    const view = model.get("view"), before = shown;
    if (!view.total) {
      panel.replaceChildren(node("h2", ["Review"]), node("p", ["There are no written answers here. They come from graded notebooks with an exercise in words."]));
      return;
    }
    shown = view;
    const { mark, of_exercise: place } = view, exercise = given[view.exercise];
    const moved = before.at !== view.at || before.text !== view.text;
    if (before.exercise !== view.exercise) showExercise();
    if (moved) { answer.textContent = shown.text; answer.scrollTop = 0; }
    bar.max = view.total; bar.value = view.marked;
    done.textContent = `${view.marked} of ${view.total} marked`;
    about.textContent = `Answer ${place.place} of ${place.total} to “${exercise.title}”, ${place.marked} of them marked` +
      (view.alike ? `; ${counted(view.alike, "other")} resemble${view.alike === 1 ? "s" : ""} it` : "");
    who.textContent = view.student ?? "names hidden";
    old.hidden = !view.before;
    if (view.before) old.textContent = `The answer changed since it was marked with ${number(view.before.points)} points. ` +
      `What was met then: ${exercise.criteria.filter(c => view.before.given.includes(c.key)).map(c => c.asks).join("; ") || "nothing"}.` +
      (view.before.comment ? `\nThe comment: ${view.before.comment}` : "");
    [...criteria.children].forEach((item, i) => {
      const met = mark.given.includes(exercise.criteria[i].key);
      item.querySelector("input").checked = met;
      item.classList.toggle("met", met);
    });
    total.textContent = mark.points === null ? `– of ${exercise.max_points} points` : `${number(mark.points)} of ${exercise.max_points} points`;
    adjusted.textContent = mark.points === null ? "not marked" : mark.adjusted ? `${signed(mark.adjusted)} adjusted` : "";
    if (moved || root.activeElement !== comment) comment.value = mark.comment;
    undo.disabled = !view.can_undo;
    const told = view.says || (moved ? about.textContent : same(before.mark, mark) ? say.textContent : mark.points === null ? "Not marked. Saved." : `${total.textContent}. Saved.`);
    if (say.textContent !== told) say.textContent = told;
    say.classList.toggle("heard", told === about.textContent); // it stands above already
    if (view.error) { notice.textContent = `Not saved. ${view.error}`; notice.hidden = false; }
    if (view.number < sent) return;
    clearTimeout(timer);
    if (!closed) notice.hidden = !view.error;
    while (waiting.length && shown.number >= sent) waiting.shift()();
  }

  // ---- what the reader does

  /** One thing after the other: who types "next, 1" means the next answer, however slow Python is. */
  function inTurn(act) {
    if (closed || shown.number >= sent) act();
    else if (waiting.length < MOST_WAITING) waiting.push(act);
  }
  function send(act, patience = PATIENCE) {
    if (closed) return tell(GONE);
    saveComment();
    sent = Math.max(sent, shown.number) + 1; // the same panel may be open twice
    post({ ...act, at: shown.at, number: sent }, patience);
  }
  function post(message, patience = PATIENCE) {
    try { model.send(message); } catch { return gone(); } // JupyterLab throws when the kernel is no more
    clearTimeout(timer);
    timer = setTimeout(() => tell(SLOW), patience);
  }
  function step(by) {
    const to = shown.at + by;
    if (to < 0 || to >= shown.total) { say.textContent = by < 0 ? "This is the first answer." : "This is the last answer."; return; }
    send({ do: "go", to });
  }
  function toggle(i) {
    const criterion = given[shown.exercise].criteria[i];
    if (criterion) send({ do: "toggle", key: criterion.key });
  }
  /** Save what is in the comment field, if that is not saved yet. */
  function saveComment() {
    clearTimeout(typing);
    typing = null;
    if (closed || !shown.mark || comment.value.trim() === shown.mark.comment) return;
    sent = Math.max(sent, shown.number) + 1; // the same panel may be open twice
    shown = { ...shown, mark: { ...shown.mark, comment: comment.value.trim() } };
    post({ do: "comment", text: comment.value, at: shown.at, number: sent });
  }
  comment.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(saveComment, TYPING); });
  comment.addEventListener("blur", saveComment);
  function tell(text) { notice.textContent = text; notice.hidden = false; }
  function gone() { closed = true; clearTimeout(timer); waiting.length = 0; tell(GONE); }

  const isTyping = event => event.composedPath()[0].matches?.("textarea, select, input:not([type=checkbox])");
  const isForTheNotebook = event => event.ctrlKey || event.metaKey || event.altKey || (event.key === "Enter" && event.shiftKey)
    || (event.key === "Escape" && !isTyping(event) && help.hidden); // leaving
  // Notebook 7 takes keys before they arrive here, but leaves those alone whose target has this attribute.
  const beforeAll = event => {
    if (!event.composedPath().includes(host)) return;
    if (isForTheNotebook(event)) delete host.dataset.lmSuppressShortcuts;
    else host.dataset.lmSuppressShortcuts = "true";
  };
  const onKey = event => {
    const typingIn = isTyping(event);
    if (isForTheNotebook(event)) return;
    event.stopPropagation(); // JupyterLab takes letters as commands for the notebook unless they stop here
    if (event.key === "Escape") { help.hidden = true; panel.focus(); event.preventDefault(); return; }
    if (typingIn) return;
    const found = keys.find(([, names]) => names.includes(event.key));
    if (found) { event.preventDefault(); inTurn(() => found[3](event.key)); }
  };
  host.dataset.lmSuppressShortcuts = "true";
  window.addEventListener("keydown", beforeAll, true);
  host.addEventListener("keydown", onKey);
  panel.addEventListener("click", event => { if (event.target === panel || event.target.closest(".columns") && !event.target.closest("button, input, textarea, label, summary, .answer")) panel.focus(); });
  model.on("change:view", show);
  model.on("destroy", gone);
  model.on("comm:close", gone);
  show();
  setTimeout(() => { if (host.isConnected) panel.focus({ preventScroll: true }); }, 200); // after JupyterLab has selected the next cell
  return () => {
    clearTimeout(timer);
    clearTimeout(typing);
    window.removeEventListener("keydown", beforeAll, true);
    host.removeEventListener("keydown", onKey);
    model.off("change:view", show);
    model.off("destroy", gone);
    model.off("comm:close", gone);
  };
}

function render({ model, el }) {
  return mount(el.appendChild(document.createElement("div")), model);
}

export default { render };
