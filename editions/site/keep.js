// A service worker: the pages and Python for when there is no network. It keeps exactly the files that the build wrote
// into this list, and gives out none of them, whoever laid it into the browser's store, without the sha256 it had then.
const LIST = {}; // address from here → "sha256-…": written by the build
const STORE = "sdpa-try";
const TYPES = {
  css: "text/css", html: "text/html; charset=utf-8", ipynb: "application/json", js: "text/javascript", json: "application/json",
  svg: "image/svg+xml", wasm: "application/wasm",
};

const SUMS = new Map(Object.entries(LIST).map(([name, sum]) => [new URL(name, self.location).href, sum]));
const keyOf = (sum) => new URL(`kept/${encodeURIComponent(sum)}`, self.location).href;

/** The address under which a request stands in the list, or nothing. What has a version in its address is that one only. */
function listed(request) {
  const url = new URL(request.url);
  url.hash = "";
  const whole = url.href;
  url.search = "";
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  return [whole, url.href].find((address) => SUMS.has(address));
}

async function sumOf(bytes) {
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256-${btoa(String.fromCharCode(...sum))}`;
}

async function kept(address) {
  const found = await (await caches.open(STORE)).match(keyOf(SUMS.get(address)));
  const bytes = await found?.arrayBuffer();
  if (!bytes || (await sumOf(bytes)) !== SUMS.get(address)) return null;
  const type = TYPES[new URL(address).pathname.split(".").pop()] ?? "application/octet-stream";
  return new Response(bytes, { headers: { "Content-Type": type } });
}

async function answer(address, request) {
  if (address.includes("?")) return (await kept(address)) ?? fetch(request); // one version for ever
  try {
    return await fetch(request);
  } catch (error) {
    const response = await kept(address);
    if (response) return response;
    throw error;
  }
}

/** Fetch what is not there yet, drop what is not listed; whether all is there. */
async function keepAll() {
  const store = await caches.open(STORE);
  const keys = new Set([...SUMS.values()].map(keyOf));
  for (const request of await store.keys()) if (!keys.has(request.url)) await store.delete(request);
  for (const [address, sum] of SUMS) {
    if (await kept(address)) continue;
    const response = await fetch(address, { integrity: sum });
    if (!response.ok) return false;
    await store.put(keyOf(sum), response);
  }
  return true;
}

async function takeOver() {
  const old = (await caches.keys()).filter((name) => name.startsWith("sdpa-try-"));
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(takeOver()));
self.addEventListener("message", (event) => {
  event.waitUntil(keepAll().catch(() => false).then((all) => event.ports[0]?.postMessage(all)));
});
self.addEventListener("fetch", (event) => {
  const address = event.request.method === "GET" && listed(event.request);
  if (address) event.respondWith(answer(address, event.request));
});
