// What a learner wrote and earned, in this browser: {version, answers: {name: text}, points: {name: number}, attempts}.
// attempts: a line per check, with the fields of sdpa_helpers.course.attempts.Attempt; never code.

const KEY = "sdpa-try";
const VERSION = 1;
/** Letters of one answer that are kept. */
export const MOST = 50_000;
const MOST_ATTEMPTS = 500;
const PLAIN = /^[A-Za-z0-9_.-]{1,80}$/;
let unsaved = null; // where the browser keeps nothing, the page does until it is left

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function only(kept, good) {
  const found = isRecord(kept) ? Object.entries(kept).filter(([, value]) => good(value)) : [];
  return Object.assign(Object.create(null), Object.fromEntries(found));
}

const isAttempt = (line) =>
  isRecord(line) && typeof line.exercise === "string" && [line.time, line.points, line.max, line.tries].every(Number.isFinite);

/** What is kept; empty where nothing is, or what no page of ours has written. */
export function load() {
  if (unsaved) return unsaved;
  let kept;
  try {
    kept = JSON.parse(localStorage.getItem(KEY));
  } catch {
    kept = null;
  }
  const ours = isRecord(kept) && kept.version === VERSION ? kept : {};
  return {
    answers: only(ours.answers, (text) => typeof text === "string" && text.length <= MOST),
    points: only(ours.points, (points) => Number.isFinite(points) && points >= 0 && points < 1e6),
    attempts: Array.isArray(ours.attempts) ? ours.attempts.filter(isAttempt).slice(-MOST_ATTEMPTS) : [],
  };
}

/** Change what is kept, as another tab may have changed it; returns whether the browser keeps it. */
export function change(edit) {
  const kept = load();
  edit(kept);
  try {
    localStorage.setItem(KEY, JSON.stringify({ version: VERSION, ...kept }));
    unsaved = null;
    return true;
  } catch {
    unsaved = kept;
    return false;
  }
}

/** Keep [name, text] pairs, all at once: each writing costs as much as all that is kept. */
export const keepAnswers = (pairs) =>
  change((kept) => { for (const [name, text] of pairs) kept.answers[name] = text.slice(0, MOST); });
export const keepAnswer = (name, text) => keepAnswers([[name, text]]);
export const forgetAnswer = (name) => change((kept) => { delete kept.answers[name]; });
export const keepPoints = (name, points) =>
  change((kept) => { kept.points[name] = Math.max(points, kept.points[name] ?? 0); });

/** Keep a line on a check; `points`, `max`, the name of the mistake or "", and the key of an answer without a name or "". */
export const keepAttempt = (exercise, points, max, mistake, answer) =>
  change(({ attempts }) => {
    const time = Math.round(Date.now() / 100) / 10, last = attempts.at(-1);
    const minutes = last && { minutes: Math.round(Math.max(time - last.time, 0) / 6) / 10 };
    const tries = 1 + (attempts.findLast((line) => line.exercise === exercise)?.tries ?? 0);
    attempts.push({ time, exercise, points, max, mistakes: PLAIN.test(mistake) ? [mistake] : [], tries, ...minutes, ...(answer && { answer }) });
  });

/** Call `listener` when another page may have changed what is kept. A page that slept is told nothing: it looks as it wakes. */
export function onOthers(listener) {
  addEventListener("storage", ({ key }) => (key === KEY || key === null) && listener());
  addEventListener("pageshow", listener);
  addEventListener("focus", listener);
}

/** "35 points so far", or nothing. */
export function total() {
  const sum = Object.values(load().points).reduce((a, b) => a + b, 0);
  return sum ? `${+sum.toFixed(2)} points so far` : "";
}
