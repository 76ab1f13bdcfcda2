// The lesson's notebook: answers laid in, for `sdpa grade`, and taken out of one that is opened.

const LINES = [/^[ \t]*#[ \t]*exercise:[ \t]*([A-Za-z_]\w*)[ \t]*$/, /^<!-- exercise: ([A-Za-z_]\w*) -->$/];
export const MOST_BYTES = 8 * 2 ** 20;
const MOST_CELLS = 500;

const textOf = (cell) => (Array.isArray(cell.source) ? cell.source.join("") : String(cell.source ?? ""));

/** The exercise that a cell answers, by its line among the first five; "" for other cells. */
export function exerciseOf(cell) {
  const line = LINES[cell.cell_type === "code" ? 0 : 1];
  for (const text of textOf(cell).split("\n", 5)) {
    const found = line.exec(text);
    if (found) return found[1];
  }
  return "";
}

/** The notebook with the answers in their cells; what it had printed before is gone. */
export function withAnswers(notebook, answers) {
  const cells = notebook.cells.map((cell) => {
    const name = exerciseOf(cell);
    if (!name || !answers[name]) return cell;
    const line = cell.cell_type === "code" ? `# exercise: ${name}\n` : `<!-- exercise: ${name} -->\n`;
    const own = { ...cell, source: answers[name] };
    return exerciseOf(own) === name ? own : { ...own, source: line + answers[name] };
  });
  return { ...notebook, cells };
}

/** The answers of a notebook's file, by exercise. Throws an Error that says what is wrong with the file. */
export function answersIn(text) {
  let notebook;
  try {
    notebook = JSON.parse(text);
  } catch {
    throw new Error("This file is no notebook: it is not JSON. Choose the .ipynb file that you downloaded.");
  }
  if (!Array.isArray(notebook?.cells)) {
    throw new Error("This file has no cells. Choose the .ipynb file that you downloaded.");
  }
  const found = {};
  for (const cell of notebook.cells.slice(0, MOST_CELLS)) {
    const name = cell && typeof cell === "object" ? exerciseOf(cell) : "";
    if (name) found[name] = textOf(cell);
  }
  return found;
}
