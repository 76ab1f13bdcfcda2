// The theme that was chosen on another page of the site, before anything is painted.
"use strict";
{
  let mode = null;
  try {
    mode = localStorage.getItem("mode");
  } catch {
    // A browser that keeps nothing: the system's theme.
  }
  if (mode === "light" || mode === "dark") document.documentElement.dataset.theme = mode;
}
