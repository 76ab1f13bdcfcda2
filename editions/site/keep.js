// A service worker: pages and Python for when there is no network. It keeps files that the build wrote into this list,
// and gives out none of them, whoever laid it into the browser's store, without the sha256 it had then.
const LIST = {}; // address from here → ["sha256-…", its part, bytes]: written by the build
const STORE = "sdpa-try";
const AT_ONCE = 6;
const AWAY = new URL("offline.html", self.location).href; // says which pages are kept, in the place of one that isn't
const TYPES = {
  css: "text/css", html: "text/html; charset=utf-8", ipynb: "application/json", js: "text/javascript", json: "application/json",
  png: "image/png", svg: "image/svg+xml", wasm: "application/wasm", woff2: "font/woff2",
};

const FILES = new Map(Object.entries(LIST).map(([name, [sum, part, bytes]]) => [new URL(name, self.location).href, { sum, part, bytes }]));
const keyOf = ({ sum }) => new URL(`kept/${encodeURIComponent(sum)}`, self.location).href;

/** The address under which a request stands in the list, or nothing. What has a version in its address is that one only. */
function listed(request) {
  const url = new URL(request.url);
  url.hash = "";
  const whole = url.href;
  url.search = "";
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  return [whole, url.href].find((address) => FILES.has(address));
}

async function sumOf(bytes) {
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256-${btoa(String.fromCharCode(...sum))}`;
}

async function kept(address) {
  const file = FILES.get(address);
  const found = await (await caches.open(STORE)).match(keyOf(file));
  const bytes = await found?.arrayBuffer();
  if (!bytes || (await sumOf(bytes)) !== file.sum) return null;
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
    return away(request, error);
  }
}

function away(request, error) {
  if (request.mode !== "navigate" || request.url.startsWith(AWAY)) throw error;
  return Response.redirect(`${AWAY}?${new URLSearchParams({ page: request.url })}`);
}

async function keepOne(store, address) {
  const file = FILES.get(address);
  if (await kept(address)) return;
  const response = await fetch(address, { integrity: file.sum });
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  await store.put(keyOf(file), response);
}

/** Fetch what of these parts is not there yet, and drop what is not listed; tell(bytes there, bytes of all) as it comes. */
async function keep(parts, tell) {
  const store = await caches.open(STORE);
  const keys = new Set([...FILES.values()].map(keyOf));
  for (const request of await store.keys()) if (!keys.has(request.url)) await store.delete(request);
  const waiting = [...FILES.keys()].filter((address) => parts === "all" || parts.includes(FILES.get(address).part));
  const all = waiting.reduce((sum, address) => sum + FILES.get(address).bytes, 0);
  let here = 0;
  const work = async () => {
    for (let address = waiting.pop(); address; address = waiting.pop()) {
      await keepOne(store, address);
      here += FILES.get(address).bytes;
      tell({ here, all });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** The parts of which every file is there. */
async function partsHere() {
  const there = new Set((await (await caches.open(STORE)).keys()).map(({ url }) => url));
  const lacking = new Set([...FILES.values()].filter((file) => !there.has(keyOf(file))).map(({ part }) => part));
  return [...new Set([...FILES.values()].map(({ part }) => part))].filter((part) => !lacking.has(part));
}

async function asked({ data, ports: [port] }) {
  const bytes = [...FILES.values()].reduce((sum, file) => sum + file.bytes, 0);
  const done = await keep(data, (far) => port.postMessage(far)).then(() => true, () => false);
  port.postMessage({ done, site: bytes, parts: await partsHere() });
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("message", (event) => event.waitUntil(asked(event)));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const address = request.method === "GET" && listed(request);
  if (address) event.respondWith(answer(address, request));
  else if (request.mode === "navigate") event.respondWith(fetch(request).catch((error) => away(request, error)));
});
