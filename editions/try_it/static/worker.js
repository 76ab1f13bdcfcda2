// The end of the worker's script; before it stand Pyodide's own two files and image.js. Every file that Python asks for comes over the
// wire from the page, which has checked it: nothing here can connect to anything.
onmessage = ({ ports: [wire] }) => {
  onmessage = null;
  const HOME = "https://runtime.invalid/"; // no such place: names of files come after it
  const AFTERWARDS = `
import random, numpy
random.seed(), numpy.random.seed()  # not as they stood when the image was made
del random, numpy
from sdpa_helpers.course.in_page import reply
reply`;
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

  const packed = (name) => later(`${name}.packed`).promise;

  async function started() {
    const own = self.fetch;
    const compiled = self.image.compiled(packed("pyodide.asm.wasm"));
    const memory = self.image.opened(packed("light-memory")).catch(() => null);
    const laid = await self.image.opened(packed("light-files"));
    self.fetch = async (address) => {
      const name = new URL(address).href.slice(HOME.length);
      return new Response(laid[name] ?? (await later(name).promise));
    };
    const begin = async (from) => {
      const python = await self.image.python({ indexURL: HOME, lockFileURL: `${HOME}lock.json` }, await compiled, laid, from);
      return python.runPython(AFTERWARDS);
    };
    // Where the image does not fit, Python starts from nothing, as it did when the image was made.
    const reply = await begin(await memory).catch(() => begin(null));
    self.fetch = own;
    files.clear();
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
