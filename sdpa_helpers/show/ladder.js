// The body of a ladder: lines to be put in order, the same with blanks to fill, then the way to the reader's own cell.
// What is right is found out in the kernel; the page knows where the reader is, and moves lines.

/* global bodies, make, tell */

const LADDER_STYLE = `
:host { width: 100%; max-width: 67rem; }
.ladder { padding: 14px 18px 16px; font-size: 14px; }
.ladder .top { display: flex; flex-wrap: wrap; align-items: flex-end; justify-content: space-between; gap: 4px 24px; border-bottom: 1px solid var(--line); }
.ladder .name { margin: 0 0 10px; font-size: 16px; font-weight: 600; } .ladder .name small { display: block; font-size: 12.5px; font-weight: 400; color: var(--soft); }
.ladder.code .name b { font-family: var(--mono); font-size: 15px; }
.ladder { --mono: var(--jp-code-font-family, ui-monospace, "SF Mono", Menlo, Consolas, monospace); }
.tabs { display: flex; align-items: flex-end; gap: 4px; margin-bottom: -1px; }
.tabs button { min-height: 36px; padding: 5px 14px 6px; border: 1px solid transparent; border-bottom: 0; border-radius: 7px 7px 0 0; background: none; color: var(--soft); display: flex; gap: 8px; align-items: center; }
.tabs button:nth-child(2) { min-height: 43px; } .tabs button:nth-child(3) { min-height: 50px; }
@container (max-width: 460px) { .tabs { width: 100%; } .tabs button { flex: 1 1 auto; justify-content: center; gap: 6px; padding: 4px 5px; } .ladder { padding-left: 12px; padding-right: 12px; } }
.tabs button:hover { background: var(--wash); } .tabs [aria-selected=true] { color: var(--ink); background: var(--paper); border-color: var(--line); box-shadow: inset 0 3px 0 var(--mark); font-weight: 600; }
.tabs i { font-style: normal; display: inline-grid; place-items: center; width: 22px; height: 22px; border: 1.5px solid var(--edge); border-radius: 50%; font-size: 12px; font-weight: 600; }
.tabs .passed i { border-color: var(--value); background: color-mix(in srgb, var(--value) 16%, transparent); }
.ladder .how { margin: 12px 0 10px; max-width: 46rem; } .ladder kbd { font: 12px var(--mono); padding: 0 5px; border: 1px solid var(--line); border-radius: 4px; background: var(--wash); white-space: nowrap; }
.ladder .keys { color: var(--soft); font-size: 12.5px; margin: 8px 0 0; }
.bench { display: grid; gap: 14px; grid-template-columns: minmax(0, 1fr); touch-action: pan-y; }
@container (min-width: 720px) { .bench { grid-template-columns: minmax(0, 6fr) minmax(0, 5fr); align-items: stretch; } }
.bench section { display: flex; flex-direction: column; min-width: 0; border: 1px solid var(--line); border-radius: 8px; } .bench .tray { border-style: dashed; background: var(--wash); }
.bench h4 { margin: 0; padding: 7px 12px 3px; font-size: 12px; font-weight: 700; letter-spacing: .05em; text-transform: uppercase; color: var(--soft); display: flex; justify-content: space-between; }
.lines { position: relative; flex: 1; margin: 0; padding: 3px 6px 8px; min-height: 84px; list-style: none; counter-reset: line 1; }
.program .lines:empty::before { content: "Drag the first line here, or click it."; display: block; margin: 6px 6px 0 34px; padding: 12px; border: 1.5px dashed var(--line); border-radius: 6px; color: var(--soft); }
.proof .lines { counter-reset: line 0; }
.line, .given { display: grid; grid-template-columns: 30px minmax(0, 1fr); align-items: start; min-height: 32px; margin: 0; }
.given { padding: 3px 7px 0; min-height: 28px; } .given .text.text { margin-left: 0; padding: 2px 8px; text-indent: 0; }
.num { align-self: stretch; display: grid; place-items: start end; padding: 6px 8px 0 0; color: var(--soft); font: 12px/20px var(--mono); user-select: none; }
.given .num { padding-top: 3px; }
.text { padding: 5px 8px; overflow-wrap: anywhere; white-space: pre-wrap; margin-left: calc(2ch * var(--depth, 0)); padding-left: 3.2ch; text-indent: -2ch; }
.tray .block .text { margin-left: calc(2ch * (var(--depth) - 1)); }
.ladder.code .text { font: 13px/20px var(--mono); } .ladder.proof .text { white-space: normal; text-indent: 0; padding-left: 10px; } .why { display: block; font-size: 12.5px; color: var(--soft); }
.block { border: 1px solid transparent; border-radius: 6px; cursor: grab; outline-offset: 0; } .block .text { border: 1px solid var(--line); border-radius: 6px; background: var(--paper); }
.program .block { margin: 2px 0; } .tray .block { margin: 4px 0; } .program .block::before { content: none; }
.program .block { counter-increment: line; } .program .block .num::before { content: counter(line); } .tray .block .num { place-items: start center; padding: 5px 0 0; } .tray .block .num::before { content: "⠿"; font-size: 14px; color: var(--edge); }
.block .num { touch-action: none; } .block:hover .text { border-color: var(--edge); }
.block:focus-visible { outline: none; } .block:focus-visible .text { outline: 3px solid color-mix(in srgb, var(--mark) 70%, var(--ink)); outline-offset: 1px; }
.block[aria-selected=true] .text, .block.held .text { background: var(--lit); border-color: var(--mark); }
.block.held { position: relative; z-index: 3; cursor: grabbing; } .block.held .text { box-shadow: 0 5px 16px color-mix(in srgb, #000 26%, transparent); }
.bench.moving { cursor: grabbing; user-select: none; }
.block.marked .text { border: 2px dashed var(--out); padding-top: 4px; padding-bottom: 4px; } .program .block.marked .num { padding-right: 5px; color: var(--ink); font-weight: 600; } .program .block.marked .num::before { content: "✗ " counter(line); white-space: nowrap; }
.bar { display: flex; flex-wrap: wrap; gap: 8px; margin: 12px 0 0; align-items: center; } .bar .push { margin-left: auto; display: flex; gap: 8px; }
.bar button { min-height: 34px; } button.main { border: 2px solid var(--mark); font-weight: 600; background: var(--lit); padding: 3px 18px; } button[aria-disabled=true] { opacity: .55; cursor: default; }
button.quiet { border-color: transparent; background: none; color: var(--soft); text-decoration: underline; text-underline-offset: 3px; }
.filled { border: 1px solid var(--line); border-radius: 8px; padding: 6px 4px; } .filled .line { min-height: 0; } .filled .line .text { border: 0; padding-top: 2px; padding-bottom: 2px; } .filled .num { padding-top: 2px; } .filled .line:has(input) :is(.num, .text) { padding-top: 5px; padding-bottom: 5px; line-height: 26px; }
.filled input { font: inherit; text-indent: 0; width: min(100%, 24ch); field-sizing: content; min-width: 12ch; max-width: 100%; min-height: 26px; padding: 1px 8px; border: 1.5px solid var(--edge); border-bottom: 3px solid var(--mark); border-radius: 5px; background: var(--paper); }
.verdict { margin-top: 12px; } .verdict .sdpa-card { margin: 0; max-width: 46rem; animation: rise .3s ease-out; } @keyframes rise { from { opacity: 0; transform: translateY(5px); } }
.verdict pre { font: 12.5px/1.45 var(--mono); } .verdict code { font: .94em var(--mono); }
@media (prefers-reduced-motion: reduce) { .verdict .sdpa-card { animation: none; } }`;

const STEPS = ["In order", "Two blanks", "Empty"];
const FAR = 5; // pixels, from which on a press is a drag
const MOTION = 300; // milliseconds

const inHtml = (tag, className, innerHTML) => make(tag, { className, innerHTML });

/** A button that acts. */
function pressed(textContent, className, act) {
  const button = make("button", { type: "button", textContent, className });
  button.addEventListener("click", act);
  return button;
}

/** Change a layout with `change`, and let these elements glide from where they were. */
function gliding(elements, change) {
  const before = new Map(elements.map(element => [element, element.getBoundingClientRect()]));
  change();
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const element of elements) {
    const was = before.get(element), is = element.getBoundingClientRect(), dx = was.left - is.left, dy = was.top - is.top;
    if (dx || dy) element.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], { duration: MOTION, easing: "ease-out" });
  }
}

/** A line: its number or its grip, and its text. */
function lineOf({ html, depth, why }, tag = "li", className = "line") {
  const text = inHtml("span", "text", why ? `${html}<span class="why">${why}</span>` : html);
  text.style.setProperty("--depth", depth + 1);
  return make(tag, { className }, make("span", { className: "num", ariaHidden: "true" }), text);
}

// ---- the first rung ----------------------------------------------------------------------------------------

/** Two lists with the lines of a ladder: `changed(order, said)` after every move. */
function bench(given, order, changed) {
  const blocks = given.offered.map((line, id) => {
    const block = lineOf(line, "li", "line block");
    block.dataset.id = id;
    block.setAttribute("role", "option");
    block.setAttribute("aria-selected", "false");
    block.tabIndex = -1;
    return block;
  });
  const lists = ["Your lines", "Lines to choose from"].map(label => {
    const list = make("ul", { className: "lines" });
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", label);
    return list;
  });
  const [program, tray] = lists, count = make("span");
  const head = lineOf({ html: given.head, depth: 0 }, "div", "given");
  head.querySelector(".num").textContent = given.kind === "code" ? "1" : "";
  const element = make("div", { className: "bench" },
    make("section", { className: "program" }, make("h4", {}, given.kind === "code" ? "Your function" : "Your proof", " "), head, program),
    make("section", { className: "tray" }, make("h4", {}, "Lines to choose from", count), tray));
  const first = given.kind === "code" ? 2 : 1; // the number of the first line that moves
  let taken = null;

  const ids = () => [...program.children].map(block => Number(block.dataset.id));
  const textOf = block => block.querySelector(".text").textContent;
  const reachable = () => { // one block of each list can be reached with the Tab key
    for (const list of lists) {
      const some = [...list.children], one = some.find(block => block.tabIndex === 0) ?? some[0];
      for (const block of some) block.tabIndex = block === one ? 0 : -1;
    }
    count.textContent = tray.children.length;
  };
  const stand = block => { // the buttons and the keys are about this one now; the page stays where it is
    for (const other of block.parentElement.children) other.tabIndex = other === block ? 0 : -1;
    block.focus({ preventScroll: true });
  };
  const focus = block => {
    if (!block) return;
    stand(block);
    block.scrollIntoView({ block: "nearest" });
  };
  const place = (block, list, before) => gliding(blocks.filter(b => b.isConnected && !b.classList.contains("held")), () => list.insertBefore(block, before));
  const settled = block => {
    block.classList.remove("marked");
    reachable();
    const at = [...program.children].indexOf(block);
    changed(ids(), at < 0 ? `Taken out: ${textOf(block)}` : `Line ${at + first}: ${textOf(block)}`);
  };
  const moveTo = (block, list, before = null) => {
    place(block, list, before);
    settled(block);
  };
  const take = block => {
    taken?.setAttribute("aria-selected", "false");
    taken = block;
    taken?.setAttribute("aria-selected", "true");
  };
  /** Up or down by one, within the program. */
  const shift = (block, by) => {
    const some = [...program.children], to = some.indexOf(block) + by;
    if (block.parentElement !== program || to < 0 || to >= some.length) return;
    moveTo(block, program, by < 0 ? some[to] : some[to].nextElementSibling);
    focus(block);
  };
  const across = block => {
    const next = block.nextElementSibling ?? block.previousElementSibling, wasIn = block.parentElement;
    take(null);
    moveTo(block, wasIn === tray ? program : tray);
    focus(wasIn === tray ? next ?? block : next ?? block);
  };
  const press = event => {
    const block = event.target.closest(".block"), { key } = event;
    if (!block || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const list = block.parentElement, step = { ArrowUp: -1, ArrowDown: 1 }[key];
    const actions = {
      " ": () => {
        if (taken === block) return take(null);
        if (list === tray) moveTo(block, program);
        take(block);
        focus(block);
      },
      Enter: () => across(block), Delete: () => list === program && across(block), Backspace: () => list === program && across(block),
      ArrowLeft: () => focus([...program.children].find(b => b.tabIndex === 0)),
      ArrowRight: () => (taken === block ? across(block) : focus([...tray.children].find(b => b.tabIndex === 0))),
    };
    if (step) actions[key] = () => (taken === block ? shift(block, step) : focus(step < 0 ? block.previousElementSibling : block.nextElementSibling));
    if (!(key in actions)) return;
    event.preventDefault();
    actions[key]();
  };
  element.addEventListener("keydown", press);
  element.addEventListener("focusout", () => setTimeout(() => { // a line that is moved loses it for a moment
    if (taken && !element.contains(element.getRootNode().activeElement)) take(null);
  }));
  dragging(element, lists, place, {
    drop: block => { settled(block); stand(block); },
    tap: block => {
      if (block.parentElement === tray) moveTo(block, program);
      stand(block);
    },
  });

  for (const id of order) program.append(blocks[id]);
  for (const block of blocks) if (!block.isConnected && block.parentElement !== program) tray.append(block);
  reachable();
  const mark = some => blocks.forEach((block, id) => block.classList.toggle("marked", some.includes(id)));
  const empty = () => {
    gliding(blocks, () => tray.append(...blocks));
    mark([]);
    reachable();
    changed([], "All lines are taken out.");
  };
  const current = () => blocks.find(b => b === element.getRootNode().activeElement) ?? program.querySelector("[tabindex='0']");
  return { element, mark, empty, shift: by => current() && shift(current(), by), out: () => current()?.parentElement === program && across(current()) };
}

/** Drag blocks by mouse, and by finger at their grip, from list to list. A press without a drag is a `tap`. */
function dragging(element, lists, place, { drop, tap }) {
  let held = null; // {block, x, y: where it was pressed, dx, dy: from the block's corner, moved}
  const draw = ({ clientX, clientY }) => {
    held.block.style.transform = "";
    const { left, top } = held.block.getBoundingClientRect();
    held.block.style.transform = `translate(${clientX - held.dx - left}px, ${clientY - held.dy - top}px)`;
  };
  const under = ({ clientX, clientY }) => {
    const [program, tray] = lists.map(list => list.parentElement.getBoundingClientRect());
    const isBeside = tray.left > program.right - 1;
    return lists[(isBeside ? clientX > (program.right + tray.left) / 2 : clientY > (program.bottom + tray.top) / 2) ? 1 : 0];
  };
  element.addEventListener("pointerdown", event => {
    const block = event.target.closest(".block");
    if (!block || event.button !== 0 || held) return;
    const { left, top } = block.getBoundingClientRect(), { clientX: x, clientY: y } = event;
    held = { block, x, y, dx: x - left, dy: y - top, moved: false, may: event.pointerType === "mouse" || Boolean(event.target.closest(".num")) };
  });
  element.addEventListener("pointermove", event => {
    if (held && !event.buttons) held = null; // it was let go elsewhere
    if (!held?.may) return;
    if (!held.moved) {
      if (Math.hypot(event.clientX - held.x, event.clientY - held.y) < FAR) return;
      held.moved = true;
      element.setPointerCapture(event.pointerId);
      held.block.classList.add("held");
      element.classList.add("moving");
    }
    const list = under(event), y = event.clientY - list.getBoundingClientRect().top;
    const others = [...list.children].filter(block => block !== held.block);
    const before = others.find(block => y < block.offsetTop + block.offsetHeight / 2) ?? null;
    if (held.block.parentElement !== list || held.block.nextElementSibling !== before) place(held.block, list, before);
    draw(event);
  });
  const end = event => {
    // A finger's press is captured by the grip first; it loses that to this element, and nothing has ended.
    if (!held || (event.type === "lostpointercapture" && event.target !== element)) return;
    const { block, moved } = held;
    held = null;
    element.classList.remove("moving");
    if (moved) {
      gliding([block], () => { block.classList.remove("held"); block.style.transform = ""; });
      drop(block);
    } else if (event.type === "pointerup") tap(block);
  };
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) element.addEventListener(name, end);
}

// ---- the panel ---------------------------------------------------------------------------------------------

/** The cell of this notebook that begins with a line, or null. */
function cellWith(host, line) {
  const cells = [...(host.closest(".jp-Notebook")?.querySelectorAll(".jp-CodeCell") ?? [])];
  return cells.find(cell => cell.querySelector(".cm-line")?.textContent.trim() === line) ?? null;
}

function fillLadder(panel, given, model) {
  const { host } = panel.getRootNode(), heard = make("div", { className: "spoken" }), verdict = make("div", { className: "verdict" });
  const state = { rung: 1, order: [], typed: [], passed: [], ...model?.get("place") };
  const stage = make("div", { role: "tabpanel" }), steps = make("div", { className: "tabs" });
  let asked = 0, lines = null, button = null;
  panel.classList.add(given.kind);
  panel.before(make("style", { textContent: given.colours }));
  heard.setAttribute("role", "status");
  stage.setAttribute("role", "tabpanel");
  steps.setAttribute("role", "tablist");
  steps.setAttribute("aria-label", "Rungs of the ladder");
  const name = inHtml("p", "name", "<b></b><small>A ladder. Optional practice, no points.</small>");
  name.firstChild.textContent = given.title;
  panel.append(make("div", { className: "top" }, name, steps), stage, verdict, heard);

  const send = (trait, value) => {
    try {
      model.set(trait, value);
      model.save_changes();
    } catch { /* the kernel is gone: lines move all the same */ }
  };
  const keep = () => send("place", { ...state });
  const check = () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    button.textContent = "Checking …";
    asked = Date.now();
    send("asked", { number: asked, place: { ...state } });
  };
  const checkButton = () => (button = pressed("Check", "main", check));

  function inOrder() {
    const moved = (order, said) => {
      state.order = order;
      tell(heard, said);
      keep();
    };
    lines = bench(given, state.order, moved);
    const bar = make("div", { className: "bar" }, checkButton(), pressed("Start over", "quiet", () => lines.empty()),
      make("span", { className: "push" }, ...[["↑", "Move the line up", () => lines.shift(-1)], ["↓", "Move the line down", () => lines.shift(1)], ["Take out", "", () => lines.out()]].map(([text, label, act]) => {
        const one = pressed(text, "", act);
        one.addEventListener("pointerdown", event => event.preventDefault()); // the line keeps the focus
        if (label) one.ariaLabel = label;
        return one;
      })));
    const keys = inHtml("p", "keys", "By keys: arrows go from line to line, <kbd>Enter</kbd> puts a line in or out, <kbd>Space</kbd> takes it, then arrows move it.");
    return [inHtml("p", "how", given.task), lines.element, bar, keys];
  }

  function blanks() {
    const list = make("ol", { className: "lines filled" });
    list.append(...[{ html: given.head, depth: -1 }, ...given.withBlanks].map((line, n) => {
      const row = lineOf(line);
      row.querySelector(".num").textContent = given.kind === "code" || n ? n + (given.kind === "code" ? 1 : 0) : "";
      for (const place of row.querySelectorAll("[data-blank]")) place.replaceWith(field(Number(place.dataset.blank), n + 1));
      return row;
    }));
    return [inHtml("p", "how", "The lines are in order. Fill in the two blanks."), list, make("div", { className: "bar" }, checkButton())];
  }
  function field(number, line) {
    const input = make("input", { type: "text", value: state.typed[number] ?? "", maxLength: given.longest, spellcheck: false, autocomplete: "off", ariaLabel: `Blank ${number + 1}, in line ${line}` });
    input.setAttribute("autocapitalize", "off");
    input.addEventListener("input", () => { state.typed = [0, 1].map(n => (n === number ? input.value : state.typed[n] ?? "")); });
    input.addEventListener("change", keep);
    input.addEventListener("keydown", event => { if (event.key === "Enter" && !event.shiftKey) check(); });
    return input;
  }

  function empty() {
    const cell = cellWith(host, given.answerLine), go = pressed("Go to the cell", "main", () => {
      cell.scrollIntoView({ block: "center" });
      cell.querySelector(".cm-content")?.focus({ preventScroll: true });
    });
    return [inHtml("p", "how", given.last), ...(cell ? [make("div", { className: "bar" }, go)] : [])];
  }

  function show(rung, { focus = false } = {}) {
    state.rung = rung;
    lines = button = null;
    verdict.replaceChildren();
    steps.replaceChildren(...STEPS.map((text, n) => {
      const isPassed = state.passed.includes(n + 1), tab = make("button", { type: "button", className: isPassed ? "passed" : "" }, make("i", { textContent: isPassed ? "✓" : n + 1 }), text);
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-selected", String(n + 1 === rung));
      if (isPassed) tab.ariaLabel = `${text}, passed`;
      tab.tabIndex = n + 1 === rung ? 0 : -1;
      tab.addEventListener("click", () => go(n + 1));
      return tab;
    }));
    stage.ariaLabel = STEPS[rung - 1];
    stage.replaceChildren(...[inOrder, blanks, empty][rung - 1]());
    if (focus) steps.children[rung - 1].focus({ preventScroll: true });
  }
  const go = rung => {
    show(rung, { focus: true });
    keep();
  };
  steps.addEventListener("keydown", event => {
    const to = state.rung + ({ ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0);
    if (to !== state.rung && to in [null, ...STEPS]) go(to);
  });

  const answered = () => {
    const answer = model.get("answer");
    if (!button || answer.number !== asked) return;
    button.removeAttribute("aria-disabled");
    button.textContent = "Check";
    lines?.mark(answer.marked);
    verdict.innerHTML = answer.html;
    tell(heard, answer.said);
    if (!answer.passed) return;
    if (!state.passed.includes(state.rung)) state.passed = [...state.passed, state.rung].sort();
    const rung = state.rung + 1, tab = steps.children[state.rung - 1];
    tab.className = "passed";
    tab.firstChild.textContent = "✓";
    tab.ariaLabel = `${STEPS[state.rung - 1]}, passed`;
    const on = pressed(`Climb on: ${STEPS[rung - 1].toLowerCase()} →`, "main", () => go(rung));
    verdict.append(make("div", { className: "bar" }, on));
    on.focus({ preventScroll: true });
  };
  model?.on("change:answer", answered);
  show(state.rung);
  return () => model?.off("change:answer", answered);
}

bodies.ladder = { style: LADDER_STYLE, fill: fillLadder };
