// The instructor's room, where `sdpa room --site` serves these pages: whoever has opened its own page has a place there.

const KEY = "sdpa-room";

function place() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // this browser keeps nothing
  }
}

/** Send a line of the log; nothing waits for it, and a room that is away is none. Gives what the instructor tells of answers, or "". */
export async function tell(line) {
  const who = place();
  if (!who || !line) return "";
  const headers = { "Content-Type": "application/json" }, signal = AbortSignal.timeout(2000);
  const reply = await fetch("/line", { method: "POST", headers, body: JSON.stringify({ who, line }), signal }).catch(() => null);
  return reply?.status === 200 ? (await reply.json().catch(() => ({}))).names ?? "" : "";
}

/** Who one is in the room: {name, color, page}, or null where there is none. */
export async function here() {
  const who = place(), signal = AbortSignal.timeout(2000);
  const reply = who && await fetch("/here.json", { headers: { "X-Room-Who": who }, signal }).catch(() => null);
  const found = reply?.ok ? await reply.json().catch(() => null) : null;
  return found && { name: found.name, color: found.color, page: "/" };
}

/** Send what kernels in this browser log, and give them what comes back, for their next check. */
export function tellForKernels() {
  const attempts = new BroadcastChannel("sdpa-attempts"), told = new BroadcastChannel("sdpa-told");
  attempts.addEventListener("message", async ({ data }) => {
    const names = await tell(JSON.parse(data));
    if (names) told.postMessage(names);
  });
}
