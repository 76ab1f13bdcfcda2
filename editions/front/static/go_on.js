// Who has earned something in this browser goes on: the first link leads to the lesson after the last one that was begun,
// or back to it where points are missing.
const rows = [...document.querySelectorAll("[data-writes]")];

async function goOn() {
  try {
    if (!localStorage.getItem("sdpa-try")) return;
  } catch {
    return; // this browser keeps nothing
  }
  const { points } = (await import("../try/kept.js")).load(), last = rows.findLastIndex(({ dataset }) => points[dataset.writes] > 0);
  if (!Object.values(points).some((mine) => mine > 0)) return;
  const isDone = last < 0 || points[rows[last].dataset.writes] >= rows[last].dataset.worth;
  const next = last < 0 ? undefined : rows[last + Number(isDone)];
  Object.assign(document.querySelector(".go .main"), { href: next?.href ?? "try/index.html", textContent: `Go on with ${next?.textContent ?? "the exercises"}` });
}

addEventListener("pageshow", goOn);
