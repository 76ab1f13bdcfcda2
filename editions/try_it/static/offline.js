// Ask the browser to keep this lesson and Python, or the whole site, and say so where it has all of it.

const MEGA = 1e6;
let asked = false;

const keeper = async () => {
  await navigator.serviceWorker.register(new URL("../keep.js", import.meta.url));
  return (await navigator.serviceWorker.ready).active;
};

/** Keep these parts; gives {done, site, parts}: whether they are there, the bytes of the whole site, and all parts there. */
export async function keep(parts, came = () => {}) {
  const { port1, port2 } = new MessageChannel();
  const active = await keeper();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }) => ("done" in data ? resolve(data) : came(data));
    active.postMessage(parts, [port2]);
  });
}

/** Below `place` a button that keeps the rest. */
export function offerAll(place, bytes) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: `Keep the whole site too, ${Math.round(bytes / MEGA)} MB` });
  button.addEventListener("click", async () => {
    button.disabled = true;
    const said = (text) => { place.textContent = text; };
    const { done } = await keep("all", ({ here, all }) => said(`${(here / MEGA).toFixed(0)} of ${(all / MEGA).toFixed(0)} MB are here …`));
    said(done ? "Works offline now: the whole site, but for JupyterLite." : "Not all of the site could be kept; what was here stays.");
    button.remove();
  });
  place.after(button);
}

/** place: where it is said. Where a browser keeps nothing, nothing is said. */
export async function keepOffline(place, lesson) {
  if (asked || !("serviceWorker" in navigator)) return;
  asked = true;
  try {
    const { done, site } = await keep(["base", lesson]);
    if (!done) return;
    place.textContent = `Works offline now: all exercises, and lesson ${lesson.slice(0, 2)}.`;
    offerAll(place, site);
  } catch {
    // a private window, or an address without encryption
  }
}
