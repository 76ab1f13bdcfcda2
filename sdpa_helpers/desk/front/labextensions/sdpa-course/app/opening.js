// How notebooks open: a lesson with its exercises beside it, and the first code cell ready to run.

const ROOM_FOR_TWO = 900; // px; in a narrower window the exercises open as a tab

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

let before = Promise.resolve(); // one pair at a time: who clicks twice means one

/** Lesson left, exercises right. What is open is shown, not opened again; a place that a lesson had is used again. */
export function openPair(host, course, lesson) {
  before = before.catch(() => null).then(() => openNow(host, course, lesson));
  return before;
}

async function openNow({ app, tracker, labShell }, course, { lesson, exercise }) {
  const left = await openAt(app, lesson, neighbour(tracker, course, "lesson"), "tab-after");
  if (!exercise) return;
  const right = neighbour(tracker, course, "exercise");
  const beside = left.node.closest("#jp-main-dock-panel")?.clientWidth >= ROOM_FOR_TWO;
  await openAt(app, exercise, right ?? left, right || !beside ? "tab-after" : "split-right");
  labShell.activateById(left.id);
}

async function openAt(app, path, ref, mode) {
  const options = { activate: true, ...(ref && { ref: ref.id, mode }) };
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
