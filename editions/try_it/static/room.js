// The instructor's room, where `sdpa room --site` serves these pages: whoever has opened its own page has a place there.

const KEY = "sdpa-room", TOLD = "sdpa-told";

function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // this browser keeps nothing
  }
}
const place = () => kept(KEY);

/** What the instructor told of answers when a line was sent last: the text of a names.toml, or "". */
export const toldLast = () => kept(TOLD) ?? "";

/** Send a line of the log; nothing waits for it, and a room that is away is none. Gives what the instructor tells of answers, or "". */
export async function tell(line) {
  const who = place();
  if (!who || !line) return "";
  const headers = { "Content-Type": "application/json" }, signal = AbortSignal.timeout(2000);
  const reply = await fetch("/line", { method: "POST", headers, body: JSON.stringify({ who, line }), signal }).catch(() => null);
  const names = reply?.status === 200 ? (await reply.json().catch(() => ({}))).names ?? "" : "";
  try {
    if (names) localStorage.setItem(TOLD, names);
  } catch {
    // no place is left
  }
  return names;
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
