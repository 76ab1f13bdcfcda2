// A service worker: Python's files are kept after the first visit, wheels by names that hold their version, the runtime in
// a store of its own version, which the build writes here; pages come from the network where there is one, else as they were.
const STORE = "sdpa-try-PYODIDE";

const isPython = (url) => url.pathname.includes("/pyodide/") && !url.pathname.endsWith(".json");

async function fromNetwork(request) {
  const store = await caches.open(STORE);
  try {
    const response = await fetch(request);
    if (response.ok) await store.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await store.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}

async function fromStore(request) {
  const kept = await (await caches.open(STORE)).match(request);
  return kept ?? fromNetwork(request);
}

self.addEventListener("install", () => self.skipWaiting());

async function takeOver() {
  const old = (await caches.keys()).filter((name) => name.startsWith("sdpa-try-") && name !== STORE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

self.addEventListener("activate", (event) => event.waitUntil(takeOver()));
self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== self.location.origin) return;
  event.respondWith(isPython(url) ? fromStore(event.request) : fromNetwork(event.request));
});
