// Make the image of Python's memory that image.js starts from: the same bytes for the same files, on any day.
//
//   node editions/browser/make_image.mjs FOLDER '{"NAME": "of the environment"}' < what Python runs before the image is made
//
// FOLDER has Pyodide's files, image.js, and `files`, an archive. Writes about, header and memory into it.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const folder = path.resolve(process.argv[2]);
const env = JSON.parse(process.argv[3]);
const at = (name) => path.join(folder, name);
const BIGGEST = 1 << 24, SMALLEST = 32; // bytes, of the blocks that are emptied

// Nothing of this machine, and no time, gets into Python's memory.
const NOW = Date.UTC(1980, 0, 1);
let ticks = 0;
globalThis.Date = class extends Date {
  constructor(...given) { super(...(given.length ? given : [NOW])); }
  static now() { return NOW; }
};
performance.now = () => (ticks += 1 / 1024);
Math.random = () => 0.5;
for (const [name, value] of Object.entries({ crypto: { getRandomValues: (bytes) => bytes.fill(7) }, navigator: { userAgent: "a browser" } })) {
  Object.defineProperty(globalThis, name, { value, configurable: true });
}

/** Free what is kept of each library's file, and say where the library is. */
function libraries({ LDSO, HEAPU8, HEAPU32, _PyMem_RawFree }, { PLACE, TABLE, CONTENT }) {
  const order = Object.keys(LDSO.loadedLibsByName);
  const records = Object.entries(LDSO.loadedLibsByHandle).map(([record, { name }]) => ({ name, record: +record })).filter(({ record }) => record);
  return records.sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name)).map(({ name, record }) => {
    const words = HEAPU32.subarray(record >>> 2, (record >>> 2) + CONTENT + 2), [content, size] = words.subarray(CONTENT);
    HEAPU8.fill(0, content, content + size);
    if (content) _PyMem_RawFree(content);
    words.fill(0, CONTENT);
    return { name, record, place: words[PLACE], table: words[TABLE] };
  });
}

/** Fill with zeros what is free: old contents would be carried to every page. */
function empty({ HEAPU8, _PyMem_RawMalloc, _PyMem_RawFree }, memory) {
  const taken = [];
  memory.grow = () => { throw new RangeError("no more than there is"); };
  for (let size = BIGGEST; size >= SMALLEST; size /= 2) {
    for (let block = _PyMem_RawMalloc(size); block; block = _PyMem_RawMalloc(size)) {
      HEAPU8.fill(0, block, block + size);
      taken.push(block);
    }
  }
  taken.forEach((block) => _PyMem_RawFree(block));
  delete memory.grow;
}

globalThis.self = globalThis;
await import(pathToFileURL(at("pyodide.asm.js")));
globalThis.loadPyodide = (await import(pathToFileURL(at("pyodide.mjs")))).loadPyodide;
await import(pathToFileURL(at("image.js")));
const { image } = globalThis;
const archive = fs.readFileSync(at("files"));
const files = image.unpacked(archive.buffer.slice(archive.byteOffset, archive.byteOffset + archive.length));

// The same memory that a page makes, kept from the moment at which a page takes it over.
const make = globalThis._createPyodideModule;
let memory, begun;
globalThis._createPyodideModule = (settings) => {
  memory = settings.wasmMemory = new WebAssembly.Memory({ initial: 320, maximum: image.MOST });
  settings.onRuntimeInitialized = function () {
    begun = image.begun(this);
    if (!this.HEAP32[image.counting(this)]) this.wasmTable.grow(1); // where newer engines have one function more
  };
  return make(settings);
};
const options = { indexURL: folder, lockFileURL: at("lock.json"), env, _makeSnapshot: true };
const python = await image.python(options, new WebAssembly.Module(fs.readFileSync(at("pyodide.asm.wasm"))), files);
python.runPython(fs.readFileSync(0, "utf8"));
const module = python._module;
const about = { sum: image.sumOf(begun), libraries: libraries(module, image), table: module.wasmTable.length };
module.HEAP32[image.counting(module)] = 0;
empty(module, memory);
for (const name of Object.keys(python.loadedPackages)) delete python.loadedPackages[name]; // found again in a page
const nameOf = (value) => Object.getOwnPropertyNames(python).find((name) => python[name] === value); // one of Pyodide's functions
const snapshot = python.makeMemorySnapshot({ serializer: nameOf });
const start = snapshot.length - module.HEAPU8.length;
image.exchange(snapshot.subarray(start), begun);
fs.writeFileSync(at("about"), JSON.stringify(about));
fs.writeFileSync(at("header"), snapshot.subarray(0, start));
fs.writeFileSync(at("memory"), snapshot.subarray(start));
process.exit(0);
