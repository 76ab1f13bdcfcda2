// Python's files: fetched by the page, each taken only with the sha256 that it had when the site was built.
import { FILES } from "./files.js";

const CODE = ["pyodide.asm.js.packed", "pyodide.js", "image.js", "worker.js"];
const MEGA = 1e6;

async function bytesOf(name) {
  const { address, sum } = FILES[name];
  try {
    const response = await fetch(new URL(address, import.meta.url), { integrity: sum });
    if (response.ok) return await response.arrayBuffer();
  } catch {
    // Said below: the browser does not tell a lost network from a wrong sum.
  }
  throw new Error(`${name} could not be loaded, or is not the file that this page was built with.`);
}

/** The script in a file of code. */
const scriptIn = (name) => (bytes) => (name.endsWith(".packed")
  ? new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer() : bytes);

/** {frame, code, files: [[name, bytes]…]}: all promised; came(text) says how far they are. */
export function runtime(came) {
  const names = Object.keys(FILES);
  const all = names.reduce((sum, name) => sum + FILES[name].bytes, 0);
  let here = 0;
  const coming = new Map(names.map((name) => [name, bytesOf(name)]));
  for (const [name, bytes] of coming) {
    bytes.then(() => {
      here += FILES[name].bytes;
      const part = `${(here / MEGA).toFixed(1)} of ${(all / MEGA).toFixed(1)} MB`;
      came(here < all ? `Python is on its way: ${part} …` : "Python is here and starts …");
    }, () => {});
  }
  const frame = coming.get("frame.js");
  const code = CODE.map((name) => coming.get(name).then(scriptIn(name)));
  const files = [...coming].filter(([name]) => !CODE.includes(name) && name !== "frame.js");
  return { frame, code, files };
}
