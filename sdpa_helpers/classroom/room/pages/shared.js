// What the three pages share: elements, asking every other second, and the question that is open.

/** An element with a class and children; text is text, never markup. */
export function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children.filter(child => child !== null && child !== ""));
  return element;
}

/** An element with markup that the course itself has written. */
export function ours(tag, className, markup) {
  const element = make(tag, className);
  element.innerHTML = markup;
  return element;
}

/** Ask for `address` now and every other second; `show` is called when the answer is another. Returns what asks at once. */
export function follow(address, headers, show, refused = () => {}) {
  let last = null;
  const away = make("p", "away", "The room doesn't answer. This page goes on by itself.");
  const ask = async () => {
    try {
      const reply = await fetch(address, { headers: headers() });
      away.remove();
      if (!reply.ok) return refused(reply.status);
      const text = await reply.text();
      if (text !== last) show(JSON.parse(last = text));
    } catch {
      document.body.append(away);
    }
  };
  const again = async () => { if (!document.hidden) await ask(); setTimeout(again, 2000); };
  again();
  return ask;
}

/** Post JSON; returns the reply, or null while the room is away. */
export const post = (address, data, headers = {}) =>
  fetch(address, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(data) })
    .catch(() => null);

export const STAGES = {
  first: "Vote: what do you expect?", discuss: "Talk to your neighbour", second: "Vote again", reveal: "What was measured",
};

/** A bar of parts: [[class, share], …]. */
export function bar(parts) {
  const element = make("div", "bar");
  for (const [name, share] of parts) {
    const part = make("i", name);
    part.style.width = `${100 * share}%`;
    element.append(part);
  }
  element.setAttribute("aria-hidden", "true");
  return element;
}

/** The open question. `option(number, element)` may make buttons of the answers. */
export function poll(asked, stage, option = element => element) {
  const all = [0, 1].map(round => Math.max(asked.answered[round], 1));
  // Said of the right answer, and of the wrong one that most chose: all four would fill the projector.
  const votes = asked.second.some(Boolean) ? asked.second : asked.first;
  const wrong = votes.map((count, number) => (number === asked.right ? -1 : count));
  const told = new Set(asked.because.length ? [asked.right, wrong.indexOf(Math.max(...wrong))] : []);
  const answers = asked.options.map((text, number) => {
    const element = make("div", asked.right === number ? "option right" : "option", ours("div", "", `${"ABCD"[number]} · ${text}`));
    for (const [round, name, kind] of [[0, "before", "is-tried"], [1, "after", "is-second"]]) {
      const chosen = [asked.first, asked.second][round];
      if (!chosen.length || (round && !asked.answered[1])) continue;
      element.append(make("div", "votes", name, bar([[kind, chosen[number] / all[round]]]), `${chosen[number]}`));
    }
    if (stage === "reveal" && told.has(number)) element.append(ours("div", "because", asked.because[number]));
    return make("li", "", option(element, number));
  });
  const [first, second] = asked.answered;
  const counts = second ? `${first} votes before, ${second} after` : `${first} ${first === 1 ? "vote" : "votes"}`;
  return make("div", "poll", make("p", "stage", STAGES[stage]), ours("h2", "", asked.text), 
    stage === "reveal" && asked.measured ? make("p", "measured", `Measured: ${asked.measured}`) : null, make("ol", "", ...answers), make("p", "soft", counts));
}
