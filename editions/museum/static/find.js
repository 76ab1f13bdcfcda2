// Finding a mistake by words of its name, its sentence and its code: what does not hold them all goes out of sight.
const all = [...document.querySelectorAll(".exhibit, .names li")].map((place) => [place, `${place.title} ${place.textContent}`.toLowerCase()]);
const field = document.querySelector("#words"), lists = document.querySelector("#all");

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let left = 0;
  for (const [place, text] of all) {
    const stays = words.every((word) => text.includes(word));
    place.toggleAttribute("data-away", !stays);
    left += stays;
  }
  for (const group of document.querySelectorAll(".names")) {
    const empty = !group.querySelector("li:not([data-away])");
    group.toggleAttribute("data-away", empty);
    group.previousElementSibling.toggleAttribute("data-away", empty);
  }
  for (const lesson of document.querySelectorAll("details.lesson")) {
    const some = lesson.querySelector("li:not([data-away])");
    lesson.toggleAttribute("data-away", !some);
    lesson.open = (words.length > 0 && !!some) || lesson.id === location.hash.slice(1);
  }
  document.querySelector("#famous")?.toggleAttribute("data-away", words.length > 0);
  document.querySelector("#found").textContent = words.length ? `${left} of ${all.length}` : "";
  if (words.length && lists && Math.abs(lists.getBoundingClientRect().top) > innerHeight / 2) lists.scrollIntoView();
}

if (field) {
  field.addEventListener("input", show);
  field.value = new URLSearchParams(location.search).get("find") ?? "";
  show();
}
