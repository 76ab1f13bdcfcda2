// The strokes of `sdpa_helpers/show/svg.py` in the page: the same calls give the same SVG, to the letter.

/* exported canvasOf, clip */

const escaped = text => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#x27;");
const escapedWords = text => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const clip = (x, low, high) => Math.min(Math.max(x, low), high);

/** A number with at most two decimals. */
const brief = value => (typeof value === "number" && !Number.isInteger(value) ? value.toFixed(2).replace(/0+$/, "").replace(/\.$/, "") : escaped(value));

/** Raised letters of the field as SVG sets them. */
const raisedLetters = words => escapedWords(words).replaceAll("ᵀ", '<tspan dy="-0.5em" font-size="70%">T</tspan>');

function element(tag, attributes, content = "") {
  const told = Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => ` ${name}="${brief(value)}"`).join("");
  return content === "" ? `<${tag}${told}/>` : `<${tag}${told}>${content}</${tag}>`;
}

/** Collects strokes; `finish` makes the picture and the words that belong to it. */
function canvasOf(width, height) {
  const parts = [];
  return {
    line: (x1, y1, x2, y2, { colour = "currentColor", thick = 1, dash = null, opacity = null } = {}) => {
      parts.push(element("line", { x1, y1, x2, y2, stroke: colour, "stroke-width": thick, "stroke-dasharray": dash, opacity }));
    },
    box: (x, y, wide, high, fill, { outline = true, opacity = null } = {}) => {
      parts.push(element("rect", {
        x: Math.min(x, x + wide), y: Math.min(y, y + high), width: Math.abs(wide), height: Math.abs(high), fill,
        stroke: outline ? "currentColor" : null, "stroke-width": outline ? 0.8 : null, "fill-opacity": opacity,
      }));
    },
    text: (x, y, content, { anchor = null, size = null, bold = false, name = null } = {}) => {
      parts.push(element("text", { x, y, "text-anchor": anchor, "font-size": size, "font-weight": bold ? 600 : null, "data-name": name }, raisedLetters(content)));
    },
    finish: (title, text) => ({
      text,
      svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${brief(width)} ${brief(height)}" role="img" aria-labelledby="svg-title svg-text" `
        + `fill="currentColor" font-family="system-ui, sans-serif" font-size="14"><title id="svg-title">${escaped(title)}</title>`
        + `<desc id="svg-text">${escaped(text)}</desc>${parts.join("")}</svg>`,
    }),
  };
}
