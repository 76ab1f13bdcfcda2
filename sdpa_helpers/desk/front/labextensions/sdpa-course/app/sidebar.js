// The side bar "Course": its place in JupyterLab and in Notebook 7, and when its numbers are asked for again.

import { outline } from "./outline.js";

const ID = "sdpa-course";
const ROOM_FOR_A_SIDE_BAR = 760; // px of the window
const SETTLES = 5000; // ms in which the host may still move a notebook that is seen
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">
<path d="M4 4h5a3 3 0 0 1 3 3 3 3 0 0 1 3-3h5a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1h-5.500a2 2 0 0 0-2 1.500h-1a2 2 0 0 0-2-1.500H4a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1zm1 2v11h4.500c.6 0 1.100.1 1.500.300V7.500A1.500 1.500 0 0 0 9.500 6zm9.500 0A1.500 1.500 0 0 0 13 7.500v9.800c.4-.2.9-.3 1.500-.3H19V6z"/></g></svg>`;

/** Add it; `openPair(lesson)` opens a lesson with its exercises. */
export function sideBar(host, course, openPair) {
  const { app, labShell, restorer, tracker } = host, widget = makeWidget(host);
  const ways = waysToOpen(host, course, openPair);
  const draw = () => course.state && widget.node.replaceChildren(
    ...outline(course.state, tracker.currentWidget?.context.path ?? "", ways, widget.node));
  const follow = () => { draw(); showFirst(host, course, widget); };
  course.onChange(draw);
  window.addEventListener("focus", () => course.refreshSoon());
  app.shell.add(widget, "left", { rank: 50 });
  if (labShell) restorer?.add(widget, ID); // JupyterLab remembers whether it was shown
  else addToolbarButton(host, widget);
  app.restored.then(() => {
    hideRightOnce(labShell);
    follow();
    tracker.currentChanged.connect(follow);
  });
}

function makeWidget({ labShell, packages: { lumino, ui } }) {
  const widget = new lumino.Widget();
  widget.id = ID;
  widget.addClass("sdpa-course");
  widget.title.icon = new ui.LabIcon({ name: "sdpa-course:course", svgstr: ICON });
  widget.title.caption = "Course";
  widget.title.label = labShell ? "" : "Course";
  return widget;
}

/** Links lead to the host's own pages. In JupyterLab a click opens tabs; in Notebook 7, with one notebook a page, the
 *  link itself does it. */
function waysToOpen(host, course, openPair) {
  const { labShell, packages: { coreutils: { PageConfig, URLExt } } } = host;
  const pages = URLExt.join(PageConfig.getBaseUrl(), labShell ? "lab/tree" : "notebooks");
  return {
    address: path => URLExt.join(pages, URLExt.encodeParts(path)),
    openLesson: labShell && openPair,
    more: course.more ? [course.more(host)] : [],
    openExercise: labShell && ((lesson, name) => openPair(lesson).then(() => showExercise(host, lesson, name))),
  };
}

/** The bar on the right, for which a lesson has no use, is out of the way at first. Who shows it, in the menu View, keeps it. */
function hideRightOnce(labShell) {
  const key = `${ID}:right`;
  if (!labShell || localStorage.getItem(key)) return;
  localStorage.setItem(key, "hidden");
  if (labShell.isSideTabBarVisible("right")) labShell.toggleSideTabBarVisibility("right");
}

/** Wait for the frame in which something is so: two seconds at most. */
async function frameIn(isSo) {
  for (let frames = 0; frames < 120 && !isSo(); frames += 1) await new Promise(requestAnimationFrame);
}

/** Notebook 7 shows no tabs of side bars: a button before the toolbar's own opens and closes this one. */
function addToolbarButton({ app, tracker, packages: { apputils } }, widget) {
  const onClick = () => {
    if (!widget.isVisible) {
      localStorage.removeItem(`${ID}:notebook`);
      return app.shell.expandLeft(widget.id);
    }
    app.shell.collapseLeft();
    tracker.currentWidget?.activate(); // the keys are the notebook's again
  };
  const add = async panel => {
    await panel.revealed;
    await frameIn(() => [...panel.toolbar.names()].includes("save"));
    panel.toolbar.insertItem(0, ID, new apputils.ToolbarButton({ label: "Course", tooltip: "Lessons and exercises", onClick }));
  };
  tracker.forEach(add);
  tracker.widgetAdded.connect((_, panel) => add(panel));
}

/** Shown by itself with the first notebook of the course; afterwards as the learner leaves it. JupyterLab remembers
 *  that; Notebook 7, where every notebook is a new page, does not, so it is remembered here. */
async function showFirst({ app, labShell, tracker }, course, widget) {
  const key = labShell ? `${ID}:lab` : `${ID}:notebook`, left = localStorage.getItem(key), panel = tracker.currentWidget;
  if (labShell?.mode === "single-document" || !panel || !course.owns(panel.context.path)) return;
  if (!labShell) await panel.revealed; // Notebook 7 closes its side bars on the way
  if (widget.isVisible || left === "hidden" || (labShell && left)) return;
  localStorage.setItem(key, "shown");
  if (window.innerWidth < ROOM_FOR_A_SIDE_BAR) labShell?.collapseLeft();
  else app.shell.activateById(widget.id);
  if (!labShell) widget.onAfterHide = () => localStorage.setItem(key, "hidden");
  await panel.revealed;
  await keepKeys(panel, widget, tracker);
}

/** The keys stay the notebook's. Notebook 7 reveals it before it is seen, and what is not takes none; what the host
 *  still moves takes them from it, to nobody or to the side bar. Whoever uses one or the mouse decides for themselves. */
async function keepKeys(panel, widget, tracker) {
  let used = false;
  const use = () => { used = true; };
  for (const act of ["keydown", "pointerdown"]) window.addEventListener(act, use, { once: true, capture: true });
  const strayed = () => [document.body, null].includes(document.activeElement) || widget.node.contains(document.activeElement);
  for (let end = Infinity; !used && !panel.isDisposed && performance.now() < end; await new Promise(requestAnimationFrame)) {
    if (tracker.currentWidget !== panel || !panel.node.checkVisibility({ visibilityProperty: true })) continue;
    end = Math.min(end, performance.now() + SETTLES);
    if (strayed()) panel.activate();
  }
}

/** Bring an exercise of an open notebook into view, its answer cell active. */
async function showExercise({ app, tracker }, lesson, name) {
  const panel = tracker.find(one => one.context.path === lesson.exercise), cells = panel.content.widgets;
  app.shell.activateById(panel.id);
  await panel.revealed; // it opens behind its lesson
  const answer = cells.findIndex(cell => cell.model.sharedModel.getSource().startsWith(`# exercise: ${name}\n`));
  if (answer < 0) return;
  panel.content.activeCellIndex = answer;
  panel.content.scrollToItem(Math.max(answer - 1, 0), "start");
}
