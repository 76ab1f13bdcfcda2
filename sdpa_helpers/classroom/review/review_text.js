// An answer as a reader sees it: paragraphs, lists, emphasis, code and formulas, out of a text that nobody vouches for.
//
// Every element is made here, by its name, and a learner's characters only ever become text: there is no way from an
// answer to markup, to an attribute or to an address. Links and images are told in words. What is no known formula is
// shown as it was typed.

/* exported node, written */

const node = (tag, children = [], properties = {}) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

// ---- formulas: a part of TeX, as MathML --------------------------------------------------------------------

const MATH = "http://www.w3.org/1998/Math/MathML";
const math = (tag, ...children) => {
  const element = document.createElementNS(MATH, tag);
  element.append(...children);
  return element;
};
const GREEK = Object.fromEntries(
  ("alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ " +
   "sigma σ tau τ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Sigma Σ Phi Φ Psi Ψ Omega Ω ell ℓ " +
   "infty ∞ partial ∂ nabla ∇ emptyset ∅").split(" ").reduce((pairs, word, i, all) => (i % 2 ? pairs : [...pairs, [word, all[i + 1]]]), []));
const SIGNS = Object.fromEntries(
  ("cdot · times × div ÷ pm ± le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ sim ∼ simeq ≃ equiv ≡ propto ∝ to → rightarrow → " +
   "leftarrow ← Rightarrow ⇒ implies ⇒ Leftrightarrow ⇔ iff ⇔ mapsto ↦ in ∈ notin ∉ subset ⊂ forall ∀ exists ∃ sum ∑ prod ∏ int ∫ " +
   "circ ∘ odot ⊙ otimes ⊗ oplus ⊕ ldots … dots … cdots ⋯ vdots ⋮ mid ∣ vert | lvert | rvert | Vert ‖ lVert ‖ rVert ‖ | ‖ langle ⟨ " +
   "rangle ⟩ perp ⊥ top ⊤ intercal ⊺ prime ′ ll ≪ gg ≫ wedge ∧ vee ∨ neg ¬ land ∧ lor ∨ { { } } % % $ $ _ _ & & # #")
    .split(" ").reduce((pairs, word, i, all) => (i % 2 ? pairs : [...pairs, [word, all[i + 1]]]), []));
const FUNCTIONS = new Set("log ln exp max min lim sup inf Pr det sin cos tan tanh dim rank arg argmax softmax Var Cov diag".split(" "));
const UPRIGHT = new Set("mathrm text operatorname mathsf mathbf mathit textbf textit mathcal mathbb boldsymbol bm".split(" "));
const HATS = { hat: "^", widehat: "^", bar: "¯", overline: "¯", tilde: "~", vec: "→", dot: "˙" };
const SPACES = { ",": 0.17, ";": 0.28, ":": 0.22, "!": 0, " ": 0.3, quad: 1, qquad: 2 };
const IGNORED = new Set("left right big Big bigg Bigg bigl bigr Bigl Bigr limits displaystyle textstyle".split(" "));
const BOARD = { E: "𝔼", R: "ℝ", P: "ℙ", N: "ℕ", Z: "ℤ" };
const DEEPEST = 30;

/** A formula as a <math> element; null when something in it is not known here. */
function formula(source, display) {
  const tokens = source.match(/\\[a-zA-Z]+\*?|\\[^]|[0-9]+(?:\.[0-9]+)?|[^]/gu) ?? [];
  let at = 0;
  const blank = () => { while (/^\s$/u.test(tokens[at] ?? "")) at += 1; };
  const take = () => { blank(); if (at >= tokens.length) throw new SyntaxError("ends too early"); return tokens[at++]; };
  const next = () => { blank(); return tokens[at]; };
  /** What stands in braces, as it is typed. */
  const words = () => {
    if (next() !== "{") return take();
    at += 1;
    let text = "", open = 1;
    while (open) {
      if (at >= tokens.length) throw new SyntaxError("an open brace");
      const token = tokens[at++];
      open += (token === "{") - (token === "}");
      if (open) text += token;
    }
    if (/[\\{}]/.test(text)) throw new SyntaxError("more than words");
    return text;
  };
  const row = (end, depth) => {
    const parts = [];
    for (;;) {
      const token = next();
      if (token === end) { at += 1; return math("mrow", ...parts); }
      if (token === undefined || token === "}") throw new SyntaxError("braces");
      parts.push(...scripted(depth));
    }
  };
  const argument = depth => {
    if (depth > DEEPEST) throw new SyntaxError("too deep");
    if (next() === "{") { at += 1; return row("}", depth + 1); }
    return math("mrow", ...one(take(), depth + 1));
  };
  const scripted = depth => {
    const base = "^_'".includes(next()) ? [math("mrow")] : one(take(), depth);
    let below = null, above = null, primes = "";
    for (;;) {
      const token = next();
      if (token === "'") { at += 1; primes += "′"; }
      else if (token === "_" && !below) { at += 1; below = argument(depth); }
      else if (token === "^" && !above) { at += 1; above = argument(depth); }
      else break;
    }
    if (primes) above = math("mrow", math("mo", primes), ...(above ? [above] : []));
    if (!below && !above) return base;
    const core = base.length === 1 ? base[0] : math("mrow", ...base);
    if (below && above) return [math("msubsup", core, below, above)];
    return [math(below ? "msub" : "msup", core, below ?? above)];
  };
  const one = (token, depth) => {
    if (depth > DEEPEST) throw new SyntaxError("too deep");
    if (token === "{") return [row("}", depth + 1)];
    if (token === "~") return [space(0.3)];
    if (token[0] !== "\\" || token.length < 2) {
      if (/^[0-9]/.test(token)) return [math("mn", token)];
      if (/^\p{L}$/u.test(token)) return [math("mi", token)];
      if ("}&#%$\\".includes(token)) throw new SyntaxError(token);
      return [math("mo", token === "-" ? "−" : token === "*" ? "∗" : token)];
    }
    const name = token.slice(1);
    if (Object.hasOwn(GREEK, name)) return [math("mi", GREEK[name])];
    if (Object.hasOwn(SIGNS, name)) return [math("mo", SIGNS[name])];
    if (Object.hasOwn(SPACES, name)) return [space(SPACES[name])];
    if (FUNCTIONS.has(name)) return [math("mi", name), space(0.12)];
    if (IGNORED.has(name)) { if (next() === ".") at += 1; return []; }
    if (["frac", "dfrac", "tfrac"].includes(name)) return [math("mfrac", argument(depth), argument(depth))];
    if (name === "sqrt") {
      if (next() !== "[") return [math("msqrt", argument(depth))];
      at += 1;
      const index = row("]", depth + 1);
      return [math("mroot", argument(depth), index)];
    }
    if (Object.hasOwn(HATS, name)) return [math("mover", argument(depth), math("mo", HATS[name]))];
    if (UPRIGHT.has(name)) {
      const text = words(), letters = math(name.startsWith("text") ? "mtext" : "mi", name === "mathbb" ? BOARD[text] ?? text : text);
      letters.setAttribute("mathvariant", "normal");
      return [letters];
    }
    throw new SyntaxError(token);
  };
  try {
    const whole = math("math");
    const parts = [];
    while (next() !== undefined) parts.push(...scripted(0));
    whole.append(math("mrow", ...parts));
    if (display) whole.setAttribute("display", "block");
    return whole;
  } catch {
    return null;
  }
}
const space = wide => { const element = math("mspace"); element.setAttribute("width", `${wide}em`); return element; };

const shownFormula = (source, typed, display) => formula(source, display) ?? node("code", [typed], { className: "raw" });

// ---- text within a line ------------------------------------------------------------------------------------

// Each piece is found at one place only, without looking back, and none is longer than a few hundred characters.
const PIECES = [
  [/`([^`\n]{1,400})`/y, found => node("code", [found[1]])],
  [/\$\$([^$]{1,800})\$\$/y, found => shownFormula(found[1], found[0], true)],
  [/\\\[([^]{1,800}?)\\\]/y, found => shownFormula(found[1], found[0], true)],
  [/\$(?!\s)([^$\n]{1,400})\$/y, found => shownFormula(found[1], found[0], false)],
  [/\\\(([^\n]{1,400}?)\\\)/y, found => shownFormula(found[1], found[0], false)],
  [/\*\*(?!\s)([^*\n]{1,400})(?<!\s)\*\*/y, (found, depth) => node("strong", inline(found[1], depth + 1))],
  [/\*(?!\s)([^*\n]{1,400})(?<!\s)\*/y, (found, depth) => node("em", inline(found[1], depth + 1))],
  [/!\[([^\]\n]{0,200})\]\(([^)\n]{0,400})\)/y, found => node("span", [`[an image, not shown: ${found[1] || found[2].slice(0, 60)}]`], { className: "aside" })],
  [/\[([^\]\n]{1,200})\]\(([^)\n]{0,400})\)/y, found => node("span", [`${found[1]} `, node("span", [`(link, not followed: ${found[2].slice(0, 80)})`], { className: "aside" })])],
];
const BEGINS = /[`$\\*![]/g;

/** The nodes of a piece of text. */
function inline(text, depth = 0) {
  const nodes = [];
  let from = 0, plain = "";
  const flush = () => { if (plain) nodes.push(plain); plain = ""; };
  while (from < text.length) {
    BEGINS.lastIndex = from;
    const begin = depth > 3 ? null : BEGINS.exec(text);
    if (!begin) { plain += text.slice(from); break; }
    plain += text.slice(from, begin.index);
    from = begin.index;
    let made = null;
    for (const [pattern, make] of PIECES) {
      pattern.lastIndex = from;
      const found = pattern.exec(text);
      if (found) { made = make(found, depth); from += found[0].length; break; }
    }
    if (made) { flush(); nodes.push(made); }
    else plain += text[from++];
  }
  flush();
  return nodes;
}

// ---- lines -------------------------------------------------------------------------------------------------

const ITEM = /^\s{0,6}(?:[-*+]|\d{1,3}[.)])\s+(.*)$/;

/** The blocks of an answer, as a list of elements. */
function written(text) {
  const lines = String(text).split("\n"), blocks = [];
  let at = 0;
  const gather = (belongs, first = true) => {
    const taken = [];
    while (at < lines.length && (taken.length === 0 && first ? true : belongs(lines[at]))) taken.push(lines[at++]);
    return taken;
  };
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) { at += 1; continue; }
    if (/^\s*(```|~~~)/.test(line)) {
      const fence = line.trim().slice(0, 3);
      at += 1;
      const code = gather(other => !other.trim().startsWith(fence), false);
      at += 1;
      const shown = node("pre", [node("code", [code.join("\n")])]);
      shown.tabIndex = 0;
      blocks.push(shown);
    } else if (/^#{1,6} /.test(line)) {
      at += 1;
      blocks.push(node("p", [node("strong", inline(line.replace(/^#+ /, "")))]));
    } else if (ITEM.test(line)) {
      const items = gather(other => ITEM.test(other) || /^\s{2,}\S/.test(other)), list = node(/^\s*\d/.test(line) ? "ol" : "ul");
      for (const item of items) {
        const found = ITEM.exec(item);
        if (found) list.append(node("li", inline(found[1])));
        else list.lastElementChild.append(" ", ...inline(item.trim()));
      }
      blocks.push(list);
    } else if (line.trim().startsWith("$$") && !line.trim().slice(2).includes("$$")) { // a formula over several lines
      const taken = gather(other => other.trim() !== "" );
      blocks.push(node("p", inline(taken.join("\n"))));
    } else {
      const taken = gather(other => other.trim() && !ITEM.test(other) && !/^\s*(```|~~~)/.test(other) && !/^#{1,6} /.test(other));
      blocks.push(node("p", inline(taken.map(one => one.replace(/^\s*>\s?/, "")).join("\n"))));
    }
  }
  return blocks;
}
