// Formulas as SVG: reads [{tex, display}, …] as JSON from stdin, writes [svg, …]. Called by formulas.py.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { default: MathJax } = await import(pathToFileURL(process.argv[2]).href);
await MathJax.init({
  loader: { load: ["input/tex", "output/svg"] },
  // Each picture carries its own letters: it can stand in any page, and be left out of another.
  svg: { fontCache: "local" },
  options: { enableMenu: false },
});

const pictures = [];
for (const { tex, display } of JSON.parse(readFileSync(0, "utf8"))) {
  const node = await MathJax.tex2svgPromise(tex, { display });
  const html = MathJax.startup.adaptor.outerHTML(node);
  if (html.includes("data-mml-node=\"merror\"")) throw new Error(`MathJax cannot read ${tex}`);
  pictures.push(html);
}
process.stdout.write(JSON.stringify(pictures));
