// Ask the browser to keep these pages and Python, and say so where it has.

let asked = false;

/** place: where it is said. Where a browser keeps nothing, nothing is said. */
export async function keepOffline(place) {
  if (asked || !("serviceWorker" in navigator)) return;
  asked = true;
  try {
    await navigator.serviceWorker.register("keep.js");
    const { active } = await navigator.serviceWorker.ready;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => {
      if (data === true) place.textContent = "The exercises work without a network now, in this browser.";
    };
    active.postMessage("keep", [port2]);
  } catch {
    // a private window, or an address without encryption
  }
}
