// Python in a worker: asked by the page, stopped by ending the worker, ready again at once.

export class Python {
  #worker = null;
  #waiting = null;
  #tell;
  ready = false;

  /** tell(state, text): "loading", "ready" or "failed". */
  constructor(tell) {
    this.#tell = tell;
    this.#start();
  }

  #start() {
    this.ready = false;
    this.#worker = new Worker("worker.js", { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#heard(data);
    this.#worker.onerror = (event) => this.#failed(event.message || "the worker stopped");
  }

  #heard({ state, text, reply }) {
    if (reply !== undefined) {
      const waiting = this.#waiting;
      this.#waiting = null;
      waiting?.resolve(JSON.parse(reply));
    } else if (state === "failed") {
      this.#failed(text);
    } else {
      this.ready = state === "ready";
      this.#tell(state, text);
    }
  }

  #failed(text) {
    this.#tell("failed", text);
    this.#waiting?.reject(new Error(text));
    this.#waiting = null;
  }

  /** The reply to one request, an object of `sdpa_helpers.lessons.in_page.Verdict`. */
  ask(request) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(JSON.stringify(request));
    });
  }

  /** End what runs and begin anew; the request that waits is refused with this text. */
  stop(text) {
    this.#worker.terminate();
    this.#waiting?.reject(new Error(text));
    this.#waiting = null;
    this.#start();
  }
}
