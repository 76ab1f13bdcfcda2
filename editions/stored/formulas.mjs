// Formulas as SVG: reads [{tex, display}, …] as JSON from stdin, writes [svg, …]. Called by formulas.py.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { default: MathJax } = await import(pathToFileURL(process.argv[2]).href);
await MathJax.init({
  loader: { load: ["input/tex", "output/svg"] },
  // Each letter is drawn where it stands: a picture can be in any page, twice, and be left out of another.
  svg: { fontCache: "none" },
  options: { enableMenu: false },
});

// Where a line may break MathJax puts a space in a font of its own, so wide as `size` says.
const BREAK = /<mjx-break size="(\d)"> <\/mjx-break><svg style="/g;
const GAPS = ["0", ".111em", ".167em", ".222em", ".278em", ".333em"];

const pictures = [];
for (const { tex, display } of JSON.parse(readFileSync(0, "utf8"))) {
  const node = await MathJax.tex2svgPromise(tex, { display });
  const html = MathJax.startup.adaptor.outerHTML(node);
  if (html.includes("data-mml-node=\"merror\"")) throw new Error(`MathJax cannot read ${tex}`);
  const bare = html.replace(/ data-[a-z-]+="[^"]*"/g, "");
  pictures.push(bare.replace(BREAK, (_, size) => `<wbr><svg style="margin-left: ${GAPS[size]}; `));
}
process.stdout.write(JSON.stringify(pictures));
