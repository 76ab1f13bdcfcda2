// The points that this browser has kept, beside the exercises, and which of these are to be seen.
import { load, onOthers, total } from "./kept.js";

const rows = [...document.querySelectorAll("[data-name]")].map((row) => ({ row, place: row.querySelector(".points"), all: row.querySelector(".points")?.textContent }));

function draw() {
  const { points } = load();
  for (const { row, place, all } of rows) {
    if (!place || points[row.dataset.name] === undefined) continue;
    const mine = Math.min(points[row.dataset.name], parseFloat(all)); // it may have been worth more when it was kept
    place.textContent = `${+mine.toFixed(2)} of ${all}`;
    row.classList.toggle("done", mine === parseFloat(all));
  }
  document.querySelector("#total").textContent = total();
}

draw();
onOthers(draw);

const form = document.querySelector(".filters"), fields = [...form.querySelectorAll("select")], reset = form.querySelector("[type=reset]");

function choose() {
  const wanted = fields.filter((field) => field.value);
  for (const { row } of rows) row.toggleAttribute("data-away", !wanted.every(({ name, value }) => row.dataset[name] === value));
  for (const section of document.querySelectorAll("section")) section.toggleAttribute("data-away", !section.querySelector("li:not([data-away])"));
  const left = rows.filter(({ row }) => !row.hasAttribute("data-away")).length;
  document.querySelector("#found").textContent = wanted.length ? `${left} of ${rows.length}` : "";
  reset.hidden = !wanted.length;
  const query = new URLSearchParams(wanted.map(({ name, value }) => [name, value])).toString();
  history.replaceState(null, "", `${location.pathname}${query && `?${query}`}${location.hash}`);
}

for (const field of fields) {
  const asked = new URLSearchParams(location.search).get(field.name);
  if ([...field.options].some(({ value }) => value === asked)) field.value = asked;
}
form.addEventListener("input", choose);
form.addEventListener("reset", () => setTimeout(choose));
choose();
