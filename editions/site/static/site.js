// "Try it here": the light page comes into the exercise's place when it is asked for, not before.
"use strict";

function showPage(details) {
  if (!details.open || details.querySelector("iframe")) return;
  const frame = document.createElement("iframe");
  frame.src = details.dataset.page;
  frame.title = details.querySelector("a").textContent;
  details.append(frame);
  addEventListener("message", ({ source, origin, data }) => {
    if (source === frame.contentWindow && origin === location.origin && data?.height > 0) frame.style.height = `${data.height + 2}px`;
  });
}

for (const details of document.querySelectorAll("details.try")) {
  details.addEventListener("toggle", () => showPage(details));
}
