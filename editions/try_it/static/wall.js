// The wall around a learner's code: a frame of an origin that nothing else has, without storage, caches or network. In it
// a worker runs Python; one wire leads to it, and only strings come back over that.
import { FILES } from "./files.js";

const POLICY = `default-src 'none'; connect-src 'none'; script-src 'wasm-unsafe-eval' '${FILES["frame.js"].sum}'; worker-src blob:`;
const decoded = (bytes) => new TextDecoder().decode(bytes);

export class Wall {
  #frame = document.createElement("iframe");
  #wire;
  #ofFrame;

  /** frame: the bytes of frame.js; parts: those of the worker's script; hear(text) gets each string that comes back,
   * or null where something else did; broke() is called once where an error ends what runs. Bytes may be promised. */
  constructor(frame, parts, hear, broke) {
    const { port1, port2 } = new MessageChannel();
    this.#wire = port1;
    port1.onmessage = ({ data }) => hear(typeof data === "string" ? data : null);
    port1.onmessageerror = () => hear(null);
    this.#ofFrame = ({ source, data }) => {
      if (source && source === this.#frame.contentWindow) data === "error" ? broke() : hear(null);
    };
    addEventListener("message", this.#ofFrame);
    this.#frame.setAttribute("sandbox", "allow-scripts");
    this.#frame.hidden = true;
    this.#frame.title = "Python";
    Promise.all([frame, ...parts]).then(([script, ...code]) => this.#open(decoded(script), code, port2), () => {});
  }

  #open(script, code, port) {
    if (!this.#wire) return; // closed before it was open
    this.#frame.srcdoc =
      `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><script>${script}</script>`;
    const start = () => this.#frame.contentWindow.postMessage(code, "*", [port]);
    this.#frame.addEventListener("load", start, { once: true });
    document.body.append(this.#frame);
  }

  /** What goes in is copied. */
  send(what) {
    this.#wire?.postMessage(what);
  }

  /** End all that runs inside; nothing is heard of it any more. */
  close() {
    removeEventListener("message", this.#ofFrame);
    this.#wire?.close();
    this.#wire = null;
    this.#frame.remove();
  }
}
