// The lesson's notebook: answers laid in, for `sdpa grade`, and taken out of one that is opened.

const LINES = [/^[ \t]*#[ \t]*exercise:[ \t]*([A-Za-z_]\w*)[ \t]*$/, /^<!-- exercise: ([A-Za-z_]\w*) -->$/];
export const MOST_BYTES = 8 * 2 ** 20;

const textOf = (cell) => [cell.source].flat().filter((part) => typeof part === "string").join("").replace(/\r\n?/g, "\n");

/** The exercise that a cell answers, by its line among the first five; "" for other cells. */
export function exerciseOf(cell) {
  const line = LINES[cell.cell_type === "code" ? 0 : 1];
  for (const text of textOf(cell).split("\n", 5)) {
    const found = line.exec(text);
    if (found) return found[1];
  }
  return "";
}

/** An answer without the line that says whose it is, and without blank lines around it. */
export const bare = (text) => text.split("\n").filter((line) => !LINES.some((mark) => mark.test(line))).join("\n").trim();

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

/** A file's notebook. Throws an Error that says what is wrong with the file. */
export function notebookOf(text) {
  let notebook;
  try {
    notebook = JSON.parse(text);
  } catch {
    throw new Error("This file is no notebook: it is not JSON. Choose the .ipynb file that you downloaded.");
  }
  if (!Array.isArray(notebook?.cells)) {
    throw new Error("This file has no cells. Choose the .ipynb file that you downloaded.");
  }
  return notebook;
}

/** The texts of a notebook's answer cells, [name, text], in their order. */
export function answersIn({ cells }) {
  const named = cells.filter((cell) => cell && typeof cell === "object").map((cell) => [exerciseOf(cell), cell]);
  return named.filter(([name]) => name).map(([name, cell]) => [name, cell.cell_type === "code" ? textOf(cell) : bare(textOf(cell))]);
}
