// The body of the route: its parts in their order, and a clock for each. One clock runs at a time.

/* global bodies, make, tell */

const ROUTE_STYLE = `
:host { max-width: 46rem; }
.route { border-left: 5px solid var(--query); padding: 14px 18px 16px; font-size: 15px; line-height: 1.5; }
.route ol { list-style: none; margin: 8px 0 0; padding: 0; } .route li { display: grid; grid-template-columns: 1fr auto; gap: 2px 14px; padding: 10px 0; border-top: 1px solid var(--line); }
.route .head { font-weight: 650; } .route .head small { font-weight: 400; color: var(--soft); margin-left: 8px; } .route .says { color: var(--ink); grid-column: 1; }
.route a { color: var(--ink); display: inline-block; min-height: 24px; } .route code { font: .9em var(--jp-code-font-family, ui-monospace, monospace); }
.route pre { margin: 6px 0 0; font: 13px var(--jp-code-font-family, ui-monospace, monospace); white-space: pre-wrap; }
.route button { min-height: 36px; min-width: 96px; font-variant-numeric: tabular-nums; grid-column: 2; grid-row: 1 / span 2; align-self: start; }
.route button[aria-pressed=true] { font-weight: 650; border-color: var(--query); }`;

/** Seconds as a clock shows them. */
function clockOf(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function fillRoute(panel, { seed, parts }) {
  const list = make("ol"), heard = make("div", { className: "spoken" });
  let begin = 0, stop = () => {};
  heard.setAttribute("role", "status");
  panel.append(make("b", { textContent: `Your ninety minutes · seed ${seed}` }), list, heard);
  for (const part of parts) {
    const button = make("button", { type: "button", textContent: `Start ${part.minutes}:00` });
    const says = make("div", { className: "says", innerHTML: `${part.says} ${part.link}` });
    if (part.code) says.append(make("pre", { textContent: part.code }));
    button.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-label", `Start the clock: ${part.title}, ${part.minutes} minutes`);
    button.addEventListener("click", () => {
      const runs = button.getAttribute("aria-pressed") === "true";
      stop();
      if (!runs) stop = count(button, part, heard);
    });
    list.append(make("li", {}, make("div", { className: "head" }, part.title, make("small", { textContent: `from minute ${begin}` })), says, button));
    begin += part.minutes;
  }
  return () => stop();
}

/** Lets a button count down; what comes back ends that. */
function count(button, part, heard) {
  const until = Date.now() + 60000 * part.minutes;
  const draw = () => {
    const left = Math.max(0, Math.round((until - Date.now()) / 1000));
    button.textContent = left ? clockOf(left) : "Time!";
    if (!left) { clearInterval(timer); tell(heard, `${part.title}: time is over.`); }
  };
  const timer = setInterval(draw, 1000);
  button.setAttribute("aria-pressed", "true");
  draw();
  tell(heard, `${part.title}: ${part.minutes} minutes.`);
  return () => {
    clearInterval(timer);
    button.setAttribute("aria-pressed", "false");
    button.textContent = `Start ${part.minutes}:00`;
  };
}

bodies.route = { style: ROUTE_STYLE, fill: fillRoute };
