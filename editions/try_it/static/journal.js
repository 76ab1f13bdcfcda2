// The last versions of each answer, {name, text, why, at}, in this browser's IndexedDB. Where there is none, as in some
// private windows, they are kept as long as the page is open.

import { MOST as LETTERS } from "./kept.js";

/** Versions of one answer that are kept. */
export const MOST = 20;
const passing = []; // what IndexedDB did not take
let listener = () => {};
const opened = open().catch(() => null);

function open() {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open("sdpa-try", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("versions", { autoIncrement: true }).createIndex("name", "name");
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}

/** `told()` is called after each new version. */
export const onNote = (told) => { listener = told; };

/** Whether versions outlast this page. */
export const lasts = async () => (await opened) !== null && !passing.length;

/** Keep a text that is about to be replaced, or was checked. A text that is there already moves to the front. */
export async function note(name, text, why) {
  if (!text.trim()) return;
  const version = { name, text: text.slice(0, LETTERS), why, at: Date.now() };
  try {
    await add(await opened, version);
  } catch {
    passing.push(version);
  }
  listener();
}

function add(database, version) {
  return new Promise((resolve, reject) => {
    const step = database.transaction("versions", "readwrite");
    const store = step.objectStore("versions");
    const others = [];
    store.index("name").openCursor(version.name).onsuccess = ({ target: { result: cursor } }) => {
      if (!cursor) {
        others.slice(0, Math.max(0, others.length + 1 - MOST)).forEach((key) => store.delete(key));
        store.add(version);
        return;
      }
      if (cursor.value.text === version.text) cursor.delete();
      else others.push(cursor.primaryKey);
      cursor.continue();
    };
    step.oncomplete = resolve;
    step.onabort = () => reject(step.error);
  });
}

/** The versions of one answer, the newest first. */
export async function versionsOf(name) {
  const stored = await read(await opened, name).catch(() => []);
  const here = passing.filter((one) => one.name === name);
  return [...stored, ...here].reverse().sort((a, b) => b.at - a.at).slice(0, MOST);
}

function read(database, name) {
  return new Promise((resolve, reject) => {
    const asked = database.transaction("versions").objectStore("versions").index("name").getAll(name);
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}
