// The course and how far the learner is, from the browser's own storage: there is no server. The same class as the
// desk's own course.js, which the other modules use, with another place to read from.

import { attachLoop, footer } from "./loop.js";
import { here, tellForKernels } from "./room.js";

const FOLDERS = ["notebooks", "exercises"];
const KEPT = ".sdpa"; // where the kernel keeps points and predictions: SDPA_HOME in kernel.py
const PUT_ASIDE = "answers-put-aside.md";
const MOST_OPTIONS = 4;

/** The course and how far the learner is. `onChange(listener)` tells of new numbers; before the first ones `state` is null. */
export class Course {
  constructor({ coreutils }, settings, contents) {
    this.state = null;
    this.isServed = coreutils.PageConfig.getOption("sdpaCourse") === "true";
    this.keptIn = PUT_ASIDE;
    this.contents = contents;
    this.start = null; // what a newcomer has: desk.json
    this.address = coreutils.URLExt.join(settings.baseUrl, "desk.json");
    this.room = null;
    this.listeners = [];
    this.timer = null;
  }

  /** Read what the kernel kept. What cannot be read is as if nothing had been done. */
  async load() {
    this.start ??= await fetch(this.address).then(answer => answer.json());
    const [points, predicted] = await Promise.all([this.kept("progress.json"), this.kept("predictions.json")]);
    this.room ??= await here();
    const state = await progressOf(this.start, points, predicted, ({ lesson }) => this.ended(lesson), this.room);
    const changed = JSON.stringify(state) !== JSON.stringify(this.state);
    this.state = state;
    if (changed) this.listeners.forEach(listener => listener());
  }

  async kept(name) {
    const file = await this.contents.get(`${KEPT}/${name}`, { content: true }).catch(() => null);
    const text = file?.format === "base64" ? atob(file.content) : file?.content; // what the kernel wrote comes as bytes
    const found = typeof text === "string" ? parsed(text) : text;
    return found && typeof found === "object" ? found : {};
  }

  /** Whether the last code cell of a lesson, and of its short, has run, as it was saved; null for a short that isn't there. */
  async ended(path) {
    const file = await this.contents.get(path, { content: true }).catch(() => null);
    const cells = file?.content?.cells ?? [], short = cells.filter(cell => cell.metadata?.tags?.includes("short"));
    return { short: cells.length && !short.length ? null : lastHasRun(short), all: lastHasRun(cells) };
  }

  /** What a site without a server needs beside the desk. */
  attach(host) {
    attachLoop(host, this);
    tellForKernels();
  }

  more(host) { return footer(host); }

  /** Read again when the kernel has been quiet for a moment. */
  refreshSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), 600);
  }

  onChange(listener) { this.listeners.push(listener); }

  /** Whether a path leads to a notebook of the course. */
  owns(path) {
    const parts = path.split("/");
    return parts.length === 2 && FOLDERS.includes(parts[0]) && path.endsWith(".ipynb");
  }

  /** The lesson that a notebook belongs to, as its text or as its exercises. */
  lessonAt(path) {
    return this.state?.lessons.find(({ lesson, exercise }) => path === lesson || path === exercise);
  }

  /** Put an answer aside and get the stub: {source, kept}. */
  async reset(exercise, answer) {
    const source = this.start.stubs[exercise];
    if (source === undefined) throw new Error(`There is no exercise ${exercise}.`);
    if (answer.trim() === source.trim()) return { source, kept: null };
    const before = await this.contents.get(PUT_ASIDE, { content: true }).then(file => file.content).catch(() => "# Answers put aside\n");
    const content = `${before}\n## ${exercise} · ${new Date().toLocaleString()}\n\n${fenced(answer)}\n`;
    await this.contents.save(PUT_ASIDE, { type: "file", format: "text", content });
    return { source, kept: PUT_ASIDE };
  }
}

function lastHasRun(cells) {
  const code = cells.filter(cell => cell.cell_type === "code");
  return (code.at(-1)?.execution_count ?? null) !== null;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Longer than any fence in the answer itself. */
function fenced(text) {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(found => found.length)), fence = "`".repeat(longest + 1);
  return `${fence}python\n${text}\n${fence}`;
}

/** What desk/course.py says, from the same files. */
async function progressOf({ state, predictions }, points, predicted, ended, room = null) {
  const lessons = state.lessons.map(lesson => lessonWith(lesson, points, answersIn(predicted, lesson.name, predictions)));
  return { lessons, next: await nextOf(lessons, ended), room };
}

function lessonWith(lesson, points, answers) {
  const exercises = lesson.exercises.map(one => {
    const best = isPoints(points[one.name]) ? Math.min(points[one.name], one.max_points) : 0;
    return { ...one, points: best, done: best >= one.max_points };
  });
  return { ...lesson, exercises, answered: answers.length, points: exercises.reduce((sum, one) => sum + one.points, 0) };
}

const isPoints = value => typeof value === "number" && value >= 0;

/** The first answers to a lesson's predictions. Who only asked to be shown has not answered. */
function answersIn(predicted, lesson, names) {
  const answers = names[lesson].map(name => predicted[`${lesson}/${name}`]);
  return answers.filter(one => Array.isArray(one) && one[0] >= 0 && one[0] < MOST_OPTIONS && typeof one[1] === "boolean");
}

const isBegun = lesson => lesson.points > 0 || lesson.answered > 0;

/** Such as 00a: nothing in the course waits for it. */
const isDoor = lesson => /^\d\d[a-z]_/.test(lesson.name);

async function nextOf(lessons, ended) {
  const left = lessons.map(lesson => [lesson, lesson.exercises.find(one => !one.done)]);
  for (const [at, [lesson, open]] of left.entries()) {
    const { short, all } = await ended(lesson), later = lessons.slice(at + 1).some(isBegun);
    if (isDoor(lesson) || short || (short === false && later) || (lesson.exercises.length && !open)) continue;
    const elsewhere = short === null && (lesson.points > 0 || (!lesson.exercises.length && later));
    if (!elsewhere && !(short === null && all)) return { lesson: lesson.name, exercise: null };
    if (open) return { lesson: lesson.name, exercise: open.name };
  }
  const [first, one] = left.find(([, open]) => open) ?? [];
  return one ? { lesson: first.name, exercise: one.name } : null;
}
