// Documents from stdin, as JSON [{url, about, content}], to Pagefind's index in the folder that is named.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [modules, folder] = process.argv.slice(2);
const { close, createIndex } = await import(pathToFileURL(`${modules}/pagefind/lib/index.js`));
const documents = JSON.parse(readFileSync(0, "utf8"));

const { index, errors } = await createIndex({ includeCharacters: "_" });
const faults = [...errors];
for (const { url, content } of documents) faults.push(...(await index.addHTMLFile({ url, content })).errors);
faults.push(...(await index.writeFiles({ outputPath: folder })).errors);
await close();
if (faults.length) throw new Error(faults.join("\n"));

// What each result is. Pagefind's own filters would say its kind, but are written in another order each time.
const about = new Map(documents.map(({ url, about: told }) => [url, told]));
const names = readdirSync(`${folder}/fragment`).sort();
const known = names.map((name) => {
  const text = gunzipSync(readFileSync(`${folder}/fragment/${name}`)).toString();
  const { url } = JSON.parse(text.slice(text.indexOf("{")));
  return [name.split(".")[0], about.get(url)];
});
writeFileSync(`${folder}/about.json`, JSON.stringify(Object.fromEntries(known)));
