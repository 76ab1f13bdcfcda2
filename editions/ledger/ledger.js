// The ledger's filters. The table is there without this script; with it the form is shown, and the address keeps what
// was chosen: ledger.html#verdict=wrong&lesson=04.

(() => {
  "use strict";
  const FIELDS = ["text", "verdict", "article", "lesson"], PAUSE = 300; // milliseconds until a count is read aloud
  const form = document.querySelector(".ledger .filters");
  if (!form) return;
  const rows = [...document.querySelectorAll(".ledger .claims tbody tr")], found = form.querySelector(".found");
  const words = new Map(rows.map(row => [row, plain(row.textContent)]));
  const claims = row => row.dataset.article.split(" "), all = rows.flatMap(claims).length;
  let timer = null;

  /** Letters as one types them: dₖ and d_k are dk, the minus is a hyphen. */
  function plain(text) {
    return text.toLowerCase().normalize("NFKD").replace(/[_{}]/g, "").replaceAll("−", "-").replace(/\s+/g, " ");
  }

  const chosen = () => Object.fromEntries(FIELDS.map(name => [name, form.elements[name].value.trim()]).filter(([, value]) => value));

  function fits(row, { text = "", ...exact }) {
    const terms = plain(text).split(" ").filter(Boolean), numbers = [row, ...row.querySelectorAll("[id^=claim-]")].map(one => one.id.replace("claim-", ""));
    return Object.entries(exact).every(([name, value]) => row.dataset[name].split(" ").includes(value))
      && terms.every(term => (/^\d{1,3}$/.test(term) ? numbers.includes(term) || words.get(row).includes(` ${term} `) : words.get(row).includes(term)));
  }

  function count(shown) {
    const text = shown === all ? `All ${all} claims.` : shown === 0 ? "No claim fits. Choose less, or show all." : `${shown} of ${all} claims.`;
    clearTimeout(timer);
    timer = setTimeout(() => { found.textContent = text; }, PAUSE);
  }

  function filter() {
    const wanted = chosen();
    let shown = 0; // claims: a row has those of several articles that say the same
    for (const row of rows) {
      row.hidden = !fits(row, wanted);
      if (!row.hidden) shown += claims(row).filter(article => !wanted.article || article === wanted.article).length;
    }
    count(shown);
  }

  function keepInAddress() {
    const address = new URLSearchParams(chosen()).toString();
    history.replaceState(null, "", address ? `#${address}` : location.pathname + location.search);
  }

  /** A claim's own address shows that claim; any other one is a filter. */
  function takeFromAddress() {
    const address = location.hash.slice(1), asked = new URLSearchParams(address.startsWith("claim-") ? "" : address);
    const known = FIELDS.some(name => asked.has(name));
    for (const name of FIELDS) {
      const field = form.elements[name], value = asked.get(name) ?? "";
      field.value = field.tagName !== "SELECT" || [...field.options].some(option => option.value === value) ? value : "";
    }
    filter();
    if (known) form.scrollIntoView({ block: "start" });
    else if (address) document.getElementById(address)?.scrollIntoView({ block: "center" });
  }

  /** The counts become links, each to the claims that it counts. */
  function linkCounts() {
    for (const cell of document.querySelectorAll(".counts [data-said]")) {
      const { verdict, article, said } = cell.dataset, wanted = new URLSearchParams(article ? { verdict, article } : { verdict });
      if (cell.textContent === "0") continue;
      const link = Object.assign(document.createElement("a"), { href: `#${wanted}`, textContent: cell.textContent });
      link.setAttribute("aria-label", said);
      cell.replaceChildren(link);
    }
  }

  linkCounts();
  form.hidden = false;
  form.addEventListener("input", () => { filter(); keepInAddress(); });
  form.addEventListener("reset", () => setTimeout(() => { filter(); keepInAddress(); }));
  form.addEventListener("submit", event => event.preventDefault());
  window.addEventListener("hashchange", takeFromAddress);
  if (location.hash) takeFromAddress();
  else filter();
})();
