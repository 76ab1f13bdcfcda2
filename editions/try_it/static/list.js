// The points that this browser has kept, beside the exercises.
import { load, total } from "./kept.js";

const { points } = load();
for (const row of document.querySelectorAll("[data-name]")) {
  const place = row.querySelector(".points");
  const mine = points[row.dataset.name];
  if (place && mine !== undefined) {
    place.textContent = `${+mine.toFixed(2)} of ${place.textContent}`;
    row.classList.toggle("done", `${+mine.toFixed(2)} points` === place.textContent.split(" of ")[1]);
  }
}
document.querySelector("#total").textContent = total();
