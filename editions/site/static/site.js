// "Try it here": the light page comes into the exercise's place when it is asked for, not before; what is kept of it shows.
"use strict";

function showPage(details) {
  if (!details.open || details.querySelector("iframe")) return;
  const frame = document.createElement("iframe"), link = details.querySelector("a");
  frame.src = `${link.href}?embed`;
  frame.title = link.textContent;
  details.append(frame);
  addEventListener("message", ({ source, origin, data }) => {
    if (source === frame.contentWindow && origin === location.origin && data?.height > 0) frame.style.height = `${data.height + 2}px`;
  });
}

/** Points that this browser has kept stand on the button, in the place of a card that knows of none. */
function showKept({ points }, details) {
  const { name, worth } = details.dataset, mine = Math.min(points[name], worth); // it may have been worth more then
  if (!(mine >= 0)) return;
  details.querySelector("summary > span").textContent = `${mine === +worth ? "✓ " : ""}${+mine.toFixed(2)} of ${worth} points`;
  document.querySelector(`.tag_checks-${name} > .cell_output`)?.remove();
}

if (matchMedia("(max-width: 60rem)").matches) for (const lessons of document.querySelectorAll("details.lessons")) lessons.open = true;

const places = [...document.querySelectorAll("details.try")];
for (const details of places) {
  details.addEventListener("toggle", () => showPage(details));
  const code = details.nextElementSibling?.querySelector(".cell_input");
  code?.addEventListener("click", () => { details.open = getSelection().isCollapsed; }); // who marks code wants to copy it
}
if (places.length) {
  import(new URL("../try/kept.js", document.currentScript.src)).then(({ load, onOthers }) => {
    const show = () => places.forEach((details) => showKept(load(), details));
    show();
    onOthers(show);
  });
}
