// Wide tables of a page are scrolled in their own box, by keys as well; the page itself never scrolls sideways.

(() => {
  "use strict";
  const headingBefore = table => {
    const section = table.closest("section");
    return section?.querySelector("h1, h2, h3, h4")?.firstChild?.textContent.trim() || document.title;
  };
  for (const table of document.querySelectorAll("main table")) {
    if (table.closest(".scrolls, .ledger, .cell_output, [data-key]")) continue;
    const box = table.closest(".pst-scrollable-table-container") ?? document.createElement("div");
    if (!box.contains(table)) {
      table.replaceWith(box);
      box.append(table);
    }
    box.classList.add("scrolls", "plain");
    Object.assign(box, { tabIndex: 0, role: "region" });
    box.setAttribute("aria-label", `Table: ${headingBefore(box)}`);
  }
})();
