// Run notebooks in Pyodide under Node, as JupyterLite's kernel would: packages by what a cell imports, cells by IPython.
//
//   node editions/browser/run_notebook.mjs RUNTIME [--lock FILE] NOTEBOOK…
//
// All notebooks run in one Python, one after the other, each with names of its own. Writes JSON to standard output:
// [{notebook, seconds, cells, errors: [{cell, id, error}], not_run: [{id, why}], slow: [{id, seconds}], points: {exercise: points}}]

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const PRELUDE = `
import os, sys
os.environ["MPLBACKEND"] = "agg"
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher

class QuietHook(DisplayHook):
    """What a cell's last line gives is rendered as in a notebook, and not printed."""
    def write_output_prompt(self): pass
    def write_format_data(self, format_dict, md_dict=None): pass

InteractiveShell.displayhook_class = QuietHook
InteractiveShell.display_pub_class = CapturingDisplayPublisher
_shell = InteractiveShell.instance()
_shell.showtraceback = lambda *_, **__: None

def _new_notebook(name):
    os.environ["SDPA_HOME"] = f"/home/pyodide/{name}"  # what one earns is not the next one's
    _shell.reset(new_session=True, aggressive=False)
    for each in _shell.ast_transformers:
        each.reader.missing.clear()

def _run_cell(source):
    outcome = _shell.run_cell(source, store_history=True)
    error = outcome.error_before_exec or outcome.error_in_exec
    if error is not None:
        return ["error", f"{type(error).__name__}: {error}"]
    why = getattr(outcome.result, "why", "") if type(outcome.result).__name__ == "NotRun" else ""
    return ["not run", why] if why else None

def _points():
    import json
    from sdpa_helpers.course import saved
    return json.dumps(saved.load())
`;

/** Start Python with what the prelude imports. */
async function start(runtime, lock) {
  const folder = path.resolve(runtime);
  const { loadPyodide } = await import(pathToFileURL(path.join(folder, "pyodide.mjs")));
  const quiet = () => undefined;
  const python = await loadPyodide({ indexURL: folder, lockFileURL: path.join(folder, lock), stdout: quiet, stderr: quiet });
  await load(python, PRELUDE);
  python.runPython(PRELUDE);
  return python;
}

function load(python, source) {
  return python.loadPackagesFromImports(source, { messageCallback: () => undefined });
}

/** The code cells of a notebook file: [{id, source}]. */
function codeCells(file) {
  const { cells } = JSON.parse(fs.readFileSync(file, "utf8"));
  const text = (source) => (Array.isArray(source) ? source.join("") : source);
  return cells.filter((cell) => cell.cell_type === "code").map((cell) => ({ id: cell.id, source: text(cell.source) }));
}

/** Run one notebook from top to bottom; what a cell raises is written down and the next one runs. */
async function run(python, file) {
  const started = performance.now();
  const cells = codeCells(file);
  const errors = [];
  const notRun = [];
  const slow = [];
  python.globals.get("_new_notebook")(path.resolve(file).slice(1));
  const runCell = python.globals.get("_run_cell");
  for (const [index, { id, source }] of cells.entries()) {
    const from = performance.now();
    await load(python, source);
    const outcome = runCell(source)?.toJs();
    if (outcome?.[0] === "error") errors.push({ cell: index + 1, id, error: outcome[1] });
    if (outcome?.[0] === "not run") notRun.push({ id, why: outcome[1] });
    if (performance.now() - from > 1000) slow.push({ id, seconds: seconds(from) });
  }
  const points = JSON.parse(python.globals.get("_points")());
  return { notebook: path.basename(file), seconds: seconds(started), cells: cells.length, errors, not_run: notRun, slow, points };
}

function seconds(since) {
  return Math.round(performance.now() - since) / 1000;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { lock: { type: "string", default: "pyodide-lock.json" } },
});
const [runtime, ...notebooks] = positionals;
const python = await start(runtime, values.lock);
const results = [];
for (const file of notebooks) results.push(await run(python, file));
fs.writeSync(1, `${JSON.stringify(results, null, 1)}\n`);
process.exit(0); // a channel to the page around a kernel is open, and Node would wait for what comes through it
