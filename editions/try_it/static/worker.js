// Python, NumPy and the course: loaded when the page opens, while the learner reads.
import { loadPyodide } from "../pyodide/pyodide.mjs";

const say = (state, text) => postMessage({ state, text });

async function started() {
  say("loading", "Python is on its way …");
  const python = await loadPyodide({
    indexURL: new URL("../pyodide/", import.meta.url).href,
    lockFileURL: new URL("../pyodide/pyodide-lock-light.json", import.meta.url).href,
    packages: ["sdpa-helpers"],
  });
  say("loading", "Python is here; the course loads …");
  const reply = python.runPython("from sdpa_helpers.lessons.in_page import reply\nreply");
  say("ready", "");
  return reply;
}

const reply = started();
reply.catch((error) => say("failed", String(error?.message ?? error).slice(-500)));

onmessage = async ({ data }) => {
  try {
    postMessage({ reply: (await reply)(data) });
  } catch (error) {
    say("failed", String(error?.message ?? error).slice(-500));
  }
};
