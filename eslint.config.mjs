// `make lint`: eslint's recommended rules, and that a script names what it takes from those before it (`global`)
// and has for those after it (`exported`). See sdpa_helpers/show/panels.py for how scripts are joined.

import js from "@eslint/js";
import globals from "globals";

const rules = {
  ...js.configs.recommended.rules,
  eqeqeq: "error",
  "no-shadow": "error",
  "no-var": "error",
  "prefer-const": "error",
};

export default [
  { ignores: ["build/", "node_modules/", ".venv/"] },
  { files: ["sdpa_helpers/**/*.js", "editions/**/*.js"], languageOptions: { sourceType: "script", globals: globals.browser }, rules },
  // What JupyterLab loads by itself: one classic script as the door, ES modules behind it.
  { files: ["sdpa_helpers/desk/front/**/*.js", "editions/lite/front/*.js"], ignores: ["**/remoteEntry.js"], languageOptions: { sourceType: "module" } },
  // The light pages: modules, but for what the wall runs.
  { files: ["editions/try_it/{,static/}*.js", "editions/museum/static/*.js", "editions/front/static/front.js", "editions/site/static/search.js"], ignores: ["**/{frame,worker}.js"], languageOptions: { sourceType: "module" } },
  { files: ["sdpa_helpers/classroom/room/pages/*.js"], languageOptions: { sourceType: "module" } },
  // The last line of each exports for itself.
  { files: ["sdpa_helpers/classroom/review/*.js"], languageOptions: { sourceType: "module" } },
  { files: ["tests/**/*.mjs", "*.mjs"], languageOptions: { globals: globals.node }, rules },
];
