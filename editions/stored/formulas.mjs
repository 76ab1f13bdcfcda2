// Formulas as SVG or MathML: reads [{tex, display}, …] as JSON from stdin, writes their HTML. Called by formulas.py.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [mathjax, kind] = process.argv.slice(2);
const { default: MathJax } = await import(pathToFileURL(mathjax).href);
await MathJax.init({
  loader: { load: ["input/tex", kind === "svg" ? "output/svg" : "adaptors/liteDOM"] },
  // Each letter is drawn where it stands: a picture can be in any page, twice, and be left out of another.
  svg: { fontCache: "none" },
  options: { enableMenu: false },
  startup: { typeset: false },
});

// Where a line may break MathJax puts a space in a font of its own, so wide as `size` says.
const BREAK = /<mjx-break size="(\d)"> <\/mjx-break><svg style="/g;
const GAPS = ["0", ".111em", ".167em", ".222em", ".278em", ".333em"];

const made = {
  svg: async (...formula) => MathJax.startup.adaptor.outerHTML(await MathJax.tex2svgPromise(...formula)),
  mathml: async (...formula) => (await MathJax.tex2mmlPromise(...formula)).replace(/>\s+</g, "><"),
};
const found = [];
for (const { tex, display } of JSON.parse(readFileSync(0, "utf8"))) {
  const html = await made[kind](tex, { display });
  if (html.includes("merror")) throw new Error(`MathJax cannot read ${tex}`);
  const bare = html.replace(/ data-[a-z-]+="[^"]*"/g, "");
  found.push(bare.replace(BREAK, (_, size) => `<wbr><svg style="margin-left: ${GAPS[size]}; `));
}
process.stdout.write(JSON.stringify(found));
