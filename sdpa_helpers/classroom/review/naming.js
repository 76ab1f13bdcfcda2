// Answers in code without a name: each with who gave it, how it was written, and a box for one sentence. What learners wrote is text.

const STYLE = `
.sdpa-naming article { border-top: 1px solid var(--jp-border-color2, #ccc); padding: 8px 0 12px; }
.sdpa-naming pre { max-height: 16em; overflow: auto; padding: 8px; background: var(--jp-layout-color2, #f3f3f3); }
.sdpa-naming textarea { width: 100%; box-sizing: border-box; font: inherit; padding: 6px 9px; }
.sdpa-naming p { margin: 4px 0; display: flex; flex-wrap: wrap; gap: 12px; align-items: center; }
.sdpa-naming input { width: 5em; }`;
const LONGEST = 600, PATIENCE = 5000; // characters; milliseconds

const node = (tag, children = [], properties = {}) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

function render({ model, el }) {
  const boxes = new Map();
  const idOf = ({ exercise, key }) => `${exercise} ${key}`;

  function box(row) {
    const words = node("textarea", [], { rows: 2, maxLength: LONGEST, value: row.says });
    words.setAttribute("aria-label", `One sentence for all who gave this answer to ${row.exercise}`);
    const points = node("input", [], { type: "number", step: "0.5", value: String(row.points) });
    const send = node("button", ["Tell them"], { type: "button" }), status = node("span");
    const sent = { number: 0, status };
    status.setAttribute("role", "status");
    send.addEventListener("click", () => {
      const number = ++sent.number;
      status.textContent = "…";
      model.send({ exercise: row.exercise, key: row.key, says: words.value, points: Number(points.value) || 0, number });
      setTimeout(() => { if (number === sent.number && status.textContent === "…") status.textContent = "Python has not answered: run the cell again."; }, PATIENCE);
    });
    boxes.set(idOf(row), sent);
    const who = `${row.learners} ${row.learners === 1 ? "learner" : "learners"} · ${row.key.slice(0, 4)}`;
    return node("article", [node("p", [node("strong", [row.exercise]), who]), node("pre", [row.answer]), words,
      node("p", [node("label", ["Points ", points]), send, status])]);
  }

  el.classList.add("sdpa-naming");
  el.dataset.lmSuppressShortcuts = "true"; // letters are words here, and no commands for the notebook
  const rows = model.get("rows");
  el.replaceChildren(node("style", [STYLE]), ...(rows.length ? rows.map(box) : [node("p", ["Every mistake in code has a name of the course."])]));
  const show = () => {
    const said = model.get("said"), sent = boxes.get(idOf(said));
    if (sent && said.number === sent.number) sent.status.textContent = said.text;
  };
  model.on("change:said", show);
  return () => model.off("change:said", show);
}

export default { render };
