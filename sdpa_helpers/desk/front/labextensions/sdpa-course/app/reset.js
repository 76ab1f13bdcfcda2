// "Reset this exercise": the answer cell gets its stub back in the open document. The server keeps the old answer.

const COMMAND = "sdpa-course:reset-exercise";
const FIRST_LINE = /^# exercise: (\w+)\s*$/m;

/** The exercise whose answer cell this is, or null. */
function exerciseOf(cell) {
  const source = cell?.model.sharedModel.getSource() ?? "";
  return source.startsWith("# exercise:") ? source.match(FIRST_LINE)[1] : null;
}

/** The command, in the palette and as a button at the answer cell. */
export function addReset({ app, tracker, palette, packages: { apputils, ui } }, course) {
  const current = () => {
    const panel = tracker.currentWidget;
    return panel && course.owns(panel.context.path) && panel.context.path.includes("exercises/") ? exerciseOf(tracker.activeCell) : null;
  };
  app.commands.addCommand(COMMAND, {
    label: () => `Reset this exercise${current() ? `: ${current()}` : ""}`,
    caption: "Put the stub back; your answer is kept in a file",
    icon: ui.undoIcon,
    isEnabled: () => current() !== null,
    isVisible: () => current() !== null,
    execute: () => reset(apputils, course, tracker.activeCell, current()),
  });
  palette?.addItem({ command: COMMAND, category: "Course" });
  tracker.activeCellChanged.connect(() => app.commands.notifyCommandChanged(COMMAND));
}

async function reset({ showDialog, showErrorMessage, Dialog, Notification }, course, cell, name) {
  const { button } = await showDialog({
    title: `Reset ${name}?`,
    body: "The cell gets its stub back. Your answer is kept in a file.",
    buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: "Reset" })],
  });
  if (!button.accept) return;
  try {
    const { source, kept } = await course.reset(name, cell.model.sharedModel.getSource());
    cell.model.sharedModel.setSource(source);
    Notification.success(kept ? `${name}: your answer is in ${kept}` : `${name}: this was the stub already`, { autoClose: 6000 });
  } catch (problem) {
    showErrorMessage(`${name} was not reset`, problem);
  }
}
