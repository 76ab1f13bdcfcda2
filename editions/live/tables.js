// What is wider than the page is scrolled in its own box, by keys as well. Long tables keep their head in sight, and can
// be narrowed to the lines that hold some words.

(() => {
  "use strict";
  const LONG = 12; // rows
  const headingOf = element => element.closest("section")?.querySelector("h1, h2, h3, h4")?.firstChild?.textContent.trim() || document.title;

  /** A box that scrolls gets a name and a place in the tab order. */
  function named(box, what) {
    box.tabIndex = 0;
    if (!box.hasAttribute("role")) box.setAttribute("role", "group");
    if (!box.hasAttribute("aria-label")) box.setAttribute("aria-label", `${what}: ${headingOf(box)}`);
  }

  function boxed(table) {
    const box = document.createElement("div"), themes = table.closest(".pst-scrollable-table-container");
    (themes ?? table).replaceWith(box); // the theme's box leaves the tab order again where a screen is turned
    box.append(table);
    box.classList.add("scrolls", "plain");
    box.classList.toggle("tall", table.rows.length > LONG);
    box.setAttribute("role", "region");
    named(box, "Table");
  }

  /** A field above the tables of a page that shows only the lines with these words. */
  function filterAbove(tables) {
    const rows = tables.flatMap(table => [...table.tBodies[0].rows]), found = document.createElement("p"), label = document.createElement("label");
    const field = Object.assign(document.createElement("input"), { type: "search", placeholder: "NaN, torch-fused, mask …" });
    const show = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
      const shown = rows.filter(row => !row.hidden).length;
      found.textContent = words.length ? `${shown} of ${rows.length} lines.` : `${rows.length} lines.`;
    };
    found.setAttribute("role", "status");
    label.append("Show only lines with ", field);
    label.className = "narrow";
    field.addEventListener("input", show);
    const first = tables[0].closest("section");
    first.before(label, found);
    show();
  }

  const tables = [...document.querySelectorAll("main table:not(:is(.ledger, [data-key], .sdpa-figure, .cell_output) *), .cell_output .sdpa-card table:not([data-key] *)")];
  for (const table of tables) if (!table.closest(".scrolls")) boxed(table);
  const corners = tables.filter(table => /^corner/i.test(table.tHead?.rows[0]?.cells[0]?.textContent.trim() ?? ""));
  if (corners.length > 1) filterAbove(corners);

  /** Pictures and outputs that are wider than their box, at this width of the page. */
  const BOXES = ".scrolls, .sdpa-figure > div, .sdpa-figure details > div, .cell_output .text_html, div.math, main pre";
  const fade = box => box.classList.toggle("more-right", box.scrollWidth - box.clientWidth - box.scrollLeft > 4 && getComputedStyle(box).overflowX !== "visible");
  function nameScrolled() {
    for (const box of document.querySelectorAll(BOXES)) {
      fade(box);
      if (box.scrollWidth > box.clientWidth + 1 && box.tabIndex < 0) named(box, box.querySelector("svg") ? "Picture" : "Text");
    }
  }
  window.addEventListener("load", nameScrolled);
  window.addEventListener("resize", nameScrolled);
  document.addEventListener("scroll", ({ target }) => { if (target.matches?.(BOXES)) fade(target); }, true);
  document.addEventListener("toggle", nameScrolled, true); // what was folded has a width only now
})();
