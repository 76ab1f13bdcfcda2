// The end of the worker's script; before it stand Pyodide's own two files. Every file that Python asks for comes over the
// wire from the page, which has checked it: nothing here can connect to anything.
onmessage = ({ ports: [wire] }) => {
  onmessage = null;
  const HOME = "https://runtime.invalid/"; // no such place: names of files come after it
  const TYPES = { wasm: "application/wasm", json: "application/json" };
  const send = wire.postMessage.bind(wire);
  const say = (what) => send(JSON.stringify(what));
  const fail = (error) => say({ state: "failed", text: String(error?.message ?? error).trim().slice(-500) });
  const files = new Map();

  function later(name) {
    if (!files.has(name)) {
      const one = {};
      one.promise = new Promise((resolve) => { one.resolve = resolve; });
      files.set(name, one);
    }
    return files.get(name);
  }

  async function handedOver(address) {
    const name = new URL(address?.url ?? address).href.slice(HOME.length);
    const type = TYPES[name.split(".").pop()] ?? "application/octet-stream";
    return new Response(await later(name).promise, { headers: { "Content-Type": type } });
  }

  async function started() {
    const own = self.fetch;
    self.fetch = handedOver;
    const python = await self.loadPyodide({
      indexURL: HOME,
      lockFileURL: `${HOME}pyodide-lock-light.json`,
      packages: ["sdpa-helpers"],
    });
    self.fetch = own;
    files.clear();
    const reply = python.runPython("from sdpa_helpers.course.in_page import reply\nreply");
    say({ state: "ready" });
    return reply;
  }

  // An answer that ended the worker would leave the page waiting for nothing.
  delete self.DedicatedWorkerGlobalScope.prototype.close;
  delete self.close;
  const reply = started();
  reply.catch(fail);
  wire.onmessage = async ({ data }) => {
    if (data.name) {
      later(data.name).resolve(data.bytes);
      return;
    }
    const answer = await reply;
    try {
      say({ id: data.id, verdict: answer(data.request) });
    } catch (error) {
      fail(error);
    }
  };
};
