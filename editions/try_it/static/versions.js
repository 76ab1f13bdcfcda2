// The earlier versions of an answer: to look at, and to put back.
import { MOST, lasts, onNote, versionsOf } from "./journal.js";

const CLOCK = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const DAY = new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric", month: "short" });
const ABOUT = `This browser keeps the last ${MOST} versions: what you checked, and what stood here before it was replaced.`;
const PASSING = "This browser keeps earlier versions only until you leave this page: download your notebook before that.";

const dayOf = (at) => (new Date(at).toDateString() === new Date().toDateString() ? "Today" : DAY.format(at));

function made(tag, words = "", more = {}) {
  return Object.assign(document.createElement(tag), { textContent: words, ...more });
}

/** Show them in the `<details>` `place`; `read()` is the text as it is now, `restore(version)` puts one back. */
export function listVersions({ place, name, read, restore }) {
  const box = made("div");
  place.append(box);

  async function draw() {
    if (!place.open) return;
    const [versions, lasting] = await Promise.all([versionsOf(name), lasts()]);
    const list = made("ol");
    list.append(...versions.map(row));
    box.replaceChildren(made("p", lasting ? ABOUT : PASSING, { className: "quiet small" }), versions.length ? list : made("p", "There is none yet."));
  }

  function row(version) {
    const lines = version.text.trimEnd().split("\n").length;
    const summary = made("summary");
    const time = made("time", `${dayOf(version.at)}, ${CLOCK.format(version.at)}`, { dateTime: new Date(version.at).toISOString() });
    summary.append(time, made("span", ` ${version.why} · ${lines} ${lines === 1 ? "line" : "lines"}`, { className: "quiet" }));
    const text = made("pre", version.text, { tabIndex: 0 });
    const back = made("button", "Put this back", { type: "button" });
    back.addEventListener("click", () => restore(version));
    const same = version.text === read();
    const one = made("details");
    one.append(summary, text, same ? made("p", "This is your answer as it is now.", { className: "quiet small" }) : back);
    const item = made("li");
    item.append(one);
    return item;
  }

  place.addEventListener("toggle", draw);
  onNote(draw);
}
