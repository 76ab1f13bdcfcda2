// The body of the interview: one question at a time, its answer when the reader asks for it, the trap, and where it is
// measured. One button does it all, so Enter is enough; the arrow keys go back and forth.

/* global bodies, make, tell */

const INTERVIEW_STYLE = `
:host { max-width: 46rem; }
.interview { border-left: 5px solid var(--query); padding: 14px 18px 16px; font-size: 15px; line-height: 1.5; } .interview:focus { outline: none; }
.interview p { margin: 0 0 10px; } .about { font-size: 12px; color: var(--soft); display: flex; flex-wrap: wrap; gap: 2px 12px; justify-content: space-between; } .about b { letter-spacing: .08em; text-transform: uppercase; font-weight: 700; }
.bar { height: 3px; margin: 6px 0 14px; border-radius: 2px; background: var(--line); } .bar i { display: block; height: 100%; border-radius: 2px; background: var(--mark); transition: width .3s; }
.question { font-size: 18px; line-height: 1.4; min-height: 2.8em; } .reply:not(:empty) { border-top: 1px solid var(--line); padding-top: 12px; }
.trap { border-left: 3px dashed var(--out); padding: 1px 0 1px 12px; } .trap b, .seen b { font-weight: 650; } .seen { font-size: 13px; color: var(--soft); } .seen a { color: var(--ink); display: inline-block; min-height: 24px; } .seen a:not(:last-child) { margin-right: 12px; }
code { font: .9em var(--jp-code-font-family, ui-monospace, monospace); } sub, sup { line-height: 0; } .nav { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-top: 14px; } .nav button { min-height: 36px; white-space: nowrap; } .nav .main { min-width: 140px; font-weight: 600; border-color: var(--query); } button[aria-disabled=true] { opacity: .5; cursor: default; }
.later { animation: later .3s ease-out; } @keyframes later { from { opacity: 0; transform: translateY(4px); } }
@media (prefers-reduced-motion: reduce) { .later { animation: none; } .bar i { transition: none; } }`;

/** What stands below a question once the reader has answered it. */
function reply({ answer, trap, seen }) {
  const links = seen.map(([innerHTML, href]) => make("a", { innerHTML, href }));
  return [
    make("p", { innerHTML: answer }),
    ...(trap ? [make("p", { className: "trap", innerHTML: `<b>The trap.</b> ${trap}` })] : []),
    make("p", { className: "seen" }, make("b", { textContent: "Measured in " }), ...links),
  ];
}

function fillInterview(panel, { questions }) {
  const place = make("b"), about = make("span"), share = make("i"), heard = make("div", { className: "spoken" });
  const question = make("p", { className: "question" }), below = make("div", { className: "reply" });
  const [back, main] = ["‹ Back", ""].map(textContent => make("button", { type: "button", textContent }));
  let at = 0, isOpen = false;
  main.className = "main";
  heard.setAttribute("role", "status");
  panel.append(make("div", { className: "about" }, place, about), make("div", { className: "bar" }, share), question, below,
    make("div", { className: "nav" }, back, main), heard);

  function draw() {
    const last = at === questions.length - 1, now = questions[at];
    place.textContent = `Question ${at + 1} of ${questions.length}`;
    about.textContent = now.about;
    share.style.width = `${(100 * (at + 1)) / questions.length}%`;
    question.innerHTML = now.question;
    below.replaceChildren(...(isOpen ? reply(now) : []));
    below.classList.toggle("later", isOpen);
    back.setAttribute("aria-disabled", at === 0 && !isOpen);
    main.textContent = !isOpen ? "Show the answer" : last ? "Begin again" : "Next question ›";
  }
  function go(to, open) {
    at = Math.min(Math.max(to, 0), questions.length - 1);
    isOpen = open;
    draw();
    tell(heard, isOpen ? below.textContent : `${place.textContent}. ${question.textContent}`);
  }
  const forward = () => (isOpen ? go((at + 1) % questions.length, false) : go(at, true));
  const backward = () => (isOpen ? go(at, false) : go(at - 1, at > 0));
  main.addEventListener("click", forward);
  back.addEventListener("click", backward);
  panel.addEventListener("keydown", event => {
    const move = { ArrowRight: forward, ArrowLeft: backward }[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  });
  draw();
  return () => {};
}

bodies.interview = { style: INTERVIEW_STYLE, fill: fillInterview };
