// "Try it here": the light page comes into the exercise's place when it is asked for, not before.
"use strict";

function showPage(details) {
  if (!details.open || details.querySelector("iframe")) return;
  const frame = document.createElement("iframe");
  frame.src = details.dataset.page;
  frame.title = details.querySelector("a").textContent;
  details.append(frame);
}

for (const details of document.querySelectorAll("details.try")) {
  details.addEventListener("toggle", () => showPage(details));
}
