// Python as it was once NumPy and the course were loaded: the build keeps an image of its memory, and a page starts from
// that. For a worker's script, after Pyodide's own two files, and for Node, which makes the image.
//
// Memory is not all that Python is. Files lie outside of it: they are laid before it starts. Functions of shared libraries
// stand in the runtime's table: the libraries are loaded again, each to the same places in memory and table, before the
// memory is laid over what they wrote. The rest of what JavaScript knows of Python, Pyodide puts in order itself.
self.image = (() => {
  const SITE = "/lib/python3.12/site-packages/";
  const PAGE = 65536; // bytes, of a WebAssembly memory
  const MOST = 65536; // pages
  const SAME = { env: { LANG: "C.UTF-8", PYTHONHASHSEED: "0" }, _sysExecutable: "./this.program" }; // in all browsers
  const BEGINS = 5 << 20; // bytes: all that is not zero before Python starts
  const LOADED = 8, PLACE = 3, TABLE = 5, CONTENT = 7; // of a library's record: a byte, and words

  /** A packed file, once it is here, as a response. */
  async function inflated(file, type = "application/octet-stream") {
    const body = new Response(await file).body.pipeThrough(new DecompressionStream("gzip"));
    return new Response(body, { headers: { "Content-Type": type } });
  }

  const compiled = (file) => WebAssembly.compileStreaming(inflated(file, "application/wasm"));
  const opened = async (file) => unpacked(await (await inflated(file)).arrayBuffer());

  /** What is in an archive: {name: its bytes}. Four bytes say how long the list is, then come the list and the files. */
  function unpacked(archive) {
    const end = 4 + new DataView(archive).getUint32(0, true);
    const listed = JSON.parse(new TextDecoder().decode(new Uint8Array(archive, 4, end - 4)));
    let at = end;
    return Object.fromEntries(listed.map(([name, size]) => {
      at += size;
      return [name, new Uint8Array(archive, at - size, size)];
    }));
  }

  /** The files of Python's packages: paths below site-packages → bytes, which are not copied. */
  function lay(FS, files) {
    const folders = new Set();
    for (const [name, bytes] of Object.entries(files)) {
      const path = SITE + name, folder = path.slice(0, path.lastIndexOf("/"));
      if (!folders.has(folder)) FS.mkdirTree(folder);
      folders.add(folder);
      FS.writeFile(path, bytes, { canOwn: true });
    }
  }

  /** Which word of memory holds the function by which Python counts arguments: newer engines have one, others do not. */
  const counting = (module) => (module.__PyRuntime + module.HEAP32[module.__PyEM_EMSCRIPTEN_COUNT_ARGS_OFFSET >>> 2]) >>> 2;

  /** What memory begins with, before Python starts: the same in all engines. */
  function begun(module) {
    const bytes = module.HEAPU8.slice(0, BEGINS);
    new Uint32Array(bytes.buffer)[counting(module)] = 0;
    return bytes;
  }

  /** A number that tells what is in memory from what else there could be. */
  function sumOf(bytes) {
    let sum = 0;
    for (const word of new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)) sum = (Math.imul(sum, 31) + word) | 0;
    return sum;
  }

  /** What differs of a memory from what it begins with; and of that, the memory again. */
  function exchange(memory, other) {
    for (let at = 0; at < other.length; at++) memory[at] ^= other[at];
  }

  function load(module, { name, record, place, table }, files) {
    const word = record >>> 2, fs = { findObject: () => true, readFile: () => files[name.slice(SITE.length)] };
    if (module.wasmTable.length > table) throw new Error(`${name} does not fit into the table`);
    module.wasmTable.grow(table - module.wasmTable.length);
    module.HEAPU8[record + LOADED] = 1; // "it has its places": else it would be given others
    module.HEAPU32.set([place, 0, table, 0, 0, 0], word + PLACE);
    return module.loadDynamicLibrary(name, { global: false, nodelete: false, loadAsync: true, fs }, {}, record);
  }

  async function restore(module, { memory, about }, files) {
    const { sum, libraries, table } = JSON.parse(new TextDecoder().decode(about));
    const before = begun(module), counter = module.HEAP32[counting(module)];
    if (sumOf(before) !== sum) throw new Error("Python's memory begins in another way here");
    exchange(memory, before);
    for (const one of libraries) await load(module, one, files);
    module.wasmTable.grow(table - module.wasmTable.length);
    module.HEAPU8.set(memory);
    module.HEAP32[counting(module)] = counter;
  }

  /** Python's list of what is loaded is Pyodide's own again: else nothing that is there already would be known. */
  function knowLoaded(api) {
    const known = api.getExpectedKeys;
    api.getExpectedKeys = () => [...known().slice(0, -1), api.public_api.loadedPackages];
  }

  /** Start Python: its compiled code, these files, and an image, where there is one. `options` are told loadPyodide. */
  async function python(options, code, files, from = null) {
    const make = self._createPyodideModule, own = self.fetch;
    let api = null;
    self.fetch = async (address, ...more) => (`${address?.url ?? address}`.endsWith(".wasm") ? new Response("") : own(address, ...more));
    self._createPyodideModule = async (settings) => {
      api = settings.API;
      settings.instantiateWasm = (imports, receive) => {
        WebAssembly.instantiate(code, imports).then((instance) => receive(instance, code));
        return {};
      };
      settings.preRun.push(({ FS }) => lay(FS, files));
      if (from) settings.wasmMemory = new WebAssembly.Memory({ initial: from.memory.length / PAGE, maximum: MOST });
      const module = await make(settings);
      if (from) await restore(module, from, files).then(() => knowLoaded(api));
      return module;
    };
    const image = from && { _loadSnapshot: from.header.slice(), _snapshotDeserializer: (name) => api.public_api[name] };
    try {
      return await self.loadPyodide({ ...options, ...SAME, ...image, env: { ...options.env, ...SAME.env } });
    } finally {
      Object.assign(self, { _createPyodideModule: make, fetch: own });
    }
  }

  return { compiled, opened, unpacked, python, begun, counting, sumOf, exchange, MOST, PLACE, TABLE, CONTENT };
})();
