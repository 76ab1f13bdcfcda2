// The editor of a page, CodeMirror in a shadow root: there its styles are adopted sheets, which a policy without
// 'unsafe-inline' lets in. Colors are the page's variables. The build makes one file of this and what it imports.
import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap, completionStatus } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { globalCompletion, localCompletionSource, python } from "@codemirror/lang-python";
import { HighlightStyle, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const LEAVING = 60_000; // ms after Escape in which Tab leaves

const look = EditorView.theme({
  "&": { background: "var(--paper)", color: "var(--ink)", fontSize: "var(--code-size, .9rem)" },
  "&.cm-focused": { outline: "none" }, // the frame around it shows it
  ".cm-scroller": { fontFamily: "ui-monospace, 'SF Mono', Menlo, Consolas, monospace", lineHeight: "1.5", maxHeight: "var(--most, none)" },
  ".cm-gutter, .cm-content": { minHeight: "var(--least, 10rem)" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-gutters": { background: "var(--wash)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-tooltip": { background: "var(--paper)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "6px", overflow: "hidden" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "4px 10px", minHeight: "24px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--main)", color: "var(--on-main)" },
  "&.cm-focused .cm-matchingBracket": { background: "var(--wash)", outline: "1px solid var(--soft)" },
  "&.cm-focused .cm-nonmatchingBracket": { background: "none", textDecoration: "underline" },
});

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null, tags.self], color: "var(--code-word)" },
  { tag: tags.comment, color: "var(--soft)" },
  { tag: tags.string, color: "var(--code-text)" },
  { tag: [tags.number, tags.definition(tags.variableName), tags.function(tags.definition(tags.variableName))], color: "var(--code-name)" },
]);

/** After "np." NumPy's names, elsewhere the words of the page: no Python is asked. */
function completions({ words, numpy }) {
  const listed = words.map((label) => ({ label, type: "variable" }));
  const members = numpy.map((label) => ({ label, type: "property" }));
  return (context) => {
    const member = context.matchBefore(/\bnp\.\w*/);
    if (member) return { from: member.from + 3, options: members, validFor: /^\w*$/ };
    const word = context.matchBefore(/\w+/);
    if (!word || context.matchBefore(/[.#]\s*\w*/)) return null;
    return { from: word.from, options: listed, validFor: /^\w*$/ };
  };
}

/** Who typed fast is elsewhere by now, and the list would lie on what was pressed. */
const inTheEditor = (source) => (context) => context.view?.hasFocus ? source(context) : null;

/** An editor in the place of a textarea; `typed()` is called after each change, `run` and `check` by their keys. */
export function makeEditor({ source, label, names, typed, run, check }) {
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  host.className = "code";
  const press = (act) => (view) => { closeCompletion(view); act(); return true; };
  const state = EditorState.create({ doc: source.value, extensions: [
    lineNumbers(), history(), python(), indentUnit.of("    "), bracketMatching(), closeBrackets(), EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
    autocompletion({ override: [completions(names), localCompletionSource, globalCompletion].map(inTheEditor), icons: false, selectOnOpen: false }),
    look, syntaxHighlighting(colors),
    Prec.highest(keymap.of([{ key: "Shift-Enter", run: press(run) }, { key: "Mod-Enter", run: press(check) }, { key: "Ctrl-Enter", run: press(check) }])),
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
    EditorView.domEventHandlers({ keyup: (event, view) => { if (event.key === "Escape" && !completionStatus(view.state)) view.setTabFocusMode(LEAVING); } }),
    EditorView.updateListener.of((update) => { if (update.docChanged) typed(); }),
  ] });
  const view = new EditorView({ state, parent: root, root });
  source.replaceWith(host);
  return {
    read: () => view.state.doc.toString(),
    focus: () => view.focus(),
    show(next) {
      const caret = Math.min(view.state.selection.main.head, next.length);
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next }, selection: { anchor: caret } });
    },
  };
}
