// What a site without a server needs beside the desk: the learner's notebook goes out as a file and comes back in,
// what has run is saved, and links to the course's pages leave for the site around this one.

import { asWritten, guardUploads } from "./arrived.js";

const SIDE_BAR = "sdpa-course", ROOM_FOR_A_SIDE_BAR = 760;
const PAGES = { "docs/ledger.md": "ledger.html" }; // other pages of docs/ keep their name
const SAVE_AFTER = 800; // ms of quiet

/** Add all of it. */
export function attachLoop(host, course) {
  addCommands(host, course);
  host.tracker.forEach(panel => addButtons(panel, host));
  host.tracker.widgetAdded.connect((_, panel) => addButtons(panel, host));
  guardUploads(host.app.serviceManager.contents);
  saveWhatRan(host);
  leadOut(host.packages.coreutils);
  keepSideBar(host);
  sayThatPythonComes(host);
  dressAsTheSite(host, course);
}

/** The site's bar above all, and its choice of light or dark in both directions. */
async function dressAsTheSite({ app, labShell, themes, packages: { lumino } }, course) {
  const root = document.documentElement, link = document.createElement("link"), wanted = () => `JupyterLab ${root.dataset.theme === "dark" ? "Dark" : "Light"}`;
  Object.assign(link, { rel: "stylesheet", href: new URL("../../look/look.css", appBase()) });
  document.head.prepend(link); // JupyterLab's own comes after it
  await Promise.all([app.restored, course.load()]);
  const bar = new lumino.Widget({ node: document.createRange().createContextualFragment(course.start.bar).firstElementChild });
  labShell?.add(Object.assign(bar, { id: "sdpa-bar" }), "header");
  const follow = () => { if (themes && themes.theme !== wanted()) themes.setTheme(wanted()); };
  follow();
  new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
  themes?.themeChanged.connect((_, { newValue }) => {
    if (!/^JupyterLab (Light|Dark)$/.test(newValue) || newValue === wanted()) return;
    localStorage.setItem("mode", newValue.slice(11).toLowerCase());
    dispatchEvent(new Event("storage")); // look.js
  });
  dispatchEvent(new Event("storage"));
}

/** Under the list of lessons: where answers are kept, and the two ways out and in. */
export function footer({ app }) {
  const box = document.createElement("footer"), words = document.createElement("p"), more = document.createElement("a");
  words.textContent = "Your work is kept in this browser only. The file you download is the one that is graded. ";
  Object.assign(more, { href: new URL("../what-works.html", appBase()).href, target: "_blank", textContent: "What works here" });
  words.append(more);
  box.append(words, ...Object.values(COMMANDS).map(({ id, label, short }) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: short, ariaLabel: label });
    button.addEventListener("click", () => app.commands.execute(id));
    return button;
  }));
  return box;
}

const appBase = () => location.href.split(/[?#]/)[0];

const COMMANDS = {
  download: { id: "sdpa-course:download", label: "Download my notebook", short: "Download" },
  open: { id: "sdpa-course:open-mine", label: "Open mine", short: "Open mine" },
};

function addCommands({ app, tracker, palette, packages }, course) {
  const acts = {
    download: () => tracker.currentWidget && download(tracker.currentWidget),
    open: () => pick(file => takeIn(file, { app, tracker, packages }, course)),
  };
  for (const [name, { id, label }] of Object.entries(COMMANDS)) {
    app.commands.addCommand(id, { label, execute: acts[name], describedBy: { args: { type: "object", properties: {} } } });
    palette?.addItem({ command: id, category: "Course" });
  }
}

function addButtons(panel, { app, packages: { apputils } }) {
  Object.values(COMMANDS).forEach(({ id, label, short }, place) => {
    const button = new apputils.ToolbarButton({ label: short, tooltip: label, onClick: () => app.commands.execute(id) });
    panel.toolbar.insertBefore("spacer", `sdpa-${place}`, button) || panel.toolbar.addItem(`sdpa-${place}`, button);
  });
}

/** The notebook as it stands there, saved, under its own name. */
async function download({ context }) {
  await context.save();
  const text = `${JSON.stringify(context.model.toJSON(), null, 1)}\n`;
  const link = document.createElement("a"), url = URL.createObjectURL(new Blob([text], { type: "application/x-ipynb+json" }));
  Object.assign(link, { href: url, download: context.path.split("/").at(-1) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function pick(take) {
  const input = document.createElement("input");
  Object.assign(input, { type: "file", accept: ".ipynb" });
  input.addEventListener("change", () => input.files[0] && take(input.files[0]));
  input.click();
}

/** Lay a learner's file in its place. What lay there and differs is kept beside it. */
async function takeIn(file, { app, tracker, packages: { apputils } }, course) {
  const found = await file.text().then(JSON.parse).catch(() => null);
  if (!Array.isArray(found?.cells)) {
    apputils.showErrorMessage(`${file.name} was not opened`, "It is no notebook. Choose a file that ends in .ipynb.");
    return;
  }
  const notebook = asWritten(found);
  const path = placeOf(notebook, file.name, course), { contents } = app.serviceManager, open = tracker.find(one => one.context.path === path);
  if (open) await open.context.save();
  const before = await contents.get(path, { content: true }).catch(() => null);
  const kept = before && differs(before.content, notebook) ? beside(path) : null;
  if (kept) await contents.save(kept, { type: "notebook", format: "json", content: before.content });
  await contents.save(path, { type: "notebook", format: "json", content: notebook });
  if (open) await open.context.revert();
  await app.commands.execute("docmanager:open", { path });
  apputils.Notification.success(kept ? `${path} is yours. What was there before is in ${kept}` : `${path} is yours`, { autoClose: 6000 });
}

/** A file knows by its exercises which notebook it is, whatever it is called: browsers add numbers to names. */
function placeOf({ cells }, name, course) {
  const exercise = cells.map(cell => [cell.source].flat().join("").match(/^# exercise: (\w+)/)?.[1]).find(Boolean);
  const { lessons } = course.state ?? { lessons: [] };
  const ofExercise = lessons.find(lesson => lesson.exercises.some(one => one.name === exercise))?.exercise;
  return ofExercise ?? lessons.find(lesson => name.startsWith(lesson.name))?.lesson ?? name;
}

const beside = path => path.replace(/\.ipynb$/, ` before ${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.ipynb`);
const written = ({ cells }) => JSON.stringify(cells.map(cell => [cell.cell_type, [cell.source].flat().join("")]));
const differs = (one, other) => written(one) !== written(other);

/** A page may be closed at any moment: what has run is saved soon after. */
function saveWhatRan({ tracker, packages: { notebook: { NotebookActions } } }) {
  const waiting = new Map();
  NotebookActions.executed.connect((_, { notebook }) => {
    const panel = tracker.find(one => one.content === notebook);
    if (!panel) return;
    clearTimeout(waiting.get(panel));
    waiting.set(panel, setTimeout(() => panel.isDisposed || panel.context.save(), SAVE_AFTER));
  });
}

/** A lesson links to the ledger and to docs/, which are pages of the site and no files here. */
function leadOut({ PageConfig }) {
  const base = new URL(PageConfig.getBaseUrl(), location.href);
  document.addEventListener("click", event => {
    const link = event.target.closest?.(".jp-RenderedMarkdown a[href]"), path = link && documentOf(new URL(link.href));
    if (!path) return;
    event.preventDefault();
    event.stopPropagation();
    const page = PAGES[path] ?? path.replace(/\.md$/, ".html");
    window.open(new URL(`../${page}${link.hash}`, base), "_blank", "noopener");
  }, true);
}

/** "docs/ledger.md" of an address in this site that ends so, whether the host has found out that there is no such file or not. */
const documentOf = ({ origin, pathname }) => (origin === location.origin ? pathname.match(/\/(docs\/[\w-]+\.md)$/)?.[1] : undefined);

/** Python takes some seconds to come, the first time more: say so, once. */
function sayThatPythonComes({ tracker, packages: { apputils: { Notification } } }) {
  tracker.widgetAdded.connect(function begin(_, { sessionContext }) {
    tracker.widgetAdded.disconnect(begin);
    const isHere = () => sessionContext.session?.kernel?.status === "idle";
    const coming = new Promise(resolve => {
      sessionContext.statusChanged.connect(function look() {
        if (!isHere()) return;
        sessionContext.statusChanged.disconnect(look);
        resolve();
      });
    });
    Notification.promise(coming, {
      pending: { message: "Python is loading into this page. This takes a few seconds, and longer the first time.", options: { autoClose: false } },
      success: { message: () => "Python is ready.", options: { autoClose: 2000 } },
      error: { message: () => "Python did not start. Reload the page to try again." },
    });
  });
}

/** A link to a notebook shows it in the file browser, once; the course's own list says more. */
function keepSideBar({ app, labShell }) {
  const afterOpening = (_, { id, result }) => {
    if (id !== "docmanager:show-in-file-browser") return;
    app.commands.commandExecuted.disconnect(afterOpening);
    result.then(() => (window.innerWidth < ROOM_FOR_A_SIDE_BAR ? labShell.collapseLeft() : app.shell.activateById(SIDE_BAR)));
  };
  if (labShell) app.commands.commandExecuted.connect(afterOpening);
}
