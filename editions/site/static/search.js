// The search page: what is found of each kind, kinds in this order. The index, in ../pagefind/, comes when it is asked.
const KINDS = new Map(Object.entries({
  lesson: "Lessons",
  exercise: "Exercises",
  mistake: "Mistakes",
  claim: "Claims of the ledger",
  page: "Other pages",
  teaching: "For those who teach",
}));
const FEW = 4;
const MANY = 40;
const PLACES = 3; // inside one page

const form = document.querySelector("#search");
const site = new URL("../", import.meta.url);
let engine;
let asked = 0;

function theEngine() {
  engine ??= Promise.all([import(new URL("pagefind/pagefind.js", site)), fetch(new URL("pagefind/about.json", site))]).then(
    async ([pagefind, about]) => {
      await pagefind.options({ baseUrl: site.pathname, excerptLength: 24 });
      return { pagefind, about: await about.json() };
    },
  );
  return engine;
}

function element(tag, about, ...inside) {
  const created = Object.assign(document.createElement(tag), about);
  created.append(...inside);
  return created;
}

// Pagefind escapes the page's text, and puts marks around what was found.
const excerpt = (found) => element("p", { className: "excerpt", innerHTML: found.excerpt });

function hit(found) {
  const title = element("a", { href: found.url, textContent: found.meta.title });
  const item = element("li", {}, title, element("span", { className: "note", textContent: found.meta.note ?? "" }));
  const inside = found.sub_results.filter((part) => part.url !== found.url && part.url.includes("#"));
  inside.sort((one, other) => other.locations.length - one.locations.length);
  if (!inside.length) item.append(excerpt(found));
  for (const part of inside.slice(0, PLACES)) {
    item.append(element("div", { className: "part" }, element("a", { href: part.url, textContent: part.title }), excerpt(part)));
  }
  return item;
}

// What has all words in its title comes before what only says them often. But the lesson that is about a word has most of
// the exercises that ask for it: another may say it as often, or name it in its title.
function inOrder(results, about, words) {
  const wanted = words.toLowerCase().split(/\s+/);
  const asking = results.filter(({ id }) => about[id][0] === "exercise");
  const sum = (some) => some.reduce((all, { score }) => all + score, 0), half = sum(asking) / 2;
  const isAbout = (lesson) => sum(asking.filter(({ id }) => about[id][2] === lesson)) > half;
  const worth = new Map(results.map(({ id, score }) => {
    const [kind, name, lesson] = about[id], title = name.toLowerCase().split(/[^\p{L}\p{N}_]+/u);
    if (kind === "lesson") return [id, isAbout(lesson) ? 1.5 * score : score];
    return [id, wanted.every((word) => title.includes(word)) ? 1000 + score : score];
  }));
  return [...results].sort((one, other) => worth.get(other.id) - worth.get(one.id));
}

// Where a word is nowhere Pagefind answers for its first letters, be it one: that is no answer. “tiling” is in “tiles”.
function holds(found, words) {
  const text = `${found.meta.title} ${found.content}`.toLowerCase();
  const beginnings = words.toLowerCase().split(/\s+/).map((word) => word.slice(0, Math.ceil(word.length * 0.6)));
  return beginnings.every((letters) => text.includes(letters.replace(/^(.{3,})i(?:ng?)?$/, "$1")));
}

async function groups(words, wanted) {
  const { pagefind, about } = await theEngine();
  const results = inOrder((await pagefind.search(words)).results, about, words);
  const among = wanted ? [wanted] : [...KINDS.keys()];
  const filled = among.map(async (kind) => {
    const those = results.filter((result) => about[result.id][0] === kind);
    const hits = await Promise.all(those.slice(0, wanted ? MANY : FEW).map((result) => result.data()));
    return { kind, count: those.length, hits };
  });
  const there = (await Promise.all(filled)).filter((group) => group.count);
  return there.some((group) => group.hits.some((found) => holds(found, words))) ? there : [];
}

function shown({ kind, count, hits }, words) {
  const section = element("section", {}, element("h2", { textContent: KINDS.get(kind) }), element("ul", {}, ...hits.map(hit)));
  section.dataset.kind = kind;
  if (count > hits.length && !form.kind.value) {
    const all = `?${new URLSearchParams({ q: words, kind })}`;
    section.append(element("a", { href: all, textContent: `All ${count}` }));
  }
  return section;
}

async function answer() {
  const turn = ++asked;
  const words = form.q.value.trim();
  const { value } = form.kind;
  history.replaceState(null, "", words ? `?${new URLSearchParams({ q: words, ...(value && { kind: value }) })}` : location.pathname);
  let found = [];
  let said = "";
  try {
    if (words) found = await groups(words, value);
    const count = found.reduce((sum, one) => sum + one.count, 0);
    if (words) said = count ? `${count} found` : `Nothing here holds all of “${words}”. Fewer words find more.`;
  } catch {
    said = "The index is missing: “make site” makes it. Or this browser has no WebAssembly.";
  }
  if (turn !== asked) return; // something newer was asked meanwhile
  document.querySelector("#results").replaceChildren(...found.map((one) => shown(one, words)));
  document.querySelector("#found").textContent = said;
}

let waiting;
function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(answer, 150);
}

const given = new URLSearchParams(location.search);
for (const [kind, name] of KINDS) form.kind.append(new Option(name, kind));
form.q.value = given.get("q") ?? "";
form.kind.value = KINDS.has(given.get("kind")) ? given.get("kind") : "";
form.hidden = false;
form.addEventListener("input", soon);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  answer();
});
form.q.focus();
answer();
