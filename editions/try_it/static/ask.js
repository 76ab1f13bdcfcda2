// A question below a line of the page, answered by a button.

let open = null; // one question at a time

/** Ask after `place`; gives the number of the answer that is chosen, if one is. */
export function askAfter(place, question, answers) {
  open?.remove();
  const before = document.activeElement;
  const box = document.createElement("div");
  const words = document.createElement("p");
  const row = document.createElement("div");
  words.textContent = question;
  row.className = "buttons";
  box.className = "question";
  box.append(words, row);
  Object.assign(box, { tabIndex: -1, role: "group", ariaLabel: question });
  open = box;
  place.after(box);
  box.focus();
  return new Promise((resolve) => {
    answers.forEach((answer, number) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: answer });
      button.addEventListener("click", () => {
        box.remove();
        before?.focus();
        resolve(number);
      });
      row.append(button);
    });
  });
}
