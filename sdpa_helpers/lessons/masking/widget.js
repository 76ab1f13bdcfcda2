// A control for lesson 05: a grid to paint.

/* global kinds, make */

const GRID_STYLE = `
.panel:has(.grid) { grid-template-columns: 348px minmax(0, 1fr); }
.panel:has(.grid) .picture svg { min-width: 400px; max-width: 560px; }
@container (max-width: 850px) { .panel:has(.grid) { grid-template-columns: 1fr; } .panel:has(.grid) .controls { grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 9px 22px; } .panel:has(.grid) :is(.grid, .buttons) { grid-column: 1 / -1; } }
.grid table { border-collapse: collapse; touch-action: none; user-select: none; }
.grid caption { text-align: left; padding: 4px 0; font-weight: 600; } .grid caption small { font-weight: 400; font-size: 12px; }
.grid th { font-weight: 400; font-size: 12px; padding: 0 5px 3px 0; text-align: center; } .grid tbody th { text-align: left; padding: 0 7px 0 0; }
.grid tbody td { padding: 0; border: 1px solid var(--edge); }
.grid td button { display: block; width: 40px; height: 36px; min-height: 0; padding: 0; border: 0; border-radius: 0; background: var(--paper); font-size: 15px; line-height: 1; }
.grid td button::before { content: ""; } .grid td button:hover { background: var(--lit); } .grid td button:focus-visible { position: relative; z-index: 1; outline-offset: -3px; }
.grid td button[aria-pressed=true] { background: color-mix(in srgb, var(--ink) 30%, var(--paper)); } .grid td button[aria-pressed=true]::before { content: "●"; }
.grid td.future button[aria-pressed=true] { background: color-mix(in srgb, #56B4E9 55%, var(--paper)); } .grid td.future button[aria-pressed=true]::before { content: "●!"; }
.grid .buttons { margin: 0 0 6px; gap: 6px; } .grid .buttons button { padding: 2px 8px; font-size: 13px; }`;

// A mask is one number: the rows' bits one after the other.
const bitsOf = (number, n) => [...number.toString(2).padStart(n * n, "0")].map(Number);
const numberOf = bits => parseInt(bits.join(""), 2);

/** The cell to which a key leads in a grid n wide; undefined for keys that lead nowhere. */
function cellAfter(key, cell, n) {
  const row = Math.floor(cell / n), column = cell % n, inside = x => Math.min(Math.max(x, 0), n - 1);
  const to = { ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column], Home: [row, 0], End: [row, n - 1] }[key];
  return to && inside(to[0]) * n + inside(to[1]);
}

/** Cells that are pressed or not; masks to begin with are offered by name. */
function grid({ label, shown }, changed) {
  const { words, presets } = JSON.parse(shown[0]), n = words.length;
  let bits = [], brush = null; // what a drag paints
  const press = (cell, value) => {
    if (bits[cell] === value) return;
    bits[cell] = value;
    cells[cell].setAttribute("aria-pressed", String(value === 1));
    changed(numberOf(bits));
  };
  const cells = words.flatMap((query, i) => words.map((key, j) => {
    const button = make("button", { type: "button", tabIndex: i + j ? -1 : 0, title: `${query} → ${key}` });
    button.setAttribute("aria-label", `${query} may attend to ${key}`);
    return button;
  }));
  const reach = cell => { // one cell at a time is in the tab order; arrows go to the others
    cells.forEach((button, k) => { button.tabIndex = k === cell ? 0 : -1; });
    cells[cell].focus();
  };
  cells.forEach((button, cell) => {
    button.addEventListener("pointerdown", event => {
      if (event.button !== 0) return;
      button.releasePointerCapture?.(event.pointerId);
      brush = 1 - bits[cell];
      reach(cell);
      press(cell, brush);
      event.preventDefault();
    });
    button.addEventListener("pointerenter", event => { if (brush !== null && event.buttons & 1) press(cell, brush); });
    button.addEventListener("click", event => { if (event.detail === 0) press(cell, 1 - bits[cell]); }); // by a key
    button.addEventListener("keydown", event => {
      const to = cellAfter(event.key, cell, n);
      if (to === undefined) return;
      event.preventDefault();
      reach(to);
    });
  });
  const head = text => make("th", { scope: "col", textContent: text });
  const rows = words.map((word, i) => make("tr", {}, make("th", { scope: "row", textContent: word }),
    ...words.map((_, j) => make("td", { className: j > i ? "future" : "" }, cells[i * n + j]))));
  const offered = Object.entries(presets).map(([name, index]) => {
    const button = make("button", { type: "button", textContent: name });
    button.addEventListener("click", () => changed(index));
    return button;
  });
  const caption = make("caption", { textContent: `${label}: row to column ` }, make("small", { textContent: "(click, drag, or arrows and space)" }));
  const element = make("div", { className: "grid" }, make("style", { textContent: GRID_STYLE }), make("div", { className: "buttons" }, ...offered),
    make("table", {}, caption, make("thead", {}, make("tr", {}, make("td"), ...words.map(head))), make("tbody", {}, ...rows)));
  element.addEventListener("pointerup", () => { brush = null; });
  element.addEventListener("pointerleave", () => { brush = null; });
  const show = index => {
    bits = bitsOf(index, n);
    bits.forEach((bit, cell) => cells[cell].setAttribute("aria-pressed", String(bit === 1)));
  };
  return { element, show };
}

kinds.grid = grid;
