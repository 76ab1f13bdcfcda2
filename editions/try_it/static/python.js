// Python behind its wall: asked by the page, stopped by closing the wall, ready again in a new one.
import { runtime } from "./runtime.js";
import { said } from "./said.js";
import { Wall } from "./wall.js";

const FOREIGN = "Your code sent this page a message of its own. Python was ended for it and starts anew; your answer is kept.";

export class Python {
  #wall = null;
  #waiting = null;
  #asked = 0;
  #most;
  #tell;
  #runtime;
  ready = false;

  /** tell(state, text): "loading", "ready" or "failed". most: the points that a verdict can give. */
  constructor(tell, most) {
    this.#tell = tell;
    this.#most = most;
    this.#load();
  }

  #load() {
    this.#runtime = runtime((text) => { if (this.#wall && !this.ready) this.#tell("loading", text); });
    this.#start("Python is on its way …");
  }

  #start(why) {
    const { frame, code, files } = this.#runtime;
    this.ready = false;
    const isOurs = () => wall === this.#wall;
    const broke = () => { if (isOurs() && !this.ready) this.#failed("its worker did not start."); };
    const wall = new Wall(frame, code, (text) => { if (isOurs()) this.#heard(text); }, broke);
    this.#wall = wall;
    setTimeout(() => { if (isOurs() && !this.ready) this.#tell("loading", why); }); // after what was refused
    for (const [name, bytes] of files) bytes.then((those) => wall.send({ name, bytes: those }), () => {});
    const all = [frame, ...code, ...files.map(([, bytes]) => bytes)];
    Promise.all(all).catch((error) => { if (isOurs()) this.#failed(error.message); });
  }

  #heard(text) {
    const heard = said(text, this.#most);
    if (heard?.ready && !this.ready) {
      this.ready = true;
      this.#tell("ready", "");
    } else if (heard?.failed !== undefined && !this.ready) {
      this.#failed(heard.failed);
    } else if (heard?.failed !== undefined) {
      this.stop(`Python stopped and starts anew; your answer is kept. It said: ${heard.failed}`);
    } else if (this.ready && this.#waiting && heard?.id === this.#asked) {
      this.#settle().resolve(heard.verdict);
    } else {
      this.stop(FOREIGN);
    }
  }

  #settle() {
    const waiting = this.#waiting;
    this.#waiting = null;
    return waiting;
  }

  #failed(text) {
    this.#wall.close();
    this.#wall = null;
    this.ready = false;
    this.#tell("failed", text);
    this.#settle()?.reject(new Error(text));
  }

  /** The verdict on one request, as `said.js` reads it. */
  ask(request) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (!this.#wall) this.#load(); // it failed before: try once more
      this.#wall?.send({ id: ++this.#asked, request: JSON.stringify(request) });
    });
  }

  /** End what runs and begin anew; the request that waits is refused with this text. */
  stop(text) {
    this.#wall?.close();
    const waiting = this.#settle();
    waiting?.reject(new Error(text));
    this.#start(waiting ? "Python starts anew …" : text);
  }
}
