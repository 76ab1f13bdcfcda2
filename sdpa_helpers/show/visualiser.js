// The body of the walk-through: attention, one query at a time. The page computes and draws it by itself, so it moves
// without a kernel; a model, where there is one, shares its settings with Python.

/* global bodies, slider, choice, make, tell, narrator, attention, misfit, mayAttend, parseMatrix, vectorsOf, asNumber, matched, tidied, moved, largest, extent */
/* global write, safe, plainly, sentenceFor, answerOf, nameOfScale, marksPicture, flowOf, queryChips, matrixTable, divisorOf, MASKS, MOST_TOKENS, SCALES, STEPS, SYMBOLS, WALK_PAGE, WALK_STYLE */

/** The controls, by the setting that each one moves; `heads` are those that can be shown. */
function walkControls(set, heads) {
  const move = name => value => set({ [name]: value });
  return {
    head: choice({ name: "head", label: "vectors", options: [["", LETTERS], ...heads.map(({ name }) => [name, `head: ${name}`])] }, move("head")),
    step: slider({
      name: "step", label: "step", low: 1, high: STEPS.length,
      write: step => `${step} ${STEPS[step - 1]}`, speak: step => `${step}: ${STEPS[step - 1]}`,
    }, move("step")),
    dk: slider({ name: "dk", label: "dₖ", low: 1, high: 64 }, move("dk")),
    temperature: slider({ name: "temperature", label: "temperature", low: 0.1, high: 5, step: 0.1, write: T => write(T, 1) }, move("temperature")),
    scale: choice({ name: "scale", label: "scale", options: Object.entries(SCALES) }, move("scale")),
    mask: choice({ name: "mask", label: "mask", options: MASKS.map(mask => [mask, mask]) }, move("mask")),
    size: slider({ name: "size", label: "size", high: MOST_TOKENS }, move("size")),
  };
}

/** Those of the settings that were given, but for the head, which may not exist. */
const settingsOf = given => Object.fromEntries(SHARED.filter(which => which in given && which !== "head").map(which => [which, given[which]]));

const LETTERS = "made from letters", TYPED = "your own";

/** Where vectors come from, with the settings that belong to them: a trained head, or a sentence. */
function source(given, name) {
  const head = (given.heads || []).find(other => other.name === name);
  if (head) return { ...matched({}, { ...head, queries: head.tokens }), ...trainedSettings(head) };
  return { ...matched({}, vectorsOf(given.sentence)), head: "", says: "", columns: [], typed: false, dk: 4, scale: "1/√d", mask: "none", query: 0 };
}

const TYPED_SOURCE = { head: "", says: "", columns: [], typed: true };

const trainedSettings = ({ name, says, columns, Q, scale, mask, query }) => ({ head: name, says, columns, typed: false, dk: Q[0].length, scale, mask, query, temperature: 1 });

/** The first state: own vectors, those of a head or those of a sentence, and the settings. */
function beginning(given) {
  if (!given.Q) return { step: 1, temperature: 1, size: 2, ...source(given, given.head), ...settingsOf(given) };
  const own = { ...given };
  for (const M of ["Q", "K", "V"]) own[M] = own[M].map(row => row.map(asNumber));
  const { query = 0, step = 1, dk, temperature = 1, scale = "1/√d", mask = "none", size = 2 } = given;
  return { ...matched({}, own), query, step, temperature, scale, mask, size, dk: dk || own.Q[0].length, head: "", says: "", columns: [] };
}

// ---- what one picture needs ----------------------------------------------------------------------------------

/** The matrix of all queries and keys as it is after the chosen step. */
function matrixMoment(s, r) {
  const name = { 1: "scores QKᵀ", 2: `scores ÷ ${nameOfScale(s)}`, 3: "scores + mask" }[s.step] || "weights";
  const values = { 1: r.scores, 2: r.scaled, 3: r.masked }[s.step] || r.weights, isWeights = s.step >= 4;
  const part = ["Q K", "scale", "mask", "softmax", "softmax"][s.step - 1];
  return { name, values, isWeights, part, most: isWeights ? 1 : largest([...r.scores, ...r.scaled].flat()) };
}

function fillCell(cell, value, { isWeights, most }, hidden) {
  const [bar, number] = cell.children, { left, width } = extent(value, most, true);
  number.textContent = write(value);
  cell.className = hidden ? "hidden" : "";
  const share = Number.isFinite(value) ? value : 0;
  const look = isWeights ? { left: 0, width: 100, height: "100%", opacity: 0.62 * share, tint: "weight" } : { left, width, height: "5px", opacity: 0.5, tint: "ink" };
  Object.assign(bar.style, { left: `${look.left.toFixed(1)}%`, width: `${look.width.toFixed(1)}%`, height: look.height, opacity: look.opacity.toFixed(3) });
  bar.style.setProperty("--tint", `var(--${look.tint})`);
}

/** A sentence whose numbers move, each underlined in the colour of its role. */
function fillSentence(place, sentence) {
  place.replaceChildren(...sentence.map(part => {
    if (!Array.isArray(part)) return part;
    const [textContent, role] = part, number = make("span", { className: role ? "moving role" : "moving", textContent });
    if (role) number.style.setProperty("--role", `var(--${role})`);
    return number;
  }));
}

/** Light a symbol of the formula and its pixels, both ways: what the pointer is on, or the focus. Returns what to call
 *  when the picture has changed. */
function linkSymbols(panel) {
  const buttons = [...panel.querySelectorAll(".formula [data-part]")], stage = panel.querySelector(".stage");
  const parts = element => (element?.closest?.("[data-part]")?.dataset.part || "").split(" ").filter(Boolean);
  let focused = null, at = null;
  const light = target => {
    const symbols = parts(target), [symbol] = target?.closest?.(".formula") ? symbols : [];
    at = target?.closest?.("[data-part]"); // what is within a symbol is written anew by every draw
    for (const button of buttons) button.classList.toggle("lit", symbols.includes(button.dataset.part));
    if (symbol && stage.querySelector(`[data-part~=${symbol}]`)) stage.dataset.lit = symbol; // the style dims all else
    else delete stage.dataset.lit;
  };
  panel.addEventListener("pointerover", ({ target, pointerType }) => { if (pointerType === "mouse") light(parts(target).length ? target : focused); });
  panel.addEventListener("pointerleave", () => light(focused));
  panel.addEventListener("focusin", ({ target }) => { focused = target.matches(".formula :focus-visible") ? target : null; light(focused); });
  panel.addEventListener("focusout", () => { focused = null; light(null); });
  return () => light(at?.isConnected ? at : focused);
}

// ---- keeping all in step -----------------------------------------------------------------------------------

const SHARED = ["query", "step", "dk", "temperature", "scale", "mask", "size", "head"]; // with Python
const ACTS_AT = { temperature: 2, scale: 2, mask: 3, size: 3 }; // who moves one of these wants to see what it does
const PACE = 2400; // milliseconds between two steps when it plays

function fillWalk(panel, given, model) {
  panel.innerHTML = WALK_PAGE;
  const $ = what => panel.querySelector(what), all = what => [...panel.querySelectorAll(what)];
  const s = {}, areas = all("textarea"), notice = $(".notice"), host = panel.getRootNode().host;
  const first = model ? { ...given, ...Object.fromEntries(SHARED.map(which => [which, model.get(which)])) } : given;
  const picture = marksPicture(), spoken = narrator();
  let playing = null, names = "", cells = [], width = 0;
  const controls = walkControls(change => {
    stop();
    const [which] = Object.keys(change);
    set(which in ACTS_AT && s.step < ACTS_AT[which] ? { ...change, step: ACTS_AT[which] } : change);
  }, given.heads || []);
  $(".nav").append(controls.step.element);
  $(".settings").prepend(...[...(given.heads ? ["head"] : []), "dk", "temperature", "scale", "mask", "size"].map(name => controls[name].element));
  $(".scene").append(picture.element);
  picture.element.setAttribute("aria-describedby", "said");
  $(".say").after(spoken.element);
  const relight = linkSymbols(panel);

  function begin() {
    Object.assign(s, beginning(first));
    writeVectors();
    tell(notice, "");
  }
  /** Words and vectors of a head, or of the sentence again. */
  function take(head) {
    Object.assign(s, source(given, head));
    writeVectors();
  }
  function writeVectors() {
    $("[data-own=sentence]").value = given.Q || s.head ? "" : s.tokens.join(" ");
    areas.forEach(writeArea);
  }
  function writeArea(area) {
    area.value = s[area.dataset.own].map(row => row.map(x => (Number.isFinite(x) ? x : write(x))).join(" ")).join("\n");
  }

  /** Show the state; `from` is the one before, when the reader should see how one becomes the other. */
  function draw(from = null) {
    Object.assign(s, tidied(s));
    const r = attention(s.Q, s.K, s.V, s), sentence = sentenceFor(s, r), said = `${s.step} of ${STEPS.length}, ${STEPS[s.step - 1]}. `;
    fillSentence($(".say"), [said, ...sentence]);
    spoken.speak(said + plainly(sentence));
    drawNames();
    drawMatrix(r);
    drawFlow(r, from);
    drawFormula();
    drawControls();
    tell($(".about"), s.says);
    const [asked, answer] = answerOf(s, r);
    $(".answer").innerHTML = asked ? `${safe(asked)} → <b>${safe(answer)}</b>` : "";
    relight();
  }
  function drawFlow(r, from) {
    const wide = width || 600, { height, lists } = flowOf(s, r, wide, !from || from.step === s.step);
    picture.size(wide, height, `The flow: ${STEPS[s.step - 1]}`);
    if (from) picture.go(lists);
    else picture.put(lists.at(-1));
  }
  function drawNames() {
    if (names === JSON.stringify([s.tokens, s.queries])) return;
    names = JSON.stringify([s.tokens, s.queries]);
    $(".queries").innerHTML = queryChips(s.queries);
    $(".matrix").innerHTML = matrixTable(s);
    $(".matrix").classList.toggle("many", s.tokens.length > 7);
    $(".matrix").classList.toggle("phrases", s.tokens.some(token => token.includes(" ")));
    $(".matrix").style.setProperty("--cell", `${Math.round(Math.min(Math.max(240 / s.queries.length, 26), 44))}px`);
    cells = all(".matrix tbody tr").map(row => [...row.querySelectorAll("td")]);
  }
  function drawMatrix(r) {
    const moment = matrixMoment(s, r);
    $(".matrix table").dataset.part = moment.part;
    $(".matrix caption").replaceChildren("all queries: ", make("b", { textContent: moment.name }));
    all(".queries input").forEach((radio, i) => { radio.checked = i === s.query; });
    cells.forEach((row, i) => {
      row[0].parentNode.className = i === s.query ? "on" : "";
      row.forEach((cell, j) => fillCell(cell, moment.values[i][j], moment, s.step >= 3 && !mayAttend(s.mask, s.size, i, j)));
    });
  }
  function drawFormula() {
    $(".formula [data-part=scale]").innerHTML = divisorOf(s);
    for (const button of all(".formula button")) {
      const [step] = SYMBOLS[button.dataset.part];
      if (step === s.step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
      button.classList.toggle("later", step > s.step);
    }
  }
  function drawControls() {
    controls.dk.reach(s.Q[0].length);
    controls.size.reach(s.K.length);
    for (const [name, control] of Object.entries(controls)) control.show(s[name]);
    controls.size.element.hidden = s.mask !== "padding" && s.mask !== "window";
    controls.head.first.textContent = s.typed ? TYPED : LETTERS;
    controls.size.caption.textContent = s.mask === "window" ? "sees this far" : "real tokens";
    $("[data-do=back]").setAttribute("aria-disabled", s.step === 1 && s.query === 0);
    $("[data-do=forward]").setAttribute("aria-disabled", s.step === STEPS.length && s.query === s.Q.length - 1);
  }
  function set({ head = s.head, ...change }) {
    const before = { ...s };
    if (head !== s.head && given.heads) take(head);
    Object.assign(s, change);
    const glides = ["step", "query", "mask", "scale"].some(which => which in change && change[which] !== before[which]);
    draw(glides ? before : null);
    for (const which of SHARED) model?.set(which, s[which]);
    model?.save_changes();
  }
  const again = () => draw({ step: null });
  const goTo = step => (step === s.step ? again() : set({ step }));
  function stop() {
    clearInterval(playing);
    playing = null;
    $("[data-do=play]").textContent = "Play";
  }
  function play() {
    if (playing) return stop();
    const atTheEnd = () => s.query === s.Q.length - 1 && s.step === STEPS.length;
    $("[data-do=play]").textContent = "Pause";
    if (s.step === 1) again(); // the reader has seen where it ends, not how it comes to be
    else set(atTheEnd() ? { query: 0, step: 1 } : moved(s, 1));
    playing = setInterval(() => {
      if (host.isConnected && !atTheEnd()) set(moved(s, 1));
      else stop();
    }, PACE);
  }
  function ownVectors() {
    const read = Object.fromEntries(areas.map(({ dataset, value }) => [dataset.own, parseMatrix(value, dataset.own)]));
    const error = read.Q.error || read.K.error || read.V.error || misfit(read.Q.matrix, read.K.matrix, read.V.matrix);
    tell(notice, error ? `${error} The picture still shows the numbers from before.` : "");
    if (error) return;
    const before = s.Q[0].length;
    Object.assign(s, matched(s, { Q: read.Q.matrix, K: read.K.matrix, V: read.V.matrix }), TYPED_SOURCE);
    set(s.Q[0].length === before ? {} : { dk: s.Q[0].length });
  }
  function ownSentence(text) {
    const made = vectorsOf(text), cut = text.trim().split(/\s+/).length > MOST_TOKENS;
    tell(notice, !made.tokens.length ? "Write at least one word." : cut ? `Only the first ${MOST_TOKENS} words fit.` : "");
    if (!made.tokens.length) return;
    Object.assign(s, matched(s, { ...made, queries: made.tokens }), { ...TYPED_SOURCE, typed: false });
    areas.forEach(writeArea);
    set({});
  }

  panel.addEventListener("input", ({ target }) => {
    if (target.dataset.own === "sentence") ownSentence(target.value);
    else if (target.dataset.own) ownVectors();
    else if (target.name === "query") { stop(); set({ query: Number(target.value) }); }
  });
  panel.addEventListener("click", ({ target }) => {
    const todo = target.dataset.do, row = target.closest("td, th") && target.closest("[data-row]"), symbol = target.closest(".formula button");
    if (todo && todo !== "play") stop();
    if (todo === "back") set(moved(s, -1));
    else if (todo === "forward") set(moved(s, 1));
    else if (todo === "play") play();
    else if (todo === "reset") { begin(); set({}); }
    else if (symbol) { stop(); goTo(SYMBOLS[symbol.dataset.part][0]); }
    else if (row) { stop(); set({ query: Number(row.dataset.row) }); all(".queries input")[s.query].focus({ preventScroll: true }); }
  });
  const fits = new ResizeObserver(([{ contentRect }]) => {
    const room = Math.floor(contentRect.width);
    if (room === width || !room) return;
    width = room;
    draw();
  });
  fits.observe($(".scene"));
  const followers = model ? SHARED.map(which => [`change:${which}`, () => { if (model.get(which) !== s[which]) set({ [which]: model.get(which) }); }]) : [];
  for (const [event, follow] of followers) model.on(event, follow);
  begin();
  width = Math.floor($(".scene").clientWidth); // 0 as long as the panel is not in the page
  draw();
  return () => {
    stop();
    picture.stop();
    fits.disconnect();
    for (const [event, follow] of followers) model.off(event, follow);
  };
}

bodies.walk = { style: WALK_STYLE, fill: fillWalk };
