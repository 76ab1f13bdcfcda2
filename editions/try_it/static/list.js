// The points that this browser has kept, beside the exercises.
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
