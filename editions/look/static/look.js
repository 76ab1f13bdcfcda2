// Light, dark or as the system has it: one choice for all pages of the site, made before anything is painted. Pages of
// Sphinx keep it under the same key. Another tab, or the page around an embedded one, is followed at once.
"use strict";
{
  const SAID = { auto: "as the system", light: "light", dark: "dark" };
  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
  let mode = "auto"; // also where the browser keeps nothing: then it holds for this page

  const show = () => {
    try {
      mode = localStorage.getItem("mode") ?? mode;
    } catch {
      // The system's, or what was pressed here.
    }
    if (!Object.hasOwn(SAID, mode)) mode = "auto";
    root.dataset.mode = mode;
    root.dataset.theme = mode === "auto" ? (system.matches ? "dark" : "light") : mode;
    const button = document.querySelector("#theme");
    if (!button) return;
    button.title = `Colors: ${SAID[mode]}`;
    button.ariaLabel = button.title;
  };

  const turn = () => { // the first press changes what is seen, the second changes it back, the third follows the system
    const systems = system.matches ? "dark" : "light", other = system.matches ? "light" : "dark";
    mode = { auto: other, [other]: systems, [systems]: "auto" }[mode];
    try {
      localStorage.setItem("mode", mode);
    } catch {
      // It holds for this page.
    }
    show();
  };

  show();
  addEventListener("DOMContentLoaded", show);
  addEventListener("storage", show);
  addEventListener("pageshow", show);
  system.addEventListener("change", () => setTimeout(show)); // after the theme of Sphinx's pages
  addEventListener("click", (event) => { if (event.target.closest?.("#theme")) turn(); });
}
