// A file that is opened: answers that are missing here are taken; what differs is asked about, and the other one is kept.
import { unpiled } from "./card.js";
import { lasts, note } from "./journal.js";
import { MOST, keepAnswers, load } from "./kept.js";
import { MOST_BYTES, answersIn, bare, notebookOf } from "./notebook.js";

const LISTED = 3; // names in a sentence
const LONGEST = 40; // letters of a name
const MOST_LINES = 2000; // the editor draws them all, at each visit
const NOT_KEPT = " This browser keeps no more: download your notebook before you leave the page.";

/** Whether an editor shows it at once: some texts of a few thousand letters take a page many seconds. */
const isShort = (text) => text.length <= MOST && text.split("\n").length <= MOST_LINES && unpiled(text) === text;

/** Sort the file's answers by name. `pristine` is the lesson's notebook as handed out, `mine` what is kept here. */
export function sorted(notebook, pristine, mine) {
  const stubs = new Map(answersIn(pristine));
  const isWork = (name, text = "") => bare(text) !== "" && bare(text) !== bare(stubs.get(name));
  const found = answersIn(notebook);
  const known = found.filter(([name]) => stubs.has(name));
  const worked = new Map(known.filter(([name, text]) => isWork(name, text))); // of two cells the last one, as the grader takes it
  const short = [...worked].filter(([, text]) => isShort(text));
  const answered = (name) => isWork(name, mine[name]);
  return {
    strange: [...new Set(found.map(([name]) => name))].filter((name) => !stubs.has(name)),
    known: known.length,
    fresh: short.filter(([name]) => !answered(name)),
    differ: short.filter(([name, text]) => answered(name) && bare(text) !== bare(mine[name])),
    long: [...worked.keys()].filter((name) => !short.some(([other]) => other === name)),
    stay: [...new Set(known.map(([name]) => name))].filter((name) => !worked.has(name) && answered(name)),
  };
}

/** "a, b and c", or "a, b, c and 497 more". */
export function listed(names) {
  const some = names.slice(0, names.length === LISTED + 1 ? names.length : LISTED).map((name) => name.slice(0, LONGEST));
  const items = some.length < names.length ? [...some, `${names.length - some.length} more`] : some;
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

const verb = (names, one, more) => (names.length === 1 ? one : more);

/** What is said of a file, a sentence for each thing. */
function told(found, file, number) {
  const { fresh, differ, stay, long, strange } = found;
  return [
    fresh.length && `${fresh.length} ${verb(fresh, "answer", "answers")} taken from ${file}.`,
    !fresh.length && !differ.length && `${file} has no answer that is not here already.`,
    stay.length && `${listed(stay)} ${verb(stay, "is", "are")} not answered in it: yours ${verb(stay, "stays", "stay")}.`,
    long.length && `Left out, as longer than ${MOST.toLocaleString("en")} letters or ${MOST_LINES.toLocaleString("en")} lines, or with accents piled on one letter: ${listed(long)}.`,
    strange.length && `Left out, as ${verb(strange, "it is no exercise", "they are no exercises")} of lesson ${number}: ${listed(strange)}.`,
  ].filter(Boolean).join(" ");
}

/** Take a file in. `say(text)` tells how it went, `ask(question, answers)` gives the place of the answer chosen, `look()` shows what is kept now. */
export async function takeIn(file, { lesson, say, ask, look }) {
  const number = lesson.slice(0, 2);
  try {
    if (file.size > MOST_BYTES) throw new Error("This file is larger than 8 MB; a notebook of this course is not.");
    const notebook = notebookOf(await file.text());
    const pristine = await fetch(`notebooks/${lesson}.ipynb`).then((response) => response.json());
    const found = sorted(notebook, pristine, load().answers);
    if (!found.known && !found.strange.length) throw new Error("This notebook has no answer of this course: no cell begins with # exercise: …");
    if (!found.known) throw new Error(`${file.name} has no answer of lesson ${number}; it answers ${listed(found.strange)}. Open it on a page of its own lesson.`);
    const unkept = keepAnswers(found.fresh) ? "" : NOT_KEPT;
    look();
    say(told(found, file.name, number) + unkept);
    if (found.differ.length) say(await settle(found.differ, file.name, ask));
    look();
  } catch (error) {
    say(error.message);
  }
}

/** Which of two answers stays, for all that differ at once: the other is kept among the earlier versions. */
async function settle(differ, file, ask) {
  const names = listed(differ.map(([name]) => name));
  const one = differ.length === 1;
  const question = `${names} ${one ? "is" : "are"} not the same in ${file} as here. With which do you want to go on? ` +
    (await lasts() ? `The other ${one ? "one goes" : "ones go"} into Earlier versions.` : "This browser keeps the other only until you leave this page: download your notebook first.");
  if (await ask(question, ["With the file's", "With mine"]) === 1) {
    for (const [name, text] of differ) await note(name, text, `from ${file}`);
    return `What was here is yours. What ${file} has instead is in Earlier versions of ${names}.`;
  }
  const mine = load().answers; // as they are now: who was asked may have written on
  for (const [name] of differ) await note(name, mine[name] ?? "", `before ${file} was opened`);
  const unkept = keepAnswers(differ) ? "" : NOT_KEPT;
  return `${file} is yours. What was there before is in Earlier versions of ${names}.${unkept}`;
}
