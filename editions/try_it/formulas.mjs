// Reads a JSON list of [TeX, display] and writes the list of their MathML: pages need no script to set formulas.
import MathJax from "mathjax";
import { readFileSync } from "node:fs";

await MathJax.init({ loader: { load: ["input/tex", "adaptors/liteDOM"] }, startup: { typeset: false } });

const formulas = JSON.parse(readFileSync(0, "utf8"));
const found = [];
for (const [tex, display] of formulas) {
  const mathml = await MathJax.tex2mmlPromise(tex, { display });
  found.push(mathml.replace(/ data-(?:latex|mjx-[a-z]+)="[^"]*"/g, "").replace(/>\s+</g, "><"));
}
process.stdout.write(JSON.stringify(found));
