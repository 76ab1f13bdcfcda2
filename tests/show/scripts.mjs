// Scripts of the package without a page, for tests that node runs.

import { readFileSync } from "node:fs";

/** What these scripts declare, by name. `names` is a list as in an object: "softmax, write". */
export function load(files, names) {
  const read = file => readFileSync(new URL(`../../sdpa_helpers/${file}`, import.meta.url), "utf8");
  return new Function("window", `"use strict";\n${files.map(read).join("\n")}\nreturn { ${names} };`)({});
}
