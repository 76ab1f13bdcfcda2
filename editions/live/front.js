// The front page's moving part: five steps of attention for one query, then the next. It runs gently while it is seen,
// stops at the first touch, and stands still for those who ask for less motion.

(() => {
  "use strict";
  const PACE = 2600, LAST = 5; // milliseconds for a step
  const HIDES = { 2: 4 }; // playing by itself, the third question goes without "cocoa": a mask at work
  const front = document.querySelector(".front-walk");
  if (!front) return;
  const $ = what => front.querySelector(what), all = what => [...front.querySelectorAll(what)];
  const { words, questions, Q, K, V, first } = JSON.parse($("script").textContent);
  const columns = all(".keys li"), root = Math.sqrt(K[0].length), s = { query: first, step: LAST, hidden: new Set() };
  let playing = null, seen = true, wanted = false;

  // ---- the mathematics: five lines ----
  function row({ query, hidden }) {
    const scores = K.map(k => k.reduce((sum, x, i) => sum + x * Q[query][i], 0)), scaled = scores.map(x => x / root);
    const masked = scaled.map((x, j) => (hidden.has(j) ? -Infinity : x)), most = Math.max(...masked);
    const raised = masked.map(x => Math.exp(x - most)), whole = raised.reduce((a, b) => a + b, 0), weights = raised.map(x => x / whole);
    return { scores, scaled, masked, weights, output: V[0].map((_, i) => weights.reduce((sum, w, j) => sum + w * V[j][i], 0)) };
  }

  const write = (x, digits = 2) => (x === -Infinity ? "−∞" : x.toFixed(digits).replace(/^-(0(\.0+)?)$/, "$1").replace("-", "−"));

  // ---- words ----
  const quoted = list => list.map(j => `“${words[j]}”`).join(" and ");

  function sentence(found) {
    const hidden = [...s.hidden], best = found.weights.indexOf(Math.max(...found.weights)), asked = `“${questions[s.query]}”`;
    const vector = x => `(${x.map(value => write(value)).join(", ")})`;
    return [
      ["scores", `The query ${asked} meets every key in a dot product, which gives each word a score.`],
      ["scale", `Each score is divided by √dₖ = √${K[0].length} ≈ ${write(root)}, so that more coordinates do not mean larger scores.`],
      ["mask", hidden.length ? `The mask hides ${quoted(hidden)}: a score of −∞ ends as a weight of exactly 0.` : "A mask may hide keys. This one hides none; press a word to hide it."],
      ["softmax", `Softmax turns scores into weights that are positive and sum to 1. “${words[best]}” gets ${write(found.weights[best])}.`],
      ["output", `The values’ average under the weights is ${vector(found.output)}. “${words[best]}” counts most, ${write(found.weights[best])}${hidden.length ? "." : "; every word counts a little."}`],
    ][s.step - 1];
  }

  // ---- the picture ----
  function drawColumn(column, j, found) {
    const values = [found.scores, found.scaled, found.masked, found.weights, found.weights][s.step - 1], hidden = s.hidden.has(j), weights = s.step >= 4;
    column.querySelector("output").textContent = write(values[j]);
    column.querySelector(".bar i").style.setProperty("--size", weights ? values[j].toFixed(3) : Number.isFinite(values[j]) ? (values[j] / 2).toFixed(3) : 0);
    column.classList.toggle("hides", hidden && s.step >= 3);
    column.classList.toggle("below", !weights && values[j] < 0 && Number.isFinite(values[j]));
    column.querySelector(".word").setAttribute("aria-pressed", String(hidden));
  }

  function draw() {
    const found = row(s), [name, text] = sentence(found), wide = w => (s.step >= 4 ? 1 + 22 * w : 1.5);
    front.dataset.step = s.step;
    columns.forEach((column, j) => drawColumn(column, j, found));
    for (const which of ["from", "to"]) all(`.fan.${which} path`).forEach((path, j) => {
      path.style.setProperty("--w", `${wide(found.weights[j]).toFixed(2)}px`);
      path.classList.toggle("off", s.hidden.has(j) && s.step >= 3);
    });
    all(".vector.out span").forEach((cell, i) => { cell.textContent = s.step === LAST ? write(found.output[i]) : "·"; });
    all("[data-query]").forEach((button, i) => button.setAttribute("aria-pressed", String(i === s.query)));
    for (const button of all("[data-goes]")) {
      const goes = Number(button.dataset.goes);
      button.classList.toggle("later", goes > s.step);
      if (goes === s.step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    $(".tells").replaceChildren(Object.assign(document.createElement("b"), { textContent: `${s.step} of ${LAST} · ${name}.` }), ` ${text}`);
  }

  // ---- moving ----
  const moved = by => {
    const at = s.query * LAST + s.step - 1 + by, whole = questions.length * LAST, there = (at + whole) % whole;
    return { query: Math.floor(there / LAST), step: (there % LAST) + 1 };
  };

  function set(change, byItself = false) {
    const next = change.query ?? s.query;
    if (byItself && next !== s.query) s.hidden = new Set(next in HIDES ? [HIDES[next]] : []);
    Object.assign(s, change);
    draw();
    if (!byItself) $("[role=status]").textContent = $(".tells").textContent;
  }

  function tick() {
    const there = moved(1);
    set(there, true);
  }

  /** The timer runs while it is wanted and the picture is on the screen. */
  function run() {
    clearInterval(playing);
    playing = wanted && seen && !document.hidden ? setInterval(tick, PACE) : null;
    const [sign, word] = wanted ? ["❚❚", "Pause"] : ["▶", "Play"], button = $("[data-do=play]");
    button.firstChild.textContent = sign;
    button.querySelector("b").textContent = word;
  }

  const hold = () => { wanted = false; run(); };
  const acts = {
    play: () => { wanted = !wanted; run(); if (wanted) tick(); },
    back: () => { hold(); set(moved(-1)); },
    forward: () => { hold(); set(moved(1)); },
  };

  front.addEventListener("click", event => {
    const button = event.target.closest("button"), key = button?.closest("[data-key]");
    if (!button) return;
    if (button.dataset.do) return void acts[button.dataset.do]();
    hold();
    if (button.dataset.goes) set({ step: Number(button.dataset.goes) });
    else if (button.dataset.query) set({ query: Number(button.dataset.query) });
    else if (key) hide(Number(key.dataset.key));
  });

  /** Hide a key, or show it again; one stays. */
  function hide(j) {
    if (s.hidden.has(j)) s.hidden.delete(j);
    else if (s.hidden.size < words.length - 1) s.hidden.add(j);
    set({ step: Math.max(s.step, 3) });
  }

  $(".steers").hidden = false;
  wanted = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  new IntersectionObserver(([{ isIntersecting }]) => { seen = isIntersecting; run(); }, { threshold: 0.4 }).observe(front);
  document.addEventListener("visibilitychange", run);
  draw();
  run();
})();
