// The instructor's room, where `sdpa room --site` serves these pages: whoever has opened its own page has a place there.

const KEY = "sdpa-room";

/** Send a line of the log; nothing waits for it, and a room that is away is none. */
export function tell(line) {
  let who;
  try {
    who = localStorage.getItem(KEY);
  } catch {
    return; // this browser keeps nothing
  }
  if (!who || !line) return;
  const headers = { "Content-Type": "application/json" }, signal = AbortSignal.timeout(2000);
  fetch("/line", { method: "POST", headers, body: JSON.stringify({ who, line }), signal }).catch(() => {});
}
