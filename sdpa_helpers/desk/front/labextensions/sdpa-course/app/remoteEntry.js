// The door through which JupyterLab and Notebook 7 load this extension: by hand what a bundler would write, so that
// the course needs no build. The host calls `init` with the packages it shares, then `get` for the module that
// package.json names. All other files are ES modules beside this one.
//
// The folder is not called "static": the server tells browsers to keep such files for a year.

(() => {
  const here = document.currentScript.src;
  let shared = {};

  /** The host's own copy of a package. It keeps one version of each; should there be two, the one it has loaded. */
  const take = async name => {
    const offers = Object.values(shared[name] ?? {});
    if (!offers.length) throw new Error(`sdpa-course: the host does not share ${name}`);
    const factory = await (offers.find(offer => offer.loaded) ?? offers.at(-1)).get();
    return factory();
  };

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB["sdpa-course"] = {
    init(scope) { shared = scope; },
    async get() {
      const { plugins } = await import(new URL("plugin.js", here));
      const found = { __esModule: true, default: await plugins(take) };
      return () => found;
    },
  };
})();
