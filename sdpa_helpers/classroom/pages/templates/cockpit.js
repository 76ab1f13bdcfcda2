"use strict";
// All that is shown is put in as text, never as markup: names and mistakes come from submissions.
const DATA = JSON.parse(document.getElementById("data").textContent);
const { columns, rows, groups, links } = DATA;
const at = id => document.getElementById(id);
const LOOK = {
  F: ["all points", "F"], 4: ["three quarters or more", "4"], 3: ["half or more", "3"], 2: ["a quarter or more", "2"],
  1: ["less than a quarter", "1"], 0: ["no points", "0"], u: ["not tried", "u"], w: ["not read yet", "w"],
  x: ["the grader failed", "x"], r: ["can't be read", "r"], ".": ["not handed in", "a"],
};
const WITHOUT = "u.wxr"; // cells without a mark
const WIDTH = 100 / columns.length;
const state = { row: null, column: 0, anonymous: false, listed: rows };

function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter(child => child !== null && child !== ""));
  return element;
}

const points = number => String(Math.round(100 * number) / 100);
const called = row => (state.anonymous ? `learner ${row.number}` : row.name);
const color = cell => `var(--s${LOOK[cell][1]})`;
/** One gradient a row: five hundred elements instead of fifty thousand. */
const painted = cells => `linear-gradient(to right, ${[...cells].map((cell, n) =>
  `${color(cell)} ${n * WIDTH}% ${(n + 1) * WIDTH - (columns.length < 120 ? WIDTH / 12 : 0)}%, Canvas 0 ${(n + 1) * WIDTH}%`).join(", ")})`;

function inWords(row) {
  const counted = new Map();
  for (const cell of row.cells) counted.set(cell, (counted.get(cell) ?? 0) + 1);
  return Object.keys(LOOK).filter(cell => counted.has(cell)).map(cell => `${counted.get(cell)} ${LOOK[cell][0]}`).join(", ");
}

function strip(cells, label) {
  const element = make("div", "strip");
  element.style.background = painted(cells);
  element.style.minWidth = `${4 * columns.length}px`;
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", label);
  return element;
}

for (const row of rows) {
  const button = make("button"), line = strip(row.cells, inWords(row));
  const who = make("th", "who", button);
  who.scope = "row";
  row.element = make("tr", "", who, make("td", "sum", points(row.points)), make("td", "", line));
  row.button = button;
  row.line = line;
  button.addEventListener("click", () => go(row, state.column));
  line.addEventListener("click", event => {
    const box = line.getBoundingClientRect();
    go(row, Math.min(columns.length - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * columns.length))));
  });
}

function head() {
  const lessons = make("div", "lessons"), line = make("tr");
  columns.forEach((column, n) => {
    if (n && columns[n - 1].notebook === column.notebook) return;
    const many = columns.filter(one => one.notebook === column.notebook).length;
    const name = make("span", "", column.notebook.slice(0, 2));
    name.title = column.notebook;
    name.style.left = `${n * WIDTH}%`;
    name.style.width = `${many * WIDTH}%`;
    lessons.append(name);
  });
  const cells = [make("th", "who", "learner"), make("th", "sum", "points"), make("th", "", lessons)];
  for (const cell of cells) cell.scope = "col";
  line.append(...cells);
  document.querySelector("thead").append(line);
}

function mean(column) {
  const tried = rows.filter(row => !WITHOUT.includes(row.cells[column]));
  const sum = tried.reduce((all, row) => all + row.earned[column], 0);
  return tried.length ? `${points(sum / tried.length)} of ${points(columns[column].max)} in the mean of ${tried.length} who tried` : "nobody tried it";
}

function detail() {
  const { row, column } = state, asked = columns[column];
  const about = make("div", "", make("strong", "", asked.title), " ", make("code", "", asked.name), `, ${asked.notebook}: ${mean(column)}.`);
  if (!row) return at("detail").replaceChildren(about, make("div", "quiet", "Choose a learner, or press j."));
  const cell = row.cells[column], mistakes = row.mistakes[column] ?? [];
  const earned = WITHOUT.includes(cell) ? LOOK[cell][0] : `${points(row.earned[column])} of ${points(asked.max)}`;
  const link = links[row.name]?.[asked.notebook], page = make("a", "", "feedback");
  if (link) page.href = link;
  const flags = row.flags ? `, ${row.flags} flag${row.flags > 1 ? "s" : ""}` : "";
  const told = mistakes.length ? `: ${mistakes.join(" and ")}` : "";
  at("detail").replaceChildren(about, make("div", "", make("strong", "", called(row)), `: ${earned}${told}. `, link && !state.anonymous ? page : null),
    make("div", "quiet", `In all ${points(row.points)} of ${points(row.max)} points${flags}; ${inWords(row)}.`));
}

const cursor = make("i", "cursor");

function go(row, column) {
  state.row?.element.classList.remove("here");
  Object.assign(state, { row, column });
  if (row) {
    row.element.classList.add("here");
    cursor.style.left = `${column * WIDTH}%`;
    cursor.style.width = `${WIDTH}%`;
    row.line.append(cursor);
    row.element.scrollIntoView({ block: "nearest", inline: "nearest" });
  } else cursor.remove();
  detail();
}

const UNTRIED = row => [...row.cells].filter(cell => "u.r".includes(cell)).length;
const ORDER = {
  name: (a, b) => (state.anonymous ? a.number - b.number : a.name.localeCompare(b.name)),
  low: (a, b) => a.points - b.points, high: (a, b) => b.points - a.points, untried: (a, b) => UNTRIED(b) - UNTRIED(a),
  here: (a, b) => a.earned[state.column] - b.earned[state.column] || UNTRIED(b) - UNTRIED(a),
};

function found(row, words) {
  const mistakes = Object.values(row.mistakes).flat();
  return words.every(word => called(row).toLowerCase().includes(word) || mistakes.some(name => name.toLowerCase().includes(word)));
}

function list() {
  const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const order = ORDER[at("sort").value];
  state.listed = rows.filter(row => found(row, words)).sort((a, b) => order(a, b) || ORDER.name(a, b));
  for (const row of state.listed) {
    row.button.textContent = called(row);
    row.button.title = called(row);
  }
  document.querySelector("tbody").replaceChildren(...state.listed.map(row => row.element));
  at("none").hidden = state.listed.length > 0;
  if (state.row && !state.listed.includes(state.row)) go(null, state.column);
  else detail();
}

/** What somebody of a group is called: those of an earlier term are among no rows. */
function groupName(name, earlier) {
  const row = rows.find(one => one.name === name);
  return row ? called(row) : state.anonymous ? `somebody earlier ${earlier}` : name;
}

function listGroups() {
  const items = groups.map(group => {
    let earlier = 0;
    const people = group.people.map(([name, many]) => `${groupName(name, rows.some(one => one.name === name) ? 0 : ++earlier)} (${many})`).join(", ");
    const exercises = group.exercises.map(([name, many]) => `${name} (${many})`).join(", ");
    return make("li", "", make("strong", "", people), make("div", "quiet", `share: ${exercises}. Everybody shares ${group.least} or more with another.`));
  });
  at("groups").querySelector("ol").replaceChildren(...(items.length ? items : [make("li", "", "No two people share two answers that tell anything.")]));
}

function show(which) {
  for (const name of ["map", "groups"]) {
    at(name).hidden = name !== which;
    at(`to-${name}`).setAttribute("aria-pressed", name === which);
  }
}

function anonymous(value) {
  state.anonymous = at("anonymous").checked = value;
  list();
  listGroups();
}

function move(rowsDown, columnsRight) {
  if (!state.listed.length) return;
  const last = state.listed.length - 1, from = state.listed.indexOf(state.row);
  const next = from < 0 ? 0 : Math.min(last, Math.max(0, from + rowsDown));
  go(state.listed[next], Math.min(columns.length - 1, Math.max(0, state.column + columnsRight)));
}

const KEYS = {
  j: () => move(1, 0), ArrowDown: () => move(1, 0), k: () => move(-1, 0), ArrowUp: () => move(-1, 0),
  h: () => move(0, -1), ArrowLeft: () => move(0, -1), l: () => move(0, 1), ArrowRight: () => move(0, 1),
  "/": () => at("search").focus(), a: () => anonymous(!state.anonymous), g: () => show(at("groups").hidden ? "groups" : "map"),
  s: () => { at("sort").selectedIndex = (at("sort").selectedIndex + 1) % at("sort").length; list(); },
  Enter: () => at("detail").querySelector("a")?.click(),
};

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    at("search").value = "";
    document.activeElement.blur();
    return void list();
  }
  if (event.target.closest("input, select, a, .tabs") || (event.key === "Enter" && event.target.closest("button"))) return;
  const does = KEYS[event.key];
  if (does) {
    event.preventDefault();
    does();
  }
});

for (const [meaning, letter] of Object.values(LOOK)) {
  const box = make("i");
  box.style.background = `var(--s${letter})`;
  document.querySelector(".legend").append(make("span", "", box, meaning));
}
at("search").addEventListener("input", list);
at("sort").addEventListener("change", list);
at("anonymous").addEventListener("change", () => anonymous(at("anonymous").checked));
at("to-map").addEventListener("click", () => show("map"));
at("to-groups").addEventListener("click", () => show("groups"));
if (columns.length) {
  head();
  list();
  listGroups();
}
