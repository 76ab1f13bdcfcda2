// One question at a time to Python: its buttons wait meanwhile, and what runs too long is ended.
import { Python } from "./python.js";

const SECONDS = 30; // what a question may take before it is ended

/** `most`: the points that a verdict can give; `subject`: what runs, "Your code"; `say(text)` is the line below it;
 * `buttons` ask, `stop` ends; `idle`: it says how Python is while nothing runs, too; `note` comes after what ended. */
export function asker({ most, subject, say, buttons, stop, idle = false, note = "" }) {
  let python = null;
  let doing = null; // {now, then}: what is said while it runs, and after what is said while Python comes
  let clock = 0;

  function told(state, text) {
    document.documentElement.dataset.python = state;
    if (state === "failed") say(`Python stopped: ${text} Reload the page.${note}`);
    else if (doing) say(state === "ready" ? doing.now : `${text} ${doing.then}`.trim());
    else if (idle) say(state === "ready" ? "Ready." : text);
    if (state !== "ready" || !doing) return;
    clearTimeout(clock);
    clock = setTimeout(() => end(`${subject} ran longer than ${SECONDS} s and was stopped. Look for a loop that never ends.`), SECONDS * 1000);
  }

  const begin = () => { python ??= new Python(told, most); };
  const end = (text) => { if (doing) python.stop(text); };

  function busy(now) {
    doing = now;
    for (const one of buttons) one.disabled = now !== null;
    stop.hidden = now === null;
  }

  /** Run `act(ask)`, unless something runs; `failed(text)` tells why it came to nothing. */
  async function during(words, act, failed = say) {
    if (doing) return;
    busy(words);
    begin();
    told(python.ready ? "ready" : "loading", "Python is on its way …");
    try {
      await act(async (request) => {
        const verdict = await python.ask(request);
        say("");
        return verdict;
      });
    } catch (error) {
      say("");
      failed(error.message);
    } finally {
      clearTimeout(clock);
      busy(null);
    }
  }

  stop.addEventListener("click", () => end(`Stopped.${note}`));
  return { begin, end, during };
}
