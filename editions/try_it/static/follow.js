// The answer in the editor, in step with what is kept: what is typed is kept at once, what another tab wrote shows here,
// and what is replaced goes into the journal first.
import { note } from "./journal.js";
import { MOST, forgetAnswer, keepAnswer, load, onOthers } from "./kept.js";

const REST = 60_000; // ms: who writes on after it gets a version of what stood there

/** Follow one answer: `read()` and `show(text)` are the editor's, `say(text)` a line below it, `kept(ok)` says what was not. */
export function follow({ name, first, read, show, say, kept }) {
  const stored = () => load().answers[name] ?? first;
  const isWork = (text) => text.trim() !== "" && text.trim() !== first.trim();
  let seen = stored(); // what the editor and the store agreed on
  let last = 0;

  async function keepVersion(text, why) {
    if (isWork(text)) await note(name, text, why);
  }

  function shown(text) {
    seen = text;
    show(text);
  }

  /** Show what is kept, if it is another text; returns whether it was. */
  function look() {
    const now = stored();
    if (now === seen) return false;
    shown(now);
    return true;
  }

  function typed() {
    const text = read();
    if (text === seen) return; // shown, not typed
    const now = stored();
    if (now !== seen) { // another tab wrote, and this one has not heard of it
      keepVersion(text, "written here before another tab's answer came");
      shown(now);
      say("Another tab changed this answer: that is what you see. What was here is in Earlier versions.");
      return;
    }
    const time = Date.now();
    if (text.length < seen.length / 2) keepVersion(seen, "before most of it was deleted");
    else if (time - last > REST) keepVersion(seen, "before you wrote on");
    last = time;
    write(text);
  }

  function write(text) {
    kept(text.trim() === first.trim() ? forgetAnswer(name) : keepAnswer(name, text));
    if (text.length > MOST) say(`Only the first ${MOST.toLocaleString("en")} letters of an answer are kept.`);
    seen = stored();
  }

  /** Put another text in the editor; what stood there is kept as a version. */
  async function replace(text, why) {
    await keepVersion(read(), why);
    write(text);
    show(text);
  }

  onOthers(() => look() && say("Changed in another tab, and here too."));
  return { typed, look, replace, keepVersion };
}
