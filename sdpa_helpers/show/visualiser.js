// The body of the walk-through: attention, one query at a time. The page computes and draws it by itself, so it moves
// without a kernel; a model, where there is one, shares its settings with Python.

/* global bodies, slider, choice, tell, attention, misfit, mayAttend, parseMatrix, vectorsOf, asNumber, matched, tidied, moved, sentenceFor, largest, extent, safe, write, MASKS, MOST_TOKENS, SCALES, STEPS */

const WALK_STYLE = `
:host { max-width: 1040px; }
.formula { font: italic 21px/1.3 Cambria, "STIX Two Text", "DejaVu Serif", Georgia, serif; display: flex; align-items: center; flex-wrap: wrap; margin-bottom: 10px; }
.formula .word { font-style: normal; } .formula .term, .formula .frac { padding: 1px 4px; border-radius: 5px; border-bottom: 3px solid transparent; }
.formula .frac { display: inline-flex; flex-direction: column; align-items: center; padding: 0; } .formula .frac .term + .term { border-top: 1.5px solid var(--ink); border-radius: 0 0 5px 5px; }
.formula .on { background: var(--lit); border-bottom-color: var(--query); }
.formula .big { font-size: 36px; font-style: normal; font-weight: 300; line-height: 1; } .formula .off:not(.on) { color: var(--soft); font-size: 15px; }
.bar-row, .settings, .own { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; }
button[aria-disabled=true] { opacity: .5; cursor: default; }
input[type=range] { width: 130px; min-width: 80px; margin: 0 4px; vertical-align: middle; }
.say { min-height: calc(2.9em + 14px); margin: 10px 0; }
.stage { display: flex; flex-wrap: wrap; gap: 14px 26px; align-items: flex-start; }
.scroll { overflow-x: auto; max-width: 100%; } .scroll.flow { flex: 1 1 500px; min-width: min(100%, 320px); }
table { border-collapse: collapse; } caption { white-space: nowrap; text-align: left; font-weight: 600; padding-bottom: 5px; }
th { font-weight: 500; } td, th { padding: 2px 6px; white-space: nowrap; text-align: left; height: 29px; }
.matrix td { text-align: center; width: 45px; min-width: 45px; font-size: 13px; border: 1px solid var(--paper); cursor: pointer; }
.matrix td.hidden, .flow td.hidden { background-image: repeating-linear-gradient(135deg, var(--line) 0 1px, transparent 1px 6px); }
.matrix thead th { text-align: center; font-size: 13px; max-width: 64px; overflow: hidden; text-overflow: ellipsis; }
.matrix tr.on td { border-top: 2px solid var(--query); border-bottom: 2px solid var(--query); } .matrix tr.on th { font-weight: 700; }
.matrix label { cursor: pointer; display: flex; align-items: center; gap: 4px; } .matrix input { accent-color: var(--query); margin: 0; }
.flow table { width: 100%; } .flow tbody th, .flow tfoot th { position: sticky; left: 0; background: var(--paper); } .flow thead th { border-bottom: 2px solid var(--line); color: var(--soft); } .flow tbody tr + tr > * { border-top: 1px solid var(--line); }
.flow th.on, .flow td.on { background: var(--lit); } .flow thead th.on { border-bottom-color: var(--query); color: var(--ink); font-weight: 700; }
.flow tfoot > tr > * { border-top: 2px solid var(--edge); font-weight: 600; }
.num { display: inline-block; min-width: 44px; text-align: right; } .faint { color: var(--soft); font-size: 12px; }
.track { display: inline-block; position: relative; width: 50px; height: 13px; margin-left: 6px; vertical-align: -2px; }
.track.signed::before { content: ""; position: absolute; left: 50%; top: -2px; bottom: -2px; border-left: 1px solid var(--edge); }
.track i { position: absolute; top: 0; bottom: 0; background: var(--tint); border: 1px solid color-mix(in srgb, var(--tint) 60%, var(--ink)); border-radius: 2px; }
.track i { min-width: 2px; } .part { display: inline-flex; flex-direction: column; align-items: center; width: 47px; font-size: 13px; line-height: 1.2; }
.track.small { width: 40px; height: 7px; margin: 1px 0 0; }
.later > * { visibility: hidden; }
.settings { border-top: 1px solid var(--line); margin-top: 14px; padding-top: 10px; } .settings output { display: inline-block; min-width: 26px; } .one { white-space: nowrap; }
details { margin-top: 8px; } summary { cursor: pointer; } .own { margin-top: 8px; align-items: flex-start; } .own label { display: flex; flex-direction: column; gap: 3px; flex: 1 1 190px; }
.own .wide { flex-basis: 100%; } textarea { font: 12.5px/1.4 ui-monospace, monospace; width: 100%; white-space: pre; resize: vertical; }
.notice:not(:empty) { margin-top: 8px; }
@container (max-width: 680px) { .walk { padding: 10px; } td, th { padding: 2px 4px; } .track { width: 32px; } .num { min-width: 40px; } }
@container (max-width: 530px) { .say { min-height: calc(4.35em + 14px); } .flow .track:not(.small) { width: 18px; } }`;

const FORMULA = `<span class="word term" data-term="4">softmax</span><span class="big">(</span>
<span class="frac"><span class="term" data-term="1">Q K<sup>T</sup></span><span class="term" data-term="2"></span></span>
<span class="term masked" data-term="3">+ M</span><span class="big">)</span><span class="term" data-term="5">V</span>`;

const PAGE = `<div class="formula" role="img">${FORMULA}</div>
<div class="bar-row"><button data-do="back">‹ Back</button><button data-do="forward">Forward ›</button><button data-do="play">Play</button></div>
<p class="say" aria-live="polite"></p>
<div class="stage"><div class="scroll matrix" role="region" tabindex="0" aria-label="Weights of all queries"></div>
<div class="scroll flow" role="region" tabindex="0" aria-label="The steps for the chosen query"></div></div>
<div class="settings"><button data-do="reset">Start again</button></div>
<details><summary>Your own sentence or vectors</summary><div class="own">
<label class="wide"><span>A sentence, up to ${MOST_TOKENS} words. The vectors come from the letters by a fixed rule: they know nothing about meaning.</span><input type="text" data-own="sentence"></label>
${["Q: one query a line", "K: one key a line", "V: one value a line"].map(t => `<label><span>${t}</span><textarea rows="6" spellcheck="false" data-own="${t[0]}"></textarea></label>`).join("")}
</div></details><div class="notice" role="alert"></div>`;

const track = (x, limit, tint, signed, small = "") => {
  const { left, width } = extent(x, limit, signed);
  return `<span class="track ${signed ? "signed" : ""} ${small}" style="--tint:var(--${tint})">${width ? `<i style="left:${left.toFixed(1)}%;width:${width.toFixed(1)}%"></i>` : ""}</span>`;
};
const bar = (x, limit, tint, signed) => `<span><span class="num">${write(x)}</span>${track(x, limit, tint, signed)}</span>`;
const bars = (v, limit, tint) => `<span>${v.slice(0, 4).map(x => `<span class="part"><span>${write(x)}</span>${track(x, limit, tint, true, "small")}</span>`).join("")}${v.length > 4 ? "…" : ""}</span>`;

function matrixTable(s) {
  const head = s.tokens.map(t => `<th scope="col" title="${safe(t)}">${safe(t)}</th>`).join("");
  const rows = s.queries.map((q, i) => `<tr data-row="${i}"><th scope="row"><label><input type="radio" name="query" value="${i}">${safe(q)}</label></th>${s.tokens.map(() => "<td></td>").join("")}</tr>`);
  return `<table><caption>Weights: choose a query</caption><thead><tr><td style="visibility:hidden"></td>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function flowTable(s, r) {
  const i = s.query, shows = [1, 2, 3, 4, 5].map(step => (step > s.step ? "later" : step === s.step ? "on" : ""));
  const most = largest(r.scores[i].concat(r.scaled[i])), parts = s.V.map((v, j) => v.map(x => r.weights[i][j] * x));
  const wide = Math.max(largest(parts.flat()), largest(r.output[i]));
  const titles = ["1 score", `2 ${{ none: "as it is", "1/√d": "÷ √d_k", "1/d": "÷ d_k" }[s.scale]}`, "3 mask", "4 weight", "5 weight × value"];
  const head = titles.map((t, c) => `<th scope="col" class="${shows[c] === "on" ? "on" : ""}">${t}</th>`).join("");
  const rows = s.tokens.map((token, j) => {
    const sees = mayAttend(s.mask, s.size, i, j);
    const cells = [bar(r.scores[i][j], most, "key", true), bar(r.scaled[i][j], most, "key", true), `<span>${sees ? "seen" : "−∞"}</span>`, bar(r.weights[i][j], 1, "query", false), bars(parts[j], wide, "value")];
    return `<tr><th scope="row">${safe(token)}</th>${cells.map((html, c) => `<td class="${shows[c]} ${!sees && c === 2 && !shows[2].includes("later") ? "hidden" : ""}">${html}</td>`).join("")}</tr>`;
  });
  const total = `<tr><th scope="row">together</th><td colspan="3" class="faint">d_k = ${r.d}</td><td class="${shows[3]}">${bar(r.weights[i].reduce((a, w) => a + w, 0), 1, "query", false)}</td><td class="${shows[4]}">${bars(r.output[i], wide, "out")}</td></tr>`;
  return `<table><caption>The query “${safe(s.queries[i])}”, step by step</caption><thead><tr><th scope="col">key</th>${head}</tr></thead><tbody>${rows.join("")}</tbody><tfoot>${total}</tfoot></table>`;
}

/** What the formula has below its fraction line. */
function divisorOf(s) {
  const T = s.temperature === 1 ? "" : write(s.temperature, 1) + " ";
  const root = `<span class="word">√</span><span style="border-top:1.5px solid">d<sub>k</sub></span>`;
  return { none: T, "1/√d": T + root, "1/d": `${T}d<sub>k</sub>` }[s.scale] || "1";
}

/** The controls, by the setting that each one moves. */
function walkControls(set) {
  const move = name => value => set({ [name]: value });
  return {
    step: slider({
      name: "step", label: "step", low: 1, high: STEPS.length,
      write: step => `${step} of ${STEPS.length}: ${STEPS[step - 1]}`, speak: step => `${step}: ${STEPS[step - 1]}`,
    }, move("step")),
    dk: slider({ name: "dk", label: "d_k", low: 1, high: 64 }, move("dk")),
    temperature: slider({ name: "temperature", label: "temperature", low: 0.1, high: 5, step: 0.1, write: T => write(T, 1) }, move("temperature")),
    scale: choice({ name: "scale", label: "scale", options: Object.entries(SCALES) }, move("scale")),
    mask: choice({ name: "mask", label: "mask", options: MASKS.map(mask => [mask, mask]) }, move("mask")),
    size: slider({ name: "size", label: "size", high: MOST_TOKENS }, move("size")),
  };
}

/** The first state: own vectors or those of a sentence, and the settings. */
function beginning(given) {
  const own = given.Q ? { ...given } : vectorsOf(given.sentence || "the cat fears big dogs");
  for (const M of ["Q", "K", "V"]) own[M] = own[M].map(row => row.map(asNumber));
  const { query = 0, step = 1, dk, temperature = 1, scale = "1/√d", mask = "none", size = 2 } = given;
  return { ...matched({}, own), query, step, temperature, scale, mask, size, dk: dk || (given.Q ? own.Q[0].length : 4) };
}

// ---- keeping all in step -----------------------------------------------------------------------------------

const SHARED = ["query", "step", "dk", "temperature", "scale", "mask", "size"]; // with Python
const PACE = 1500; // milliseconds between two steps when it plays

function fillWalk(panel, given, model) {
  panel.innerHTML = PAGE;
  const $ = what => panel.querySelector(what), all = what => [...panel.querySelectorAll(what)];
  const s = {}, areas = all("textarea"), notice = $(".notice"), host = panel.getRootNode().host;
  const first = model ? { ...given, ...Object.fromEntries(SHARED.map(which => [which, model.get(which)])) } : given;
  let playing = null, shape = "", cells = [], narrow = false;
  const controls = walkControls(change => { stop(); set(change); });
  $(".bar-row").append(controls.step.element);
  $(".settings").prepend(...["dk", "temperature", "scale", "mask", "size"].map(name => controls[name].element));

  function begin() {
    Object.assign(s, beginning(first));
    writeVectors();
    $("[data-own=sentence]").value = given.Q ? "" : s.tokens.join(" ");
    tell(notice, "");
  }
  function writeVectors() {
    for (const area of areas) area.value = s[area.dataset.own].map(row => row.map(x => (Number.isFinite(x) ? x : write(x))).join(" ")).join("\n");
  }
  function draw() {
    Object.assign(s, tidied(s));
    const r = attention(s.Q, s.K, s.V, s);
    drawMatrix(r);
    $(".flow").innerHTML = flowTable(s, r);
    tell($(".say"), `${s.step} of ${STEPS.length}, ${STEPS[s.step - 1]}. ${sentenceFor(s, r)}`);
    drawFormula();
    drawControls();
    if (narrow) { // bring the lit column into view; last, because it makes the browser lay out the page at once
      const flow = $(".flow"), lit = flow.querySelector("th.on");
      flow.scrollLeft = lit.offsetLeft + lit.offsetWidth - flow.clientWidth;
    }
  }
  function drawMatrix(r) {
    if (shape !== JSON.stringify([s.tokens, s.queries])) {
      shape = JSON.stringify([s.tokens, s.queries]);
      $(".matrix").innerHTML = matrixTable(s);
      cells = all(".matrix tbody tr").map(row => [...row.querySelectorAll("td")]);
    }
    cells.forEach((row, i) => {
      row[0].parentNode.className = i === s.query ? "on" : "";
      row[0].parentNode.querySelector("input").checked = i === s.query;
      row.forEach((cell, j) => {
        const w = r.weights[i][j];
        cell.textContent = write(w);
        cell.className = mayAttend(s.mask, s.size, i, j) ? "" : "hidden";
        cell.style.backgroundColor = `color-mix(in srgb, var(--query) ${Number.isFinite(w) ? Math.round(58 * w) : 0}%, var(--paper))`;
      });
    });
  }
  function drawFormula() {
    $(".formula [data-term='2']").innerHTML = divisorOf(s);
    $(".formula .masked").classList.toggle("off", s.mask === "none");
    all(".formula .term").forEach(term => term.classList.toggle("on", Number(term.dataset.term) === s.step));
    $(".formula").setAttribute("aria-label", `softmax of (Q K transposed, scale ${SCALES[s.scale]}, mask ${s.mask}), times V. Lit: ${STEPS[s.step - 1]}.`);
  }
  function drawControls() {
    controls.dk.reach(s.Q[0].length);
    controls.size.reach(s.K.length);
    for (const [name, control] of Object.entries(controls)) control.show(s[name]);
    controls.size.element.hidden = s.mask !== "padding" && s.mask !== "window";
    controls.size.caption.textContent = s.mask === "window" ? "sees this far" : "real tokens";
    $("[data-do=back]").setAttribute("aria-disabled", s.step === 1 && s.query === 0);
    $("[data-do=forward]").setAttribute("aria-disabled", s.step === STEPS.length && s.query === s.Q.length - 1);
  }
  function set(change) {
    Object.assign(s, change);
    draw();
    for (const which of SHARED) model?.set(which, s[which]);
    model?.save_changes();
  }
  function stop() {
    clearInterval(playing);
    playing = null;
    $("[data-do=play]").textContent = "Play";
  }
  function play() {
    if (playing) return stop();
    const atTheEnd = () => s.query === s.Q.length - 1 && s.step === STEPS.length;
    $("[data-do=play]").textContent = "Pause";
    set(atTheEnd() ? { query: 0, step: 1 } : moved(s, 1));
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
    Object.assign(s, matched(s, { Q: read.Q.matrix, K: read.K.matrix, V: read.V.matrix }));
    set(s.Q[0].length === before ? {} : { dk: s.Q[0].length });
  }
  function ownSentence(text) {
    const made = vectorsOf(text), cut = text.trim().split(/\s+/).length > MOST_TOKENS;
    tell(notice, !made.tokens.length ? "Write at least one word." : cut ? `Only the first ${MOST_TOKENS} words fit.` : "");
    if (!made.tokens.length) return;
    Object.assign(s, matched(s, { ...made, queries: made.tokens }));
    writeVectors();
    set({});
  }

  panel.addEventListener("input", ({ target }) => {
    if (target.dataset.own === "sentence") ownSentence(target.value);
    else if (target.dataset.own) ownVectors();
    else if (target.name === "query") { stop(); set({ query: Number(target.value) }); }
  });
  panel.addEventListener("click", ({ target }) => {
    const todo = target.dataset.do, row = target.closest("td") && target.closest("[data-row]");
    if (todo && todo !== "play") stop();
    if (todo === "back") set(moved(s, -1));
    else if (todo === "forward") set(moved(s, 1));
    else if (todo === "play") play();
    else if (todo === "reset") { begin(); set({}); }
    else if (row) { stop(); set({ query: Number(row.dataset.row) }); row.querySelector("input").focus(); }
  });
  new ResizeObserver(([{ contentRect }]) => { narrow = contentRect.width > 0 && contentRect.width < 680; }).observe(host);
  const followers = model ? SHARED.map(which => [`change:${which}`, () => { if (model.get(which) !== s[which]) set({ [which]: model.get(which) }); }]) : [];
  for (const [event, follow] of followers) model.on(event, follow);
  begin();
  draw();
  return () => {
    stop();
    for (const [event, follow] of followers) model.off(event, follow);
  };
}

bodies.walk = { style: WALK_STYLE, fill: fillWalk };
