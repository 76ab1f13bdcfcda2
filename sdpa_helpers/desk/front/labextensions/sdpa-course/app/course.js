// What the server says about the course and how far the learner is.

const FOLDERS = ["notebooks", "exercises", "solutions"];

/** The course and how far the learner is. `onChange(listener)` tells of new numbers; before the first ones `state` is null. */
export class Course {
  constructor({ coreutils, services }, settings) {
    this.state = null;
    this.settings = settings;
    this.isServed = coreutils.PageConfig.getOption("sdpaCourse") === "true"; // said by the server's own extension
    this.keptIn = "work/answers-put-aside.md";
    this.address = name => coreutils.URLExt.join(settings.baseUrl, "sdpa", name);
    this.request = services.ServerConnection.makeRequest;
    this.listeners = [];
    this.timer = null;
  }

  /** Ask the server. While it does not answer, what was last known stays. */
  async load() {
    const answer = await this.request(this.address("course"), {}, this.settings).catch(() => null);
    if (!answer?.ok) return;
    const state = await answer.json(), changed = JSON.stringify(state) !== JSON.stringify(this.state);
    this.state = state;
    if (changed) this.listeners.forEach(listener => listener());
  }

  /** Ask again when the kernel has been quiet for a moment. */
  refreshSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), 600);
  }

  onChange(listener) { this.listeners.push(listener); }

  /** Whether a path leads to a notebook of the course: its originals and the learner's working copies. */
  owns(path) {
    const parts = path.split("/");
    if (parts[0] === "work") parts.shift();
    return parts.length === 2 && FOLDERS.includes(parts[0]) && path.endsWith(".ipynb");
  }

  /** The lesson that a notebook belongs to, as its text or as its exercises. */
  lessonAt(path) {
    return this.state?.lessons.find(({ lesson, exercise }) => path === lesson || path === exercise);
  }

  /** Put an answer aside and get the stub: {source, kept}. Throws with the server's words. */
  async reset(exercise, answer) {
    const body = JSON.stringify({ exercise, answer });
    const reply = await this.request(this.address("reset"), { method: "POST", body }, this.settings);
    const data = await reply.json().catch(() => ({}));
    if (!reply.ok) throw new Error(data.message ?? reply.statusText);
    return data;
  }
}
