// The body of a lesson's panel: controls, and a picture that Python draws for every position of them.

/* global bodies, kinds, make, tell, narrator */

const DRAWN_STYLE = `
:host { max-width: 960px; }
.drawn { display: grid; grid-template-columns: 256px minmax(0, 1fr); gap: 4px 26px; align-items: start; }
.title { grid-column: 1 / -1; margin: 0 0 6px; font-weight: 600; font-size: 16px; }
.controls { display: grid; gap: 9px; } .one { display: grid; grid-template-columns: 1fr auto; gap: 0 8px; align-items: center; }
.one output { grid-area: 1 / 2; text-align: right; font-weight: 600; white-space: nowrap; }
input[type=range] { grid-area: 2 / 1 / 3 / -1; width: 100%; }
.buttons { display: flex; flex-wrap: wrap; align-items: start; gap: 8px; margin-top: 3px; }
.picture { overflow-x: auto; } .picture svg { display: block; width: 100%; min-width: 460px; max-width: 660px; height: auto; }
.say { grid-column: 1 / -1; min-height: 2.9em; margin: 8px 0 0; }
.notice { grid-column: 1 / -1; margin: 6px 0 0; } .notice:empty { display: none; }
@container (max-width: 850px) { .drawn { grid-template-columns: 1fr; } .picture { margin-top: 8px; }
  .controls { grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 9px 22px; } .buttons { grid-column: 1 / -1; } }
@container (max-width: 720px) { .drawn { padding: 10px; } }`;

const BUSY = "Python has not answered yet: it is busy, or its kernel is gone. If this stays, run the cell again.";
const GONE = "The kernel of this picture is gone: run the cell again.";
const PATIENCE = 1500; // milliseconds until BUSY shows
const REACH = 30, BATCH = 16, MOST_FRAMES = 500; // pictures to have ready around the control in use

/** The positions that the control in use could lead to, the nearest first, a batch of those not `known` yet. */
function positionsAhead({ name, kind, shown }, at, known) {
  const here = at[name], last = kind === "button" ? here + 1 : shown.length - 1;
  const nearest = [...Array(REACH).keys()].flatMap(step => [here + step, here - step]);
  return nearest.concat(kind === "slider" ? [0, last] : [])
    .filter(i => i >= 0 && i <= last)
    .map(i => ({ ...at, [name]: i }))
    .filter(there => !known(there))
    .slice(0, BATCH);
}

/** Controls and picture, kept in step with the model. */
function fillDrawn(panel, given, model) {
  const picture = make("div", { className: "picture" }), say = make("p", { className: "say" }), notice = make("p", { className: "notice" });
  const { element: spoken, speak } = narrator();
  notice.setAttribute("role", "status");
  // Pictures that Python has drawn, by the positions of all controls: those are shown at once.
  const frames = new Map(), keyOf = at => given.controls.map(({ name }) => at[name]).join();
  let timer = null, closed = false, displayed = -1, active = null, fetching = false;

  function keep(frame) {
    frames.set(keyOf(frame.at), frame);
    if (frames.size > MOST_FRAMES) frames.delete(frames.keys().next().value);
  }
  function show({ svg, text }, number) {
    displayed = number;
    picture.innerHTML = svg;
    tell(say, text);
    speak(text);
    if (number < model.get("asked").number) return; // a newer one is on its way
    clearTimeout(timer);
    timer = null;
    if (!closed) tell(notice, "");
  }
  function ask(change) {
    const before = model.get("asked"), at = { ...before.at, ...change }, number = before.number + 1, known = frames.get(keyOf(at));
    model.set("asked", { number, at, known: Boolean(known) });
    if (known) show(known, number);
    if (closed || !sent(() => model.save_changes())) return;
    if (!known) timer ??= setTimeout(tell, PATIENCE, notice, BUSY);
    lookAhead();
  }
  function lookAhead() {
    if (!active || fetching || closed) return;
    const wanted = positionsAhead(active, model.get("asked").at, there => frames.has(keyOf(there)));
    if (wanted.length) fetching = sent(() => model.send({ ahead: wanted }));
  }
  function takeFrames(message) {
    if (!message.frames) return;
    fetching = false;
    message.frames.forEach(keep);
    lookAhead();
  }
  const controls = given.controls.map(one => {
    const made = kinds[one.kind](one, index => ask({ [one.name]: index }));
    for (const event of ["focusin", "pointerenter"]) made.element.addEventListener(event, () => { active = one; lookAhead(); });
    return [one, made];
  });
  const reset = make("button", { type: "button", textContent: "Start again" });
  reset.addEventListener("click", () => ask(given.start));
  const elements = areButtons => controls.filter(([one]) => (one.kind === "button") === areButtons).map(([, { element }]) => element);
  panel.append(make("p", { className: "title", textContent: given.title }),
    make("div", { className: "controls" }, ...elements(false), make("div", { className: "buttons" }, ...elements(true), reset)),
    picture, say, spoken, notice);

  const showControls = () => controls.forEach(([one, made]) => made.show(model.get("asked").at[one.name]));
  function showAnswer() {
    const answer = model.get("answer");
    keep(answer);
    if (answer.number >= displayed) show(answer, answer.number);
  }
  function sent(send) {
    try { send(); } catch { gone(); } // JupyterLab throws when the kernel is no more
    return !closed;
  }
  function gone() {
    closed = true;
    clearTimeout(timer);
    tell(notice, GONE);
  }
  const heard = { "change:asked": showControls, "change:answer": showAnswer, "msg:custom": takeFrames, destroy: gone, "comm:close": gone };
  for (const [event, act] of Object.entries(heard)) model.on(event, act);
  showControls();
  showAnswer();
  if (model.get("answer").number < model.get("asked").number) ask({}); // shown from a store that this page lacks
  return () => {
    clearTimeout(timer);
    for (const [event, act] of Object.entries(heard)) model.off(event, act);
  };
}

bodies.drawn = { style: DRAWN_STYLE, fill: fillDrawn };
