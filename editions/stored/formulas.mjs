// Formulas as SVG or MathML: reads [{tex, display}, …] as JSON from stdin, writes their HTML. Called by formulas.py.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [mathjax, kind] = process.argv.slice(2);
const { default: MathJax } = await import(pathToFileURL(mathjax).href);
await MathJax.init({
  loader: { load: ["input/tex", kind === "svg" ? "output/svg" : "adaptors/liteDOM"] },
  // Each picture carries its own letters: it can stand in any page, and be left out of another.
  svg: { fontCache: "local" },
  options: { enableMenu: false },
  startup: { typeset: false },
});

const made = {
  svg: async (...formula) => MathJax.startup.adaptor.outerHTML(await MathJax.tex2svgPromise(...formula)),
  mathml: async (...formula) =>
    (await MathJax.tex2mmlPromise(...formula)).replace(/ data-(?:latex|mjx-[a-z]+)="[^"]*"/g, "").replace(/>\s+</g, "><"),
};
const found = [];
for (const { tex, display } of JSON.parse(readFileSync(0, "utf8"))) {
  const html = await made[kind](tex, { display });
  if (html.includes("merror")) throw new Error(`MathJax cannot read ${tex}`);
  found.push(html);
}
process.stdout.write(JSON.stringify(found));
