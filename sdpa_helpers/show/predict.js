// The body of a prediction: a question, its answers as buttons, and what was measured once the reader has chosen.

/* global bodies, make, tell */

const PREDICT_STYLE = `
:host { max-width: 46rem; } :host(.open) { container-type: normal; width: fit-content; min-width: min(100%, 46rem); max-width: min(100%, 67rem); }
.predict:focus { outline: none; }
.predict { border-left: 5px solid var(--query); padding: 14px 18px 16px; font-size: 15px; line-height: 1.5; }
.predict p { margin: 0 0 8px; max-width: 44rem; } .predict .label { font-size: 12px; font-weight: 700; letter-spacing: .08em; text-transform: uppercase; color: var(--soft); margin-bottom: 4px; }
.question { font-size: 16px; } .answers { display: flex; flex-wrap: wrap; gap: 8px; margin: 10px 0 0; padding: 0; list-style: none; max-width: 44rem; }
.answers button { min-height: 38px; padding: 5px 14px 5px 9px; text-align: left; display: flex; align-items: center; gap: 9px; background: var(--paper); }
.answers button:hover, .sure button:hover { background: var(--lit); border-color: var(--query); }
.digit { display: inline-grid; place-items: center; min-width: 24px; height: 24px; border: 1px solid var(--line); border-radius: 5px; font-size: 12px; color: var(--soft); background: var(--wash); }
button.quiet { border-color: transparent; background: none; color: var(--soft); text-decoration: underline; text-underline-offset: 3px; }
.sure { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-top: 10px; }
.verdicts { list-style: none; margin: 10px 0 10px; padding: 0; display: grid; gap: 8px; max-width: 44rem; }
.verdicts li { display: grid; grid-template-columns: 26px 1fr; gap: 0 8px; padding: 8px 12px 8px 8px; border: 1px solid var(--line); border-radius: 8px; }
.verdicts .sign { font-weight: 700; text-align: center; } .verdicts .whose { font-size: 12px; font-weight: 700; letter-spacing: .05em; text-transform: uppercase; color: var(--soft); }
.verdicts li.right { border: 2px solid var(--value); } .verdicts li.wrong { border: 2px dashed var(--out); }
details { margin: 0 0 10px; } summary { cursor: pointer; min-height: 24px; color: var(--soft); } details .verdicts { margin-top: 6px; }
.shown { max-width: 100%; overflow-x: auto; } .shown pre { margin: 6px 0; font: 13px/1.5 var(--jp-code-font-family, ui-monospace, monospace); } .shown pre { overflow-x: auto; } .shown img { max-width: 100%; height: auto; }
.shown table { border-collapse: collapse; margin: 8px 0; } .shown td, .shown th { padding: 3px 10px; border-bottom: 1px solid var(--line); text-align: right; }
.later { animation: later .3s ease-out; } @keyframes later { from { opacity: 0; transform: translateY(4px); } }
@media (prefers-reduced-motion: reduce) { .later { animation: none; } }`;

const SHOW_ME = -1;

function html(tag, className, innerHTML) {
  return make(tag, { className, innerHTML });
}

/** The sign that ends a text, where it has none of its own. */
function ended(text, sign) {
  return /[.!?]$/.test(text) ? "" : sign;
}

/** One answer after the choice: a sign, whose it is, its text and why. */
function verdict(given, number, chosen) {
  const { text, because } = given.options[number], right = number === given.right, yours = number === chosen;
  const whose = [yours && "your answer", right && (given.found ?? "measured").toLowerCase()].filter(Boolean).join(" · ");
  const row = html("li", right ? "right" : yours ? "wrong" : "", `<span class="sign">${right ? "✓" : "✗"}</span><div></div>`);
  row.lastChild.append(...(whose ? [make("div", { className: "whose", textContent: whose })] : []),
    html("div", "", `<strong>${text}</strong>${ended(text, ":")} ${because}`));
  return row;
}

/** What stands there once the reader has chosen. */
function answered(given, [chosen, sure], again) {
  const numbers = given.options.map((_, number) => number);
  const first = numbers.filter(n => n === chosen || n === given.right), others = numbers.filter(n => !first.includes(n));
  const list = some => make("ul", { className: "verdicts" }, ...some.map(n => verdict(given, n, chosen)));
  const known = sure === null || sure === undefined || chosen === SHOW_ME ? "" : sure ? " You were sure." : " You were not sure.";
  const measured = html("p", "measured", `${given.found ?? "Measured"}: <strong>${given.measured}</strong>${ended(given.measured, ".")}${given.right === null ? " None of the answers says that." : ""}${known}`);
  const parts = [measured, list(first.sort((a, b) => (b === chosen) - (a === chosen)))];
  if (others.length) parts.push(make("details", {}, make("summary", { textContent: others.length > 1 ? "The other answers" : "The other answer" }), list(others)));
  if (given.after) parts.push(html("div", "after", `<p>${given.after}</p>`));
  if (given.shown) parts.push(html("div", "shown", given.shown));
  const button = make("button", { type: "button", className: "quiet", textContent: "Ask me again" });
  button.addEventListener("click", again);
  return [...parts, button];
}

/** In a word or two, for whoever listens. */
function spoken(given, [chosen]) {
  const told = chosen === SHOW_ME ? "" : chosen === given.right ? "That is right. " : "That is not right. ";
  return told + make("div", { innerHTML: `${given.found ?? "Measured"}: ${given.measured}.` }).textContent;
}

function fillPredict(panel, given, model) {
  const host = panel.getRootNode().host, stage = make("div"), said = make("div", { className: "heard" });
  said.setAttribute("role", "status");
  said.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
  panel.append(make("p", { className: "label", textContent: given.title }), html("p", "question", given.question), stage, said);
  let choose = null;

  function ask() {
    host.classList.remove("open");
    const buttons = given.options.map(({ text }, number) => {
      const button = html("button", "", `<span class="digit" aria-hidden="true">${number + 1}</span><span>${text}</span>`);
      button.type = "button";
      button.addEventListener("click", () => choose(number));
      return button;
    });
    const showMe = make("button", { type: "button", className: "quiet", textContent: "Show me" });
    showMe.addEventListener("click", () => choose(SHOW_ME));
    choose = number => (given.howSure && number !== SHOW_ME ? askHowSure(number) : settle(number, null, true));
    stage.replaceChildren(make("div", { className: "answers" }, ...buttons, showMe));
    return buttons[0];
  }
  function askHowSure(number) {
    const made = [["I am sure", true], ["I am guessing", false]].map(([textContent, sure]) => {
      const button = make("button", { type: "button", textContent });
      button.addEventListener("click", () => settle(number, sure, true));
      return button;
    });
    choose = key => (key === 0 || key === 1 ? made[key].click() : null);
    stage.replaceChildren(make("div", { className: "sure" }, html("span", "", `<strong>${given.options[number].text}</strong>. How sure are you?`), ...made));
    made[0].focus({ preventScroll: true });
  }
  function settle(number, sure, now) {
    choose = null;
    host.classList.add("open");
    sayAnswered(given.key);
    const parts = answered(given, [number, sure], () => ask().focus({ preventScroll: true }));
    if (now) parts.forEach(part => part.classList.add("later"));
    stage.replaceChildren(...parts);
    if (!now) return;
    tell(said, spoken(given, [number]));
    panel.focus({ preventScroll: true });
    if (!model) return;
    try {
      model.set("chosen", [number, sure]);
      model.save_changes();
    } catch { /* the kernel is gone: the answer is shown all the same */ }
  }
  function press(event) {
    const number = Number(event.key) - 1;
    if (!choose || event.ctrlKey || event.metaKey || event.altKey || !(number in given.options)) return;
    event.preventDefault();
    choose(number);
  }
  const goOn = event => {
    if (event.key === "Enter" && event.shiftKey && event.composedPath().includes(host)) cellAfter(host)?.focus();
  };
  panel.tabIndex = -1;
  panel.addEventListener("keydown", press);
  window.addEventListener("keydown", goOn, true); // before the notebook takes it
  const before = model ? model.get("chosen") : [];
  if (before.length) settle(before[0], before[1], false);
  else focusFresh(ask(), model);
  const stopWaiting = waitFor(given.waitsFor, host, stage);
  return () => {
    stopWaiting();
    panel.removeEventListener("keydown", press);
    window.removeEventListener("keydown", goOn, true);
  };
}

/** Those that were answered in this page; a question of a series that waits for one is told. */
function sayAnswered(key) {
  (window.sdpaPanels.answered ??= new Set()).add(key);
  window.dispatchEvent(new CustomEvent("sdpa-answered", { detail: key }));
}

/** Hide a question until the one before it is answered. */
function waitFor(key, host, stage) {
  if (!key || window.sdpaPanels.answered?.has(key)) return () => {};
  host.style.display = "none";
  const show = event => {
    if (event.detail !== key) return;
    host.style.display = "";
    stage.querySelector("button")?.focus({ preventScroll: true });
    window.removeEventListener("sdpa-answered", show);
  };
  window.addEventListener("sdpa-answered", show);
  return () => window.removeEventListener("sdpa-answered", show);
}

/** The cell below: Shift+Enter goes on from a question, as it would had the question not taken the focus. */
function cellAfter(host) {
  const next = host.closest(".jp-Cell")?.nextElementSibling;
  return next?.matches(".jp-Cell") ? next : null;
}

/** The keys 1 to 4 answer at once where somebody has just run this one cell and is not writing in another. */
function focusFresh(button, model) {
  const desk = window.sdpaPanels, now = Date.now(), young = model && now / 1000 - model.get("given").born < 5;
  const alone = !desk.asked || now - desk.asked > 700, there = document.activeElement;
  desk.asked = now;
  const inNotebook = there && there.closest(".jp-Notebook") && !there.closest(".cm-editor, input, textarea");
  const cell = button.getRootNode().host.closest(".jp-Cell"); // "Run all" goes on to the last cell, a single run to the next
  const justRun = [cell, cell?.nextElementSibling].some(near => near?.matches(".jp-mod-active"));
  if (young && alone && inNotebook && justRun) setTimeout(() => { if (desk.asked === now) button.focus({ preventScroll: true }); }, 120);
}

bodies.predict = { style: PREDICT_STYLE, fill: fillPredict };
