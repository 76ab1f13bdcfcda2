// What JupyterLite's kernel takes for Pyodide's loader: it starts Python from the image that lies beside this script, and
// from nothing where that does not fit (see editions/browser/image.js).
const PYODIDE = "../../pyodide/", VERSION = ""; // from here; of all that is loaded: written by the build

self.loadPyodide = async (options) => {
  const packed = (address) => fetch(address).then(({ body }) => body);
  const here = (name) => new URL(`${name}?v=${VERSION}`, options.indexURL).href; // no old one from the browser's cache
  const there = (name) => here(PYODIDE + name);
  self.importScripts(there("pyodide.asm.js"), there("pyodide.js"), there("image.js"));
  const { image } = self;
  const compiled = image.compiled(packed(there("pyodide.asm.wasm.packed")));
  const memory = image.opened(packed(here("kernel-memory.packed"))).catch(() => null);
  const laid = await image.opened(packed(here("kernel-files.packed")));
  const begin = async (from) => image.python({ ...options, indexURL: new URL(PYODIDE, options.indexURL).href, packages: [] }, await compiled, laid, from);
  const python = await begin(await memory).catch(() => begin(null));
  const loaded = python.loadedPackages; // by the names that packages give themselves: here by those of the lock file too
  for (const name of Object.keys(loaded)) loaded[name.toLowerCase().replaceAll("_", "-")] = loaded[name] = "default channel";
  python.runPython("import random, numpy; random.seed(); numpy.random.seed(); del random, numpy");
  return python;
};
