// How notebooks open: a lesson with its exercises behind it or, on a wide screen, beside it, and the first code cell
// ready to run.

const ROOM_FOR_TWO = 1440; // px: an article needs 720; with less the exercises open as a tab behind their lesson

/** A link from one notebook of the course to another opens the pair, too, so the exercises don't cover their lesson. */
export function followLinks(host, course, panel) {
  if (!host.labShell) return;
  panel.content.node.addEventListener("click", event => {
    const path = pathOf(event.target.closest?.("a[href]"), host.packages.coreutils);
    const lesson = path && course.lessonAt(path);
    if (!lesson || host.labShell.mode === "single-document" || !isPlain(event)) return;
    event.preventDefault();
    event.stopPropagation();
    openPair(host, course, lesson).then(() => {
      const asked = host.tracker.find(one => one.context.path === path);
      if (asked) host.app.shell.activateById(asked.id);
    });
  }, true);
}

export const isPlain = event => !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);

/** The notebook that a link leads to; null for other links, and for those to a place within one. */
function pathOf(link, { PageConfig, URLExt }) {
  const files = new URL(URLExt.join(PageConfig.getBaseUrl(), "files/"), location.href).href;
  if (!link?.href.startsWith(files) || link.hash) return null;
  return decodeURIComponent(link.href.slice(files.length).split("?")[0]);
}

/** The host scrolls to a heading that a link names. The keys go there, too: to the first code cell after it. */
export function followHeadings({ content, context }, { PageConfig, URLExt }) {
  content.node.addEventListener("click", event => {
    const link = event.target.closest?.("a[href]"), name = link && isPlain(event) && headingOf(link, context.path, { PageConfig, URLExt });
    if (!name) return;
    const holds = cell => [...cell.node.querySelectorAll(HEADINGS)].some(one => [one.id, one.dataset.jupyterId].includes(name));
    const at = content.widgets.findIndex(holds);
    const code = content.widgets.findIndex((cell, number) => number > at && cell.model.type === "code");
    if (at < 0 || code < 0) return;
    setTimeout(() => { // when the host has done with the click, which makes the link's own cell active
      content.activeCellIndex = code;
      content.mode = "command";
      content.activeCell.node.focus({ preventScroll: true });
    }, 50);
  }, true);
}

const HEADINGS = ":is(h1, h2, h3, h4, h5, h6)";

/** The heading of this same notebook that a link leads to. */
function headingOf(link, path, { PageConfig, URLExt }) {
  if (!link.hash) return null;
  const pages = [location.pathname, new URL(URLExt.join(PageConfig.getBaseUrl(), "files", URLExt.encodeParts(path)), location.href).pathname];
  return pages.includes(link.pathname) ? decodeURIComponent(link.hash.slice(1)) : null;
}

let before = Promise.resolve(); // one pair at a time: who clicks twice means one

/** Lesson left, exercises right or behind it. What is open is shown, not opened again; a place that a lesson had is used again. */
export function openPair(host, course, lesson) {
  before = before.catch(() => null).then(() => openNow(host, course, lesson));
  return before;
}

async function openNow({ app, tracker, labShell }, course, { lesson, exercise }) {
  const left = await openAt(app, lesson, neighbour(tracker, course, "lesson"), "tab-after");
  if (!exercise) return;
  const right = neighbour(tracker, course, "exercise");
  const wide = left.node.closest("#jp-main-dock-panel")?.clientWidth >= ROOM_FOR_TWO;
  const beside = right ? right.isVisible : wide; // the lesson is shown by now: exercises in its own place are hidden
  await openAt(app, exercise, right ?? left, right || !wide ? "tab-after" : "split-right", beside);
  labShell.activateById(left.id);
}

async function openAt(app, path, ref, mode, activate = true) {
  const options = { activate, ...(ref && { ref: ref.id, mode }) };
  return app.commands.execute("docmanager:open", { path, options });
}

/** An open notebook of the same kind: beside it is the place for the next one. */
function neighbour(tracker, course, kind) {
  const paths = new Set(course.state.lessons.map(one => one[kind]));
  return tracker.find(panel => paths.has(panel.context.path) && panel.isAttached);
}

/** In a notebook where nothing has run yet: select the first code cell, the page staying where it is. */
export async function beginAtCode(panel) {
  await Promise.all([panel.context.ready, panel.revealed]);
  const { content } = panel, scroller = content.outerNode ?? content.node;
  const isCode = cell => cell.model.type === "code";
  const untouched = content.activeCellIndex <= 0 && scroller.scrollTop === 0;
  const fresh = content.widgets.every(cell => !isCode(cell) || cell.model.executionCount === null);
  const first = content.widgets.findIndex(isCode);
  if (!untouched || !fresh || first < 0) return;
  content.activeCellIndex = first;
  const stay = () => { scroller.scrollTop = 0; };
  stay();
  requestAnimationFrame(stay);
}

const SETTLING = 1500; // ms in which what a cell shows may still grow

/** After Shift+Enter the next cell comes into view, however tall the picture above it is. Show the picture instead:
 *  as much of it as fits, and its code when that is short. */
export function keepOutputInView({ content }, cell) {
  const at = content.widgets.indexOf(cell), output = cell.outputArea?.node;
  if (!output || ![at, at + 1].includes(content.activeCellIndex)) return; // many cells run at once
  const scroller = content.outerNode ?? content.node, input = cell.node.querySelector(".jp-Cell-inputWrapper");
  const show = () => {
    const window = scroller.getBoundingClientRect(), shown = output.getBoundingClientRect();
    if (!shown.height) return;
    const first = input.offsetHeight < window.height / 4 ? input : output;
    const above = first.getBoundingClientRect().top - window.top - 12, below = shown.bottom - window.bottom + 12;
    scroller.scrollTop += above < 0 ? above : Math.max(0, Math.min(above, below));
  };
  const growing = new ResizeObserver(show), acts = ["wheel", "pointerdown", "keydown"];
  const stop = () => {
    growing.disconnect();
    acts.forEach(act => scroller.removeEventListener(act, stop, true));
  };
  growing.observe(output);
  acts.forEach(act => scroller.addEventListener(act, stop, true));
  setTimeout(show, 80); // when the notebook has moved on to the next cell
  setTimeout(stop, SETTLING);
}

/** Who runs a folded heading goes on to what it hides: it opens. The host goes there too, and, finding nothing, to the top. */
export async function unfoldWhatRuns({ content }, cell, { setHeadingCollapse }) {
  await null; // the notebook moves on to the next cell
  const next = content.widgets[content.widgets.indexOf(cell) + 1];
  if (cell.headingCollapsed && next?.isHidden && next === content.activeCell) setHeadingCollapse(cell, false, content);
}

/** After a check that finds something wrong, the cursor is where it was in the answer, not in the next exercise. */
export function backToTheAnswer({ content }, cell) {
  const at = content.widgets.indexOf(cell);
  if (!checkedIn(cell) || ![at, at + 1].includes(content.activeCellIndex)) return; // many cells run at once
  if (!cell.outputArea?.node.querySelector(".sdpa-failed, .sdpa-forbidden")) return;
  const answer = answerOf(content, checkedIn(cell), at);
  if (!answer) return;
  content.activeCellIndex = content.widgets.indexOf(answer);
  content.mode = "edit";
}

const sourceOf = cell => cell.model.sharedModel.getSource();
const checkedIn = cell => sourceOf(cell).match(/^\s*(?:\w+\.)?check\(["']?(\w+)/m)?.[1];

/** The last cell that answers an exercise, of those down to one. */
const answerOf = ({ widgets }, name, at = widgets.length) =>
  widgets.findLast((one, place) => place <= at && sourceOf(one).startsWith(`# exercise: ${name}\n`));

const ran = new WeakMap(); // what stood in a cell when it ran last

/** A check judges what stands in the answer's cell: where that has not run yet, it runs first. */
export function runAnswerFirst({ content, sessionContext }, cell, { runCells }) {
  ran.set(cell, sourceOf(cell));
  const name = checkedIn(cell), answer = name && answerOf(content, name, content.widgets.indexOf(cell));
  if (answer && answer !== cell && ran.get(answer) !== sourceOf(answer)) runCells(content, [answer], sessionContext);
}

const again = new WeakSet(); // cells that run once more

/** Who goes straight to an exercise, or comes back to a new kernel, has not run the first cell, which imports `check`,
 *  or the answer, which defines what is checked. What gives the name that is missing runs now, and then theirs again. */
export async function runWhatIsMissing({ content, sessionContext }, cell, error, { runCells }) {
  const [, name] = error?.errorName === "NameError" && error.errorValue.match(/^name '(\w+)'/) || [];
  if (!name || again.has(cell)) return;
  const first = content.widgets.find(one => one.model.type === "code");
  const imports = sourceOf(first).match(/^(import|from) .*/gm)?.join("\n") ?? "";
  const giver = new RegExp(`\\b${name}\\b`).test(imports) ? first : answerOf(content, name);
  if (!giver || giver === cell) return;
  again.add(cell);
  await runCells(content, [giver, cell], sessionContext).finally(() => again.delete(cell));
}
