// What comes out of the wall is a stranger's text: read here, within bounds, before anything uses it.

const MOST = 1_000_000; // characters of one message
const BOUNDS = { card: 300_000, text: 100_000, mistake: 200, printed: 30_000 }; // characters
const KEY = /^[0-9a-f]{12}$/; // of an answer without a name

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value, most) => typeof value === "string" && value.length <= most;

function parsed(text) {
  try {
    const found = isText(text, MOST) ? JSON.parse(text) : null;
    return isRecord(found) ? found : {};
  } catch {
    return {};
  }
}

/** A verdict with exactly the fields of `sdpa_helpers.course.page_shell.Verdict` that a page shows; null for anything else. */
function verdictOf(text, most) {
  const found = parsed(text);
  const { card, mistake, points, printed } = found, answer = isText(found.answer, 12) && KEY.test(found.answer) ? found.answer : "";
  const good = Object.entries(BOUNDS).every(([name, bound]) => isText(found[name], bound));
  return good && Number.isFinite(points) && points >= 0 && points <= most
    ? { card, text: found.text, mistake, points, printed, answer }
    : null;
}

/** {ready: true}, {failed: text} or {id, verdict}; null for anything else. most: the points that there are. */
export function said(message, most) {
  const { state, text, id, verdict } = parsed(message);
  if (state === "ready") return { ready: true };
  if (state === "failed") return isText(text, 500) ? { failed: text } : null;
  const read = Number.isInteger(id) ? verdictOf(verdict, most) : null;
  return read && { id, verdict: read };
}
