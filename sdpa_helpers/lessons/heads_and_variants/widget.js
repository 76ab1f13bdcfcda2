// Lesson 08's panel: a query and a key slide through a text. RoPE turns both; the score knows their distance alone.

/* global bodies, make, shape, glide, handle, reactive, shared, choose, TOUCH_STYLE */

const ROPE_STYLE = `${TOUCH_STYLE}
:host { max-width: 960px; }
.title { margin: 0; font-weight: 600; font-size: 16px; } .hint { margin: 2px 0 6px; color: var(--soft); }
.rope { display: block; width: 100%; margin: 4px 0 10px; user-select: none; -webkit-user-select: none; }
.rope text { fill: var(--ink); font-size: 13px; text-anchor: middle; } .rope .quiet { fill: var(--soft); } .rope .start { text-anchor: start; } .rope .name { font-weight: 600; font-style: italic; font-size: 14px; }
.rope .line { stroke: var(--edge); stroke-width: 1.2; fill: none; } .rope .faint { stroke: var(--line); stroke-width: 1; fill: none; }
.rope .dial { fill: var(--wash); stroke: var(--line); } .rope .between { fill: color-mix(in srgb, var(--ink) 16%, var(--paper)); }
.rope .q { stroke: var(--query); } .rope .k { stroke: var(--key); } .rope .arrow { stroke-width: 3; stroke-linecap: round; stroke-linejoin: round; fill: none; }
.rope .curve { stroke: var(--ink); stroke-width: 1.8; fill: none; } .rope .spot { fill: var(--ink); stroke: var(--paper); stroke-width: 2; }
.handle .grip { fill: var(--paper); stroke-width: 3; } .handle .bar { fill: var(--wash); stroke: var(--edge); stroke-width: 1.2; } .handle:hover .bar { fill: var(--lit); }
.say p { margin: 0; } .say p + p { margin-top: 4px; }
.tries { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 10px; }`;

// ---- the numbers -------------------------------------------------------------------------------------------

/** The angles of query and key in each plane, at the places m and n. A plane is [θ, the key's own angle]. */
const turnsOf = (planes, { m, n }) => planes.map(([theta, own]) => ({ theta, q: m * theta, k: n * theta + own }));

/** The score at a distance n − m: a cosine for each plane, all arrows of length 1. */
const scoreAt = (planes, distance) => planes.reduce((sum, [theta, own]) => sum + Math.cos(distance * theta + own), 0);

const within = (x, high) => Math.min(Math.max(Math.round(x), 0), high);
const written = (x, digits) => (Math.abs(x) < 0.5 * 10 ** -digits ? (0).toFixed(digits) : x.toFixed(digits).replace("-", "−"));

/** Both places, moved by the same number: as far as the text goes. */
function together({ m, n }, by, last) {
  const shift = Math.min(Math.max(by, -Math.min(m, n)), last - Math.max(m, n));
  return { m: m + shift, n: n + shift };
}

/** What the panel says of two places, and of the move that led there: "q", "k", "both" or none. */
function wordsFor(planes, { m, n }, moved) {
  const distance = n - m, score = written(scoreAt(planes, distance), 2);
  const notes = {
    both: "Both moved: every arrow turned, each angle between two arrows stayed, and so did the score.",
    q: "The query moved: all blue arrows turned, fast in the first plane, slowly in the last.",
    k: "The key moved: all orange arrows turned, fast in the first plane, slowly in the last.",
  };
  return { m, n, distance: written(distance, 0), score, note: notes[moved] ?? "The key was made so that the score is highest four tokens back." };
}

// ---- the picture -------------------------------------------------------------------------------------------

const TRACK = 40, BAR = 86, DIALS = 112, EDGE = 26; // from top to bottom: the text, the bar for both, where dials begin; and a margin

/** Where everything lies in a picture this wide. */
function layoutOf(wide, planes) {
  const columns = wide < 460 ? 2 : planes.length, slot = wide / columns, radius = Math.min(0.34 * slot, 62), tall = 2 * radius + 52;
  const centres = planes.map((_, i) => [(i % columns + 0.5) * slot, DIALS + radius + 20 + Math.floor(i / columns) * tall]);
  const top = DIALS + Math.ceil(planes.length / columns) * tall + 26;
  return { wide, centres, radius, top, low: top + 104 };
}

const placeAt = ({ wide }, last, place) => EDGE + (wide - 2 * EDGE) * place / last;
const distanceAt = ({ wide }, last, distance) => EDGE + (wide - 2 * EDGE) * (distance + last) / (2 * last);
const heightAt = ({ top, low }, planes, score) => (top + low) / 2 - (low - top) / 2 * score / planes.length;

function word(text, x, y, name = "") {
  const made = shape("text", { class: name, x: x.toFixed(1), y: y.toFixed(1) });
  made.textContent = text;
  return made;
}

const stroke = (name, d) => shape("path", { class: name, d });
const pointAt = ([x, y], angle, far) => [x + far * Math.cos(angle), y - far * Math.sin(angle)].map(c => c.toFixed(2)).join(" ");

/** An arrow from a dial's middle. */
function arrowOf(name, centre, angle, far) {
  const tip = pointAt(centre, angle, far), wing = side => pointAt(centre, angle + side * 0.13, far - 9);
  return stroke(`arrow ${name}`, `M${centre.join(" ")}L${tip}M${wing(1)}L${tip}L${wing(-1)}`);
}

/** One plane: both arrows, the angle between them filled, and what the plane adds to the score. */
function dialOf({ theta, q, k }, centre, radius) {
  const apart = Math.atan2(Math.sin(k - q), Math.cos(k - q)), inner = 0.44 * radius; // the short way round
  const sector = `M${centre.join(" ")}L${pointAt(centre, q, inner)}A${inner} ${inner} 0 0 ${apart > 0 ? 0 : 1} ${pointAt(centre, q + apart, inner)}Z`;
  const [x, y] = centre;
  return [
    shape("circle", { class: "dial", cx: x, cy: y, r: radius }), stroke("between", sector),
    arrowOf("q", centre, q, 0.92 * radius), arrowOf("k", centre, k, 0.74 * radius),
    word(`θ = ${theta.toFixed(theta < 0.1 ? 3 : 2)}`, x, y - radius - 8, "quiet"), word(`cos = ${written(Math.cos(k - q), 2)}`, x, y + radius + 18),
  ];
}

/** The score against the distance, and where we are on it. */
function curveOf(layout, planes, last, distance) {
  const at = (far, score) => `${distanceAt(layout, last, far).toFixed(1)} ${heightAt(layout, planes, score).toFixed(1)}`;
  const fine = [...Array(8 * last + 1).keys()].map(i => i / 4 - last), now = scoreAt(planes, distance), zero = heightAt(layout, planes, 0);
  const ticks = [-last, -32, 0, 32, last].map(far => word(written(far, 0), distanceAt(layout, last, far), layout.low + 18, "quiet"));
  return [
    word(layout.wide < 340 ? "score against n − m" : "the score against the distance n − m", EDGE, layout.top - 14, "quiet start"),
    stroke("faint", `M${EDGE} ${zero}H${layout.wide - EDGE}`), ...ticks,
    stroke("curve", `M${fine.map(far => at(far, scoreAt(planes, far))).join("L")}`),
    stroke("line", `M${at(distance, now)}V${layout.low + 4}`),
    shape("circle", { class: "spot", cx: distanceAt(layout, last, distance), cy: heightAt(layout, planes, now), r: 6 }),
  ];
}

/** The text as a line of places. */
function trackOf(layout, last) {
  const ticks = [...Array(last + 1).keys()], at = place => placeAt(layout, last, place).toFixed(1);
  return [
    stroke("line", `M${at(0)} ${TRACK}H${at(last)}`),
    stroke("faint", ticks.map(place => `M${at(place)} ${TRACK - 4}v8`).join("")),
    ...[0, 20, 40, 60].map(place => word(String(place), Number(at(place)), TRACK - 24, "quiet")),
  ];
}

// ---- the panel ---------------------------------------------------------------------------------------------

const gripOf = (name, role) => {
  const label = word(name, 0, 5, "name");
  return [shape("circle", { class: `grip ${role}`, r: 13 }), label];
};

function barOf() {
  return [shape("rect", { class: "bar", x: -34, y: -13, width: 68, height: 26, rx: 13 }), word("↔ both", 0, 5)];
}

function fillRope(panel, given, model) {
  const { planes, places } = given, last = places - 1, start = { m: given.m, n: given.n };
  const drawn = shape("g", {}), svg = shape("svg", { class: "rope" }, drawn);
  const told = reactive("The query is at place {m:query}, the key at {n:key}: n − m = {distance}. Their score is {score}.", "{note:text}");
  let layout = layoutOf(640, planes), shown = start, moved = "", stop = () => {};
  const settings = shared(given, model, ["m", "n"], state => { moved = ""; glideTo({ ...state }); });

  const x = place => placeAt(layout, last, place), placeUnder = at => (at - EDGE) / (layout.wide - 2 * EDGE) * last;
  const change = (who, places_) => { moved = who; stop(); settings.set(places_); show(places_); };
  const alone = { q: (place, now) => ({ ...now, m: within(place, last) }), k: (place, now) => ({ ...now, n: within(place, last) }) };
  const middle = ({ m, n }) => (m + n) / 2;
  const tokens = ["q", "k"].map(who => {
    const place = () => (who === "q" ? shown.m : shown.n), said = who === "q" ? "query" : "key";
    return handle({
      label: `place of the ${said}`,
      at: () => [x(place()), TRACK + (who === "q" ? -1 : 1) * (Math.abs(x(shown.m) - x(shown.n)) < 27 ? 12 : 0)], // side by side where they would overlap
      move: ([at]) => change(who, alone[who](placeUnder(at), settings.state)),
      nudge: (right, up, further) => change(who, alone[who](place() + (right || up) * (further ? 10 : 1), settings.state)),
      speak: () => ({ now: Math.round(place()), low: 0, high: last, text: `${said} at ${Math.round(place())}, score ${written(scoreAt(planes, shown.n - shown.m), 2)}` }),
    }, ...gripOf(who, who));
  });
  const both = handle({
    label: "both tokens",
    at: () => [Math.min(Math.max(x(middle(shown)), 40), layout.wide - 40), BAR],
    move: ([at]) => change("both", together(settings.state, Math.round(placeUnder(at) - middle(settings.state)), last)),
    nudge: (right, up, further) => change("both", together(settings.state, (right || up) * (further ? 10 : 1), last)),
    speak: () => ({ now: Math.round(shown.m), low: 0, high: last, text: `query at ${Math.round(shown.m)}, key at ${Math.round(shown.n)}, score ${written(scoreAt(planes, shown.n - shown.m), 2)}` }),
    radius: 20,
  }, ...barOf());

  function draw() {
    const tie = `M${x(shown.m).toFixed(1)} ${TRACK}V${BAR}M${x(shown.n).toFixed(1)} ${TRACK}V${BAR}M${x(shown.m).toFixed(1)} ${BAR}H${x(shown.n).toFixed(1)}`;
    const dials = turnsOf(planes, shown).flatMap((turn, i) => dialOf(turn, layout.centres[i], layout.radius));
    drawn.replaceChildren(...trackOf(layout, last), stroke("line", tie), ...dials, ...curveOf(layout, planes, last, shown.n - shown.m));
    for (const { show: update } of [...tokens, both]) update();
  }
  /** Show these places; the words are those of where it ends. */
  function show(now) {
    shown = now;
    draw();
    told.write(wordsFor(planes, settings.state, moved));
  }
  function glideTo(to) {
    const from = shown;
    stop();
    stop = glide(share => show(share === 1 ? to : { m: from.m + share * (to.m - from.m), n: from.n + share * (to.n - from.n) }));
  }
  const go = (who, to) => { moved = who; settings.set(to); glideTo(to); };

  svg.append(both.element, ...tokens.map(({ element }) => element));
  panel.append(make("p", { className: "title", textContent: given.title }),
    make("p", { className: "hint", textContent: "Drag q, k, or the bar that moves both. By keyboard: Tab, then ← →, with Shift ten places." }),
    svg, told.element, make("div", { className: "tries" },
      choose("Both 10 later", () => go("both", together(settings.state, 10, last))), choose("Both to the beginning", () => go("both", together(settings.state, -places, last))),
      choose("Start again", () => go("", start))));
  const watch = new ResizeObserver(([{ contentRect: { width } }]) => {
    if (!width) return;
    layout = layoutOf(width, planes);
    svg.setAttribute("viewBox", `0 0 ${width} ${layout.low + 26}`);
    draw();
  });
  show({ ...settings.state });
  watch.observe(svg);
  return () => { watch.disconnect(); stop(); settings.end(); };
}

bodies.rope = { style: ROPE_STYLE, fill: fillRope };
