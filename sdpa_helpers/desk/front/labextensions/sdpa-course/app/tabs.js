// What a tab says. A lesson and its exercises are files of the same name, which graders rely on: "01_dot_product.ipynb"
// twice would not tell which is which, "01 The dot product" and "01 Exercises" do.

/** Call for every notebook of the course that opens. Its file keeps its name. */
export function nameTab(panel, { labShell }, course) {
  const { title, context } = panel;
  let isOurs = false;
  const show = () => {
    const words = tabOf(course.lessonAt(context.path), context.path);
    if (!words || panel.isDisposed) return;
    // The host gives a file the name that its tab gets. Where it does not let go of that, the tab stays as it is.
    isOurs ||= Boolean(panel._onTitleChanged) && title.changed.disconnect(panel._onTitleChanged, panel);
    if (!isOurs) return;
    if (title.label !== words) title.label = words;
    if (!labShell) namePage(words);
  };
  title.changed.connect(show);
  course.onChange(show);
  show();
  panel.revealed.then(show);
}

function tabOf(lesson, path) {
  if (!lesson) return null;
  const number = lesson.name.match(/^\d+/)?.[0] ?? "";
  return `${number} ${path === lesson.exercise ? "Exercises" : lesson.title}`.trim();
}

/** In Notebook 7, where a notebook is a page of the browser. */
function namePage(words) {
  document.title = words;
  const heading = document.querySelector("#jp-title h1");
  if (heading) heading.textContent = words;
}
