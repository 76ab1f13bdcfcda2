// What a learner wrote and earned, in this browser: {version, answers: {name: text}, points: {name: number}}.

const KEY = "sdpa-try";
const VERSION = 1;
/** Letters of one answer that are kept. */
export const MOST = 50_000;
let unsaved = null; // where the browser keeps nothing, the page does until it is left

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function only(kept, good) {
  const found = isRecord(kept) ? Object.entries(kept).filter(([, value]) => good(value)) : [];
  return Object.assign(Object.create(null), Object.fromEntries(found));
}

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
