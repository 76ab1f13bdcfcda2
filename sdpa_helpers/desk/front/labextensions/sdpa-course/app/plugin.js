// What the host activates: the course's look, its side bar, and the button that resets an exercise.
// Everything waits for the server's answer; where the folder is no course nothing is added.

import { Course } from "./course.js";
import { beginAtCode, keepOutputInView, openPair } from "./opening.js";
import { sideBar } from "./sidebar.js";
import { addReset, addResetButtons } from "./reset.js";

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
    optional: [application.ILabShell, apputils.ICommandPalette],
    activate: (app, tracker, labShell, palette) => { start({ app, tracker, labShell, palette, packages }); },
  }];
}

async function start(host) {
  const course = new Course(host.packages, host.app.serviceManager.serverSettings);
  if (!(await course.load())) return;
  addStyle();
  whenOpened(host.tracker, panel => dress(panel, host, course));
  host.packages.notebook.NotebookActions.executed.connect((_, { notebook, cell }) => {
    const panel = host.tracker.find(one => one.content === notebook);
    if (panel && course.owns(panel.context.path)) keepOutputInView(panel, cell);
  });
  sideBar(host, course, lesson => openPair(host, course, lesson));
  addReset(host, course);
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
  beginAtCode(panel);
  addResetButtons(panel, host, course);
  panel.sessionContext.statusChanged.connect((_, status) => { if (status === "idle") course.refreshSoon(); });
}

function addStyle() {
  for (const name of ["look.css", "sidebar.css"]) {
    const link = document.createElement("link");
    Object.assign(link, { rel: "stylesheet", href: new URL(name, import.meta.url) });
    document.head.append(link);
  }
}
