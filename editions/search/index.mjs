// Documents from stdin, as JSON [{url, kind, title, content}], to Pagefind's index in the folder that is named.
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

// The kind and title of each result. Pagefind's own filters would say the kind, but are written in another order each time.
const about = new Map(documents.map(({ url, kind, title }) => [url, [kind, title]]));
const names = readdirSync(`${folder}/fragment`).sort();
const known = names.map((name) => {
  const text = gunzipSync(readFileSync(`${folder}/fragment/${name}`)).toString();
  const { url } = JSON.parse(text.slice(text.indexOf("{")));
  return [name.split(".")[0], about.get(url)];
});
writeFileSync(`${folder}/about.json`, JSON.stringify(Object.fromEntries(known)));
