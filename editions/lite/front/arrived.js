// A notebook from elsewhere brings what its author wrote, and nothing else. A file may say of itself that it is trusted, and
// JupyterLab runs the scripts in the outputs of such a file as soon as it opens; no server takes that away here.

const KEPT = ["kernelspec", "language_info"]; // of the notebook's own metadata

/** The notebook without outputs, stored widgets and what it says of its trust. */
export function asWritten(notebook) {
  const cells = notebook.cells.filter(cell => cell && typeof cell === "object").map(written);
  const metadata = Object.fromEntries(KEPT.filter(key => notebook.metadata?.[key]).map(key => [key, notebook.metadata[key]]));
  return { ...notebook, metadata, cells };
}

function written(cell) {
  const own = { ...cell, metadata: { ...cell.metadata } };
  delete own.metadata.trusted;
  return cell.cell_type === "code" ? { ...own, outputs: [], execution_count: null } : own;
}

/** What is uploaded, dropped or fetched from an address is saved as a file, in pieces if it is large: a notebook comes in as written. */
export function guardUploads(contents) {
  const save = contents.save.bind(contents), coming = new Map();
  contents.save = (path, options = {}) => {
    if (options.format !== "base64" || !/\.ipynb$/i.test(path)) return save(path, options);
    const bytes = (options.chunk > 1 || options.chunk === -1 ? coming.get(path) ?? "" : "") + atob(options.content);
    if (options.chunk > 0) {
      coming.set(path, bytes);
      return Promise.resolve({ ...options, path });
    }
    coming.delete(path);
    const notebook = notebookOf(bytes);
    if (!notebook) return Promise.reject(new Error(`${path} is no notebook. Choose a file that ends in .ipynb and comes from Jupyter.`));
    return save(path, { type: "notebook", format: "json", content: asWritten(notebook) });
  };
}

function notebookOf(bytes) {
  try {
    const notebook = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, letter => letter.charCodeAt(0))));
    return Array.isArray(notebook?.cells) ? notebook : null;
  } catch {
    return null;
  }
}
