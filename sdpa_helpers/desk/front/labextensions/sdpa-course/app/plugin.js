// What the host activates: the course's look, its side bar, and the button that resets an exercise.
// Where the server has no desk, or its folder is no course, nothing is added and nothing asked.

import { Course } from "./course.js";
import { backToTheAnswer, beginAtCode, followHeadings, followLinks, keepOutputInView, openPair, runAnswerFirst, runWhatIsMissing, unfoldWhatRuns } from "./opening.js";
import { sideBar } from "./sidebar.js";
import { addReset, addResetButtons } from "./reset.js";
import { nameTab } from "./tabs.js";

const PACKAGES = [
  "@jupyterlab/application", "@jupyterlab/apputils", "@jupyterlab/coreutils", "@jupyterlab/notebook",
  "@jupyterlab/services", "@jupyterlab/ui-components", "@lumino/widgets",
];

/** The plugins, made of the packages that the host shares. */
export async function plugins(take) {
  const [application, apputils, coreutils, notebook, services, ui, lumino] = await Promise.all(PACKAGES.map(take));
  const packages = { apputils, coreutils, notebook, services, ui, lumino };
  return [{
    id: "sdpa-course:plugin",
    description: "The look and the desk of the course on attention.",
    autoStart: true,
    requires: [notebook.INotebookTracker],
    optional: [application.ILabShell, application.ILayoutRestorer, apputils.ICommandPalette, apputils.IThemeManager],
    activate: (app, tracker, labShell, restorer, palette, themes) => start({ app, tracker, labShell, restorer, palette, themes, packages }),
  }];
}

function start(host) {
  const course = new Course(host.packages, host.app.serviceManager.serverSettings, host.app.serviceManager.contents);
  if (!course.isServed) return;
  addStyle();
  whenOpened(host.tracker, panel => dress(panel, host, course));
  followRuns(host, course);
  sideBar(host, course, lesson => openPair(host, course, lesson));
  addReset(host, course);
  if (course.attach) course.attach(host); // where there is no server: editions/lite
  else followTheme(host.themes);
  course.load();
}

/** A cell that runs says so in the margin, where prompts are hidden; what it shows stays in view. */
function followRuns({ tracker, packages: { notebook: { NotebookActions } } }, course) {
  const marked = (cell, runs) => cell.toggleClass("sdpa-runs", runs);
  const ofCourse = notebook => tracker.find(one => one.content === notebook && course.owns(one.context.path));
  NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
    marked(cell, true);
    const panel = ofCourse(notebook);
    if (panel) runAnswerFirst(panel, cell, NotebookActions);
  });
  NotebookActions.executed.connect((_, { notebook, cell, error }) => {
    marked(cell, false);
    const panel = ofCourse(notebook);
    if (!panel) return;
    keepOutputInView(panel, cell);
    backToTheAnswer(panel, cell);
    unfoldWhatRuns(panel, cell, NotebookActions);
    runWhatIsMissing(panel, cell, error, NotebookActions);
  });
}

/** Call for every notebook that is open, and for each that opens. */
function whenOpened(tracker, visit) {
  tracker.forEach(visit);
  tracker.widgetAdded.connect((_, panel) => visit(panel));
}

/** The course's notebooks get its look, other files of the learner keep theirs. */
function dress(panel, host, course) {
  const look = () => panel.toggleClass("sdpa-article", course.owns(panel.context.path));
  look();
  panel.context.pathChanged.connect(look);
  if (!course.owns(panel.context.path)) return;
  nameTab(panel, host, course);
  beginAtCode(panel);
  followLinks(host, course, panel);
  followHeadings(panel, host.packages.coreutils);
  addResetButtons(panel, host, course);
  panel.sessionContext.statusChanged.connect((_, status) => { if (status === "idle") course.refreshSoon(); });
  panel.context.saveState.connect((_, saved) => { if (saved.startsWith("completed")) course.refreshSoon(); });
}

/** Our colours are light or dark as the host's are. */
function followTheme(themes) {
  const follow = () => { document.documentElement.dataset.theme = themes.isLight(themes.theme) ? "light" : "dark"; };
  themes?.themeChanged.connect(follow);
  if (themes?.theme) follow();
}

function addStyle() {
  for (const name of ["tokens.css", "theme.css", "look.css", "sidebar.css"]) {
    const link = document.createElement("link");
    Object.assign(link, { rel: "stylesheet", href: new URL(name, import.meta.url) });
    document.head.append(link);
  }
}
