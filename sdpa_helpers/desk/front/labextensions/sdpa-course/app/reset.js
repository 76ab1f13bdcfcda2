// "Reset this exercise": the answer cell gets its stub back in the open document. The server keeps the old answer.

const COMMAND = "sdpa-course:reset-exercise";
const FIRST_LINE = /^# exercise: (\w+)\s*$/m;

const sourceOf = cell => cell?.model.sharedModel.getSource() ?? "";

/** The exercise whose answer cell this is, or null. */
const exerciseOf = cell => (sourceOf(cell).startsWith("# exercise:") ? sourceOf(cell).match(FIRST_LINE)?.[1] ?? null : null);

/** The command for the active cell, in the palette. */
export function addReset({ app, tracker, palette, packages }, course) {
  const current = () => (isExercise(course, tracker.currentWidget) ? exerciseOf(tracker.activeCell) : null);
  app.commands.addCommand(COMMAND, {
    label: () => `Reset this exercise${current() ? `: ${current()}` : ""}`,
    caption: `Put the stub back; your answer is kept in ${course.keptIn}`,
    isEnabled: () => current() !== null,
    execute: () => reset(packages.apputils, course, tracker.activeCell),
    describedBy: { args: { type: "object", properties: {} } },
  });
  palette?.addItem({ command: COMMAND, category: "Course" });
  tracker.activeCellChanged.connect(() => app.commands.notifyCommandChanged(COMMAND));
}

/** A button in each answer cell of a notebook, as soon as the cells are there. */
export async function addResetButtons(panel, { packages }, course) {
  if (!isExercise(course, panel)) return;
  await Promise.all([panel.context.ready, panel.revealed]);
  const add = () => panel.content.widgets.filter(exerciseOf).forEach(cell => addButton(packages.apputils, course, cell));
  add();
  panel.content.model.cells.changed.connect(add);
}

const isExercise = (course, panel) => Boolean(panel && course.owns(panel.context.path) && /(^|\/)exercises\//.test(panel.context.path));

function addButton(apputils, course, cell) {
  const place = cell.node.querySelector(".jp-Cell-inputWrapper");
  if (!place || place.querySelector(".sdpa-reset")) return;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "sdpa-reset", textContent: "Reset" });
  button.setAttribute("aria-label", `Reset the exercise ${exerciseOf(cell)}`);
  button.addEventListener("click", () => reset(apputils, course, cell));
  place.append(button);
}

async function reset({ showDialog, showErrorMessage, Dialog, Notification }, course, cell) {
  const name = exerciseOf(cell);
  const { button } = await showDialog({
    title: `Reset ${name}?`,
    body: `The cell gets its stub back. Your answer is kept in ${course.keptIn}.`,
    buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: "Reset" })],
  });
  if (!button.accept) return;
  try {
    const { source, kept } = await course.reset(name, sourceOf(cell));
    cell.model.sharedModel.setSource(source);
    Notification.success(kept ? `${name}: your answer is in ${kept}` : `${name} was its stub already`, { autoClose: 6000 });
  } catch (problem) {
    showErrorMessage(`${name} was not reset`, problem);
  }
}
