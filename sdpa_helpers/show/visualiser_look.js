// How the walk-through looks, and what stands in its page before any number does.

/* global MARKS_STYLE, TOUCH_STYLE, MOST_TOKENS, safe, write */
/* exported WALK_STYLE, WALK_PAGE, SYMBOLS, divisorOf, queryChips, matrixTable */

/** The symbols of the formula: the step each belongs to, its role, and what it is called. */
const SYMBOLS = {
  out: [5, "out", "output"], softmax: [4, "weight", "softmax"], Q: [1, "query", "Q, the queries"], K: [1, "key", "K transposed, the keys"],
  scale: [2, "", "the scale"], mask: [3, "", "M, the mask"], V: [5, "value", "V, the values"],
};

const WALK_STYLE = `${TOUCH_STYLE}${MARKS_STYLE}
:host { max-width: 1040px; }
.top { display: flex; flex-wrap: wrap; gap: 8px 26px; align-items: center; justify-content: space-between; }
.formula { font: italic 22px/1.25 Cambria, "STIX Two Text", "DejaVu Serif", Georgia, serif; display: flex; align-items: center; flex-wrap: wrap; }
.formula .word { font-style: normal; } .formula .frac { display: inline-flex; flex-direction: column; align-items: center; margin: 0 2px; } .formula .over { display: flex; border-bottom: 1.5px solid var(--ink); }
.formula .big { font-size: 40px; font-style: normal; font-weight: 300; line-height: 1; } .formula .plain { padding: 0 5px; font-style: normal; }
.formula button { font: inherit; background: none; border: 0; border-radius: 5px; border-bottom: 3px solid transparent; padding: 0 5px; min-width: 26px; min-height: 28px; }
.formula button:hover, .formula button.lit { background: color-mix(in srgb, var(--role, var(--edge)) 34%, var(--paper)) !important; } .formula button[aria-current] { background: color-mix(in srgb, var(--role, var(--edge)) 18%, var(--paper)); border-bottom-color: var(--role, var(--edge)); } .formula button.later { color: var(--soft); }
.formula .root { border-top: 1.5px solid; } .formula sub, .formula sup { font-size: .68em; line-height: 0; }
.answer { margin: 0 0 4px; font-size: 20px; } .answer:empty { display: none; } .answer b { padding: 1px 9px; border-radius: 6px; background: color-mix(in srgb, var(--out) 24%, var(--paper)); }
.nav, .settings, .own, .queries { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; }
.nav .one { display: flex; align-items: center; gap: 7px; } .nav output { min-width: 116px; } .nav [data-do=play] { min-width: 68px; } .one { white-space: nowrap; }
button[aria-disabled=true] { opacity: .5; cursor: default; }
input[type=range] { width: 104px; min-width: 80px; margin: 0 4px; vertical-align: middle; }
.say { min-height: calc(2.9em + 14px); margin: 10px 0 12px; } .say .moving { display: inline; }
.stage { display: flex; flex-wrap: wrap; gap: 16px 30px; align-items: flex-start; } .scene { flex: 1 1 560px; min-width: 0; } .scene > svg { margin-top: 10px; }
.queries { border: 0; margin: 0; padding: 0; } .queries legend { float: left; padding: 0; margin-right: 4px; color: var(--soft); }
.queries label { display: inline-flex; align-items: center; min-height: 28px; padding: 0 10px; border: 1px solid var(--line); border-radius: 15px; cursor: pointer; max-width: 220px; position: relative; }
.queries label:hover { background: var(--wash); } .queries label:has(:checked) { border-color: var(--query); box-shadow: inset 0 0 0 1px var(--query); background: color-mix(in srgb, var(--query) 14%, var(--paper)); font-weight: 600; }
.queries label:has(:focus-visible) { outline: 3px solid color-mix(in srgb, var(--mark) 70%, var(--ink)); outline-offset: 2px; }
.queries input { position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; cursor: pointer; } .queries span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.matrix { overflow-x: auto; max-width: 100%; flex: 0 1 auto; } .matrix table { border-collapse: separate; border-spacing: 2px; margin: 0 2px; } .matrix caption { text-align: left; white-space: nowrap; padding: 4px 0 6px; color: var(--soft); }
.matrix caption b { color: var(--ink); font-weight: 600; }
.matrix th { font-weight: 400; font-size: 13px; padding: 0 4px; white-space: nowrap; max-width: 74px; overflow: hidden; text-overflow: ellipsis; } .matrix tbody th { text-align: right; max-width: 96px; }
.matrix td { position: relative; width: 44px; min-width: 44px; height: var(--cell, 33px); padding: 0; text-align: center; font-size: 12.5px; cursor: pointer; background: var(--wash); border-radius: 3px; overflow: hidden; }
.matrix.many td { width: 41px; min-width: 41px; font-size: 12px; } .matrix.many thead th { max-width: 41px; padding: 0 1px; }
.matrix.phrases thead th { white-space: normal; max-width: 46px; padding: 0 1px; line-height: 1.15; vertical-align: bottom; }
.matrix thead td { height: 22px; } .matrix td i { position: absolute; bottom: 0; height: 5px; background: var(--tint); transition: left .3s, width .3s, height .3s, opacity .3s, background-color .3s; } .matrix td span { position: relative; }
.matrix td.hidden { background-image: repeating-linear-gradient(135deg, var(--line) 0 1px, transparent 1px 6px); color: var(--soft); }
.matrix tr.on { outline: 2px solid var(--query); border-radius: 4px; } .matrix tr.on th { font-weight: 650; }
.mark, .matrix table { transition: opacity .15s; } ${Object.keys(SYMBOLS).map(which => `[data-lit=${which}] [data-part]:not([data-part~=${which}])`).join(", ")} { opacity: .16; }
.settings { flex: 1 1 250px; align-content: flex-start; gap: 8px 10px; padding-top: 4px; } .settings input[type=range] { width: 80px; } .settings output { display: inline-block; min-width: 26px; }
.about { margin: 10px 0 0; padding-left: 12px; border-left: 4px solid var(--edge); max-width: 52rem; } .about:empty { display: none; }
details { margin-top: 8px; } summary { cursor: pointer; min-height: 24px; } .own { margin-top: 8px; align-items: flex-start; gap: 8px 18px; } .own label { display: flex; flex-direction: column; gap: 3px; flex: 1 1 190px; }
.own .wide { flex-basis: 100%; } textarea { font: 12.5px/1.4 ui-monospace, monospace; width: 100%; white-space: pre; resize: vertical; }
.notice:not(:empty) { margin-top: 8px; }
@container (min-width: 914px) { .settings { flex-basis: 100%; border-top: 1px solid var(--line); padding-top: 10px; } }
@container (max-width: 520px) { .say { min-height: calc(5.8em + 14px); } .formula { font-size: min(19px, 5.2cqw); flex-wrap: nowrap; } .formula .big { font-size: 1.8em; } .formula button { padding: 0 2px; min-width: 24px; } .formula .plain { padding: 0 3px; } .matrix { flex-basis: 100%; } .matrix table { table-layout: fixed; width: 100%; border-spacing: 1px; margin: 0; } .matrix.many table { min-width: 430px; } .matrix :is(td, th) { min-width: 0; font-size: 12px; } .matrix td { width: auto; letter-spacing: -.04em; } .matrix thead td { width: 64px; } .matrix thead th { max-width: none; padding: 0; } .matrix tbody th { padding: 0 3px 0 0; } }
@media (prefers-reduced-motion: reduce) { .mark, .matrix table, .matrix td i { transition: none; } }`;

const term = (which, shown) => {
  const [step, role, spoken] = SYMBOLS[which];
  return `<button type="button" data-part="${which}" style="${role ? `--role:var(--${role})` : ""}" aria-label="${spoken}: step ${step}">${shown}</button>`;
};

const WALK_PAGE = `<p class="answer"></p><div class="top"><div class="formula" role="group" aria-label="The formula: softmax of Q K transposed, scaled and masked, times V">
${term("out", `<span class="word">output</span>`)}<span class="plain">=</span>${term("softmax", `<span class="word">softmax</span>`)}<span class="big">(</span>
<span class="frac"><span class="over">${term("Q", "Q")}${term("K", "K<sup>T</sup>")}</span>${term("scale", "")}</span>
<span class="plain">+</span>${term("mask", "M")}<span class="big">)</span>${term("V", "V")}</div>
<div class="nav"><button data-do="back">‹ Back</button><button data-do="forward">Forward ›</button><button data-do="play">Play</button></div></div>
<p class="say" id="said"></p>
<div class="stage"><div class="scene"><fieldset class="queries"></fieldset></div>
<div class="matrix" role="region" tabindex="0" aria-label="All queries and all keys"></div>
<div class="settings"><button data-do="reset">Start again</button></div></div>
<p class="about" aria-live="polite"></p>
<details><summary>Your own sentence or vectors</summary><div class="own">
<label class="wide"><span>A sentence, up to ${MOST_TOKENS} words. The vectors come from the letters by a fixed rule: they know nothing about meaning.</span><input type="text" data-own="sentence"></label>
${["Q: one query a line", "K: one key a line", "V: one value a line"].map(t => `<label><span>${t}</span><textarea rows="6" spellcheck="false" data-own="${t[0]}"></textarea></label>`).join("")}
</div></details><div class="notice" role="alert"></div>`;

/** What the formula has below its fraction line. */
function divisorOf({ scale, temperature }) {
  const T = temperature === 1 ? "" : `<span class="word">${write(temperature, 1)}</span> `;
  return { none: T, "1/√d": `${T}<span class="word">√</span><span class="root">d<sub>k</sub></span>`, "1/d": `${T}d<sub>k</sub>` }[scale] || `<span class="word">1</span>`;
}

function queryChips(queries) {
  const chips = queries.map((q, i) => `<label title="${safe(q)}"><input type="radio" name="query" value="${i}"><span>${safe(q)}</span></label>`);
  return `<legend>query</legend>${chips.join("")}`;
}

function matrixTable(s) {
  const head = s.tokens.map(t => `<th scope="col" title="${safe(t)}">${safe(t)}</th>`).join("");
  const rows = s.queries.map((q, i) => `<tr data-row="${i}"><th scope="row" title="${safe(q)}">${safe(q)}</th>${s.tokens.map(() => "<td><i></i><span></span></td>").join("")}</tr>`);
  return `<table><caption></caption><thead><tr><td style="visibility:hidden"></td>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}
