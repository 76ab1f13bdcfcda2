// The points that this browser has kept, beside the exercises.
import { load, onOthers, total } from "./kept.js";

const rows = [...document.querySelectorAll("[data-name]")].map((row) => ({ row, place: row.querySelector(".points"), all: row.querySelector(".points")?.textContent }));

function draw() {
  const { points } = load();
  for (const { row, place, all } of rows) {
    const mine = points[row.dataset.name];
    if (!place || mine === undefined) continue;
    place.textContent = `${+mine.toFixed(2)} of ${all}`;
    row.classList.toggle("done", `${+mine.toFixed(2)} points` === all);
  }
  document.querySelector("#total").textContent = total();
}

draw();
onOthers(draw);
