// The list of lessons: numbers in, elements out. Links are real links, so keys, middle click and Notebook 7 just work.

import { isPlain } from "./opening.js";

function make(tag, properties = {}, ...children) {
  const { className, ...attributes } = properties, element = document.createElement(tag);
  if (className) element.className = className;
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

/** The elements of the side bar. `before`: what is shown now; what was folded by hand stays so, and focus where it is. */
export function outline(state, path, ways, before) {
  return keeping(before, [
    make("header", {}, make("h2", {}, "Course"), state.room ? place(state.room) : null),
    make("nav", { "aria-label": "Lessons" }, make("ol", {}, ...state.lessons.map(
      lesson => lessonItem(lesson, state.next, path, ways)))),
    ...ways.more,
  ]);
}

/** Who the learner is in the instructor's room; it leads to their own page there. */
function place({ name, color, page }) {
  const dot = make("span", { className: "dot", "aria-hidden": "true" });
  dot.style.background = color;
  return make("p", { className: "room" }, "In this room you are ", make("a", { href: page, target: "_blank", rel: "noopener" }, dot, name));
}

function keeping(before, elements) {
  const byHand = new Map([...before.querySelectorAll("details[data-by-hand]")].map(one => [one.dataset.lesson, one.open]));
  const focused = before.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  for (const element of elements) {
    for (const one of element.querySelectorAll("details")) {
      if (byHand.has(one.dataset.lesson)) Object.assign(one, { open: byHand.get(one.dataset.lesson) }).dataset.byHand = "";
    }
    const again = focused && element.querySelector(`[data-key="${focused}"]`);
    if (again) queueMicrotask(() => again.focus());
  }
  return elements;
}

function lessonItem(lesson, next, path, ways) {
  const { name, title, points, max_points: most, exercises } = lesson;
  const isNext = next?.lesson === name, here = path === lesson.lesson || path === lesson.exercise;
  const link = make("a", {
    className: "lesson", href: ways.address(lesson.lesson), "data-key": name,
    "aria-current": here && "page", target: ways.openLesson ? null : `sdpa ${lesson.lesson}`,
    title: lesson.changed_beside && "A new version lies beside yours, as .new.ipynb",
  },
  ring(name, most ? points / most : 0),
  make("span", { className: "words" },
    make("span", { className: "title" }, title, isNext ? make("span", { className: next.exercise ? "next if-folded" : "next" }, "next") : null),
    make("span", { className: "facts" }, facts(lesson), make("span", { className: "sdpa-unseen" }, solved(exercises)))));
  onPlainClick(link, ways.openLesson && (() => ways.openLesson(lesson)));
  const more = exercises.length ? exerciseList(lesson, isNext ? next.exercise : null, here || isNext, ways) : null;
  return make("li", { className: isNext ? "is-next" : "" }, link, more);
}

const facts = ({ minutes, changed_beside: beside }) => `${minutes} min${beside ? " · new version" : ""}`;

/** What the ring shows, for those who don't see it. */
function solved(exercises) {
  const done = exercises.filter(one => one.done).length;
  return exercises.length ? `, ${done} of ${exercises.length} exercises solved` : "";
}

function exerciseList(lesson, next, open, ways) {
  const head = make("summary", { "data-key": `${lesson.name} exercises` }, "Exercises");
  const items = lesson.exercises.map(one => exerciseItem(lesson, one, one.name === next, ways));
  const fold = make("details", { "data-lesson": lesson.name, open }, head, make("ul", {}, ...items));
  head.addEventListener("click", () => { fold.dataset.byHand = ""; });
  return fold;
}

function exerciseItem(lesson, { name, points, max_points: most, done }, isNext, ways) {
  const state = done ? "done" : points ? `${points} of ${most} points` : "open";
  const link = make("a", {
    href: ways.address(lesson.exercise), "data-key": `${lesson.name} ${name}`,
    target: ways.openExercise ? null : `sdpa ${lesson.exercise}`, className: done ? "done" : points ? "begun" : "",
  },
  make("span", { className: "tick", "aria-hidden": "true" }, done ? "✓" : points ? "◐" : "○"),
  make("span", { className: "name" }, name), make("span", { className: "sdpa-unseen" }, `, ${state}`),
  isNext ? make("span", { className: "next" }, "next") : null);
  onPlainClick(link, ways.openExercise && (() => ways.openExercise(lesson, name)));
  return make("li", {}, link);
}

/** A click without a modifier does this; any other click is the browser's, as for every link. */
function onPlainClick(link, act) {
  if (!act) return;
  link.addEventListener("click", event => {
    if (!isPlain(event)) return;
    event.preventDefault();
    act();
  });
}

/** The lesson's number in a ring that fills with its points. */
function ring(name, share) {
  const number = name.match(/^\d+(?=_)/)?.[0] ?? "·", holder = make("span", { className: "ring" });
  holder.innerHTML = `<svg viewBox="0 0 36 36" aria-hidden="true"><circle cx="18" cy="18" r="16"/><circle class="part" cx="18" cy="18" r="16"
    pathLength="100" stroke-dasharray="${100 * share} 100" transform="rotate(-90 18 18)"/></svg>`;
  holder.append(number);
  if (share >= 1) holder.classList.add("full");
  return holder;
}
